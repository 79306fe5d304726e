"""What is there → the one thing to do next. Whoever does it and looks again comes to the end, wherever he was cut, and however many do.

The law: at every moment each replica shows what the API servers trust. So a new authority is trusted before it signs, and an old one is until
nobody shows anything of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from enum import Enum

from cwii_webhook.certificates import pki
from cwii_webhook.certificates.checks import due, fault, unfit, worthless
from cwii_webhook.certificates.pem import KeyPair
from cwii_webhook.renewer.state import (
    CA,
    CRT,
    HELD,
    HOOKS,
    KEY,
    NEXT_CRT,
    NEXT_KEY,
    ClusterState,
    HeldSecret,
    Terms,
    Write,
)

SHOWN = 5  # replicas that are told of


class Action(Enum):
    AUTHORITY = "an authority was made"
    NEXT = "the next authority was made"
    TRUST = "an authority was added to caBundle"
    PROMOTE = "the next authority signs from now on"
    PAIR = "a new pair was signed"
    FORGET = "what signs no more was taken out of caBundle"
    WAIT = ""
    DONE = "all is as it should be"


@dataclass(frozen=True)
class Step:
    what: Action
    why: str = ""


def step(found: ClusterState, terms: Terms, now: datetime, *, calm: bool) -> Step:
    """`calm`: nobody has written for so long that every API server has heard of all that was."""
    return next(_steps(found, terms, now, calm=calm))


def _steps(found: ClusterState, terms: Terms, now: datetime, *, calm: bool) -> Iterator[Step]:
    yield from _authority(found, terms, now)
    if any(_lacks(bundle, found) for hooks in found.hooks for bundle in hooks.bundles.values()):
        yield Step(Action.TRUST, "a webhook does not trust it")
    if found.successor:
        yield (
            Step(Action.PROMOTE, "it is trusted")
            if calm
            else Step(Action.WAIT, "every API server has to hear of the next authority")
        )
    yield from _pair(found, terms, now, calm=calm)
    if late := list(_late(found)):
        more = f", and {len(late) - SHOWN} more" if len(late) > SHOWN else ""
        yield Step(
            Action.WAIT, f"not all serve the new certificate: {'; '.join(late[:SHOWN])}{more}"
        )
    if any(
        bundle != pki.bundle(found.signer.certificate)
        for hooks in found.hooks
        for bundle in hooks.bundles.values()
    ):
        yield (
            Step(Action.FORGET, "nobody shows anything of it")
            if calm
            else Step(Action.WAIT, "somebody may still be about to serve the old certificate")
        )
    yield Step(Action.DONE)


def _authority(found: ClusterState, terms: Terms, now: datetime) -> Iterator[Step]:
    """An authority is not asked to sign what would outlive it, so its next one comes early."""
    successor = found.successor
    broken = unfit(successor, now) if successor else ""
    if why := unfit(found.signer, now):
        yield Step(
            Action.PROMOTE if successor and not broken else Action.AUTHORITY,
            f"the authority is unusable: {why}",
        )
    if broken:
        yield Step(Action.NEXT, f"the next authority is unusable: {broken}")
    if not successor and now >= due(found.signer.certificate, terms.life):
        yield Step(
            Action.NEXT,
            f"the authority ends at {pki.ends(found.signer.certificate):%Y-%m-%dT%H:%M:%SZ}",
        )


def _pair(found: ClusterState, terms: Terms, now: datetime, *, calm: bool) -> Iterator[Step]:
    """What serves nobody any more is not waited for."""
    pair, signer = found.serving.pair(), found.signer.certificate
    why = fault(pair, terms.wish, signer, now)
    if not why and found.serving.data.get(CA) != signer:
        why = f"{CA} beside it is another"
    if why:
        ready = calm or worthless(pair, now)
        yield (
            Step(Action.PAIR, why)
            if ready
            else Step(
                Action.WAIT, "every API server has to hear of the authority that signs the new pair"
            )
        )


def _lacks(bundle: bytes, found: ClusterState) -> bool:
    there = pki.certificates(bundle)
    wanted = [found.signer, *([found.successor] if found.successor else [])]
    return any(
        each not in there for pair in wanted for each in pki.certificates(pair.certificate)[:1]
    )


def _late(found: ClusterState) -> Iterator[str]:
    new = pki.der(found.serving.pair().certificate)
    for replica in found.replicas:
        if replica.shows != new:
            yield f"{replica.address} {replica.trouble or 'serves another'}"


def writes(what: Action, found: ClusterState, terms: Terms, now: datetime) -> Iterator[Write]:
    """One object each."""
    match what:
        case Action.AUTHORITY:
            yield _into(
                found.authority,
                {
                    **_pair_data(pki.authority(terms.name, terms.life, now)),
                    NEXT_CRT: None,
                    NEXT_KEY: None,
                },
            )
        case Action.NEXT:
            made = pki.authority(terms.name, terms.life, now)
            yield _into(found.authority, {NEXT_CRT: made.certificate, NEXT_KEY: made.key})
        case Action.PROMOTE if found.successor:
            yield _into(
                found.authority, {**_pair_data(found.successor), NEXT_CRT: None, NEXT_KEY: None}
            )
        case Action.PAIR:
            yield _into(
                found.serving,
                {
                    **_pair_data(pki.signed(terms.wish, found.signer, now)),
                    CA: found.signer.certificate,
                },
            )
        case Action.TRUST:
            successor = found.successor.certificate if found.successor else b""
            yield from _bundles(found, found.signer.certificate, successor, keeping=True)
        case Action.FORGET:
            yield from _bundles(found, found.signer.certificate, keeping=False)
        case _:
            return


def _pair_data(pair: KeyPair) -> dict[str, bytes | None]:
    return {CRT: pair.certificate, KEY: pair.key}


def _into(held: HeldSecret, content: dict[str, bytes | None]) -> Write:
    return Write(HELD, held.name, held.version, content)


def _bundles(found: ClusterState, *pems: bytes, keeping: bool) -> Iterator[Write]:
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
