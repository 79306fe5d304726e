"""A run over what is there already. Walked in every cloud."""

from __future__ import annotations

from typing import Any

from tests.journeys.ground import Ground


def writes_nothing(ground: Ground, things: int) -> int:
    """Neither in the cloud nor on this disk. Returns how many requests it took to see that."""
    clouds, times = ground.clouds(), ground.times()
    ground.fresh()

    done = ground.create_all()

    assert (done.code, done.but("as wanted")) == (0, {})
    assert len(done.things) == things
    assert ground.mutating() == []
    calls = len(ground.asked())
    assert ground.times() == times
    assert ground.clouds() == clouds
    return calls


def found(ground: Ground) -> None:
    """By status, which only reads."""
    ground.create_all()
    ground.fresh()

    done = ground.status()

    assert (done.code, done.but("as wanted")) == (0, {})
    assert ground.mutating() == []


def missing(ground: Ground, nothing: Any, *but: str) -> None:
    """By status, which makes nothing."""
    done = ground.status()

    assert done.code == 3
    assert {thing: how for thing, how in done.but("missing").items() if thing not in but} == {}
    assert ground.clouds() == nothing
    assert not (ground.folder / "out").exists()
