"""An installation over one that stands already: what cannot be changed in place is refused before anything is written, by cwiictl and by helm."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from cwiictl.actions.cluster import Installation, mark, served
from cwiictl.actions.uninstall import uninstall
from cwiictl.engine.pace import Pace
from cwiictl.engine.resource import Plan, silent
from cwiictl.engine.run import apply
from cwiictl.errors import Conflict
from cwiictl.install import given
from cwiictl.install.configuration import configuration
from cwiictl.install.objects import objects
from cwiictl.kubernetes import connect
from cwiictl.kubernetes.objects import resources, walk
from tests.cluster.conftest import skipped_where_missing, started
from tests.cluster.definitions import CERT_MANAGER, definitions, serve
from tests.cluster.helming import Helm, Refused
from tests.cluster.kube.cluster import Cluster, Settings
from tests.cluster.ordering import FILES, installed, ordered, removed, tried, writes
from tests.cwiictl.install.chart_files import CHART
from tests.cwiictl.install.installed import CA, of

pytestmark = pytest.mark.timeout(600)  # the first one fetches helm

SPACES = ("cwii-system", "elsewhere")
THERE = "createNamespace=false"  # nobody here takes namespaces away
WAYS = {
    "renewer": (THERE,),
    "cert-manager": (THERE, "certificates.by=cert-manager"),
    "service-ca": (THERE, "certificates.by=service-ca"),
    "files": (THERE, *FILES),
}
CONFIGURATIONS = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations"


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with started(Settings()) as cluster:
        for name in SPACES:
            cluster.admin.create("/api/v1/namespaces", {"metadata": {"name": name}})
        with skipped_where_missing():
            serve(cluster, *definitions(CERT_MANAGER))
        yield cluster


@pytest.mark.parametrize("way", WAYS)
def test_who_makes_certificates_stays_who_it_was(
    cluster: Cluster, tmp_path: Path, way: str
) -> None:
    tried(ordered(cluster, tmp_path, *WAYS[way]))
    before = len(writes(cluster))

    for other in WAYS.keys() - {way}:
        with pytest.raises(
            Conflict, match=f"has its certificates by {way}, and certificates.by is {other}"
        ) as refused:
            tried(ordered(cluster, tmp_path, *WAYS[other]))
        assert f"leave it so with --set certificates.by={way}" in refused.value.remedy
        assert "uninstall-webhook --name cwii-webhook" in refused.value.remedy

    assert len(writes(cluster)) == before
    assert not [
        row.problem
        for row in tried(ordered(cluster, tmp_path, *WAYS[way], "logLevel=debug")).rows
        if "certificates.by" in row.problem
    ]
    removed(cluster, tmp_path)
    assert not cluster.admin.exists(f"{CONFIGURATIONS}/cwii-webhook")


def test_where_it_runs_stays_where_it_was(cluster: Cluster, tmp_path: Path) -> None:
    installed(ordered(cluster, tmp_path, *WAYS["files"]))
    before = len(writes(cluster))

    with pytest.raises(
        Conflict, match="runs in the namespace cwii-system, and namespace is elsewhere"
    ) as refused:
        tried(ordered(cluster, tmp_path, *WAYS["files"], "namespace=elsewhere"))

    assert "leave it so with --set namespace=cwii-system" in refused.value.remedy
    assert len(writes(cluster)) == before
    removed(cluster, tmp_path)


def test_once_it_is_gone_it_may_be_otherwise(cluster: Cluster, tmp_path: Path) -> None:
    installed(ordered(cluster, tmp_path, *WAYS["files"]))
    removed(cluster, tmp_path)

    installed(ordered(cluster, tmp_path, *WAYS["files"], "namespace=elsewhere"))

    removed(cluster, tmp_path)


def test_what_another_calls_so_is_no_installation(cluster: Cluster, tmp_path: Path) -> None:
    """It is in the way all the same."""
    entry = {
        "name": "a.example.com",
        "clientConfig": {"service": {"name": "a", "namespace": "a"}},
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
    }
    cluster.admin.create(
        CONFIGURATIONS, {"metadata": {"name": "cwii-webhook"}, "webhooks": [entry]}
    )

    result = tried(ordered(cluster, tmp_path, *WAYS["files"]))

    cluster.admin.delete(f"{CONFIGURATIONS}/cwii-webhook")
    assert result.code == Conflict.code
    assert "is there already and bears no mark of ours" in str([row.problem for row in result.rows])


@pytest.fixture
def helm(cluster: Cluster, tmp_path: Path) -> Iterator[Helm]:
    """With a release of files' certificates."""
    helm = Helm(tmp_path, cluster.kubeconfig)
    helm.run("install", "webhook", str(CHART), helm.values(HELD))
    yield helm
    helm.run("uninstall", "webhook")


