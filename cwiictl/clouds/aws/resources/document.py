"""The two documents of the issuer in the bucket: their keys in it are what ccoctl's users know."""

from __future__ import annotations

from cwiictl import names

JWKS = "keys.json"
KEYS = frozenset({names.DISCOVERY, JWKS})
