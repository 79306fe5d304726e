"""Certificates of our own making: OpenSSL believes them, and what is wrong with one is said."""

from __future__ import annotations

import contextlib
import ipaddress
import ssl
import tempfile
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID
from cwii_webhook.certificates import pki
from cwii_webhook.certificates.checks import due, fault, of, unfit, worthless
from cwii_webhook.certificates.pem import KeyPair
from cwii_webhook.certificates.pki import (
    BadPair,
    Lifetime,
    authority,
    bundle,
    certificates,
    der,
    ends,
    service,
    sidecar,
    signed,
    user,
)
from hypothesis import given
from hypothesis import strategies as st

from tests.webhook.certificates.hypershift import pkcs1, rsa_authority

NOW = datetime.now(UTC).replace(microsecond=0)
DAY, MINUTE = timedelta(days=1), timedelta(minutes=1)
LIFE, CA_LIFE = Lifetime(90 * DAY, 30 * DAY), Lifetime(3650 * DAY, 1200 * DAY)
WISH = service("cwii-webhook", "cwii-system", LIFE)
CA = authority("cwii-webhook", CA_LIFE, NOW)
ACCOUNT = "system:serviceaccount:openshift-authentication:azure-workload-identity-webhook"


RSA_CA = rsa_authority()


def shown(pair: KeyPair, side: int) -> ssl.SSLContext:
    context = ssl.SSLContext(side)
    with tempfile.NamedTemporaryFile() as file:
        file.write(pair.key + pair.certificate)
        file.flush()
        context.load_cert_chain(file.name)
    return context


def believed(server: KeyPair, trusted: bytes, name: str, client: KeyPair | None = None) -> bool:
    """By OpenSSL at its strictest, in a handshake."""
    serving = shown(server, ssl.PROTOCOL_TLS_SERVER)
    asking = (
        shown(client, ssl.PROTOCOL_TLS_CLIENT)
        if client
        else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    )
    for context in (serving, asking):
        context.verify_flags |= ssl.VERIFY_X509_STRICT
        context.load_verify_locations(cadata=trusted.decode())
    if client:
        serving.verify_mode = ssl.CERT_REQUIRED
    there, back = ssl.MemoryBIO(), ssl.MemoryBIO()
    one, other = (
        asking.wrap_bio(back, there, server_hostname=name),
        serving.wrap_bio(there, back, server_side=True),
    )
    try:
        for side in (one, other, one, other):
            with contextlib.suppress(ssl.SSLWantReadError):
                side.do_handshake()
    except ssl.SSLCertVerificationError:
        return False
    return True


@pytest.mark.parametrize("name", ["cwii-webhook.cwii-system.svc", "cwii-webhook", "127.0.0.1"])
def test_api_servers_believe_it_under_the_names_of_its_service_and_on_the_loopback(
    name: str,
) -> None:
    pair = signed(WISH, CA, NOW)

    assert believed(pair, CA.certificate, name)
    assert not believed(pair, CA.certificate, "other.cwii-system.svc")
    assert not believed(pair, authority("cwii-webhook", CA_LIFE, NOW).certificate, name)


def test_an_authority_and_the_next_are_told_apart_and_either_may_stand_first_in_a_bundle() -> None:
    following = authority("cwii-webhook", CA_LIFE, NOW)
    old, new = signed(WISH, CA, NOW), signed(WISH, following, NOW)

    assert certificates(CA.certificate)[0].subject != certificates(following.certificate)[0].subject
    for both in (
        bundle(CA.certificate, following.certificate),
        bundle(following.certificate, CA.certificate),
    ):
        assert believed(old, both, "cwii-webhook")
        assert believed(new, both, "cwii-webhook")


def test_a_client_of_an_rsa_authority_may_be_called_by_more_than_sixty_four_letters() -> None:
    groups = ("system:serviceaccounts", "system:serviceaccounts:openshift-authentication")
    wish = user(ACCOUNT, groups, LIFE)

    pair = signed(wish, RSA_CA, NOW)

    assert len(ACCOUNT) > 64
    assert fault(pair, wish, RSA_CA.certificate, NOW) == ""
    assert believed(signed(sidecar(LIFE), RSA_CA, NOW), RSA_CA.certificate, "127.0.0.1", pair)
    assert not believed(
        signed(sidecar(LIFE), RSA_CA, NOW),
        RSA_CA.certificate,
        "127.0.0.1",
        signed(WISH, RSA_CA, NOW),
    ), "it serves, and is no client"
    people = [(each.oid, each.value) for each in pki.subject(certificates(pair.certificate)[0])]
    assert people == [
        *((NameOID.ORGANIZATION_NAME, group) for group in groups),
        (NameOID.COMMON_NAME, ACCOUNT),
    ]


def test_a_sidecar_s_pair_is_what_hypershift_reads_and_lasts_to_the_second() -> None:
    wish = sidecar(Lifetime(365 * DAY, 30 * DAY))

    pair = signed(wish, RSA_CA, NOW)

    (certificate,) = certificates(pair.certificate)
    assert pair.key.startswith(b"-----BEGIN RSA PRIVATE KEY-----")
    assert certificate.not_valid_after_utc - certificate.not_valid_before_utc == 365 * DAY
    assert (
        fault(
            pair,
            wish,
            RSA_CA.certificate,
            certificate.not_valid_after_utc - 30 * DAY - timedelta(seconds=1),
        )
        == ""
    )
    assert "it ends at" in fault(
        pair, wish, RSA_CA.certificate, certificate.not_valid_after_utc - 30 * DAY
    )


