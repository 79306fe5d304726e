"""What others bring and do: kinds as they define them, and certificates that they make while an installation waits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from cwii_webhook.certificates import pki

from cwiictl.actions.install import install
from cwiictl.engine.resource import silent
from cwiictl.install.objects import objects
from tests.cluster.conftest import skipped_where_missing, started
from tests.cluster.definitions import CERT_MANAGER, PROMETHEUS, definitions, serve
from tests.cluster.issuing import CONFIGURATIONS, LIFE, Look, at_work, cert_manager, service_ca
from tests.cluster.kube.client import Refused
from tests.cluster.kube.cluster import Cluster, Settings
from tests.cluster.objects import path
from tests.cluster.ordering import ordered, removed, tried
from tests.cluster.traces import seen_within
from tests.cwiictl.install.installed import FILES, of

pytestmark = pytest.mark.timeout(300)

FOREIGN = ("cert-manager.io/", "monitoring.coreos.com/")
WAYS = {
    "cert-manager": cert_manager,
    "service-ca": service_ca(pki.create_authority("service-ca", LIFE, datetime.now(UTC))),
}


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with started(Settings()) as cluster:
        with skipped_where_missing():
            serve(cluster, *definitions(CERT_MANAGER, PROMETHEUS))
        cluster.admin.create("/api/v1/namespaces", {"metadata": {"name": "cwii-system"}})
        yield cluster


@pytest.mark.parametrize(
    "name",
    [
        name
        for name in FILES
        if any(body["apiVersion"].startswith(FOREIGN) for body in objects(of(name)))
    ],
)
def test_their_kinds_are_taken_to_the_letter(cluster: Cluster, name: str) -> None:
    for body in objects(of(name)):
        if body["apiVersion"].startswith(FOREIGN):
            placed = {**body, "metadata": {**body["metadata"], "namespace": "default"}}
            cluster.admin.create(
                f"{path(cluster.admin, placed)}?dryRun=All&fieldValidation=Strict", placed
            )


def test_they_would_have_refused_a_field_that_they_do_not_know(cluster: Cluster) -> None:
    (monitor,) = [body for body in objects(of("watched")) if body["kind"] == "ServiceMonitor"]
    monitor["metadata"]["namespace"] = "default"
    monitor["spec"]["endpoints"][0]["prot"] = "metrics"

    with pytest.raises(Refused, match="unknown field"):
        cluster.admin.create(
            f"{path(cluster.admin, monitor)}?dryRun=All&fieldValidation=Strict", monitor
        )


@pytest.fixture
def away(cluster: Cluster, tmp_path: Path) -> Iterator[None]:
    """With the Secrets that were made for it, which nobody here takes away."""
    yield
    removed(cluster, tmp_path)
    secrets = "/api/v1/namespaces/cwii-system/secrets"
    for secret in cluster.admin.list(secrets):
        cluster.admin.delete(f"{secrets}/{secret['metadata']['name']}")


@pytest.mark.usefixtures("away")
@pytest.mark.parametrize("way", WAYS)
def test_whoever_makes_certificates_is_waited_for_and_nobody_is_refused_till_then(
    cluster: Cluster, tmp_path: Path, way: str
) -> None:
    """The next thing that is waited for are replicas, of which nobody here makes any."""
    order = replace(
        ordered(
            cluster,
            tmp_path,
            "createNamespace=false",
            f"certificates.by={way}",
            "failurePolicy=Fail",
        ),
        wait=True,
    )

    alone = tried(order)

    assert f"{way} has not put its CA into the MutatingWebhookConfiguration cwii-webhook" in str(
        [row.problem for row in alone.rows]
    )
    assert {
        entry["failurePolicy"]
        for entry in cluster.admin.get(f"{CONFIGURATIONS}/cwii-webhook")["webhooks"]
    } == {"Ignore"}
    with at_work(cluster.admin, WAYS[way]):
        believed = lambda: str(
            [
                row.problem
                for row in install(replace(order, timeout=10), silent, lambda _: True).rows
            ]
        )
        assert seen_within(60, lambda: "0 of 2 replicas are ready" in believed())


@pytest.mark.usefixtures("away")
@pytest.mark.parametrize("way", WAYS)
def test_who_does_not_wait_is_told_whose_turn_it_is(
    cluster: Cluster, tmp_path: Path, way: str
) -> None:
    order = ordered(cluster, tmp_path, "createNamespace=false", f"certificates.by={way}")

    first = tried(order)

    assert any(hint.startswith(f"{way} has yet to put its CA") for hint in first.hints), first.hints
    assert soft(cluster)
    then(cluster, WAYS[way])
    second = tried(order)
    assert not second.code, second.failures
    assert not any("has yet to put its CA" in hint for hint in second.hints)
    assert not soft(cluster)
    assert {row.condition for row in tried(order).rows} == {"as wanted"}


def soft(cluster: Cluster) -> bool:
    """Whether pods that must not go without are let through all the same."""
    entries = cluster.admin.get(f"{CONFIGURATIONS}/cwii-webhook")["webhooks"]
    return {
        entry["failurePolicy"] for entry in entries if entry["name"].startswith("required.")
    } == {"Ignore"}


def then(cluster: Cluster, look: Look) -> None:
    with at_work(cluster.admin, look):
        cluster.processes.until(lambda: bundles(cluster), "bundles")


def bundles(cluster: Cluster) -> bool:
    return all(
        entry["clientConfig"].get("caBundle")
        for entry in cluster.admin.get(f"{CONFIGURATIONS}/cwii-webhook")["webhooks"]
    )
