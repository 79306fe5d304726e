"""Whether API servers believe what is served, by real certificates."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from cwiictl.install.believed import bundled, certificate
from tests.webhook.certificates.authority import Authority

LATER = 4_000_000_000.0


@pytest.fixture
def authority() -> Authority:
    return Authority("cwii-webhook 1a2b")


def a_secret(authority: Authority) -> dict[str, Any]:
    return {"data": {"tls.crt": base64.b64encode(authority.sign("webhook")[0]).decode()}}


def a_configuration(*bundles: bytes) -> dict[str, Any]:
    clients = [
        {"caBundle": base64.b64encode(bundle).decode()} if bundle else {} for bundle in bundles
    ]
    return {
        "webhooks": [
            {"name": f"{number}.cwii.dev", "failurePolicy": "Ignore", "clientConfig": client}
            for number, client in enumerate(clients)
        ]
    }


def test_a_certificate_says_when_it_ends_and_whose_it_is(authority: Authority) -> None:
    found = certificate(a_secret(authority), 0.0)

    assert found.word == "as wanted"
    assert found.remarks[0].startswith("ends 20")
    assert found.remarks[1] == "of the CA cwii-webhook 1a2b"


def test_one_that_has_ended_has_failed_and_none_is_missing(authority: Authority) -> None:
    assert certificate(a_secret(authority), LATER).word == "failed"
    assert "renew-certificates" in certificate(a_secret(authority), LATER).remedy
    assert {
        certificate(secret, 0.0).word for secret in (None, {}, {"data": {"tls.crt": "YQ=="}})
    } == {"missing"}


def test_a_bundle_with_the_ca_is_as_wanted_also_beside_another(authority: Authority) -> None:
    other = Authority("other")

    assert (
        bundled(a_configuration(authority.pem, other.pem + authority.pem), a_secret(authority)).word
        == "as wanted"
    )


def test_a_stale_bundle_is_drift_of_the_entry_that_has_it(authority: Authority) -> None:
    other = Authority("other")

    for stale in (other.pem, b"", b"nonsense"):
        found = bundled(a_configuration(authority.pem, stale), a_secret(authority))

        assert found.word == "drifted"
        assert found.remarks[-1].startswith("the caBundle of 1.cwii.dev has not the CA")


def test_without_a_configuration_nobody_is_asked(authority: Authority) -> None:
    assert bundled(None, a_secret(authority)).word == "missing"
