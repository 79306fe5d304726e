"""Who is who in a cluster, as kubeadm has it: one authority, and a certificate for each who speaks or is spoken to."""

from __future__ import annotations

import base64
import ipaddress
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.asymmetric.types import PrivateKeyTypes
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
)
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

DAYS = timedelta(days=7)


def private_pem(key: PrivateKeyTypes) -> bytes:
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def signing_key() -> bytes:
    """Of ServiceAccounts: RSA, for that is what all clouds take."""
    return private_pem(rsa.generate_private_key(65537, 2048))


def public_half(private: bytes) -> bytes:
    return (
        load_pem_private_key(private, None)
        .public_key()
        .public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    )


def write(file: Path, content: bytes) -> Path:
    """Readable for nobody else, from the first moment on."""
    with open(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as out:  # noqa: PTH123  # Path.open takes no mode bits
        out.write(content)
    return file


@dataclass(frozen=True)
class Pair:
    certificate: bytes
    key: bytes


@dataclass(frozen=True)
class Files:
    """A pair, on the disk."""

    certificate: Path
    key: Path


def _give_birth(folder: Path) -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "kubernetes")])
    signs = x509.KeyUsage(
        digital_signature=True,
        key_cert_sign=True,
        crl_sign=True,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )
    builder = _builder(name, name, key.public_key()).add_extension(
        x509.BasicConstraints(ca=True, path_length=None), critical=True
    )
    identifier = x509.SubjectKeyIdentifier.from_public_key(key.public_key())
    certificate = (
        builder.add_extension(signs, critical=True)
        .add_extension(identifier, critical=False)
        .sign(key, hashes.SHA256())
    )
    write(folder / "ca.crt", certificate.public_bytes(Encoding.PEM))
    write(folder / "ca.key", private_pem(key))


class Authority:
    """The cluster's, for clients and servers alike: whoever has its key can sign as it does. `folder` is kubeadm's /etc/kubernetes/pki."""

    def __init__(self, folder: Path) -> None:
        self.files = Files(folder / "ca.crt", folder / "ca.key")
        self._folder = folder
        self._certificate = x509.load_pem_x509_certificate(self.files.certificate.read_bytes())
        key = load_pem_private_key(self.files.key.read_bytes(), None)
        assert isinstance(key, ec.EllipticCurvePrivateKey)
        self._key = key

    @classmethod
    def made(cls, folder: Path) -> Authority:
        _give_birth(folder)
        return cls(folder)

    @property
    def pem(self) -> bytes:
        return self._certificate.public_bytes(Encoding.PEM)

    def client(self, user: str, *groups: str) -> Pair:
        """What an API server takes for that user, in those groups."""
        return self._pair(user, groups, ExtendedKeyUsageOID.CLIENT_AUTH, None)

    def server(self, name: str, hosts: Sequence[str]) -> Pair:
        """What clients take for whoever is called so."""
        names = [
            x509.IPAddress(ipaddress.ip_address(host)) if host[0].isdigit() else x509.DNSName(host)
            for host in hosts
        ]
        return self._pair(
            name, (), ExtendedKeyUsageOID.SERVER_AUTH, x509.SubjectAlternativeName(names)
        )

    def write(self, name: str, pair: Pair) -> Files:
        return Files(
            write(self._folder / f"{name}.crt", pair.certificate),
            write(self._folder / f"{name}.key", pair.key),
        )

    def kubeconfig(self, file: Path, server: str, who: Pair | str) -> Path:
        """With a certificate, or a token."""
        user = (
            {"token": who}
            if isinstance(who, str)
            else {
                "client-certificate-data": _base64(who.certificate),
                "client-key-data": _base64(who.key),
            }
        )
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [
                {
                    "name": "cluster",
                    "cluster": {"server": server, "certificate-authority-data": _base64(self.pem)},
                }
            ],
            "users": [{"name": "user", "user": user}],
            "contexts": [{"name": "context", "context": {"cluster": "cluster", "user": "user"}}],
            "current-context": "context",
        }
        return write(file, json.dumps(config, indent=1).encode())

    def _pair(
        self,
        user: str,
        groups: Sequence[str],
        usage: x509.ObjectIdentifier,
        names: x509.SubjectAlternativeName | None,
    ) -> Pair:
        key = ec.generate_private_key(ec.SECP256R1())
        organizations = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, group) for group in groups]
        subject = x509.Name([*organizations, x509.NameAttribute(NameOID.COMMON_NAME, user)])
        builder = _builder(subject, self._certificate.subject, key.public_key()).add_extension(
            x509.ExtendedKeyUsage([usage]), critical=False
        )
        builder = builder.add_extension(
            x509.BasicConstraints(ca=False, path_length=None), critical=True
        )
        builder = builder.add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key()),
            critical=False,
        )
        if names:
            builder = builder.add_extension(names, critical=False)
        return Pair(
            builder.sign(self._key, hashes.SHA256()).public_bytes(Encoding.PEM), private_pem(key)
        )


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey
) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return x509.CertificateBuilder(
        issuer, subject, key, x509.random_serial_number(), now - timedelta(hours=1), now + DAYS
    )


def _base64(content: bytes) -> str:
    return base64.b64encode(content).decode()
