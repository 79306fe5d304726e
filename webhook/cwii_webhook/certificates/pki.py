"""Certificates of our own making: an authority, and pairs that it signs.

Pure but for chance: whoever calls says what time it is.
"""

from __future__ import annotations

import ipaddress
import warnings
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
)
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from cwii_webhook.certificates.pem import BEGIN, END, KeyPair

SKEW: Final = timedelta(
    minutes=5
)  # that clocks of machines may differ; of short lives it is a tenth
LOOPBACK = "127.0.0.1"

Key = rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey


class BadPair(ValueError):
    """A sentence of what cannot be read, or be signed with."""


@dataclass(frozen=True)
class Lifetime:
    lasts: timedelta
    early: timedelta  # before its end, when it is made anew


@dataclass(frozen=True)
class CertificateSpec:
    """What a certificate is to say."""

    name: str
    life: Lifetime
    groups: tuple[str, ...] = ()
    dns: tuple[str, ...] = ()
    addresses: tuple[str, ...] = ()
    serves: bool = False
    calls: bool = False
    rsa: bool = False

    @property
    def usages(self) -> list[x509.ObjectIdentifier]:
        return [
            *([ExtendedKeyUsageOID.CLIENT_AUTH] if self.calls else []),
            *([ExtendedKeyUsageOID.SERVER_AUTH] if self.serves else []),
        ]

    @property
    def names(self) -> list[x509.GeneralName]:
        return [
            *map(x509.DNSName, self.dns),
            *(x509.IPAddress(ipaddress.ip_address(each)) for each in self.addresses),
        ]


def service(name: str, namespace: str, life: Lifetime) -> CertificateSpec:
    """Of whoever answers for a Service; and for whoever asks on the loopback."""
    ways = (
        name,
        f"{name}.{namespace}",
        f"{name}.{namespace}.svc",
        f"{name}.{namespace}.svc.cluster.local",
    )
    return CertificateSpec(name, life, dns=ways, addresses=(LOOPBACK,), serves=True)


def sidecar(life: Lifetime) -> CertificateSpec:
    """Beside a kube-apiserver, as HyperShift has it: another kind of key, and it would be made anew by whoever looks after it there."""
    return CertificateSpec(LOOPBACK, life, addresses=(LOOPBACK,), serves=True, calls=True, rsa=True)


def user(name: str, groups: tuple[str, ...], life: Lifetime) -> CertificateSpec:
    """Of a client of the API server, for a kubeconfig."""
    return CertificateSpec(name, life, groups=groups, calls=True, rsa=True)


def authority(name: str, life: Lifetime, now: datetime) -> KeyPair:
    """One that signs itself. Each has a name of its own: two of them stand side by side in a bundle."""
    key, serial = ec.generate_private_key(ec.SECP256R1()), x509.random_serial_number()
    own = x509.Name(
        [x509.NameAttribute(NameOID.COMMON_NAME, f"{name} {serial & 0xFFFFFFFF:08x}"[-64:])]
    )
    start = _start(life, now)
    builder = x509.CertificateBuilder(own, own, key.public_key(), serial, start, start + life.lasts)
    builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
    builder = builder.add_extension(usage(signs=True), critical=True)
    builder = builder.add_extension(
        x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False
    )
    return _pair(builder.sign(key, hashes.SHA256()), key)


def signed(wish: CertificateSpec, by: KeyPair, now: datetime) -> KeyPair:
    """It does not outlive who signs it. Raises BadPair where that cannot sign."""
    signer, signs = read(by)
    key = (
        rsa.generate_private_key(65537, 2048)
        if wish.rsa
        else ec.generate_private_key(ec.SECP256R1())
    )
    builder = x509.CertificateBuilder(
        subject(signer), subject(wish), key.public_key(), x509.random_serial_number()
    )
    builder = builder.not_valid_before(_start(wish.life, now)).not_valid_after(
        min(_start(wish.life, now) + wish.life.lasts, signer.not_valid_after_utc)
    )
    builder = builder.add_extension(
        x509.BasicConstraints(ca=False, path_length=None), critical=True
    )
    builder = builder.add_extension(usage(enciphers=wish.rsa), critical=True)
    builder = builder.add_extension(x509.ExtendedKeyUsage(wish.usages), critical=False)
    builder = builder.add_extension(
        x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False
    )
    builder = builder.add_extension(_identifier(signer, signs), critical=False)
    if wish.names:
        builder = builder.add_extension(x509.SubjectAlternativeName(wish.names), critical=False)
    return _pair(builder.sign(signs, hashes.SHA256()), key)


