"""Why a pair that is there is not what it should be, and until when it is: in words, for whoever is told that it was made anew."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import TypeVar

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import rsa

from cwii_webhook.certificates.pem import KeyPair
from cwii_webhook.certificates.pki import (
    BadPair,
    CertificateSpec,
    Lifetime,
    certificates,
    read,
    subject,
    usage,
)

SECOND = timedelta(seconds=1)

E = TypeVar("E", bound=x509.ExtensionType)


def fault(pair: KeyPair, wish: CertificateSpec, by: bytes, now: datetime) -> str:
    """Why it has to be made anew; empty while it can stay. `by` is the certificate of the authority that it should be of."""
    return next(_faults(pair, wish, by, now), "")


def worthless(pair: KeyPair, now: datetime) -> str:
    """Why nobody can be served with it any more."""
    try:
        certificate, _ = read(pair)
    except BadPair as e:
        return str(e)
    return _ended(certificate, now)


def unfit(pair: KeyPair, now: datetime) -> str:
    """Why it can be no authority."""
    if why := worthless(pair, now):
        return why
    basic = _extension(certificates(pair.certificate)[0], x509.BasicConstraints)
    return "" if basic and basic.ca else "its certificate is no authority's"


def due(pem: bytes, life: Lifetime) -> datetime:
    """When the first certificate in it is to be made anew."""
    return certificates(pem)[0].not_valid_after_utc - life.early


def of(pem: bytes, by: bytes) -> bool:
    """Whether one of these authorities signed it. Their names alone say nothing."""
    return any(
        _signed(certificate, each)
        for certificate in certificates(pem)[:1]
        for each in certificates(by)
    )


def _faults(pair: KeyPair, wish: CertificateSpec, by: bytes, now: datetime) -> Iterator[str]:
    if why := worthless(pair, now):
        yield why
        return
    certificate, signers = certificates(pair.certificate)[0], certificates(by)
    if not any(_signed(certificate, each) for each in signers):
        yield "it is of another authority"
    if _people(subject(certificate)) != _people(subject(wish)):
        yield "it is of somebody else"
    yield from _altered(certificate, wish)
    whole = certificate.not_valid_before_utc + wish.life.lasts
    last = min([whole, *(each.not_valid_after_utc for each in signers)])
    if abs(certificate.not_valid_after_utc - last) > SECOND:
        yield f"it was made for another time than {_time(wish.life.lasts)}"
    if now >= due(pair.certificate, wish.life):
        yield f"it ends at {certificate.not_valid_after_utc:%Y-%m-%dT%H:%M:%SZ}"


def _altered(certificate: x509.Certificate, wish: CertificateSpec) -> Iterator[str]:
    names = _extension(certificate, x509.SubjectAlternativeName)
    if {*(names or ())} != {*wish.names}:
        yield "it is for other names"
    usages = _extension(certificate, x509.ExtendedKeyUsage)
    basic = _extension(certificate, x509.BasicConstraints)
    if (
        {*(usages or ())} != {*wish.usages}
        or _extension(certificate, x509.KeyUsage) != usage(enciphers=wish.rsa)
        or (basic and basic.ca)
    ):
        yield "it is for other usages"
    if isinstance(certificate.public_key(), rsa.RSAPublicKey) is not wish.rsa:
        yield "it has another kind of key"


def _ended(certificate: x509.Certificate, now: datetime) -> str:
    if now < certificate.not_valid_before_utc:
        return f"it begins at {certificate.not_valid_before_utc:%Y-%m-%dT%H:%M:%SZ}"
    return (
        f"it ended at {certificate.not_valid_after_utc:%Y-%m-%dT%H:%M:%SZ}"
        if now >= certificate.not_valid_after_utc
        else ""
    )


def _signed(certificate: x509.Certificate, by: x509.Certificate) -> bool:
    try:
        certificate.verify_directly_issued_by(by)
    except (ValueError, TypeError, InvalidSignature):
        return False
    return True


def _extension(certificate: x509.Certificate, kind: type[E]) -> E | None:
    try:
        return certificate.extensions.get_extension_for_class(kind).value
    except (x509.ExtensionNotFound, ValueError):
        return None


def _people(name: x509.Name) -> list[tuple[str, str | bytes]]:
    """Some have all groups in one set, and some each in its own."""
    return sorted((each.oid.dotted_string, each.value) for each in name)


def _time(span: timedelta) -> str:
    return (
        f"{span.total_seconds() / 3600:g}h"
        if span >= timedelta(hours=1)
        else f"{span.total_seconds():g}s"
    )
