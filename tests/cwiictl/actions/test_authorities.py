"""When a sidecar's certificates stay, and when they are made anew; and by whom they may be signed."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cwii_webhook.certificates import pki
from cwii_webhook.certificates.pem import KeyPair

from cwiictl.actions.authorities import LIFE, Source, certified, signer
from cwiictl.errors import BadInput
from cwiictl.install.sidecar.secrets import CRT, KEY
from cwiictl.install.sidecar.sidecar import Sidecar, flavour, sidecar
from tests.cwiictl.install.installed import some
from tests.webhook.certificates.hypershift import rsa_authority

NOW, DAY = datetime.now(UTC), timedelta(days=1)
ROOT, CLIENT = rsa_authority(), rsa_authority()
AZURE = sidecar(
    Sidecar(some(dialects=["azwi"], azure={"tenantId": "t"}), flavour("azure"), "clusters-shop")
)
SERVES, ASKS = pki.sidecar_spec(LIFE), pki.client_spec(*AZURE.user, LIFE)


def after(pair: KeyPair, name: str) -> tuple[KeyPair, tuple[str, ...]]:
    """What another run makes of it."""
    made, told = certified(AZURE, ROOT, CLIENT, {name: {CRT: pair.certificate, KEY: pair.key}})
    return (made.serving if name == AZURE.serving else made.client), told


def aged(wish: pki.CertificateSpec, by: KeyPair, left: int) -> KeyPair:
    """With so many days left of its year."""
    return pki.sign(wish, by, NOW - (365 - left) * DAY)


@pytest.mark.parametrize(
    ("name", "wish", "by"), [(AZURE.serving, SERVES, ROOT), (AZURE.kubeconfig, ASKS, CLIENT)]
)
@pytest.mark.parametrize(("left", "stays"), [(31, True), (29, False)])
def test_it_is_made_anew_from_thirty_days_before_its_end(
    name: str, wish: pki.CertificateSpec, by: KeyPair, left: int, stays: bool
) -> None:  # a column
    old = aged(wish, by, left)

    new, told = after(old, name)

    assert (new == old) is stays
    assert bool(told) is not stays
    assert after(new, name) == (new, ())


@pytest.mark.parametrize(
    ("pair", "why"),
    [
        (pki.sign(SERVES, rsa_authority(), NOW), "it is of another authority"),
        (pki.sign(replace(SERVES, client_auth=False), ROOT, NOW), "it is for other usages"),
        (
            pki.sign(replace(SERVES, ip_addresses=("127.0.0.2",)), ROOT, NOW),
            "it is for other names",
        ),
        (pki.sign(replace(SERVES, name="other"), ROOT, NOW), "it is of somebody else"),
        (
            pki.sign(replace(SERVES, lifetime=replace(LIFE, duration=90 * DAY)), ROOT, NOW),
            "it was made for another time",
        ),
        (replace(pki.sign(SERVES, ROOT, NOW), key=CLIENT.key), "do not belong together"),
    ],
)
def test_what_is_not_as_it_should_be_is_made_anew_and_it_is_said_why(
    pair: KeyPair, why: str
) -> None:
    new, (told,) = after(pair, AZURE.serving)

    assert new != pair
    assert told.startswith("the certificate that it shows is made anew: ")
    assert why in told


def test_whatever_is_of_a_ca_that_ends_soon_ends_with_it_and_is_not_made_anew_at_every_run() -> (
    None
):
    ends = pki.create_authority("short", replace(LIFE, duration=20 * DAY), NOW)
    first, _ = certified(AZURE, ends, CLIENT, {})

    again, told = certified(
        AZURE,
        ends,
        CLIENT,
        {AZURE.serving: {CRT: first.serving.certificate, KEY: first.serving.key}},
    )

    assert (again.serving, told) == (first.serving, ())
    assert pki.earliest_expiry(first.serving.certificate) == pki.earliest_expiry(ends.certificate)


def test_the_first_ones_are_worth_no_word() -> None:
    assert certified(AZURE, ROOT, CLIENT, {})[1] == ()


def test_its_user_has_a_name_of_more_than_sixty_four_letters() -> None:
    made, _ = certified(AZURE, ROOT, CLIENT, {})
    (certificate,) = pki.parse_certificates(made.client.certificate)

    user = [str(each.value) for each in pki.subject_name(certificate)][-1]

    assert user == "system:serviceaccount:openshift-authentication:azure-workload-identity-webhook"
    assert len(user) == 78


def test_a_ca_in_files_has_its_key_beside_it(tmp_path: Path) -> None:
    (tmp_path / "ca.crt").write_bytes(ROOT.certificate)
    with pytest.raises(BadInput, match=r"the CA's key .*ca\.key cannot be read"):
        signer(Source(tmp_path / "ca.crt"), None, "")
    (tmp_path / "ca.key").write_bytes(ROOT.key)

    assert signer(Source(tmp_path / "ca.crt"), None, "") == ROOT


@pytest.mark.parametrize(
    ("pair", "why"),
    [
        (pki.sign(SERVES, ROOT, NOW), "its certificate is no authority's"),
        (replace(ROOT, key=CLIENT.key), "certificate and key do not belong together"),
        (pki.create_authority("old", replace(LIFE, duration=DAY), NOW - 9 * DAY), "it ended at"),
    ],
)
def test_what_cannot_sign_is_said_before_anything_is_written(
    tmp_path: Path, pair: KeyPair, why: str
) -> None:
    (tmp_path / "ca.crt").write_bytes(pair.certificate)
    (tmp_path / "ca.key").write_bytes(pair.key)

    with pytest.raises(BadInput, match=f"nothing can be signed: {why}"):
        signer(Source(tmp_path / "ca.crt"), None, "")
