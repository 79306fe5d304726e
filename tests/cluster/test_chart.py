"""The chart, by the real helm: it renders what `install-webhook` installs, and never takes a CA away."""

from __future__ import annotations

import base64
from collections.abc import Iterable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from cwiictl.errors import BadInput
from cwiictl.install.body import Object
from cwiictl.install.objects import objects
from cwiictl.install.renewal import job
from cwiictl.install.served import EVERYTHING, Served
from tests.cluster.conftest import skipped_where_missing, started
from tests.cluster.helming import Helm, Refused, read
from tests.cluster.kube.cluster import Settings
from tests.cwiictl.install.chart_files import CHART
from tests.cwiictl.install.installed import FILES, found, installed, of, some
from tests.cwiictl.install.test_schedule import NONE, SCHEDULES

pytestmark = pytest.mark.timeout(600)  # the first one fetches helm


@pytest.fixture
def helm(tmp_path: Path) -> Helm:
    with skipped_where_missing():
        return Helm(tmp_path)


def by_name(those: Iterable[Object]) -> dict[tuple[str, str], Object]:
    return {(each["kind"], each["metadata"]["name"]): each for each in those}


def apart(rendered: Iterable[Object]) -> tuple[list[Object], list[Object]]:
    """The Job of the first certificate is the chart's alone: cwiictl makes one of the CronJob, when it is there."""
    those = list(rendered)
    return [each for each in those if each["kind"] != "Job"], [
        each for each in those if each["kind"] == "Job"
    ]


@pytest.mark.parametrize("name", FILES)
def test_it_renders_what_is_installed_from_the_same_values(helm: Helm, name: str) -> None:
    rendered, jobs = apart(helm.rendered(FILES[name]))

    assert by_name(rendered) == by_name(objects(of(name)))
    assert len(rendered) == len(by_name(rendered))
    assert [each["spec"] for each in jobs] == (
        [job(of(name))] if of(name).certificates.by == "renewer" else []
    )


@pytest.mark.parametrize(
    ("version", "served"),
    [
        ("1.28", Served(policies=False, flow="v1beta3")),
        ("1.29", Served(policies=False)),
        ("1.30", EVERYTHING),
    ],
)
def test_it_renders_for_an_older_kubernetes_what_that_understands(
    helm: Helm, version: str, served: Served
) -> None:
    rendered, _ = apart(helm.rendered(FILES["config-maps"], f"--kube-version={version}.3"))

    assert by_name(rendered) == by_name(objects(of("config-maps"), served))


@pytest.mark.parametrize(
    "said",
    [
        {"image": ""},
        {"dialects": ["azwi"]},
        {"arguments": {"eks": ["--v=4"]}},
        {"dialects": ["azwi"], "azure": {"tenantId": "t"}, "logLevel": "warning"},
        {"dialects": ["eks"], "require": True},
        {"certificates": {"by": "files"}},
        {"certificates": {"ca": "x"}},
        {"certificates": {"validity": "30s", "schedule": "* * * * *"}},
        {"certificates": {"validity": "90d"}},
        {"certificates": {"caValidity": "2161h"}},
        {"certificates": {"validity": "11h"}},
        {"certificates": {"validity": "47h", "schedule": "0 3 * * *"}},
        {"certificates": {"schedule": "0 0 31 * *"}},
        {"certificates": {"schedule": "every now and then"}},
        {"autoscaling": {"maxReplicas": 1}},
        {
            "matchConditions": [
                {
                    "name": "new",
                    "expression": "!('cwii.dev/injected' in object.metadata.annotations)",
                }
            ]
        },
        {"dialects": ["cwii", "cwii"]},
        {"replcias": 2},
    ],
)
def test_both_refuse_what_cannot_be_meant(helm: Helm, said: dict[str, Any]) -> None:
    with pytest.raises(BadInput):
        objects(some(**said))
    with pytest.raises(Refused):
        helm.rendered(said)


def test_both_reckon_alike_how_often_the_renewer_runs(helm: Helm) -> None:
    for schedule in SCHEDULES:
        said = {
            "certificates": {"schedule": schedule, "validity": "200000h", "caValidity": "400000h"}
        }

        assert found(helm.rendered(said), "CronJob") == installed("CronJob", **said), schedule


