"""Makes certificates: authorities, and key pairs that an authority signs.

Only keys and serial numbers are random. The caller passes the current time.
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

# The tolerated difference between the clocks of two machines. A short lifetime uses a tenth of it.
CLOCK_SKEW: Final = timedelta(minutes=5)
LOOPBACK = "127.0.0.1"

PrivateKey = rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey


class InvalidKeyPair(ValueError):
    """A key pair that cannot be read, or that cannot sign. The message names the reason."""


@dataclass(frozen=True)
class Lifetime:
    """How long a certificate is valid, and how long before its end it is renewed."""

    duration: timedelta
    renew_before: timedelta


@dataclass(frozen=True)
class CertificateSpec:
    """The desired content of a certificate."""

    name: str
    lifetime: Lifetime
    groups: tuple[str, ...] = ()
    dns_names: tuple[str, ...] = ()
    ip_addresses: tuple[str, ...] = ()
    server_auth: bool = False
    client_auth: bool = False
    use_rsa: bool = False

    @property
    def extended_key_usages(self) -> list[x509.ObjectIdentifier]:
        return [
            *([ExtendedKeyUsageOID.CLIENT_AUTH] if self.client_auth else []),
            *([ExtendedKeyUsageOID.SERVER_AUTH] if self.server_auth else []),
        ]

    @property
    def alternative_names(self) -> list[x509.GeneralName]:
        return [
            *map(x509.DNSName, self.dns_names),
            *(x509.IPAddress(ipaddress.ip_address(address)) for address in self.ip_addresses),
        ]


def service_spec(name: str, namespace: str, lifetime: Lifetime) -> CertificateSpec:
    """Specifies the serving certificate of a Service. It is also valid for the loopback."""
    dns_names = (
        name,
        f"{name}.{namespace}",
        f"{name}.{namespace}.svc",
        f"{name}.{namespace}.svc.cluster.local",
    )
    return CertificateSpec(
        name, lifetime, dns_names=dns_names, ip_addresses=(LOOPBACK,), server_auth=True
    )


def sidecar_spec(lifetime: Lifetime) -> CertificateSpec:
    """Specifies the certificate of a webhook that runs beside a kube-apiserver.

    It equals the certificate that HyperShift makes, down to the kind of key. HyperShift replaces a
    certificate that differs.
    """
    return CertificateSpec(
        LOOPBACK,
        lifetime,
        ip_addresses=(LOOPBACK,),
        server_auth=True,
        client_auth=True,
        use_rsa=True,
    )


def client_spec(name: str, groups: tuple[str, ...], lifetime: Lifetime) -> CertificateSpec:
    """Specifies the certificate of an API server's client, for a kubeconfig."""
    return CertificateSpec(name, lifetime, groups=groups, client_auth=True, use_rsa=True)


def create_authority(name: str, lifetime: Lifetime, now: datetime) -> KeyPair:
    """Makes an authority with a self-signed certificate.

    Each authority has a unique name, because a bundle can hold two authorities.
    """
    key, serial = ec.generate_private_key(ec.SECP256R1()), x509.random_serial_number()
    subject = x509.Name(
        [x509.NameAttribute(NameOID.COMMON_NAME, f"{name} {serial & 0xFFFFFFFF:08x}"[-64:])]
    )
    start = _not_before(lifetime, now)
    builder = x509.CertificateBuilder(
        subject, subject, key.public_key(), serial, start, start + lifetime.duration
    )
    builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
    builder = builder.add_extension(key_usage(signs_certificates=True), critical=True)
    builder = builder.add_extension(
        x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False
    )
    return _key_pair(builder.sign(key, hashes.SHA256()), key)


def sign(spec: CertificateSpec, signer: KeyPair, now: datetime) -> KeyPair:
    """Makes a key pair that the signer signs. It ends no later than the signer's certificate.

    Raises InvalidKeyPair if the signer cannot sign.
    """
    signer_certificate, signer_key = parse_key_pair(signer)
    key = (
        rsa.generate_private_key(65537, 2048)
        if spec.use_rsa
        else ec.generate_private_key(ec.SECP256R1())
    )
    builder = x509.CertificateBuilder(
        subject_name(signer_certificate),
        subject_name(spec),
        key.public_key(),
        x509.random_serial_number(),
    )
    start = _not_before(spec.lifetime, now)
    builder = builder.not_valid_before(start).not_valid_after(
        min(start + spec.lifetime.duration, signer_certificate.not_valid_after_utc)
    )
    builder = builder.add_extension(
        x509.BasicConstraints(ca=False, path_length=None), critical=True
    )
    builder = builder.add_extension(key_usage(enciphers_keys=spec.use_rsa), critical=True)
    builder = builder.add_extension(x509.ExtendedKeyUsage(spec.extended_key_usages), critical=False)
    builder = builder.add_extension(
        x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False
    )
    builder = builder.add_extension(
        _authority_key_identifier(signer_certificate, signer_key), critical=False
    )
    if spec.alternative_names:
        builder = builder.add_extension(
            x509.SubjectAlternativeName(spec.alternative_names), critical=False
        )
    return _key_pair(builder.sign(signer_key, hashes.SHA256()), key)


