"""A cluster that has nothing yet, and may lack more: what cannot be there is told before anything is written."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from cwiictl.actions.install import planned
from cwiictl.engine.resource import silent
from cwiictl.errors import BadInput
from cwiictl.install.objects import objects
from tests.cluster.conftest import started
from tests.cluster.helming import Helm, Refused
from tests.cluster.kube import client
from tests.cluster.kube.client import Object
from tests.cluster.kube.cluster import Cluster, Settings
from tests.cluster.ordering import FILES, installed, ordered, removed, tried, writes
from tests.cluster.space import a_name
from tests.cwiictl.install.chart_files import CHART
from tests.cwiictl.install.installed import found as one_of
from tests.cwiictl.install.installed import of
from tests.cwiictl.install.test_schedule import NONE, SCHEDULES

pytestmark = pytest.mark.timeout(600)

LACKING = (
    "admissionregistration.k8s.io/v1/validatingadmissionpolicies=false",
    "admissionregistration.k8s.io/v1/validatingadmissionpolicybindings=false",
    "flowcontrol.apiserver.k8s.io/v1=false",
)
WITHOUT = "--disable-admission-plugins=ValidatingAdmissionPolicy"  # it would wait for its policies for ever
NODES = "/api/v1/nodes"
BUDGET = "PodDisruptionBudget"


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with started(Settings()) as cluster:
        yield cluster


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("podLabels.team=a b", r"k8s/Deployment/\S+: .*spec.template.labels: Invalid value"),
        ("resources.requests.cpu=many", r"k8s/Deployment/\S+: .*quantities must match"),
        ('tolerations=[{"key": "a", "operator": "Sometimes"}]', r"k8s/Deployment/\S+: .*Sometimes"),
        (
            "certificates.schedule=61 */6 * * *",
            r"k8s/CronJob/\S+: .*end of range \(61\) above maximum",
        ),
    ],
)
def test_what_no_api_server_would_take_is_told_before_there_is_a_namespace(
    cluster: Cluster, tmp_path: Path, said: str, why: str
) -> None:
    order = ordered(
        cluster,
        tmp_path,
        *(() if "certificates" in said else FILES),
        f"namespace={a_name('fresh')}",
        said,
    )
    before = len(writes(cluster))

    for result in (planned(order, silent), tried(order)):
        told = [f"{row.thing}: {row.problem}" for row in result.rows if row.problem]
        assert any(re.search(why, each, re.DOTALL) for each in told), told
        assert result.code

    assert writes(cluster)[before:] == []


def test_what_is_taken_for_a_schedule_the_api_server_takes_for_one(cluster: Cluster) -> None:
    def made(schedule: str) -> Object:
        spec = {**one_of(objects(of("nothing")), "CronJob")["spec"], "schedule": schedule}
        return cluster.admin.create(
            "/apis/batch/v1/namespaces/default/cronjobs?dryRun=All",
            {"metadata": {"name": "c"}, "spec": spec},
        )

    for schedule in SCHEDULES:
        assert made(schedule), schedule
    for schedule in NONE:
        with pytest.raises(client.Refused, match=r"spec\.schedule"):
            made(schedule)


def test_what_lies_in_the_namespace_where_it_is_tried_is_no_hindrance(
    cluster: Cluster, tmp_path: Path
) -> None:
    """It is tried where others have things of that name, and room for nothing more."""
    quota, name = "/api/v1/namespaces/default/resourcequotas", a_name("webhook")
    cluster.admin.create(
        "/api/v1/namespaces/default/services",
        {"metadata": {"name": name}, "spec": {"ports": [{"port": 1}]}},
    )
    cluster.admin.create(
        quota, {"metadata": {"name": "none"}, "spec": {"hard": {"count/deployments.apps": "0"}}}
    )
    cluster.admin.patch(
        f"{quota}/none/status",
        {
            "status": {
                "hard": {"count/deployments.apps": "0"},
                "used": {"count/deployments.apps": "0"},
            }
        },
    )

    result = planned(
        ordered(cluster, tmp_path, *FILES, f"namespace={a_name('fresh')}", f"name={name}"), silent
    )

    cluster.admin.delete(f"{quota}/none")
    assert not result.failures, result.failures
    assert {row.condition for row in result.rows} == {"missing"}


# --- one node ---


@pytest.mark.parametrize(
    ("nodes", "said", "there"),
    [(0, "", True), (1, "", False), (1, "disruptionBudget=true", True), (2, "", True)],
)
def test_where_there_is_one_node_it_can_be_drained(
    cluster: Cluster,
    tmp_path: Path,
    nodes: int,
    said: str,
    there: bool,  # noqa: FBT001  # a column
) -> None:
    names = [a_name("node") for _ in range(nodes)]
    for name in names:
        cluster.admin.create(
            NODES, {"metadata": {"name": name, "labels": {"kubernetes.io/os": "linux"}}}
        )
        cluster.admin.patch(
            f"{NODES}/{name}", {"spec": {"taints": None}}
        )  # nobody here says that it is well
    cluster.admin.create(
        NODES,
        {
            "metadata": {
                "name": (other := a_name("other")),
                "labels": {"kubernetes.io/os": "windows"},
            }
        },
    )

    result = planned(ordered(cluster, tmp_path, *FILES, *([said] if said else [])), silent)

    for name in (*names, other):
        cluster.admin.delete(f"{NODES}/{name}")
    assert any(BUDGET in row.thing for row in result.rows) is there
    assert (
        any("--set disruptionBudget=true makes one" in hint for hint in result.hints) is not there
    )


# --- kinds that are not served ---


@pytest.fixture(scope="module")
def lacking() -> Iterator[Cluster]:
    """As Kubernetes 1.28 and 1.29, of what we install."""
    with started(
        Settings(
            flags=(
                f"--runtime-config={','.join(LACKING)}",
                "--enable-priority-and-fairness=false",
                WITHOUT,
            )
        )
    ) as cluster:
        cluster.admin.create("/api/v1/namespaces", {"metadata": {"name": "cwii-system"}})
        yield cluster


def test_what_is_not_served_is_left_out_and_said(lacking: Cluster, tmp_path: Path) -> None:
    order = ordered(lacking, tmp_path, *FILES, "createNamespace=false", "gcp.delivery=config-map")

    result = installed(order)

    assert {row.thing.split("/")[1] for row in result.rows}.isdisjoint(
        {"ValidatingAdmissionPolicy", "FlowSchema", "PriorityLevelConfiguration"}
    )
    assert any(
        "serves no ValidatingAdmissionPolicy (Kubernetes 1.30 does)" in hint
        for hint in result.hints
    )
    assert any("serves no flow control" in hint for hint in result.hints)
    assert {row.condition for row in installed(order).rows} == {"as wanted"}
    removed(lacking, tmp_path)


def test_what_was_asked_for_by_name_is_refused_before_a_write(
    lacking: Cluster, tmp_path: Path
) -> None:
    before = len(writes(lacking))

    with pytest.raises(
        BadInput, match="require needs ValidatingAdmissionPolicy, which the cluster does not serve"
    ):
        tried(ordered(lacking, tmp_path, *FILES, "createNamespace=false", "require=true"))

    assert len(writes(lacking)) == before


def test_helm_leaves_it_out_too(lacking: Cluster, tmp_path: Path) -> None:
    helm = Helm(tmp_path, lacking.kubeconfig)
    values = helm.values({"createNamespace": False})

    told = helm.run("install", "webhook", str(CHART), values)

    assert "The cluster serves no ValidatingAdmissionPolicy" in told
    assert "The cluster serves no flow control" in told
    with pytest.raises(Refused, match="require needs ValidatingAdmissionPolicy"):
        helm.run("upgrade", "webhook", str(CHART), values, "--set=require=true")
    helm.run("uninstall", "webhook")