def certificates(pem: bytes) -> list[x509.Certificate]:
    """All that can be read in it."""
    found: list[x509.Certificate] = []
    for block in pem.split(BEGIN.encode())[1:]:
        try:
            found.append(
                x509.load_pem_x509_certificate(
                    BEGIN.encode() + block.partition(END.encode())[0] + END.encode() + b"\n"
                )
            )
        except ValueError:
            continue
    return found


def bundle(*pems: bytes) -> bytes:
    """Each certificate once."""
    return b"".join(
        _pem(each) for each in dict.fromkeys(each for pem in pems for each in certificates(pem))
    )


def der(pem: bytes) -> bytes:
    """Of its first certificate, as it is shown to whoever connects; empty if there is none."""
    return next((each.public_bytes(Encoding.DER) for each in certificates(pem)), b"")


def ends(pem: bytes) -> datetime | None:
    return min((each.not_valid_after_utc for each in certificates(pem)), default=None)


def read(pair: KeyPair) -> tuple[x509.Certificate, Key]:
    """An older authority's file may hold others behind it."""
    found = certificates(pair.certificate)
    if not found:
        raise BadPair("there is no certificate in it" if pair.certificate else "there is none")
    try:
        key = load_pem_private_key(pair.key, None)
    except (ValueError, TypeError) as e:
        raise BadPair("its key cannot be read: it must be PEM, and not encrypted") from e
    if not isinstance(key, Key):
        raise BadPair("its key is neither RSA nor ECDSA")
    if _public(found[0].public_key()) != _public(key.public_key()):
        raise BadPair("certificate and key do not belong together")
    return found[0], key


def _public(key: object) -> bytes:
    return (
        key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
        if isinstance(key, rsa.RSAPublicKey | ec.EllipticCurvePublicKey)
        else b""
    )


def _start(life: Lifetime, now: datetime) -> datetime:
    return (now - min(SKEW, life.lasts / 10)).replace(microsecond=0)


def subject(of: CertificateSpec | x509.Certificate) -> x509.Name:
    """Longer than X.520 allows, too: a ServiceAccount's name in full is, and no API server minds."""
    with warnings.catch_warnings(action="ignore", category=UserWarning):
        if isinstance(of, x509.Certificate):
            return of.subject
        groups = [
            x509.NameAttribute(NameOID.ORGANIZATION_NAME, group, _validate=False)
            for group in of.groups
        ]
        return x509.Name(
            [*groups, x509.NameAttribute(NameOID.COMMON_NAME, of.name, _validate=False)]
        )


def usage(*, signs: bool = False, enciphers: bool = False) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        key_encipherment=enciphers,
        key_cert_sign=signs,
        crl_sign=signs,
        content_commitment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def _identifier(signer: x509.Certificate, key: Key) -> x509.AuthorityKeyIdentifier:
    """As the signer calls its key, which need not be what we would."""
    try:
        own = signer.extensions.get_extension_for_class(x509.SubjectKeyIdentifier).value
    except x509.ExtensionNotFound:
        return x509.AuthorityKeyIdentifier.from_issuer_public_key(key.public_key())
    return x509.AuthorityKeyIdentifier.from_issuer_subject_key_identifier(own)


def _pair(certificate: x509.Certificate, key: Key) -> KeyPair:
    """RSA in the form of old that HyperShift reads."""
    form = (
        PrivateFormat.TraditionalOpenSSL
        if isinstance(key, rsa.RSAPrivateKey)
        else PrivateFormat.PKCS8
    )
    return KeyPair(_pem(certificate), key.private_bytes(Encoding.PEM, form, NoEncryption()))


def _pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(Encoding.PEM)
