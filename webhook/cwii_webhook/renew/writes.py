"""A step → what is written for it: new keys and certificates are made here."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from cwii_webhook import pki
from cwii_webhook.renew.found import (
    CA,
    CRT,
    HELD,
    HOOKS,
    KEY,
    NEXT_CRT,
    NEXT_KEY,
    Found,
    Held,
    Terms,
    Write,
)
from cwii_webhook.renew.steps import What
from cwii_webhook.x509 import Pair


def writes(what: What, found: Found, terms: Terms, now: datetime) -> Iterator[Write]:
    """One object each."""
    match what:
        case What.AUTHORITY:
            yield _into(
                found.authority,
                {
                    **_pair(pki.authority(terms.name, terms.life, now)),
                    NEXT_CRT: None,
                    NEXT_KEY: None,
                },
            )
        case What.NEXT:
            made = pki.authority(terms.name, terms.life, now)
            yield _into(found.authority, {NEXT_CRT: made.certificate, NEXT_KEY: made.key})
        case What.PROMOTE if found.successor:
            yield _into(found.authority, {**_pair(found.successor), NEXT_CRT: None, NEXT_KEY: None})
        case What.PAIR:
            yield _into(
                found.serving,
                {**_pair(pki.signed(terms.wish, found.signer, now)), CA: found.signer.certificate},
            )
        case What.TRUST:
            successor = found.successor.certificate if found.successor else b""
            yield from _bundles(found, found.signer.certificate, successor, keeping=True)
        case What.FORGET:
            yield from _bundles(found, found.signer.certificate, keeping=False)
        case _:
            return


def _pair(pair: Pair) -> dict[str, bytes | None]:
    return {CRT: pair.certificate, KEY: pair.key}


def _into(held: Held, content: dict[str, bytes | None]) -> Write:
    return Write(HELD, held.name, held.version, content)


def _bundles(found: Found, *pems: bytes, keeping: bool) -> Iterator[Write]:
    """Of each configuration only what changes; nothing, where nothing does."""
    for hooks in found.hooks:
        new = {
            name: pki.bundle(*([old] if keeping else []), *pems)
            for name, old in hooks.bundles.items()
        }
        changed: dict[str, bytes | None] = {
            name: pem for name, pem in new.items() if pem != hooks.bundles[name]
        }
        if changed:
            yield Write(HOOKS, hooks.name, hooks.version, changed)