OURS = "There is cwii-webhook, which is an installation of cwiictl's: take it out with --name cwii-webhook."
HELD: dict[str, Any] = {
    "createNamespace": False,
    "certificates": {"by": "files", "secret": "made-by-hand", "ca": CA},
}


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (
            {**HELD, "namespace": "elsewhere"},
            "runs in the namespace cwii-system, and namespace is elsewhere",
        ),
        (
            {"createNamespace": False},
            "has its certificates by files, and certificates.by is renewer",
        ),
        (
            {"createNamespace": False, "certificates": {"by": "cert-manager"}},
            "has its certificates by files, and certificates.by is cert-manager",
        ),
    ],
)
def test_helm_is_refused_too(cluster: Cluster, helm: Helm, said: dict[str, Any], why: str) -> None:
    before = cluster.admin.get(f"{CONFIGURATIONS}/cwii-webhook")

    with pytest.raises(Refused, match=why):
        helm.run("upgrade", "webhook", str(CHART), helm.values(said))

    assert cluster.admin.get(f"{CONFIGURATIONS}/cwii-webhook") == before
    helm.run("upgrade", "webhook", str(CHART), helm.values({**HELD, "timeoutSeconds": 4}))


def test_what_is_helms_is_named_with_what_takes_it_out_and_left(
    cluster: Cluster, helm: Helm, tmp_path: Path
) -> None:
    del helm
    before, order = len(writes(cluster)), ordered(cluster, tmp_path, *WAYS["files"])

    with pytest.raises(
        Conflict,
        match="is helm's release webhook in the namespace default, which helm alone changes",
    ) as refused:
        tried(order)
    with pytest.raises(
        Conflict,
        match="is helm's release webhook in the namespace default: cwiictl has not installed it",
    ) as kept:
        uninstall(order, "cwii-webhook", silent, lambda _: True)
    with pytest.raises(
        Conflict, match=r"cwii-webhook \(cwii\), of helm's release webhook in the namespace default"
    ):
        tried(ordered(cluster, tmp_path, *WAYS["files"], "name=another"))
    hints = uninstall(order, "another", silent, lambda _: True).hints

    assert "helm uninstall webhook -n default" in refused.value.remedy
    assert kept.value.remedy == "take it out with helm uninstall webhook -n default"
    assert hints == (
        "There is cwii-webhook, which is helm's release webhook in the namespace default: take it out with helm uninstall webhook -n default.",
    )
    assert len(writes(cluster)) == before


def taken_over(order: Installation) -> None:
    """As an earlier cwiictl did with what it was told by name."""
    wanted = given.values(None, order.sets)
    with closing(connect(order.kubeconfig, None)) as place:
        plan = Plan(resources(objects(wanted, served(place)), place), [walk(place)])
        assert apply(plan, mark(wanted.name), Pace(), plan.keys()).whole


