"""What is there → the one thing to do next. Whoever does it and looks again comes to the end, wherever he was cut, and however many do.

The law: at every moment each replica shows what the API servers trust. So a new authority is trusted before it signs, and an old one is until
nobody shows anything of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from enum import Enum

from cwii_webhook import pki
from cwii_webhook.faults import due, fault, unfit, worthless
from cwii_webhook.renew.found import CA, Found, Terms

SHOWN = 5  # replicas that are told of


class What(Enum):
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
    what: What
    why: str = ""


def step(found: Found, terms: Terms, now: datetime, *, calm: bool) -> Step:
    """`calm`: nobody has written for so long that every API server has heard of all that was."""
    return next(_steps(found, terms, now, calm=calm))


def _steps(found: Found, terms: Terms, now: datetime, *, calm: bool) -> Iterator[Step]:
    yield from _authority(found, terms, now)
    if any(_lacks(bundle, found) for hooks in found.hooks for bundle in hooks.bundles.values()):
        yield Step(What.TRUST, "a webhook does not trust it")
    if found.successor:
        yield (
            Step(What.PROMOTE, "it is trusted")
            if calm
            else Step(What.WAIT, "every API server has to hear of the next authority")
        )
    yield from _pair(found, terms, now, calm=calm)
    if late := list(_late(found)):
        more = f", and {len(late) - SHOWN} more" if len(late) > SHOWN else ""
        yield Step(What.WAIT, f"not all serve the new certificate: {'; '.join(late[:SHOWN])}{more}")
    if any(
        bundle != pki.bundle(found.signer.certificate)
        for hooks in found.hooks
        for bundle in hooks.bundles.values()
    ):
        yield (
            Step(What.FORGET, "nobody shows anything of it")
            if calm
            else Step(What.WAIT, "somebody may still be about to serve the old certificate")
        )
    yield Step(What.DONE)


def _authority(found: Found, terms: Terms, now: datetime) -> Iterator[Step]:
    """An authority is not asked to sign what would outlive it, so its next one comes early."""
    successor = found.successor
    broken = unfit(successor, now) if successor else ""
    if why := unfit(found.signer, now):
        yield Step(
            What.PROMOTE if successor and not broken else What.AUTHORITY,
            f"the authority is unusable: {why}",
        )
    if broken:
        yield Step(What.NEXT, f"the next authority is unusable: {broken}")
    if not successor and now >= due(found.signer.certificate, terms.life):
        yield Step(
            What.NEXT,
            f"the authority ends at {pki.ends(found.signer.certificate):%Y-%m-%dT%H:%M:%SZ}",
        )


def _pair(found: Found, terms: Terms, now: datetime, *, calm: bool) -> Iterator[Step]:
    """What serves nobody any more is not waited for."""
    pair, signer = found.serving.pair(), found.signer.certificate
    why = fault(pair, terms.wish, signer, now)
    if not why and found.serving.data.get(CA) != signer:
        why = f"{CA} beside it is another"
    if why:
        ready = calm or worthless(pair, now)
        yield (
            Step(What.PAIR, why)
            if ready
            else Step(
                What.WAIT, "every API server has to hear of the authority that signs the new pair"
            )
        )


def _lacks(bundle: bytes, found: Found) -> bool:
    there = pki.certificates(bundle)
    wanted = [found.signer, *([found.successor] if found.successor else [])]
    return any(
        each not in there for pair in wanted for each in pki.certificates(pair.certificate)[:1]
    )


def _late(found: Found) -> Iterator[str]:
    new = pki.der(found.serving.pair().certificate)
    for replica in found.replicas:
        if replica.shows != new:
            yield f"{replica.address} {replica.trouble or 'serves another'}"
