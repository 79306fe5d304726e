"""OpenSSL accepts the certificates of `pki`, and `checks` explains what is wrong with others."""

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
LIFETIME, CA_LIFETIME = Lifetime(90 * DAY, 30 * DAY), Lifetime(3650 * DAY, 1200 * DAY)
SPEC = service_spec("cwii-webhook", "cwii-system", LIFETIME)
CA = create_authority("cwii-webhook", CA_LIFETIME, NOW)
USER = "system:serviceaccount:openshift-authentication:azure-workload-identity-webhook"


RSA_CA = rsa_authority()


def tls_context(pair: KeyPair, side: int) -> ssl.SSLContext:
    context = ssl.SSLContext(side)
    with tempfile.NamedTemporaryFile() as file:
        file.write(pair.key + pair.certificate)
        file.flush()
        context.load_cert_chain(file.name)
    return context


def is_accepted(server: KeyPair, trusted: bytes, name: str, client: KeyPair | None = None) -> bool:
    """Does a handshake in memory with the strictest checks of OpenSSL."""
    serving = tls_context(server, ssl.PROTOCOL_TLS_SERVER)
    connecting = (
        tls_context(client, ssl.PROTOCOL_TLS_CLIENT)
        if client
        else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    )
    for context in (serving, connecting):
        context.verify_flags |= ssl.VERIFY_X509_STRICT
        context.load_verify_locations(cadata=trusted.decode())
    if client:
        serving.verify_mode = ssl.CERT_REQUIRED
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    client_side, server_side = (
        connecting.wrap_bio(to_client, to_server, server_hostname=name),
        serving.wrap_bio(to_server, to_client, server_side=True),
    )
    try:
        for side in (client_side, server_side) * 2:
            with contextlib.suppress(ssl.SSLWantReadError):
                side.do_handshake()
    except ssl.SSLCertVerificationError:
        return False
    return True


@pytest.mark.parametrize("name", ["cwii-webhook.cwii-system.svc", "cwii-webhook", "127.0.0.1"])
def test_serving_certificate_is_valid_for_the_names_of_its_service_and_the_loopback(
    name: str,
) -> None:
    pair = sign(SPEC, CA, NOW)

    assert is_accepted(pair, CA.certificate, name)
    assert not is_accepted(pair, CA.certificate, "other.cwii-system.svc")
    assert not is_accepted(
        pair, create_authority("cwii-webhook", CA_LIFETIME, NOW).certificate, name
    )


def test_two_authorities_have_different_names_and_a_bundle_holds_them_in_any_order() -> None:
    next_authority = create_authority("cwii-webhook", CA_LIFETIME, NOW)
    old, new = sign(SPEC, CA, NOW), sign(SPEC, next_authority, NOW)

    assert (
        parse_certificates(CA.certificate)[0].subject
        != parse_certificates(next_authority.certificate)[0].subject
    )
    for both in (
        merge_bundles(CA.certificate, next_authority.certificate),
        merge_bundles(next_authority.certificate, CA.certificate),
    ):
        assert is_accepted(old, both, "cwii-webhook")
        assert is_accepted(new, both, "cwii-webhook")


def test_client_name_may_exceed_64_characters() -> None:
    groups = ("system:serviceaccounts", "system:serviceaccounts:openshift-authentication")
    spec = client_spec(USER, groups, LIFETIME)

    pair = sign(spec, RSA_CA, NOW)

    assert len(USER) > 64
    assert renewal_reason(pair, spec, RSA_CA.certificate, NOW) == ""
    assert is_accepted(
        sign(sidecar_spec(LIFETIME), RSA_CA, NOW), RSA_CA.certificate, "127.0.0.1", pair
    )
    assert not is_accepted(
        sign(sidecar_spec(LIFETIME), RSA_CA, NOW),
        RSA_CA.certificate,
        "127.0.0.1",
        sign(SPEC, RSA_CA, NOW),
    ), "a serving certificate is no client certificate"
    attributes = [
        (each.oid, each.value) for each in pki.subject_name(parse_certificates(pair.certificate)[0])
    ]
    assert attributes == [
        *((NameOID.ORGANIZATION_NAME, group) for group in groups),
        (NameOID.COMMON_NAME, USER),
    ]


def test_sidecar_pair_has_an_rsa_key_in_pkcs1_and_the_exact_duration() -> None:
    spec = sidecar_spec(Lifetime(365 * DAY, 30 * DAY))

    pair = sign(spec, RSA_CA, NOW)

    (certificate,) = parse_certificates(pair.certificate)
    assert pair.key.startswith(b"-----BEGIN RSA PRIVATE KEY-----")
    assert certificate.not_valid_after_utc - certificate.not_valid_before_utc == 365 * DAY
    assert (
        renewal_reason(
            pair,
            spec,
            RSA_CA.certificate,
            certificate.not_valid_after_utc - 30 * DAY - timedelta(seconds=1),
        )
        == ""
    )
    assert "it ends at" in renewal_reason(
        pair, spec, RSA_CA.certificate, certificate.not_valid_after_utc - 30 * DAY
    )


