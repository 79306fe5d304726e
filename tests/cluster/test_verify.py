"""verify, with tokens that a real API server has signed with the key that cwiictl has made, as the issuer that the clouds were told."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.cluster.conftest import started
from tests.cluster.kube.cluster import Settings as ClusterSettings
from tests.cluster.kube.reach import Reach
from tests.journeys.ground import ISSUER, a_key, kid_of, private_pem
from tests.journeys.three import All, asked

ACCOUNTS = {
    "openshift-ingress-operator": ["ingress-operator"],
    "openshift-image-registry": ["registry", "cluster-image-registry-operator"],
}

EXCHANGES = {"sts:AssumeRoleWithWebIdentity", "sts.token"}


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Iterator[All]:
    with asked(tmp_path_factory.mktemp("work")) as ground:
        assert ground.create_all().code == 0
        yield ground


@contextmanager
def signing(ground: All, *flags: str, number: int = 0) -> Generator[tuple[Reach, Path]]:
    """A cluster with the ServiceAccounts of the requests, and how to reach it."""
    with started(ClusterSettings(flags=flags, signing_key=private_pem(a_key(number)))) as cluster:
        admin = cluster.reach.admin
        for namespace, accounts in ACCOUNTS.items():
            admin.create(
                "/api/v1/namespaces",
                {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}},
            )
            for account in accounts:
                body = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": account}}
                admin.create(f"/api/v1/namespaces/{namespace}/serviceaccounts", body)
        pair = cluster.reach.authority.client("admin", "system:masters")
        yield (
            cluster.reach,
            Path(
                cluster.reach.authority.kubeconfig(
                    ground.folder / "admin.conf", cluster.reach.urls[0], pair
                )
            ),
        )


def test_every_token_of_the_cluster_is_taken_by_every_cloud(ground: All) -> None:
    ground.fresh()
    with signing(ground, f"--service-account-issuer={ISSUER}") as (_, kubeconfig):
        done = ground.verify("--exchange", "--kubeconfig", kubeconfig)

    assert set(ground.asked()) >= EXCHANGES
    tokens = [each for each in done.data["findings"] if each["check"].startswith("token of")]
    assert (done.code, len(tokens), {each["severity"] for each in done.data["findings"]}) == (
        0,
        9,
        {"ok"},
    ), done.out


def test_a_cluster_that_signs_as_another_issuer_with_another_key_is_told_both_and_shows_no_token(
    ground: All,
) -> None:
    ground.fresh()
    with signing(ground, number=1) as (_, kubeconfig):
        done = ground.verify("--exchange", "--kubeconfig", kubeconfig)

    wrong = [each for each in done.data["findings"] if each["severity"] == "failed"]
    assert (done.code, {(each["thing"], each["check"]) for each in wrong}) == (
        3,
        {(f"issuer/{ISSUER}", "tokens of the cluster")},
    ), done.out
    assert [each["problem"].partition(",")[0] for each in wrong] == [
        "the cluster's tokens are of the issuer https://kubernetes.default.svc.cluster.local",
        f"the cluster signs with the key {kid_of(a_key(1))}",
    ]
    assert not EXCHANGES & set(ground.asked())


def test_a_service_account_that_is_not_there_is_named_and_the_others_are_shown(ground: All) -> None:
    with signing(ground, f"--service-account-issuer={ISSUER}") as (reach, kubeconfig):
        reach.admin.delete(
            "/api/v1/namespaces/openshift-ingress-operator/serviceaccounts/ingress-operator"
        )
        done = ground.verify("--exchange", "--kubeconfig", kubeconfig)

    wrong = [each for each in done.data["findings"] if each["severity"] != "ok"]
    assert (done.code, len(wrong)) == (1, 3), done.out
    assert {each["problem"] for each in wrong} == {
        "there is no ServiceAccount openshift-ingress-operator/ingress-operator"
    }
