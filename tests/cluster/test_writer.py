"""What the account of a webhook may write that delivers Google's credentials by ConfigMaps: those, where it has business, and nothing else anywhere."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from cwii_webhook.dialects.cwii.google_credentials import (
    by_config_map,
    config_map_name,
    credentials_file,
)

from cwiictl.install.objects import objects
from cwiictl.install.values import Values
from tests.cluster.calling import called
from tests.cluster.kube.client import Client, Object, Refused
from tests.cluster.kube.reach import Reach
from tests.cluster.objects import path
from tests.cluster.space import Space, a_name, plain
from tests.cluster.traces import seen_within
from tests.cluster.webhook import SYSTEM, running
from tests.cwiictl.install.installed import PROVIDER, some
from tests.webhook.harness import ACCOUNT_ANNOTATIONS

AUDIENCE = f"//iam.googleapis.com/{PROVIDER}"
CALLED = config_map_name(AUDIENCE, "")
GRANTED = {
    "ServiceAccount",
    "ClusterRole",
    "ClusterRoleBinding",
    "ValidatingAdmissionPolicy",
    "ValidatingAdmissionPolicyBinding",
}


@dataclass
class Writer:
    """Whoever has the webhook's token."""

    client: Client
    admin: Client
    values: Values

    def heard(self, space: str) -> bool:
        """Whether the policy counts by now; nothing is written for that."""
        return bool(self.written(space, a_config_map(space, called="other"), "&dryRun=All"))

    def written(self, space: str, body: Object, more: str = "") -> str:
        """Why not, if it is not."""
        place = f"/api/v1/namespaces/{space}/configmaps/{body['metadata']['name']}?fieldManager=cwii&force=true{more}"
        try:
            self.client.patch(place, body, "apply")
        except Refused as refused:
            if "ValidatingAdmissionPolicy" not in refused.message:
                raise
            return refused.message
        return ""


@pytest.fixture(scope="module")
def writer(reach: Reach) -> Iterator[Writer]:
    values = some(
        name=a_name("webhook"),
        namespace=a_name("space"),
        gcp={"delivery": "config-map"},
        excludedNamespaces=[a_name("excluded")],
    )
    for space in (values.namespace, *values.excluded_namespaces):
        Space(reach, name=space)
    those = [body for body in objects(values) if body["kind"] in GRANTED]
    for body in those:
        reach.admin.create(path(reach.admin, body), body)
    client = reach.client(
        f"system:serviceaccount:{values.namespace}:{values.name}", "system:serviceaccounts"
    )
    writer, probe = Writer(client, reach.admin, values), Space(reach)
    assert seen_within(30, lambda: writer.heard(probe.name))
    yield writer
    for body in reversed(those):
        reach.admin.delete(f"{path(reach.admin, body)}/{body['metadata']['name']}")


def a_config_map(
    space: str, called: str = CALLED, labels: Mapping[str, str] | None = None, **more: Any
) -> Object:
    """As the webhook makes it, but for what is said."""
    (thing,) = by_config_map(space, called, credentials_file(AUDIENCE, "", "/token")).prerequisites
    marked = {"app.kubernetes.io/managed-by": "cwii"} if labels is None else dict(labels)
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": called, "labels": marked},
        "data": dict(thing.data),
        **more,
    }


def test_credentials_are_written_and_written_again(reach: Reach, writer: Writer) -> None:
    space = Space(reach)

    for _ in range(2):
        assert not writer.written(space.name, a_config_map(space.name))

    assert reach.admin.get(f"{space.path('configmaps')}/{CALLED}")["data"].keys() == {
        "credentials.json"
    }


@pytest.mark.parametrize(
    "other",
    [
        {"called": "kube-root-ca.crt"},
        {"called": f"{CALLED}-more"},
        {"called": f"a-{CALLED}"},
        {"labels": {}},
        {"labels": {"app.kubernetes.io/managed-by": "somebody"}},
        {"data": {"credentials.json": "{}", "more": "x"}},
        {"binaryData": {"more": "eA=="}},
    ],
    ids=str,
)
def test_nothing_else_is(reach: Reach, writer: Writer, other: dict[str, Any]) -> None:
    space = Space(reach)

    assert "called and marked as it does it, and no others" in writer.written(
        space.name, a_config_map(space.name, **other)
    )


def test_what_another_has_made_under_its_name_is_not_taken(reach: Reach, writer: Writer) -> None:
    space = Space(reach)
    theirs = {"metadata": {"name": CALLED}, "data": {"credentials.json": "theirs"}}
    reach.admin.create(space.path("configmaps"), theirs)

    assert "that bear its mark, and no others" in writer.written(
        space.name, a_config_map(space.name)
    )

    assert reach.admin.get(f"{space.path('configmaps')}/{CALLED}")["data"] == theirs["data"]


def test_nothing_is_written_where_it_has_no_business(writer: Writer) -> None:
    for space in (
        SYSTEM,
        "kube-public",
        writer.values.namespace,
        *writer.values.excluded_namespaces,
    ):
        assert "into namespaces whose pods it has no business with" in writer.written(
            space, a_config_map(space)
        )


def test_nobody_else_is_asked(writer: Writer) -> None:
    for space in (writer.values.namespace, *writer.values.excluded_namespaces):
        assert writer.admin.create(
            f"/api/v1/namespaces/{space}/configmaps?dryRun=All",
            {"metadata": {"name": "any"}, "data": {"a": "b"}},
        )


def test_the_real_webhook_writes_what_it_may(reach: Reach, tmp_path: Path) -> None:
    with (
        running(reach, tmp_path, ("cwii", "--gcp-delivery=config-map"), delivers=True) as webhook,
        called(webhook, "cwii") as hook,
    ):
        who = webhook.told.who
        values = some(name=who.name, namespace=SYSTEM, gcp={"delivery": "config-map"})
        for body in (
            each
            for each in objects(values)
            if each["metadata"]["name"] == f"{who.name}-config-maps"
        ):
            reach.admin.create(path(reach.admin, body), body)
        space = Space(reach, hook=hook).account(ACCOUNT_ANNOTATIONS["cwii"])
        writer = Writer(reach.client(who.user, "system:serviceaccounts"), reach.admin, values)
        assert seen_within(30, lambda: writer.heard(space.name))

        space.create(plain())

    (written,) = reach.admin.list(space.path("configmaps"))
    assert written["data"].keys() == {"credentials.json"}
