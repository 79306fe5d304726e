"""Explains why a key pair must be replaced, and calculates when."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import TypeVar

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import rsa

from cwii_webhook.certificates.pem import KeyPair
from cwii_webhook.certificates.pki import (
    CertificateSpec,
    InvalidKeyPair,
    Lifetime,
    key_usage,
    parse_certificates,
    parse_key_pair,
    subject_name,
)

SECOND = timedelta(seconds=1)

E = TypeVar("E", bound=x509.ExtensionType)


def renewal_reason(pair: KeyPair, spec: CertificateSpec, authority: bytes, now: datetime) -> str:
    """Explains why the pair must be replaced. Empty while it is valid.

    `authority` is the PEM bundle of the authorities that may have signed the pair.
    """
    return next(_renewal_reasons(pair, spec, authority, now), "")


def serving_problem(pair: KeyPair, now: datetime) -> str:
    """Explains why no client accepts the pair. Empty if a server can use it."""
    try:
        certificate, _ = parse_key_pair(pair)
    except InvalidKeyPair as e:
        return str(e)
    return _validity_problem(certificate, now)


def authority_problem(pair: KeyPair, now: datetime) -> str:
    """Explains why the pair cannot sign certificates. Empty if it can."""
    if problem := serving_problem(pair, now):
        return problem
    constraints = _extension(parse_certificates(pair.certificate)[0], x509.BasicConstraints)
    return "" if constraints and constraints.ca else "its certificate is no authority's"


def renewal_time(pem: bytes, lifetime: Lifetime) -> datetime:
    """Returns when the first certificate of the PEM text is due for renewal."""
    return parse_certificates(pem)[0].not_valid_after_utc - lifetime.renew_before


def is_signed_by(pem: bytes, authorities: bytes) -> bool:
    """Checks the signature against each authority. Equal names do not prove a signature."""
    return any(
        _is_issued_by(certificate, authority)
        for certificate in parse_certificates(pem)[:1]
        for authority in parse_certificates(authorities)
    )


def _renewal_reasons(
    pair: KeyPair, spec: CertificateSpec, authority: bytes, now: datetime
) -> Iterator[str]:
    if problem := serving_problem(pair, now):
        yield problem
        return
    certificate, signers = (
        parse_certificates(pair.certificate)[0],
        parse_certificates(authority),
    )
    if not any(_is_issued_by(certificate, signer) for signer in signers):
        yield "it is of another authority"
    if _name_attributes(subject_name(certificate)) != _name_attributes(subject_name(spec)):
        yield "it is of somebody else"
    yield from _extension_differences(certificate, spec)
    requested_end = certificate.not_valid_before_utc + spec.lifetime.duration
    expected_end = min([requested_end, *(signer.not_valid_after_utc for signer in signers)])
    if abs(certificate.not_valid_after_utc - expected_end) > SECOND:
        yield f"it was made for another time than {_format_duration(spec.lifetime.duration)}"
    if now >= renewal_time(pair.certificate, spec.lifetime):
        yield f"it ends at {certificate.not_valid_after_utc:%Y-%m-%dT%H:%M:%SZ}"


def _extension_differences(certificate: x509.Certificate, spec: CertificateSpec) -> Iterator[str]:
    names = _extension(certificate, x509.SubjectAlternativeName)
    if {*(names or ())} != {*spec.alternative_names}:
        yield "it is for other names"
    usages = _extension(certificate, x509.ExtendedKeyUsage)
    constraints = _extension(certificate, x509.BasicConstraints)
    if (
        {*(usages or ())} != {*spec.extended_key_usages}
        or _extension(certificate, x509.KeyUsage) != key_usage(enciphers_keys=spec.use_rsa)
        or (constraints and constraints.ca)
    ):
        yield "it is for other usages"
    if isinstance(certificate.public_key(), rsa.RSAPublicKey) is not spec.use_rsa:
        yield "it has another kind of key"


def _validity_problem(certificate: x509.Certificate, now: datetime) -> str:
    if now < certificate.not_valid_before_utc:
        return f"it begins at {certificate.not_valid_before_utc:%Y-%m-%dT%H:%M:%SZ}"
    return (
        f"it ended at {certificate.not_valid_after_utc:%Y-%m-%dT%H:%M:%SZ}"
        if now >= certificate.not_valid_after_utc
        else ""
    )


def _is_issued_by(certificate: x509.Certificate, authority: x509.Certificate) -> bool:
    try:
        certificate.verify_directly_issued_by(authority)
    except (ValueError, TypeError, InvalidSignature):
        return False
    return True


def _extension(certificate: x509.Certificate, kind: type[E]) -> E | None:
    try:
        return certificate.extensions.get_extension_for_class(kind).value
    except (x509.ExtensionNotFound, ValueError):
        return None


def _name_attributes(name: x509.Name) -> list[tuple[str, str | bytes]]:
    """Sorts the attributes of a name.

    Some issuers put all groups in one set, others make one set per group.
    """
    return sorted((attribute.oid.dotted_string, attribute.value) for attribute in name)


def _format_duration(span: timedelta) -> str:
    return (
        f"{span.total_seconds() / 3600:g}h"
        if span >= timedelta(hours=1)
        else f"{span.total_seconds():g}s"
    )
