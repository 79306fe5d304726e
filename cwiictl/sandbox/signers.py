"""The keys that tokens of a cloud are signed with. To make one takes long: it is made when the first needs it, and serves as long as this process lives."""

from __future__ import annotations

import threading

from cryptography.hazmat.primitives.asymmetric import rsa

_lock = threading.Lock()
_made: dict[str, rsa.RSAPrivateKey] = {}


def signer(whose: str) -> rsa.RSAPrivateKey:
    """It never leaves memory, but where a file of credentials holds it."""
    with _lock:
        if whose not in _made:
            _made[whose] = rsa.generate_private_key(65537, 2048)
        return _made[whose]
