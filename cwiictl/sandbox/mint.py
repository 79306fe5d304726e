"""A ServiceAccount token as kube-apiserver signs it, for whoever has the cluster's key and no cluster yet."""

from __future__ import annotations

import time
import uuid
from dataclasses import dataclass

import jwt

from cwiictl import oidc


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
    kid = oidc.private_key(key, "the file that --key names").kid
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
    return jwt.encode(claims, key, algorithm="RS256", headers={"kid": kid})
