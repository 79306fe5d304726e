"""A certificate authority for the fake API server."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID


@dataclass(frozen=True)
class SignedCertificate:
    """A certificate and its private key, as PEM."""

    certificate: bytes
    key: bytes


class CertificateAuthority:
    """A CA that issues server and client certificates."""

    def __init__(self) -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())
        builder = _start_builder("fake CA", "fake CA", self._key).add_extension(
            x509.BasicConstraints(ca=True, path_length=0), critical=True
        )
        self._certificate = builder.sign(self._key, hashes.SHA256())

    @property
    def pem(self) -> bytes:
        return self._certificate.public_bytes(serialization.Encoding.PEM)

    def issue_server_certificate(self, *names: str) -> SignedCertificate:
        names_extension = [
            x509.IPAddress(ipaddress.ip_address(name)) if name[0].isdigit() else x509.DNSName(name)
            for name in names
        ]
        return self._sign(
            "apiserver",
            ExtendedKeyUsageOID.SERVER_AUTH,
            x509.SubjectAlternativeName(names_extension),
        )

    def issue_client_certificate(self, user: str) -> SignedCertificate:
        return self._sign(user, ExtendedKeyUsageOID.CLIENT_AUTH, None)

    def _sign(
        self,
        name: str,
        extended_key_usage: x509.ObjectIdentifier,
        sans: x509.SubjectAlternativeName | None,
    ) -> SignedCertificate:
        key = ec.generate_private_key(ec.SECP256R1())
        builder = _start_builder(name, "fake CA", key).add_extension(
            x509.ExtendedKeyUsage([extended_key_usage]), critical=False
        )
        if sans:
            builder = builder.add_extension(sans, critical=False)
        certificate = builder.sign(self._key, hashes.SHA256())
        pem = key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        return SignedCertificate(certificate.public_bytes(serialization.Encoding.PEM), pem)


def _start_builder(
    subject: str, issuer: str, key: ec.EllipticCurvePrivateKey
) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    builder = (
        x509.CertificateBuilder()
        .serial_number(x509.random_serial_number())
        .public_key(key.public_key())
    )
    builder = builder.subject_name(_name(subject)).issuer_name(_name(issuer))
    return builder.not_valid_before(now - timedelta(hours=1)).not_valid_after(
        now + timedelta(days=1)
    )


def _name(common_name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common_name)])
