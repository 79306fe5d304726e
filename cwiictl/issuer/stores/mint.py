"""ServiceAccount tokens as kube-apiserver signs them, for whoever has the cluster's key and no cluster at hand."""

from __future__ import annotations

import base64
import json
import time
import uuid
from collections.abc import Mapping

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding

from cwiictl import oidc


class Mint:
    """The key is read once: to sign with it takes long enough."""

    def __init__(self, key: bytes, source: str, issuer: str) -> None:
        self.signer, self.kid, self.issuer = (
            oidc.signer(key, source),
            oidc.private_key(key, source).kid,
            issuer,
        )

    def token(self, namespace: str, account: str, audience: str, seconds: int) -> str:
        """Claims and header as the API server writes them, but for the pod that is not there."""
        now = int(time.time())
        claims = {
            "aud": [audience],
            "exp": now + seconds,
            "iat": now,
            "iss": self.issuer,
            "jti": str(uuid.uuid4()),
            "kubernetes.io": {
                "namespace": namespace,
                "serviceaccount": {"name": account, "uid": str(uuid.uuid4())},
            },
            "nbf": now,
            "sub": f"system:serviceaccount:{namespace}:{account}",
        }
        text = f"{_part({'alg': 'RS256', 'kid': self.kid})}.{_part(claims)}"
        return f"{text}.{_base64url(self.signer.sign(text.encode(), padding.PKCS1v15(), hashes.SHA256()))}"


def _part(said: Mapping[str, object]) -> str:
    return _base64url(json.dumps(said, separators=(",", ":")).encode())


def _base64url(value: bytes) -> str:
    return base64.urlsafe_b64encode(value).decode().rstrip("=")