def test_a_pair_that_hypershift_made_stays() -> None:
    """Its key's name is another than we would give it, and all that counts is the same."""
    key, signer = rsa.generate_private_key(65537, 2048), certificates(RSA_CA.certificate)[0]
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    builder = x509.CertificateBuilder(
        signer.subject, name, key.public_key(), 7, NOW, NOW + 365 * DAY
    )
    builder = builder.add_extension(pki.usage(enciphers=True), critical=True)
    builder = builder.add_extension(
        x509.ExtendedKeyUsage([ExtendedKeyUsageOID.CLIENT_AUTH, ExtendedKeyUsageOID.SERVER_AUTH]),
        critical=False,
    )
    builder = builder.add_extension(
        x509.BasicConstraints(ca=False, path_length=None), critical=True
    )
    builder = builder.add_extension(x509.SubjectKeyIdentifier(bytes(64)), critical=False)
    builder = builder.add_extension(
        x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]),
        critical=False,
    )
    _, signs = pki.read(RSA_CA)
    pair = KeyPair(builder.sign(signs, hashes.SHA256()).public_bytes(Encoding.PEM), pkcs1(key))

    assert fault(pair, sidecar(Lifetime(365 * DAY, 30 * DAY)), RSA_CA.certificate, NOW) == ""
    assert (
        fault(pair, sidecar(Lifetime(365 * DAY, 30 * DAY)), rsa_authority().certificate, NOW)
        == "it is of another authority"
    )


@given(
    lasts=st.timedeltas(MINUTE, 3000 * DAY), share=st.floats(0.05, 0.8), passed=st.floats(0.0, 1.2)
)
def test_it_stays_until_it_is_due_and_is_made_anew_from_then_on(
    lasts: timedelta, share: float, passed: float
) -> None:
    life = Lifetime(lasts, lasts * share)
    wish = replace(WISH, life=life)
    pair, then = signed(wish, CA, NOW), NOW + lasts * passed

    assert fault(pair, wish, CA.certificate, NOW) == "" or share > 0.89
    assert (fault(pair, wish, CA.certificate, then) != "") == (then >= due(pair.certificate, life))


@given(lasts=st.timedeltas(MINUTE, 30 * DAY))
def test_nothing_outlives_whom_it_is_of_and_that_alone_is_no_fault(lasts: timedelta) -> None:
    short = authority("short", Lifetime(lasts, lasts / 2), NOW)

    pair = signed(WISH, short, NOW)

    assert ends(pair.certificate) == ends(short.certificate)
    assert "another time" not in fault(pair, WISH, short.certificate, NOW)


def test_a_life_of_two_minutes_has_begun_already_for_whoever_is_some_seconds_behind() -> None:
    life = Lifetime(2 * MINUTE, MINUTE / 2)
    pair = signed(replace(WISH, life=life), CA, NOW)

    assert worthless(pair, NOW - timedelta(seconds=10)) == ""
    assert worthless(pair, NOW - MINUTE).startswith("it begins at")
    assert worthless(pair, NOW + 2 * MINUTE).startswith("it ended at")


@pytest.mark.parametrize(
    ("wish", "why"),
    [
        (service("other", "cwii-system", LIFE), "it is of somebody else"),
        (replace(WISH, dns=("cwii-webhook.elsewhere.svc",)), "it is for other names"),
        (replace(WISH, addresses=()), "it is for other names"),
        (replace(WISH, calls=True), "it is for other usages"),
        (replace(WISH, rsa=True), "it is for other usages"),
        (replace(WISH, groups=("g",)), "it is of somebody else"),
        (
            replace(WISH, life=Lifetime(89 * DAY, 30 * DAY)),
            "it was made for another time than 2136h",
        ),
    ],
)
def test_what_is_not_as_it_is_wanted_is_said(wish: pki.CertificateSpec, why: str) -> None:
    assert fault(signed(WISH, CA, NOW), wish, CA.certificate, NOW) == why


@pytest.mark.parametrize(
    ("pair", "why"),
    [
        (KeyPair(b"", b""), "there is none"),
        (KeyPair(b"nonsense", CA.key), "there is no certificate in it"),
        (
            KeyPair(CA.certificate, b"nonsense"),
            "its key cannot be read: it must be PEM, and not encrypted",
        ),
        (KeyPair(CA.certificate, RSA_CA.key), "certificate and key do not belong together"),
        (signed(WISH, CA, NOW), "its certificate is no authority's"),
    ],
)
def test_what_cannot_sign_is_said_and_signs_nothing(pair: KeyPair, why: str) -> None:
    assert unfit(pair, NOW) == why
    if "authority" not in why:
        with pytest.raises(BadPair, match=why[:20]):
            signed(WISH, pair, NOW)


def test_whose_it_is_is_told_by_the_signature_and_not_by_the_name() -> None:
    pair = signed(WISH, RSA_CA, NOW)

    assert of(pair.certificate, bundle(CA.certificate, RSA_CA.certificate))
    assert not of(pair.certificate, rsa_authority().certificate), "it is called just so"


def test_a_bundle_has_each_once_and_nothing_that_is_none() -> None:
    broken = CA.certificate.replace(b"M", b"!", 3)

    assert (
        bundle(
            CA.certificate,
            b"# whose it is\n" + RSA_CA.certificate,
            broken,
            CA.certificate,
            b"nonsense",
        )
        == CA.certificate + RSA_CA.certificate
    )
    assert (der(b"nonsense"), ends(b"")) == (b"", None)


def test_nobody_sees_a_key_by_printing_a_pair() -> None:
    assert "KEY" not in f"{CA} {CA!r}"
