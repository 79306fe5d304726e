"""In an OpenShift whose operator runs its webhook, and puts back what is its own: we are beside it, and nobody writes for ever."""

from __future__ import annotations

import threading
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from cwiictl.errors import Conflict
from tests.cluster.conftest import started
from tests.cluster.definitions import serve
from tests.cluster.kube.client import Client, Object
from tests.cluster.kube.cluster import Cluster, Settings
from tests.cluster.ordering import FILES, installed, ordered, removed, writes
from tests.cluster.traces import seen_within

pytestmark = pytest.mark.timeout(180)

HOOKS = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations"
NAMESPACE = "openshift-cloud-credential-operator"
OPERATED = f"{HOOKS}/pod-identity-webhook"
OWN = f"{HOOKS}/cwii-webhook"
THERE = "createNamespace=false"  # nobody here takes namespaces away


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with started(Settings()) as cluster:
        serve(cluster, infrastructure())
        for name in (NAMESPACE, "cwii-system"):
            cluster.admin.create("/api/v1/namespaces", {"metadata": {"name": name}})
        yield cluster


def infrastructure() -> Object:
    names = {
        "plural": "infrastructures",
        "singular": "infrastructure",
        "kind": "Infrastructure",
        "listKind": "InfrastructureList",
    }
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    version = {"name": "v1", "served": True, "storage": True, "schema": schema}
    spec = {
        "group": "config.openshift.io",
        "scope": "Cluster",
        "names": names,
        "versions": [version],
    }
    return {"metadata": {"name": "infrastructures.config.openshift.io"}, "spec": spec}


def operators() -> Object:
    """As it is in AWS."""
    client = {
        "service": {"name": "pod-identity-webhook", "namespace": NAMESPACE, "path": "/mutate"}
    }
    rule = {
        "apiGroups": [""],
        "apiVersions": ["v1"],
        "operations": ["CREATE"],
        "resources": ["pods"],
    }
    entry = {
        "name": "pod-identity-webhook.aws.mutate.io",
        "clientConfig": client,
        "failurePolicy": "Ignore",
        "sideEffects": "None",
        "rules": [rule],
    }
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "MutatingWebhookConfiguration",
        "metadata": {"name": "pod-identity-webhook"},
        "webhooks": [
            {
                **entry,
                "admissionReviewVersions": ["v1"],
                "objectSelector": {"matchLabels": {"nobody": "here"}},
            }
        ],
    }


@contextmanager
def operating(admin: Client) -> Generator[None]:
    """Puts it back every second, whatever has become of it."""
    over = threading.Event()

    def put_back() -> None:
        while True:
            admin.patch(
                f"{OPERATED}?fieldManager=cloud-credential-operator&force=true",
                operators(),
                "apply",
            )
            if over.wait(1):
                return

    thread = threading.Thread(target=put_back)
    thread.start()
    try:
        assert seen_within(20, lambda: admin.exists(OPERATED))
        yield
    finally:
        over.set()
        thread.join()
        admin.delete(OPERATED)


def entries(cluster: Cluster) -> set[str]:
    return {entry["name"].split(".")[1] for entry in cluster.admin.get(OWN)["webhooks"]}


def test_what_its_webhook_hears_is_left_to_it_and_nothing_of_its_own_is_written(
    cluster: Cluster, tmp_path: Path
) -> None:
    with operating(cluster.admin):
        order = ordered(cluster, tmp_path, *FILES, THERE, "dialects={cwii,eks}")

        first = installed(order)

        assert first.hints[1:] == (
            "OpenShift's own webhook hears eks, which is left to it: --beside has both.",
        )
        assert entries(cluster) == {"cwii"}
        before, there = len(writes(cluster)), cluster.admin.get(OPERATED)["metadata"]["generation"]
        assert not seen_within(
            3, lambda: cluster.admin.get(OPERATED)["metadata"]["generation"] != there
        )
        assert {row.condition for row in installed(order).rows} == {"as wanted"}
        assert len(writes(cluster)) == before
        assert not [each for each in writes(cluster) if "pod-identity-webhook" in each]
        removed(cluster, tmp_path)


def test_on_request_both_are_there(cluster: Cluster, tmp_path: Path) -> None:
    with operating(cluster.admin):
        installed(ordered(cluster, tmp_path, *FILES, THERE, "dialects={cwii,eks}", "beside=true"))

        assert entries(cluster) == {"cwii", "eks"}
        removed(cluster, tmp_path)


@pytest.mark.parametrize(
    ("sets", "why"),
    [
        (
            ("dialects={eks}",),
            "runs a webhook that hears eks already, and nothing else was asked for",
        ),
        (("name=pod-identity-webhook", f"namespace={NAMESPACE}"), "it would put that back"),
    ],
)
def test_over_it_nothing_is_written(
    cluster: Cluster, tmp_path: Path, sets: tuple[str, ...], why: str
) -> None:
    with operating(cluster.admin):
        before = len(writes(cluster))

        with pytest.raises(Conflict, match=why):
            installed(ordered(cluster, tmp_path, *FILES, THERE, *sets))

        assert len(writes(cluster)) == before


def test_where_it_runs_none_what_openshift_knows_need_not_be_said(
    cluster: Cluster, tmp_path: Path
) -> None:
    cluster.admin.create(
        f"/api/v1/namespaces/{NAMESPACE}/secrets",
        {"metadata": {"name": "azure-credentials"}, "stringData": {"azure_tenant_id": "contoso"}},
    )
    installed(ordered(cluster, tmp_path, "dialects={azwi}", THERE))

    there = "/apis/apps/v1/namespaces/cwii-system/deployments/cwii-webhook"
    template = cluster.admin.get(there)["spec"]["template"]
    assert "--tenant-id=contoso" in template["spec"]["containers"][0]["args"]
    assert template["metadata"]["annotations"]["openshift.io/required-scc"] == "restricted-v2"
    service = cluster.admin.get("/api/v1/namespaces/cwii-system/services/cwii-webhook")["metadata"][
        "annotations"
    ]
    assert service["service.beta.openshift.io/serving-cert-secret-name"] == "cwii-webhook-serving"
    assert (
        cluster.admin.get(OWN)["metadata"]["annotations"][
            "service.beta.openshift.io/inject-cabundle"
        ]
        == "true"
    )
    removed(cluster, tmp_path)
