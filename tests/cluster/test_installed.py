"""What is installed, on a real node: it comes up by itself once it has a certificate, serves, and comes back when all of it is gone."""

from __future__ import annotations

import base64
from collections.abc import Iterator

import pytest

from cwiictl.install.configuration import softened
from cwiictl.install.objects import objects
from cwiictl.install.values import Values
from tests.cluster.imaged import IMAGE, saved
from tests.cluster.kube.client import Object, Refused
from tests.cluster.kube.cluster import Cluster
from tests.cluster.objects import a_pod, path
from tests.cluster.traces import seen_within
from tests.cwiictl.install.installed import some

pytestmark = [pytest.mark.soak, pytest.mark.timeout(600)]

NAMESPACE, SHOP = "cwii-system", "shop"
DEPLOYMENT = f"/apis/apps/v1/namespaces/{NAMESPACE}/deployments/cwii-webhook"
OURS = f"/api/v1/namespaces/{NAMESPACE}/pods"
PODS = f"/api/v1/namespaces/{SHOP}/pods"
SAYS = {
    "cwii.dev/aws-inject": "true",
    "cwii.dev/aws-role-arn": "arn:aws:iam::123456789012:role/shop",
}


def apply(node: Cluster, body: Object) -> None:
    node.admin.create(path(node.admin, body), body)


@pytest.fixture(scope="module")
def values(node: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Values]:
    """All but the renewer's work is done: what it fills is empty."""
    node.node.load(saved(tmp_path_factory.mktemp("image")))
    values = some(image=IMAGE, excludedNamespaces=["default"])
    for body in objects(values):
        apply(node, softened(body) if body["kind"] == "MutatingWebhookConfiguration" else body)
    yield values
    for body in reversed(objects(values)):
        node.admin.delete(f"{path(node.admin, body)}/{body['metadata']['name']}")


def ready(node: Cluster) -> bool:
    return node.admin.get(DEPLOYMENT)["status"].get("readyReplicas") == 2


def certified(node: Cluster, values: Values) -> None:
    """As the renewer does it."""
    authority = node.reach.authority
    pair = authority.server("webhook", [f"{values.name}.{values.namespace}.svc"])
    files = {"tls.crt": pair.certificate, "tls.key": pair.key, "ca.crt": authority.pem}
    data = {name: base64.b64encode(content).decode() for name, content in files.items()}
    node.admin.patch(
        f"/api/v1/namespaces/{NAMESPACE}/secrets/{values.serving_secret}", {"data": data}
    )
    (wanted,) = [body for body in objects(values) if body["kind"] == "MutatingWebhookConfiguration"]
    for entry in wanted["webhooks"]:
        entry["clientConfig"]["caBundle"] = data["ca.crt"]
    node.admin.patch(f"{path(node.admin, wanted)}/{values.name}", {"webhooks": wanted["webhooks"]})


def test_it_waits_for_its_certificate_and_then_serves(node: Cluster, values: Values) -> None:
    admin = node.admin
    assert seen_within(60, lambda: len(admin.list(OURS)) == 2)
    assert seen_within(
        60,
        lambda: any(
            "non-existent secret key" in event["message"]
            for event in admin.list(f"/api/v1/namespaces/{NAMESPACE}/events")
        ),
    )
    assert not ready(node)

    certified(node, values)

    assert seen_within(120, lambda: ready(node)), admin.list(OURS)
    assert {
        status["restartCount"]
        for pod in admin.list(OURS)
        for status in pod["status"]["containerStatuses"]
    } == {0}


def test_a_pod_is_given_its_identity_where_it_is_required(node: Cluster, values: Values) -> None:
    del values
    admin = node.admin
    admin.create(
        "/api/v1/namespaces", {"metadata": {"name": SHOP, "labels": {"cwii.dev/require": "true"}}}
    )
    admin.create(
        f"/api/v1/namespaces/{SHOP}/serviceaccounts",
        {"metadata": {"name": "till", "annotations": SAYS}},
    )
    admin.create(
        PODS,
        a_pod(
            "teller",
            "echo $AWS_ROLE_ARN; wc -c < $AWS_WEB_IDENTITY_TOKEN_FILE",
            serviceAccountName="till",
        ),
    )

    assert seen_within(
        60, lambda: admin.get(f"{PODS}/teller")["status"]["phase"] in {"Succeeded", "Failed"}
    ), admin.get(f"{PODS}/teller")
    role, size = admin.text(f"{PODS}/teller/log").split()
    assert role == SAYS["cwii.dev/aws-role-arn"]
    assert int(size) > 500


def test_when_all_of_it_is_gone_it_comes_back_and_who_must_not_go_without_waits(
    node: Cluster, values: Values
) -> None:
    del values
    admin = node.admin
    gone = {pod["metadata"]["uid"] for pod in admin.list(OURS)}
    for pod in admin.list(OURS):
        admin.delete(f"{OURS}/{pod['metadata']['name']}?gracePeriodSeconds=0")

    def refused() -> bool:
        try:
            admin.create(f"{PODS}?dryRun=All", a_pod("late", "true", serviceAccountName="till"))
        except Refused as told:
            return "required.cwii.cwii.dev" in told.message
        return False

    assert seen_within(30, refused)
    assert seen_within(
        120, lambda: ready(node) and not gone & {pod["metadata"]["uid"] for pod in admin.list(OURS)}
    ), admin.list(OURS)
    assert seen_within(30, lambda: not refused())


def test_its_node_can_be_drained(node: Cluster, values: Values) -> None:
    """One at a time, and one that is not ready does not count."""
    budget = node.admin.get(
        f"/apis/policy/v1/namespaces/{NAMESPACE}/poddisruptionbudgets/{values.name}"
    )
    assert seen_within(
        60,
        lambda: (
            node.admin.get(
                f"/apis/policy/v1/namespaces/{NAMESPACE}/poddisruptionbudgets/{values.name}"
            )["status"]["disruptionsAllowed"]
            == 1
        ),
    )
    assert budget["spec"]["unhealthyPodEvictionPolicy"] == "AlwaysAllow"
    pod = node.admin.list(OURS)[0]["metadata"]["name"]

    node.admin.create(
        f"{OURS}/{pod}/eviction",
        {
            "apiVersion": "policy/v1",
            "kind": "Eviction",
            "metadata": {"name": pod, "namespace": NAMESPACE},
        },
    )

    assert seen_within(120, lambda: ready(node))
