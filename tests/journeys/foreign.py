"""What is not ours, and in the way. Walked in every cloud."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from tests.journeys.ground import Done, Ground

G = TypeVar("G", bound=Ground)


def refused(ground: G, make: Callable[[G, str], str], cluster: str) -> None:
    """Before the first write, whether it bears the mark of another cluster or none."""
    thing = make(ground, cluster)
    before = ground.clouds()
    ground.fresh()

    done = ground.create_all()

    assert done.code == 4, done.out
    assert done.things[thing] == "foreign"
    assert done.but("foreign", "not tried") == {}
    (told,) = [one for one in done.data["things"] if one["thing"] == thing]
    assert ("bears the mark of cluster another" if cluster else "bears no mark of ours") in told[
        "problem"
    ]
    assert f"--adopt {thing}" in told["remedy"]
    assert ground.mutating() == []
    assert ground.clouds() == before
    assert not (ground.folder / "out").exists()


def told(done: Done, thing: str) -> None:
    """To people: what is in the way, and what to do."""
    assert done.code == 4
    assert (
        f"Error: {thing} is there already and bears no mark of ours.\n  Choose another name, or take it over with --adopt {thing}.\n"
        in done.err
    )


def shown(ground: Ground, thing: str) -> None:
    """By status and by a dry run."""
    for done in (ground.status(), ground.create_all("--dry-run")):
        assert done.code == 4
        assert done.things[thing] == "foreign"
