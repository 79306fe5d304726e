"""What stands in the way of replicas is told in the words of whoever can mend it: the last word of `install-webhook`."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cwii_webhook.certificates import pki
from cwii_webhook.certificates.pki import Lifetime

from tests.cluster.life.user import DEPLOYMENT, HOME, User, space
from tests.cluster.traces import seen_within

pytestmark = [pytest.mark.soak, pytest.mark.timeout(600)]

SECOND = "second"
SOON = "--timeout=30s"


@pytest.fixture(scope="module", autouse=True)
def _sound(user: User) -> Iterator[None]:
    user.has()
    yield
    user.has()


@pytest.fixture(autouse=True)
def _at_work(user: User) -> Iterator[None]:
    """A rollout that is hindered leaves those who were there at work."""
    yield
    assert user.admin.get(DEPLOYMENT)["status"]["readyReplicas"] == 2


def test_a_quota(user: User) -> None:
    quota = f"/api/v1/namespaces/{HOME}/resourcequotas"
    user.admin.create(quota, {"metadata": {"name": "small"}, "spec": {"hard": {"pods": "2"}}})
    assert seen_within(
        30,
        lambda: (
            user.admin.get(f"{quota}/small").get("status", {}).get("used", {}).get("pods") == "2"
        ),
    )

    said = user.installs("--set=logLevel=debug", SOON)

    user.admin.delete(f"{quota}/small")
    assert said.code == 1, said
    assert "no pod can be made" in said
    assert "exceeded quota: small" in said


def test_an_image_that_is_nowhere(user: User) -> None:
    said = user.installs("--image=localhost/nowhere:1", SOON)

    assert said.code == 1, said
    assert "cannot get the image localhost/nowhere:1" in said
    assert "run the same command again" in said


def test_a_node_that_nobody_is(user: User) -> None:
    said = user.installs("--set=nodeSelector.kubernetes\\.io/hostname=nobody", SOON)

    assert said.code == 1, said
    assert "has no node: 0/1 nodes are available" in said


def test_a_webhook_that_does_not_start(user: User) -> None:
    """What it says itself is told: here that there is no such word."""
    said = user.installs("--set=arguments.cwii={--workers=0}", SOON)

    assert said.code != 0, said
    assert "--workers" in said


def test_a_program_that_ends(user: User) -> None:
    said = user.installs("--image=localhost/shell:1", SOON)

    assert said.code == 1, said
    assert "ends as soon as it has begun, with exit code" in said


@pytest.fixture
def stale(user: User) -> Iterator[Path]:
    """Values of a second installation, for whose certificate its user cares, and has not."""
    space(user, SECOND)
    life, then = (
        Lifetime(timedelta(hours=1), timedelta(minutes=1)),
        datetime.now(UTC) - timedelta(days=1),
    )
    authority = pki.create_authority(SECOND, Lifetime(timedelta(days=9), timedelta(days=1)), then)
    pair = pki.sign(pki.service_spec(SECOND, SECOND, life), authority, then)
    data = {"tls.crt": pair.certificate, "tls.key": pair.key}
    user.admin.create(
        f"/api/v1/namespaces/{SECOND}/secrets",
        {
            "metadata": {"name": "mine"},
            "type": "kubernetes.io/tls",
            "data": {key: b64encode(text).decode() for key, text in data.items()},
        },
    )
    certificates = {"by": "files", "secret": "mine", "ca": authority.certificate.decode()}
    file = user.kubeconfig.parent / "second.json"
    file.write_text(
        json.dumps(
            {
                "name": SECOND,
                "namespace": SECOND,
                "createNamespace": False,
                "dialects": ["eks"],
                "certificates": certificates,
            }
        )
    )
    yield file
    gone = user.says("uninstall-webhook", "--yes", "--name", SECOND)
    assert gone.code == 0, gone
    user.admin.delete(f"/api/v1/namespaces/{SECOND}")


def test_a_probe_and_its_answer(user: User, stale: Path) -> None:
    said = user.installs("--values", str(stale), SOON)

    assert said.code == 1, said
    assert "is not ready:" in said
    assert "the certificate of /tls/tls.crt has expired: replace the file" in said
