"""The operator's key: made when somebody first asks for its file, and believed by its public half."""

from __future__ import annotations

import hashlib
import json
import os
import threading
from pathlib import Path
from typing import Any

import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from cwiictl.sandbox.signers import signer

from .world import OPERATOR, PROJECT, World

FILE = ".config/gcloud/operator.json"  # in the home of who is in the sandbox
LONGEST = 3600.0
LEEWAY = 300.0


class Unsigned(Exception):
    """A token that no key of ours has signed, or not in our time; what is wrong, in the words of Google's token service."""


class Keys:
    def __init__(self, world: World) -> None:
        self._world = world
        self._writing = threading.Lock()
        self._key: rsa.RSAPrivateKey | None = None

    def furnish(self, home: Path, universe: str = "googleapis.com") -> None:
        """The file that GOOGLE_APPLICATION_CREDENTIALS names, for its owner alone."""
        file = home / FILE
        with self._writing:
            if file.exists():
                return
            file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with os.fdopen(
                os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8"
            ) as out:
                json.dump(self.document(universe), out, indent=2)

    def document(self, universe: str = "googleapis.com") -> dict[str, str]:
        self._key = key = signer("the operator in Google Cloud")
        pem = key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        ).decode()
        account = self._world.accounts.get(OPERATOR)
        return {
            "type": "service_account",
            "project_id": PROJECT,
            "private_key_id": _id(key),
            "private_key": pem,
            "client_email": OPERATOR,
            "client_id": account.unique_id if account else "",
            "auth_uri": "https://accounts.google.com/o/oauth2/auth",
            "token_uri": "https://oauth2.googleapis.com/token",
            "auth_provider_x509_cert_url": "https://www.googleapis.com/oauth2/v1/certs",
            "client_x509_cert_url": f"https://www.googleapis.com/robot/v1/metadata/x509/{OPERATOR.replace('@', '%40')}",
            "universe_domain": universe,
        }

    def claims(self, token: str) -> dict[str, Any]:
        """Of a token that the operator's key has signed and that is good now; Unsigned otherwise."""
        key = self._key
        alone = {"verify_exp": False, "verify_nbf": False, "verify_iat": False, "verify_aud": False}
        try:
            if key is None or jwt.get_unverified_header(token).get("kid", _id(key)) != _id(key):
                raise Unsigned("Invalid JWT Signature.")
            claims: dict[str, Any] = jwt.decode(
                token,
                key.public_key(),
                algorithms=["RS256"],
                options=alone,  # pyright: ignore[reportArgumentType] - the options are a TypedDict that a dict built here is not
            )
        except jwt.PyJWTError as error:
            raise Unsigned("Invalid JWT Signature.") from error
        self._check_times(claims)
        return claims

    def _check_times(self, claims: dict[str, Any]) -> None:
        start, end, now = claims.get("iat"), claims.get("exp"), self._world.clock()
        if (
            not isinstance(start, int | float)
            or not isinstance(end, int | float)
            or start - LEEWAY > now
            or end <= now
            or end - start > LONGEST
        ):
            words = "Token must be a short-lived token (60 minutes) and in a reasonable timeframe. Check your iat and exp values in the JWT claim."
            raise Unsigned(f"Invalid JWT: {words}")


def _id(key: rsa.RSAPrivateKey) -> str:
    return hashlib.sha1(
        key.public_key().public_numbers().n.to_bytes(256, "big"), usedforsecurity=False
    ).hexdigest()
