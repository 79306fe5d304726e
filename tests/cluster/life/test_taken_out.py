"""What was installed is taken out of a cluster, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from tests.cluster.kube.client import Client, Object
from tests.cluster.life.calling import load
from tests.cluster.life.user import HOME, NAME, User
from tests.cluster.traces import seen_within

pytestmark = [pytest.mark.soak, pytest.mark.timeout(600)]

ITS_OWN = {
    "events",
    "leases",
    "endpoints",
    "endpointslices",
}  # what Kubernetes writes by itself all the time
EVERYTHING = [
    "--dialect=cwii",
    "--dialect=eks",
    "--require",
    "--set=networkPolicy.enabled=true",
    "--set=failurePolicy=Ignore",
]


def everything(admin: Client) -> Mapping[str, str]:
    """All objects of all kinds, by their paths: which one each is."""
    groups = [
        "/api/v1",
        *(
            f"/apis/{group['preferredVersion']['groupVersion']}"
            for group in admin.get("/apis")["groups"]
        ),
    ]
    kinds = [
        (group, each["name"])
        for group in groups
        for each in admin.get(group)["resources"]
        if "list" in each.get("verbs", ()) and "/" not in each["name"]
    ]
    return {
        "/".join(
            (group, plural, each["metadata"].get("namespace", ""), each["metadata"]["name"])
        ): each["metadata"].get("uid", "")
        for group, plural in kinds
        if plural not in ITS_OWN
        for each in admin.list(f"{group}/{plural}")
    }


def a_strangers(namespace: str, **labels: str) -> Object:
    return {
        "metadata": {"name": NAME, "namespace": namespace, "labels": labels},
        "data": {"whose": "a stranger's"},
    }


def test_while_a_strangers_object_lies_in_its_namespace_all_stays(user: User) -> None:
    user.has()
    configs = f"/api/v1/namespaces/{HOME}/configmaps"
    user.admin.create(configs, a_strangers(HOME))
    before = len(user.wrote())

    said = user.says("uninstall-webhook", "--yes")

    user.admin.delete(f"{configs}/{NAME}")
    assert said.code == 4, said
    assert f"holds what is not ours: ConfigMap/{NAME}" in said
    assert user.wrote(before) == []
    assert user.ready()


def test_nothing_of_it_is_left_and_all_else_is_as_it_was(user: User) -> None:
    """Also where pods may not go without: what says so is the first to go."""
    user.has_none()
    copied = {"app.kubernetes.io/managed-by": "cwiictl", "cwii.dev/installation": NAME}
    user.admin.create(
        "/api/v1/namespaces/default/configmaps", a_strangers("default", **copied)
    )  # made by hand, and says that it is ours
    before = everything(user.admin)
    user.has(*EVERYTHING)
    assert len(everything(user.admin)) > len(before) + 20

    with load(user) as pods:
        user.has_none()

    assert pods.failed == []
    assert seen_within(30, lambda: everything(user.admin) == before), set(
        everything(user.admin).items()
    ) ^ set(before.items())
    user.admin.delete(f"/api/v1/namespaces/default/configmaps/{NAME}")
    said = user.says("uninstall-webhook", "--yes")
    assert said.code == 0, said
    assert "Nothing of this installation is there" in said
