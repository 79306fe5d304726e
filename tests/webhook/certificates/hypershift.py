"""Makes certificate authorities as HyperShift does for hosted control planes."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID
from cwii_webhook.certificates import pki
from cwii_webhook.certificates.pem import KeyPair

DAY = timedelta(days=1)


def rsa_authority() -> KeyPair:
    """Makes an authority like root-ca and cluster-signer-ca: RSA, with its key in PKCS#1."""
    now = datetime.now(UTC).replace(microsecond=0)
    key = rsa.generate_private_key(65537, 2048)
    name = x509.Name(
        [
            x509.NameAttribute(NameOID.ORGANIZATIONAL_UNIT_NAME, "openshift"),
            x509.NameAttribute(NameOID.COMMON_NAME, "kube-csr-signer"),
        ]
    )
    builder = x509.CertificateBuilder(name, name, key.public_key(), 1, now - DAY, now + 3650 * DAY)
    builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
    builder = builder.add_extension(
        pki.key_usage(signs_certificates=True, enciphers_keys=True), critical=True
    )
    # HyperShift uses another digest than `pki.create_authority`.
    builder = builder.add_extension(x509.SubjectKeyIdentifier(bytes(range(64))), critical=False)
    return KeyPair(builder.sign(key, hashes.SHA256()).public_bytes(Encoding.PEM), pkcs1(key))


def pkcs1(key: rsa.RSAPrivateKey) -> bytes:
    return key.private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption())
