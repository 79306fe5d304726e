"""Key sets to put into stores: each number is a key of its own."""

from __future__ import annotations

from functools import cache

from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from cwiictl import oidc
from cwiictl.issuer.documents import Keys, KeySetState


@cache
def key(number: int) -> oidc.VerificationKey:
    del number  # each its own
    public = rsa.generate_private_key(65537, 2048).public_key()
    return oidc.public_key(
        public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo), "a key"
    )


def a_key_set(number: int, mode: Keys = "replace") -> KeySetState:
    return KeySetState(kids=frozenset({key(number).kid}), mode=mode, keys=(key(number),))