def test_pair_made_by_hypershift_is_not_renewed() -> None:
    """Only the key identifier differs, which has no effect."""
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
    _, signer_key = pki.parse_key_pair(RSA_CA)
    pair = KeyPair(builder.sign(signer_key, hashes.SHA256()).public_bytes(Encoding.PEM), pkcs1(key))

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
    duration=st.timedeltas(MINUTE, 3000 * DAY),
    share=st.floats(0.05, 0.8),
    elapsed=st.floats(0.0, 1.2),
)
def test_pair_is_renewed_from_its_renewal_time_on(
    duration: timedelta, share: float, elapsed: float
) -> None:
    lifetime = Lifetime(duration, duration * share)
    spec = replace(SPEC, lifetime=lifetime)
    pair, later = sign(spec, CA, NOW), NOW + duration * elapsed

    assert renewal_reason(pair, spec, CA.certificate, NOW) == "" or share > 0.89
    assert (renewal_reason(pair, spec, CA.certificate, later) != "") == (
        later >= renewal_time(pair.certificate, lifetime)
    )


@given(duration=st.timedeltas(MINUTE, 30 * DAY))
def test_pair_ends_with_its_authority_and_is_not_renewed_for_that(duration: timedelta) -> None:
    short = create_authority("short", Lifetime(duration, duration / 2), NOW)

    pair = sign(SPEC, short, NOW)

    assert earliest_expiry(pair.certificate) == earliest_expiry(short.certificate)
    assert "another time" not in renewal_reason(pair, SPEC, short.certificate, NOW)


def test_validity_of_two_minutes_starts_early_enough_for_a_slow_clock() -> None:
    lifetime = Lifetime(2 * MINUTE, MINUTE / 2)
    pair = sign(replace(SPEC, lifetime=lifetime), CA, NOW)

    assert serving_problem(pair, NOW - timedelta(seconds=10)) == ""
    assert serving_problem(pair, NOW - MINUTE).startswith("it begins at")
    assert serving_problem(pair, NOW + 2 * MINUTE).startswith("it ended at")


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        (service_spec("other", "cwii-system", LIFETIME), "it is of somebody else"),
        (replace(SPEC, dns_names=("cwii-webhook.elsewhere.svc",)), "it is for other names"),
        (replace(SPEC, ip_addresses=()), "it is for other names"),
        (replace(SPEC, client_auth=True), "it is for other usages"),
        (replace(SPEC, use_rsa=True), "it is for other usages"),
        (replace(SPEC, groups=("g",)), "it is of somebody else"),
        (
            replace(SPEC, lifetime=Lifetime(89 * DAY, 30 * DAY)),
            "it was made for another time than 2136h",
        ),
    ],
)
def test_renewal_reason_names_the_difference(spec: pki.CertificateSpec, reason: str) -> None:
    assert renewal_reason(sign(SPEC, CA, NOW), spec, CA.certificate, NOW) == reason


@pytest.mark.parametrize(
    ("pair", "reason"),
    [
        (KeyPair(b"", b""), "there is none"),
        (KeyPair(b"nonsense", CA.key), "there is no certificate in it"),
        (
            KeyPair(CA.certificate, b"nonsense"),
            "its key cannot be read: it must be PEM, and not encrypted",
        ),
        (KeyPair(CA.certificate, RSA_CA.key), "certificate and key do not belong together"),
        (sign(SPEC, CA, NOW), "its certificate is no authority's"),
    ],
)
def test_invalid_authority_is_explained_and_cannot_sign(pair: KeyPair, reason: str) -> None:
    assert authority_problem(pair, NOW) == reason
    if "authority" not in reason:
        with pytest.raises(InvalidKeyPair, match=reason[:20]):
            sign(SPEC, pair, NOW)


def test_signature_identifies_the_authority_and_not_the_name() -> None:
    pair = sign(SPEC, RSA_CA, NOW)

    assert is_signed_by(pair.certificate, merge_bundles(CA.certificate, RSA_CA.certificate))
    assert not is_signed_by(pair.certificate, rsa_authority().certificate), "it has the same name"


def test_merged_bundle_has_no_duplicates_and_no_invalid_blocks() -> None:
    broken = CA.certificate.replace(b"M", b"!", 3)

    assert (
        merge_bundles(
            CA.certificate,
            b"# comment\n" + RSA_CA.certificate,
            broken,
            CA.certificate,
            b"nonsense",
        )
        == CA.certificate + RSA_CA.certificate
    )
    assert (first_der(b"nonsense"), earliest_expiry(b"")) == (b"", None)


def test_repr_of_a_pair_hides_the_key() -> None:
    assert "KEY" not in f"{CA} {CA!r}"
