"""A certificate authority for tests. It writes the certificates that it signs to files."""

from __future__ import annotations

import ipaddress
import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from cwii_webhook.server.tls import CertificateFiles

PEM = serialization.Encoding.PEM
DAY = timedelta(days=1)


class Authority:
    def __init__(self, name: str = "tests") -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = _subject(name)
        builder = _builder(
            self._name, self._name, self._key.public_key(), datetime.now(UTC) + 365 * DAY
        )
        self.certificate = builder.add_extension(
            x509.BasicConstraints(ca=True, path_length=0), critical=True
        ).sign(self._key, hashes.SHA256())

    @property
    def pem(self) -> bytes:
        return self.certificate.public_bytes(PEM)

    def sign(self, name: str, ends: datetime | None = None) -> tuple[bytes, bytes]:
        """Makes a certificate for the loopback. Returns it with its key, as PEM."""
        key = ec.generate_private_key(ec.SECP256R1())
        builder = _builder(
            _subject(name), self._name, key.public_key(), ends or datetime.now(UTC) + DAY
        )
        addresses = [x509.IPAddress(ipaddress.ip_address(each)) for each in ("127.0.0.1", "::1")]
        builder = builder.add_extension(
            x509.SubjectAlternativeName([x509.DNSName("localhost"), *addresses]), critical=False
        )
        certificate = builder.sign(self._key, hashes.SHA256())
        return certificate.public_bytes(PEM), key.private_bytes(
            PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )

    def files(
        self, folder: Path, name: str = "server", ends: datetime | None = None
    ) -> CertificateFiles:
        files = CertificateFiles(folder / f"{name}.crt", folder / f"{name}.key")
        self.write(files, name, ends)
        return files

    def write(
        self, files: CertificateFiles, name: str = "server", ends: datetime | None = None
    ) -> None:
        """Overwrites one file after the other, not atomically."""
        certificate, key = self.sign(name, ends)
        files.certificate.write_bytes(certificate)
        files.key.write_bytes(key)

    def trusted(self, client: CertificateFiles | None = None) -> ssl.SSLContext:
        """Makes a client's TLS context that trusts the authority and presents `client`."""
        context = ssl.create_default_context(cadata=self.pem.decode())
        context.verify_flags &= ~ssl.VERIFY_X509_STRICT
        if client:
            context.load_cert_chain(client.certificate, client.key)
        return context


def _subject(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _builder(
    subject: x509.Name, issuer: x509.Name, public: ec.EllipticCurvePublicKey, ends: datetime
) -> x509.CertificateBuilder:
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(public)
        .serial_number(x509.random_serial_number())
    )
    return builder.not_valid_before(min(datetime.now(UTC), ends) - DAY).not_valid_after(ends)
