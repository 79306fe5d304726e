"""The sandbox's certificate authority: one key that never leaves memory, a certificate for each host name that is asked for."""

from __future__ import annotations

import contextlib
import ipaddress
import ssl
import tempfile
import threading
from collections.abc import Generator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from .faults import Flaw

DAY, HOUR = timedelta(days=1), timedelta(hours=1)
H2 = "h2"


class Authority:
    def __init__(self, flaws: Mapping[str, Flaw] | None = None) -> None:
        """`flaws` are what is wrong with the certificates of hosts, as it is when they are asked for."""
        self._flaws: Mapping[str, Flaw] = {} if flaws is None else flaws
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._leaf = ec.generate_private_key(ec.SECP256R1())
        self._certificate = _root(self._key)
        self._contexts: dict[tuple[str, Flaw | None], ssl.SSLContext] = {}
        self._lock = threading.Lock()

    @property
    def pem(self) -> bytes:
        return self._certificate.public_bytes(serialization.Encoding.PEM)

    def context(self, host: str, *, h2: bool = False) -> ssl.SSLContext:
        """What a server needs to be `host`. With `h2` it speaks that too, to those who do not speak HTTP/1.1."""
        flaw = self._flaws.get(host)
        with self._lock:
            if (host, flaw) not in self._contexts:
                self._contexts[host, flaw] = self._make(
                    host, ["http/1.1", *([H2] if h2 else [])], flaw
                )
            return self._contexts[host, flaw]

    def _make(self, host: str, protocols: list[str], flaw: Flaw | None) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.set_alpn_protocols(protocols)
        with _held(self._chain(host, flaw)) as file:
            context.load_cert_chain(file)
        return context

    def _chain(self, host: str, flaw: Flaw | None = None) -> bytes:
        signer = ec.generate_private_key(ec.SECP256R1()) if flaw == "strange" else self._key
        root = _root(signer) if flaw == "strange" else self._certificate
        named = "another.invalid" if flaw == "another's" else host
        certificate = _signed(
            named, self._leaf.public_key(), root, signer, -HOUR / 2 if flaw == "expired" else DAY
        )
        key = self._leaf.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        return b"".join(
            (key, *(each.public_bytes(serialization.Encoding.PEM) for each in (certificate, root)))
        )


@contextlib.contextmanager
def _held(content: bytes) -> Generator[Path]:
    """A file for as long as `ssl` reads it: it takes certificates from files only. `mkstemp` makes it 0600."""
    with tempfile.NamedTemporaryFile(prefix="cwiictl-") as file:
        file.write(content)
        file.flush()
        yield Path(file.name)


def _lifetime(builder: x509.CertificateBuilder, left: timedelta = DAY) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        builder.serial_number(x509.random_serial_number())
        .not_valid_before(now - HOUR)
        .not_valid_after(now + left)
    )


def _usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        encipher_only=False,
        decipher_only=False,
    )


def _root(key: ec.EllipticCurvePrivateKey) -> x509.Certificate:
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "cwiictl sandbox")])
    builder = (
        x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
    )
    builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
    builder = builder.add_extension(_usage(signs_certificates=True), critical=True)
    builder = builder.add_extension(
        x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False
    )
    return _lifetime(builder).sign(key, hashes.SHA256())


def _signed(
    host: str,
    public: ec.EllipticCurvePublicKey,
    root: x509.Certificate,
    key: ec.EllipticCurvePrivateKey,
    left: timedelta,
) -> x509.Certificate:
    subject = x509.Name([x509.NameAttribute(NameOID.ORGANIZATION_NAME, "cwiictl sandbox")])
    builder = (
        x509.CertificateBuilder().subject_name(subject).issuer_name(root.subject).public_key(public)
    )
    builder = builder.add_extension(x509.SubjectAlternativeName([_name(host)]), critical=False)
    builder = builder.add_extension(
        x509.BasicConstraints(ca=False, path_length=None), critical=True
    )
    builder = builder.add_extension(_usage(signs_certificates=False), critical=True)
    builder = builder.add_extension(
        x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False
    )
    builder = builder.add_extension(
        x509.SubjectKeyIdentifier.from_public_key(public), critical=False
    )
    builder = builder.add_extension(
        x509.AuthorityKeyIdentifier.from_issuer_public_key(key.public_key()), critical=False
    )
    return _lifetime(builder, left).sign(key, hashes.SHA256())


def _name(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)
