"""A ServiceAccount token as kube-apiserver signs it, for whoever has the cluster's key and no cluster yet."""

from __future__ import annotations

import base64
import hashlib
import time
import uuid
from dataclasses import dataclass

import jwt
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_private_key

from cwiictl.errors import BadInput


@dataclass(frozen=True)
class Asked:
    """What a TokenRequest asks for."""

    issuer: str
    namespace: str
    service_account: str
    audience: str
    seconds: int = 3600


def token(key: bytes, asked: Asked) -> str:
    """Claims and header as the API server writes them, but for the pod that is not there."""
    private = _private(key)
    now = int(time.time())
    account = {"name": asked.service_account, "uid": str(uuid.uuid4())}
    claims = {
        "aud": [asked.audience],
        "exp": now + asked.seconds,
        "iat": now,
        "iss": asked.issuer,
        "jti": str(uuid.uuid4()),
        "kubernetes.io": {"namespace": asked.namespace, "serviceaccount": account},
        "nbf": now,
        "sub": f"system:serviceaccount:{asked.namespace}:{asked.service_account}",
    }
    return jwt.encode(claims, private, algorithm="RS256", headers={"kid": _kid(private)})


def _private(key: bytes) -> RSAPrivateKey:
    try:
        private = load_pem_private_key(key, None)
    except (ValueError, TypeError) as e:
        raise BadInput("the file that --key names holds no private key", remedy="give the one that create-key-pair has made") from e
    if not isinstance(private, RSAPrivateKey):
        raise BadInput("the key that --key names is no RSA key", remedy="give the one that create-key-pair has made")
    return private


def _kid(key: RSAPrivateKey) -> str:
    der = key.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    return base64.urlsafe_b64encode(hashlib.sha256(der).digest()).decode().rstrip("=")
