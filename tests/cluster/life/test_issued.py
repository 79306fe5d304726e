"""With certificates that another makes: installed in one go, it serves with them and is believed, and goes with them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from cwii_webhook.certificates import pki

from tests.cluster.conftest import skipped_where_missing
from tests.cluster.definitions import CERT_MANAGER, definitions, serve
from tests.cluster.issuing import LIFE, at_work, cert_manager, service_ca
from tests.cluster.life.calling import load
from tests.cluster.life.user import HOME, NAME, User

pytestmark = [pytest.mark.soak, pytest.mark.timeout(600)]

DEFINED = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
WAYS = {
    "cert-manager": cert_manager,
    "service-ca": service_ca(pki.create_authority("service-ca", LIFE, datetime.now(UTC))),
}


@pytest.fixture(scope="module", autouse=True)
def _defined(user: User) -> Iterator[None]:
    with skipped_where_missing():
        bodies = list(definitions(CERT_MANAGER))
    serve(user.cluster, *bodies)
    yield
    for body in bodies:
        user.admin.delete(f"{DEFINED}/{body['metadata']['name']}")


@pytest.fixture
def none(user: User) -> Iterator[User]:
    user.has_none()
    yield user
    user.has_none()


@pytest.mark.parametrize("way", WAYS)
def test_certificates_of_another_maker_are_served_and_believed(none: User, way: str) -> None:
    by = f"--set=certificates.by={way}"

    with at_work(none.admin, WAYS[way]):
        none.has(by)
        with load(none) as pods:
            none.has(by, "--set=logLevel=debug")
        before = len(none.wrote())
        said = none.installs(by, "--set=logLevel=debug")

        assert said.code == 0, said
        assert none.wrote(before) == []
        assert (pods.failed, pods.bare) == ([], [])
        (bundle,) = none.bundles()
        secret = none.admin.get(f"/api/v1/namespaces/{HOME}/secrets/{NAME}-serving")
        assert bundle
        assert secret["metadata"].get("labels", {}).get("app.kubernetes.io/managed-by") != "cwiictl"
        told = none.says("status", "--webhook")
        assert told.code == 0, told
        none.has_none()

    assert not none.admin.exists(f"/api/v1/namespaces/{HOME}")