def parse_certificates(pem: bytes) -> list[x509.Certificate]:
    """Parses all certificates of the PEM text, and skips blocks that are invalid."""
    certificates: list[x509.Certificate] = []
    for block in pem.split(BEGIN.encode())[1:]:
        try:
            certificates.append(
                x509.load_pem_x509_certificate(
                    BEGIN.encode() + block.partition(END.encode())[0] + END.encode() + b"\n"
                )
            )
        except ValueError:
            continue
    return certificates


def merge_bundles(*pems: bytes) -> bytes:
    """Joins the certificates of all PEM texts, without duplicates."""
    certificates = [certificate for pem in pems for certificate in parse_certificates(pem)]
    return b"".join(_to_pem(certificate) for certificate in dict.fromkeys(certificates))


def first_der(pem: bytes) -> bytes:
    """Returns the first certificate as DER, as a TLS server sends it. Empty if there is none."""
    return next((each.public_bytes(Encoding.DER) for each in parse_certificates(pem)), b"")


def earliest_expiry(pem: bytes) -> datetime | None:
    return min((each.not_valid_after_utc for each in parse_certificates(pem)), default=None)


def parse_key_pair(pair: KeyPair) -> tuple[x509.Certificate, PrivateKey]:
    """Parses the key and the first certificate. Older authorities may follow in the same file."""
    certificates = parse_certificates(pair.certificate)
    if not certificates:
        raise InvalidKeyPair(
            "there is no certificate in it" if pair.certificate else "there is none"
        )
    try:
        key = load_pem_private_key(pair.key, None)
    except (ValueError, TypeError) as e:
        raise InvalidKeyPair("its key cannot be read: it must be PEM, and not encrypted") from e
    if not isinstance(key, PrivateKey):
        raise InvalidKeyPair("its key is neither RSA nor ECDSA")
    if _public_key_der(certificates[0].public_key()) != _public_key_der(key.public_key()):
        raise InvalidKeyPair("certificate and key do not belong together")
    return certificates[0], key


def _public_key_der(key: object) -> bytes:
    return (
        key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
        if isinstance(key, rsa.RSAPublicKey | ec.EllipticCurvePublicKey)
        else b""
    )


def _not_before(lifetime: Lifetime, now: datetime) -> datetime:
    return (now - min(CLOCK_SKEW, lifetime.duration / 10)).replace(microsecond=0)


def subject_name(source: CertificateSpec | x509.Certificate) -> x509.Name:
    """Returns the subject, without the length limit of X.520.

    The full name of a ServiceAccount exceeds the limit. API servers accept it.
    """
    with warnings.catch_warnings(action="ignore", category=UserWarning):
        if isinstance(source, x509.Certificate):
            return source.subject
        groups = [
            x509.NameAttribute(NameOID.ORGANIZATION_NAME, group, _validate=False)
            for group in source.groups
        ]
        return x509.Name(
            [*groups, x509.NameAttribute(NameOID.COMMON_NAME, source.name, _validate=False)]
        )


def key_usage(*, signs_certificates: bool = False, enciphers_keys: bool = False) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        key_encipherment=enciphers_keys,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        content_commitment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def _authority_key_identifier(
    signer: x509.Certificate, key: PrivateKey
) -> x509.AuthorityKeyIdentifier:
    """Uses the key identifier in the signer's certificate, which may use another digest."""
    try:
        identifier = signer.extensions.get_extension_for_class(x509.SubjectKeyIdentifier).value
    except x509.ExtensionNotFound:
        return x509.AuthorityKeyIdentifier.from_issuer_public_key(key.public_key())
    return x509.AuthorityKeyIdentifier.from_issuer_subject_key_identifier(identifier)


def _key_pair(certificate: x509.Certificate, key: PrivateKey) -> KeyPair:
    """Encodes both as PEM. HyperShift reads RSA keys in the traditional format only."""
    key_format = (
        PrivateFormat.TraditionalOpenSSL
        if isinstance(key, rsa.RSAPrivateKey)
        else PrivateFormat.PKCS8
    )
    return KeyPair(
        _to_pem(certificate), key.private_bytes(Encoding.PEM, key_format, NoEncryption())
    )


def _to_pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(Encoding.PEM)
