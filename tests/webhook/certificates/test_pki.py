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
from cwii_webhook.certificates.checks import (
    authority_problem,
    is_signed_by,
    renewal_reason,
    renewal_time,
    serving_problem,
)
from cwii_webhook.certificates.pem import KeyPair
from cwii_webhook.certificates.pki import (
    InvalidKeyPair,
    Lifetime,
    client_spec,
    create_authority,
    earliest_expiry,
    first_der,
    merge_bundles,
    parse_certificates,
    service_spec,
    sidecar_spec,
    sign,
)
from hypothesis import given
from hypothesis import strategies as st

from tests.webhook.certificates.hypershift import pkcs1, rsa_authority

NOW = datetime.now(UTC).replace(microsecond=0)
DAY, MINUTE = timedelta(days=1), timedelta(minutes=1)
LIFE, CA_LIFE = Lifetime(90 * DAY, 30 * DAY), Lifetime(3650 * DAY, 1200 * DAY)
WISH = service_spec("cwii-webhook", "cwii-system", LIFE)
CA = create_authority("cwii-webhook", CA_LIFE, NOW)
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
    pair = sign(WISH, CA, NOW)

    assert believed(pair, CA.certificate, name)
    assert not believed(pair, CA.certificate, "other.cwii-system.svc")
    assert not believed(pair, create_authority("cwii-webhook", CA_LIFE, NOW).certificate, name)


def test_an_authority_and_the_next_are_told_apart_and_either_may_stand_first_in_a_bundle() -> None:
    following = create_authority("cwii-webhook", CA_LIFE, NOW)
    old, new = sign(WISH, CA, NOW), sign(WISH, following, NOW)

    assert (
        parse_certificates(CA.certificate)[0].subject
        != parse_certificates(following.certificate)[0].subject
    )
    for both in (
        merge_bundles(CA.certificate, following.certificate),
        merge_bundles(following.certificate, CA.certificate),
    ):
        assert believed(old, both, "cwii-webhook")
        assert believed(new, both, "cwii-webhook")


def test_a_client_of_an_rsa_authority_may_be_called_by_more_than_sixty_four_letters() -> None:
    groups = ("system:serviceaccounts", "system:serviceaccounts:openshift-authentication")
    wish = client_spec(ACCOUNT, groups, LIFE)

    pair = sign(wish, RSA_CA, NOW)

    assert len(ACCOUNT) > 64
    assert renewal_reason(pair, wish, RSA_CA.certificate, NOW) == ""
    assert believed(sign(sidecar_spec(LIFE), RSA_CA, NOW), RSA_CA.certificate, "127.0.0.1", pair)
    assert not believed(
        sign(sidecar_spec(LIFE), RSA_CA, NOW),
        RSA_CA.certificate,
        "127.0.0.1",
        sign(WISH, RSA_CA, NOW),
    ), "it serves, and is no client"
    people = [
        (each.oid, each.value) for each in pki.subject_name(parse_certificates(pair.certificate)[0])
    ]
    assert people == [
        *((NameOID.ORGANIZATION_NAME, group) for group in groups),
        (NameOID.COMMON_NAME, ACCOUNT),
    ]


def test_a_sidecar_s_pair_is_what_hypershift_reads_and_lasts_to_the_second() -> None:
    wish = sidecar_spec(Lifetime(365 * DAY, 30 * DAY))

    pair = sign(wish, RSA_CA, NOW)

    (certificate,) = parse_certificates(pair.certificate)
    assert pair.key.startswith(b"-----BEGIN RSA PRIVATE KEY-----")
    assert certificate.not_valid_after_utc - certificate.not_valid_before_utc == 365 * DAY
    assert (
        renewal_reason(
            pair,
            wish,
            RSA_CA.certificate,
            certificate.not_valid_after_utc - 30 * DAY - timedelta(seconds=1),
        )
        == ""
    )
    assert "it ends at" in renewal_reason(
        pair, wish, RSA_CA.certificate, certificate.not_valid_after_utc - 30 * DAY
    )