def test_what_was_taken_over_from_helm_is_cwiictls_from_then_on(
    cluster: Cluster, helm: Helm, tmp_path: Path
) -> None:
    """Though it keeps helm's label."""
    order = ordered(cluster, tmp_path, *WAYS["files"])
    taken_over(order)
    assert (
        cluster.admin.get(f"{CONFIGURATIONS}/cwii-webhook")["metadata"]["labels"][
            "app.kubernetes.io/managed-by"
        ]
        == "Helm"
    )

    again = installed(order)

    assert {row.condition for row in again.rows} == {"as wanted"}
    with pytest.raises(
        Conflict,
        match=r"hears the same annotations: MutatingWebhookConfiguration cwii-webhook \(cwii\)$",
    ):
        tried(ordered(cluster, tmp_path, *WAYS["files"], "name=another"))
    assert uninstall(order, "another", silent, lambda _: True).hints == (OURS,)
    with pytest.raises(Refused, match="is cwiictl's, which alone changes it"):
        helm.run("upgrade", "webhook", str(CHART), helm.values(HELD))
    assert {row.condition for row in removed(cluster, tmp_path).rows} == {"released"}
    helm.run("upgrade", "webhook", str(CHART), helm.values(HELD))


def test_what_is_cwiictls_is_named_to_helm_with_what_takes_it_out(
    cluster: Cluster, tmp_path: Path
) -> None:
    helm = Helm(tmp_path, cluster.kubeconfig)
    installed(ordered(cluster, tmp_path, *WAYS["files"]))

    with pytest.raises(
        Refused,
        match=r"is cwiictl's, .* take it out first with `cwiictl uninstall-webhook --name cwii-webhook`",
    ):
        helm.run("install", "webhook", str(CHART), helm.values(HELD))

    hints = uninstall(ordered(cluster, tmp_path), "another", silent, lambda _: True).hints
    assert hints == (OURS,)
    removed(cluster, tmp_path)


def test_what_was_applied_by_hand_is_not_told_as_nothing(cluster: Cluster, tmp_path: Path) -> None:
    """As of `install-webhook -o yaml`: it bears our names, and no mark."""
    cluster.admin.create(CONFIGURATIONS, configuration(of("files")))

    with pytest.raises(Conflict, match="bears no mark of ours: cwiictl has not installed it"):
        removed(cluster, tmp_path)
    (hint,) = uninstall(ordered(cluster, tmp_path), "another", silent, lambda _: True).hints

    assert hint.startswith(
        "There is cwii-webhook, which bears no mark of ours: take it out with what has put it there: as README.txt beside its files says, by kubectl delete -f"
    )
    cluster.admin.delete(f"{CONFIGURATIONS}/cwii-webhook")
    assert not removed(cluster, tmp_path).hints


@pytest.mark.parametrize("way", ["renewer", "cert-manager", "service-ca"])
def test_helm_knows_who_makes_certificates(cluster: Cluster, tmp_path: Path, way: str) -> None:
    helm = Helm(tmp_path, cluster.kubeconfig)
    said = {"createNamespace": False, "certificates": {"by": way}}
    helm.run("install", "webhook", str(CHART), helm.values(said))

    with pytest.raises(
        Refused, match=f"has its certificates by {way}, and certificates.by is files"
    ):
        helm.run("upgrade", "webhook", str(CHART), helm.values(HELD))

    helm.run("upgrade", "webhook", str(CHART), helm.values({**said, "timeoutSeconds": 4}))
    helm.run("uninstall", "webhook")


def test_that_one_pod_may_be_given_a_token_in_two_dialects_is_told_beforehand(
    cluster: Cluster, tmp_path: Path
) -> None:
    alone, both = (
        tried(ordered(cluster, tmp_path, *WAYS["files"], *more)).hints
        for more in ((), ("dialects={eks,cwii}",))
    )

    told = "A pod whose ServiceAccount has the words of cwii and those of eks for one cloud"
    assert [each.startswith(told) for each in both].count(True) == 1
    assert not [each for each in alone if each.startswith("A pod whose ServiceAccount")]