def test_both_refuse_what_is_no_schedule_where_the_renewer_goes_by_it(helm: Helm) -> None:
    for schedule in NONE:
        for by, refused in (("renewer", True), ("cert-manager", False)):
            said = {"certificates": {"schedule": schedule, "by": by}}
            with pytest.raises(BadInput) if refused else nullcontext():
                objects(some(**said))
            with pytest.raises(Refused) if refused else nullcontext():
                helm.rendered(said)


def test_it_refuses_what_an_older_kubernetes_cannot_see_to(helm: Helm) -> None:
    with pytest.raises(Refused, match="require needs ValidatingAdmissionPolicy"):
        helm.rendered({"require": True}, "--kube-version=1.29.0")
    with pytest.raises(Refused, match=r"incompatible with Kubernetes v1\.27"):
        helm.rendered({}, "--kube-version=1.27.0")


def test_a_release_is_not_recorded_in_the_namespace_that_it_makes(helm: Helm) -> None:
    with pytest.raises(Refused, match="add --set createNamespace=false"):
        helm.rendered({}, "--namespace=cwii-system")

    assert helm.rendered({"createNamespace": False}, "--namespace=cwii-system")


def test_the_first_certificates_job_is_a_new_one_where_it_would_do_something_else(
    helm: Helm,
) -> None:
    """Or where the configuration has other entries, which lack their bundles."""
    changes: tuple[dict[str, Any], ...] = (
        {},
        {"replicas": 3},
        {"certificates": {"validity": "720h"}},
        {"dialects": ["cwii", "eks"]},
    )
    names = [apart(helm.rendered(said))[1][0]["metadata"]["name"] for said in changes]

    assert names[0] == names[1]
    assert len(set(names)) == 3


def test_it_passes_helms_own_judgement(helm: Helm) -> None:
    told = helm.run("lint", "--strict", str(CHART), helm.values({}))

    assert "0 chart(s) failed" in told


BASE = "/api/v1/namespaces/cwii-system"
CONFIGURATION = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/cwii-webhook"


@pytest.mark.soak
def test_what_the_renewer_has_made_stays_through_upgrade_and_rollback(tmp_path: Path) -> None:
    """Nobody else is in this cluster: its configuration may ask whom it wants."""
    with started(Settings()) as cluster:
        kubeconfig = cluster.reach.authority.kubeconfig(
            tmp_path / "kubeconfig",
            cluster.reach.urls[0],
            cluster.reach.authority.client("admin", "system:masters"),
        )
        helm = Helm(tmp_path, kubeconfig)
        helm.run("install", "webhook", str(CHART), helm.values({}))
        bundle = base64.b64encode(cluster.reach.authority.pem).decode()
        renewer = cluster.reach.client(
            "system:serviceaccount:cwii-system:cwii-webhook-renewer", "system:serviceaccounts"
        )
        renewer.patch(f"{BASE}/secrets/cwii-webhook-ca", {"data": {"tls.key": "a2V5"}})
        renewer.patch(
            CONFIGURATION,
            [
                {"op": "add", "path": f"/webhooks/{each}/clientConfig/caBundle", "value": bundle}
                for each in range(3)
            ],
            "json",
        )

        for words in (
            ("upgrade", "webhook", str(CHART), helm.values({"replicas": 3, "timeoutSeconds": 4})),
            ("rollback", "webhook", "1"),
        ):
            helm.run(*words)

            entries = cluster.admin.get(CONFIGURATION)["webhooks"]
            assert cluster.admin.get(f"{BASE}/secrets/cwii-webhook-ca")["data"] == {
                "tls.key": "a2V5"
            }, words[0]
            assert [entry["clientConfig"].get("caBundle") for entry in entries] == [bundle] * 3, (
                words[0]
            )
            assert {entry["timeoutSeconds"] for entry in entries} == (
                {4} if words[0] == "upgrade" else {5}
            )

        helm.run("uninstall", "webhook")
        assert not cluster.admin.exists(CONFIGURATION)
        assert not cluster.admin.exists(
            "/apis/rbac.authorization.k8s.io/v1/clusterroles/cwii-webhook-renewer"
        )


def test_the_notes_say_what_is_next(helm: Helm) -> None:
    told = helm.run(
        "install",
        "any",
        str(CHART),
        "--dry-run=client",
        helm.values({"excludedNamespaces": ["calico-system"]}),
    )

    assert (
        "hears cwii in all namespaces but its own, kube-* and openshift-*, and calico-system"
        in told
    )
    assert found(
        read(told.partition("MANIFEST:")[2].partition("NOTES:")[0]), "Deployment"
    ) == installed("Deployment")