def test_a_pair_that_hypershift_made_stays() -> None:
    """Its key's name is another than we would give it, and all that counts is the same."""
    key, signer = rsa.generate_private_key(65537, 2048), parse_certificates(RSA_CA.certificate)[0]
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    builder = x509.CertificateBuilder(
        signer.subject, name, key.public_key(), 7, NOW, NOW + 365 * DAY
    )
    builder = builder.add_extension(pki.key_usage(enciphers_keys=True), critical=True)
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
    _, signs = pki.parse_key_pair(RSA_CA)
    pair = KeyPair(builder.sign(signs, hashes.SHA256()).public_bytes(Encoding.PEM), pkcs1(key))

    assert (
        renewal_reason(pair, sidecar_spec(Lifetime(365 * DAY, 30 * DAY)), RSA_CA.certificate, NOW)
        == ""
    )
    assert (
        renewal_reason(
            pair, sidecar_spec(Lifetime(365 * DAY, 30 * DAY)), rsa_authority().certificate, NOW
        )
        == "it is of another authority"
    )


@given(
    lasts=st.timedeltas(MINUTE, 3000 * DAY), share=st.floats(0.05, 0.8), passed=st.floats(0.0, 1.2)
)
def test_it_stays_until_it_is_due_and_is_made_anew_from_then_on(
    lasts: timedelta, share: float, passed: float
) -> None:
    life = Lifetime(lasts, lasts * share)
    wish = replace(WISH, lifetime=life)
    pair, then = sign(wish, CA, NOW), NOW + lasts * passed

    assert renewal_reason(pair, wish, CA.certificate, NOW) == "" or share > 0.89
    assert (renewal_reason(pair, wish, CA.certificate, then) != "") == (
        then >= renewal_time(pair.certificate, life)
    )


@given(lasts=st.timedeltas(MINUTE, 30 * DAY))
def test_nothing_outlives_whom_it_is_of_and_that_alone_is_no_fault(lasts: timedelta) -> None:
    short = create_authority("short", Lifetime(lasts, lasts / 2), NOW)

    pair = sign(WISH, short, NOW)

    assert earliest_expiry(pair.certificate) == earliest_expiry(short.certificate)
    assert "another time" not in renewal_reason(pair, WISH, short.certificate, NOW)


def test_a_life_of_two_minutes_has_begun_already_for_whoever_is_some_seconds_behind() -> None:
    life = Lifetime(2 * MINUTE, MINUTE / 2)
    pair = sign(replace(WISH, lifetime=life), CA, NOW)

    assert serving_problem(pair, NOW - timedelta(seconds=10)) == ""
    assert serving_problem(pair, NOW - MINUTE).startswith("it begins at")
    assert serving_problem(pair, NOW + 2 * MINUTE).startswith("it ended at")


@pytest.mark.parametrize(
    ("wish", "why"),
    [
        (service_spec("other", "cwii-system", LIFE), "it is of somebody else"),
        (replace(WISH, dns_names=("cwii-webhook.elsewhere.svc",)), "it is for other names"),
        (replace(WISH, ip_addresses=()), "it is for other names"),
        (replace(WISH, client_auth=True), "it is for other usages"),
        (replace(WISH, use_rsa=True), "it is for other usages"),
        (replace(WISH, groups=("g",)), "it is of somebody else"),
        (
            replace(WISH, lifetime=Lifetime(89 * DAY, 30 * DAY)),
            "it was made for another time than 2136h",
        ),
    ],
)
def test_what_is_not_as_it_is_wanted_is_said(wish: pki.CertificateSpec, why: str) -> None:
    assert renewal_reason(sign(WISH, CA, NOW), wish, CA.certificate, NOW) == why


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
        (sign(WISH, CA, NOW), "its certificate is no authority's"),
    ],
)
def test_what_cannot_sign_is_said_and_signs_nothing(pair: KeyPair, why: str) -> None:
    assert authority_problem(pair, NOW) == why
    if "authority" not in why:
        with pytest.raises(InvalidKeyPair, match=why[:20]):
            sign(WISH, pair, NOW)


def test_whose_it_is_is_told_by_the_signature_and_not_by_the_name() -> None:
    pair = sign(WISH, RSA_CA, NOW)

    assert is_signed_by(pair.certificate, merge_bundles(CA.certificate, RSA_CA.certificate))
    assert not is_signed_by(pair.certificate, rsa_authority().certificate), "it is called just so"


def test_a_bundle_has_each_once_and_nothing_that_is_none() -> None:
    broken = CA.certificate.replace(b"M", b"!", 3)

    assert (
        merge_bundles(
            CA.certificate,
            b"# whose it is\n" + RSA_CA.certificate,
            broken,
            CA.certificate,
            b"nonsense",
        )
        == CA.certificate + RSA_CA.certificate
    )
    assert (first_der(b"nonsense"), earliest_expiry(b"")) == (b"", None)


def test_nobody_sees_a_key_by_printing_a_pair() -> None:
    assert "KEY" not in f"{CA} {CA!r}"
