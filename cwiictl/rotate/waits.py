"""How long a stage has to wait after the one before it: for caches that nobody can see into, and for tokens that were signed before."""

from __future__ import annotations

from dataclasses import dataclass
from email.utils import formatdate

from cwiictl.errors import BadInput, Problem, few
from cwiictl.issuer.rotation import Rotation, Stage

# Ours says that it is good for a minute. No cloud promises to heed that, or tells what it does: an hour is what Google Storage gives to what says nothing,
# and what Entra and STS have not been seen to exceed by those who rotate behind them. The tries before it, which must all succeed, find what is longer.
SOAK = 3600
FLOOR = 3600  # what a token lives that nobody has said more of: a pod may have gone that had one
SKEW = 900  # seconds by which clocks may differ: with more between them, no cloud would hear whoever runs this
MOST = 10  # names that are told; the rest is counted


@dataclass(frozen=True)
class Volume:
    """A token that a pod is given: for whom, and how long it lives."""

    pod: str  # or who asks for one in the name of pods
    audience: str  # empty for the API server itself
    seconds: int
    name: str = ""  # of a pod's volume


def longest(volumes: tuple[Volume, ...], *, clouds: bool) -> Volume:
    return max(
        _meant(volumes, clouds=clouds), key=lambda volume: volume.seconds, default=Volume("", "", 0)
    )


def _meant(volumes: tuple[Volume, ...], *, clouds: bool) -> list[Volume]:
    """Whatever names an audience may be for a cloud: who verifies it with published keys is not known here."""
    return [volume for volume in volumes if not clouds or volume.audience]


def unknown(stands: Rotation) -> Problem | None:
    """Why nobody can tell what there is to wait for."""
    if stands.signed:
        return None
    return BadInput(
        "unpublish comes too early: an API server was seen to sign with the old key again, and since when none does any more is not known",
        remedy="run rotate-keys sign, which takes note of it when every API server signs with the new key",
    )


def early(
    stage: Stage, stands: Rotation, volumes: tuple[Volume, ...], soak: int, now: int
) -> Problem | None:
    """Why it is too early, and until when."""
    if stage == "unpublish":
        return _unexpired(stage, longest(volumes, clouds=True), stands.signed, soak, now)
    if stage == "forget":
        return _unexpired(stage, longest(volumes, clouds=False), stands.signed, 0, now)
    return None


def _unexpired(stage: Stage, volume: Volume, signed: int, soak: int, now: int) -> Problem | None:
    lives = max(volume.seconds, FLOOR)
    left = signed + lives + soak - now
    if left <= 0:
        return None
    cached = f", and clouds may keep what they read for {soak} more" if soak else ""
    ways = (
        f"restart that pod{_later(signed + SKEW - now)}; --force breaks them"
        if volume.name and volume.seconds > FLOOR
        else "--force breaks them"
    )
    return BadInput(
        f"{stage} comes too early: the last API server was seen to sign with the new key {max(now - signed, 0)} seconds ago, {whose(volume)}{cached}",
        remedy=f"run it again in {left} seconds: until then tokens of the old key are good; or {ways}",
    )


def whose(volume: Volume) -> str:
    """Of whom nothing longer is known, it is what a token lives."""
    return (
        f"{volume.pod} has tokens that live {volume.seconds} seconds"
        if volume.seconds >= FLOOR
        else f"tokens live {FLOOR} seconds"
    )


def _later(seconds: int) -> str:
    """Who was made before is taken to have a token of the old key: clocks differ."""
    return f", which gives it one of the new key{f', but not before {seconds} seconds have passed' if seconds > 0 else ''}"


def broken(stage: Stage, stands: Rotation, volumes: tuple[Volume, ...], now: int) -> str:
    """What goes with the old key, if that goes now: the longest first."""
    found = [
        volume
        for volume in _meant(volumes, clouds=stage == "unpublish")
        if stands.signed + volume.seconds > now
    ]
    told = [
        _told(volume, stands.signed)
        for volume in sorted(found, key=lambda volume: (-volume.seconds, volume.pod))
    ]
    gone = (
        f"those of pods that are gone, until {date(stands.signed + FLOOR)}"
        if stands.signed + FLOOR > now
        else "none that is known"
    )
    return (
        f"{'clouds' if stage == 'unpublish' else 'API servers'} refuse tokens of the old key from now on; good yet are {few(told, MOST) or gone}."
        " A kubelet writes a new one into a pod's file within a day: restart who does not read it again, or cannot wait"
    )


def _told(volume: Volume, signed: int) -> str:
    known = [
        f"volume {volume.name}" if volume.name else "",
        f"for {volume.audience}" if volume.audience else "",
        f"until {date(signed + volume.seconds)}",
    ]
    return f"{volume.pod} ({', '.join(filter(None, known))})"


def date(seconds: int) -> str:
    return formatdate(seconds, usegmt=True)


def soaking(stands: Rotation, soak: int, now: int) -> int:
    """Seconds until every cache that was filled before the new key was published is filled anew."""
    return max(stands.since + soak - now, 0)
