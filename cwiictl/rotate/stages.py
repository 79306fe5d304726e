"""The order of the stages: where a rotation stands, whether a stage is due, and what it writes."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from cwiictl.errors import BadInput, Problem
from cwiictl.issuer.rotation import STAGES, Rotation, Stage, Turn, begin

DOES: dict[Stage, str] = {
    "add": "the new key is published beside the old one",
    "accept": "every API server accepts tokens of both keys",
    "sign": "every API server signs with the new key",
    "unpublish": "the old key is published no more",
    "forget": "the API servers accept tokens of the new key alone",
}


def standing(records: Iterable[Rotation | None]) -> Rotation | None:
    """Of all places that keys are published in, the one that lags behind: a run that was cut has written some of them."""
    found = list(records)
    latest = max((each for each in found if each), key=lambda each: each.since, default=None)
    if latest is None:
        return None
    same = [
        each if each and (each.old, each.new) == (latest.old, latest.new) else None
        for each in found
    ]
    return min(same, key=lambda each: (_reached(each), each.signed if each else 0))


def _reached(rotation: Rotation | None) -> int:
    return STAGES.index(rotation.stage) if rotation else -1


def undue(stage: Stage, stands: Rotation | None, key: str) -> Problem | None:
    """Why it is not this stage's turn. `key` is the id of the one that the cluster is said to sign with, where that is asked for."""
    if stage == "add":
        return _no_beginning(stands, key)
    reached, wanted = _reached(stands), STAGES.index(stage)
    if stands is None or reached < wanted - 1:
        told = f"the rotation stands at {stands.stage}" if stands else "no rotation is under way"
        return BadInput(
            f"{stage} is not due: {told}", remedy=f"go on with rotate-keys {STAGES[reached + 1]}"
        )
    if reached > wanted:
        return BadInput(
            f"{stage} is done: the rotation stands at {stands.stage}", remedy=onward(stands)
        )
    return None


def _no_beginning(stands: Rotation | None, key: str) -> Problem | None:
    if stands is None or (stands.stage == "add" and begin(key) == stands.old):
        return None
    if stands.stage != "forget":
        whose = "" if begin(key) == stands.old else f" of the key {stands.old}..., and not of {key}"
        return BadInput(
            f"a rotation{whose} is under way, and stands at {stands.stage}", remedy=onward(stands)
        )
    if begin(key) != stands.new:
        return BadInput(
            f"the cluster signs with the key {stands.new}..., and not with {key}: that has been rotated away",
            remedy="give the public half of the key that it signs with as --public-key-file",
        )
    return None


def onward(stands: Rotation) -> str:
    """What comes next."""
    reached = _reached(stands)
    return (
        f"go on with rotate-keys {STAGES[reached + 1]}"
        if stands.stage != "forget"
        else "the next one begins with rotate-keys add"
    )


def turn(
    stage: Stage, stands: Rotation | None, key: str, records: Collection[Rotation | None], now: int
) -> Turn:
    """Who comes again leaves the time when it was first so."""
    over = _words(records)
    begins = stage == "add" and (stands is None or stands.stage == "forget")
    old = begin(key) if begins or stands is None else stands.old
    if stands and stands.stage == stage and not begins:
        return Turn(
            stage, old, stands.since, stands.signed or (now if stage == "sign" else 0), over
        )
    signed = now if stage == "sign" else 0 if begins or stands is None else stands.signed
    return Turn(stage, old, now, signed, over)


def fallen(stands: Rotation, records: Iterable[Rotation | None]) -> Turn:
    """A server signs with the old key again: since when all sign with the new one is known once they do, and not before."""
    return Turn(stands.stage, stands.old, stands.since, 0, _words(records))


def _words(records: Iterable[Rotation | None]) -> frozenset[str]:
    return frozenset(each.word if each else "" for each in records)
