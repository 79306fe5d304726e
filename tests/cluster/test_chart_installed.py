"""The chart on a real node, by the real helm: one command, and it serves with a certificate that nobody made by hand."""

from __future__ import annotations

import base64
from collections.abc import Iterator

import pytest

from tests.cluster.conftest import started
from tests.cluster.helming import Helm
from tests.cluster.imaged import IMAGE, saved
from tests.cluster.kube.client import Client, Object
from tests.cluster.kube.cluster import Cluster, Settings
from tests.cluster.life.calling import REQUIRED, ROLE
from tests.cluster.load import Load
from tests.cluster.space import Space
from tests.cluster.traces import seen_within
from tests.cwiictl.install.chart_files import CHART

pytestmark = [pytest.mark.soak, pytest.mark.timeout(900)]

BASE = "/api/v1/namespaces/cwii-system"
DEPLOYMENT = "/apis/apps/v1/namespaces/cwii-system/deployments/cwii-webhook"
JOBS = "/apis/batch/v1/namespaces/cwii-system/jobs"
CONFIGURATION = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/cwii-webhook"


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with started(Settings(node=True, images=(saved(tmp_path_factory.mktemp("image")),))) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def helm(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Helm:
    folder = tmp_path_factory.mktemp("helm")
    admin = cluster.reach.authority.client("admin", "system:masters")
    return Helm(
        folder,
        cluster.reach.authority.kubeconfig(folder / "kubeconfig", cluster.reach.urls[0], admin),
    )


def bundles(admin: Client) -> set[str]:
    return {
        entry["clientConfig"].get("caBundle", "") for entry in admin.get(CONFIGURATION)["webhooks"]
    }


def authority(admin: Client) -> Object:
    return admin.get(f"{BASE}/secrets/cwii-webhook-ca")["data"]


def test_helm_waits_until_it_serves_with_its_first_certificate(
    cluster: Cluster, helm: Helm
) -> None:
    helm.run(
        "install",
        "webhook",
        str(CHART),
        helm.values({"image": IMAGE}),
        "--wait",
        "--wait-for-jobs",
        "--timeout=5m",
    )

    admin = cluster.admin
    (job,) = admin.list(JOBS)
    (bundle,) = bundles(admin)
    assert admin.get(DEPLOYMENT)["status"]["readyReplicas"] == 2
    assert job["status"]["succeeded"] == 1
    assert bundle == admin.get(f"{BASE}/secrets/cwii-webhook-serving")["data"]["ca.crt"]


def test_upgrade_and_rollback_keep_the_authority(cluster: Cluster, helm: Helm) -> None:
    admin = cluster.admin
    before = authority(admin), bundles(admin)
    values = helm.values({"image": IMAGE, "logLevel": "debug", "failurePolicy": "Fail"})

    for words in (("upgrade", "webhook", str(CHART), values), ("rollback", "webhook", "1")):
        helm.run(*words, "--wait", "--timeout=5m")

        assert (authority(admin), bundles(admin)) == before, words[0]
        assert "--log-level=debug" in str(admin.get(DEPLOYMENT)) or words[0] == "rollback"


def test_a_dialect_that_joins_has_its_bundle_at_once(cluster: Cluster, helm: Helm) -> None:
    before = bundles(cluster.admin)

    helm.run(
        "upgrade",
        "webhook",
        str(CHART),
        helm.values({"image": IMAGE, "dialects": ["cwii", "eks"]}),
        "--wait",
        "--wait-for-jobs",
        "--timeout=5m",
    )

    assert len(cluster.admin.get(CONFIGURATION)["webhooks"]) == 5
    assert seen_within(60, lambda: bundles(cluster.admin) == before)


def test_a_pod_is_given_its_identity(cluster: Cluster, helm: Helm) -> None:
    del helm
    says = {
        "cwii.dev/aws-inject": "true",
        "cwii.dev/aws-role-arn": "arn:aws:iam::123456789012:role/shop",
    }
    pod = {
        "metadata": {"generateName": "p-", "annotations": says},
        "spec": {"containers": [{"name": "c", "image": "c"}]},
    }

    def given() -> bool:
        made = cluster.admin.create("/api/v1/namespaces/default/pods?dryRun=All", pod)
        return any(volume["name"] == "cwii-aws-token" for volume in made["spec"]["volumes"])

    assert seen_within(30, given)


def test_an_upgrade_in_the_middle_of_a_renewal_refuses_no_pod(cluster: Cluster, helm: Helm) -> None:
    """Of an authority: there are two, and pairs of both, when replicas are replaced by others."""
    long = {"certificates": {"caValidity": "300000h"}}  # so that the one that is there is due
    helm.run(
        "upgrade",
        "webhook",
        str(CHART),
        helm.values({"image": IMAGE}),
        "--wait",
        "--wait-for-jobs",
        "--timeout=5m",
    )
    space = Space(cluster.reach, labels=REQUIRED).account(ROLE)
    (before,) = bundles(cluster.admin)

    with Load(space, 8, dry=True) as pods:
        helm.run("upgrade", "webhook", str(CHART), helm.values({"image": IMAGE, **long}))
        assert seen_within(120, lambda: min(map(overlapping, bundles(cluster.admin))) == 2)
        helm.run(
            "upgrade",
            "webhook",
            str(CHART),
            helm.values({"image": IMAGE, **long, "logLevel": "debug"}),
            "--wait",
            "--wait-for-jobs",
            "--timeout=8m",
        )
        assert seen_within(180, lambda: max(map(overlapping, bundles(cluster.admin))) == 1)

    (after,) = bundles(cluster.admin)
    assert (pods.failed, pods.bare) == ([], [])
    assert pods.created > 100
    assert (
        after
        == cluster.admin.get(f"{BASE}/secrets/cwii-webhook-serving")["data"]["ca.crt"]
        != before
    )
    assert "--log-level=debug" in str(cluster.admin.list(f"{BASE}/pods"))
    cluster.admin.delete(f"/api/v1/namespaces/{space.name}")


def overlapping(bundle: str) -> int:
    return base64.b64decode(bundle).count(b"BEGIN CERTIFICATE")


def test_nothing_of_it_is_left(cluster: Cluster, helm: Helm) -> None:
    helm.run("uninstall", "webhook", "--wait", "--timeout=5m")

    assert not cluster.admin.exists(CONFIGURATION)
    assert seen_within(120, lambda: not cluster.admin.exists(BASE))
