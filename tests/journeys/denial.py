"""What whoever asks may not do. Walked in every cloud."""

from __future__ import annotations

from typing import Any

from tests.journeys.ground import Ground


def foreseen(ground: Ground, permissions: str, sentence: str, nothing: Any) -> None:
    """Said before the first write: nothing is half made."""
    done = ground.create_all()

    assert done.code == 1
    assert done.things[permissions] == "failed"
    assert done.but("failed", "not tried") == {}
    (told,) = [one for one in done.data["things"] if one["thing"] == permissions]
    assert sentence in told["problem"]
    assert "cwiictl permissions" in told["remedy"]
    assert ground.mutating() == []
    assert ground.clouds() == nothing
    assert not (ground.folder / "out").exists()


def unforeseen(ground: Ground, denied: str, thing: str, condition: str = "failed") -> None:
    """It is named with the way on, what does not depend on it is made, and with it granted the rest."""
    done = ground.create_all()

    assert done.code == 1
    assert done.things[thing] == condition
    (told,) = [one for one in done.data["things"] if one["thing"] == thing]
    assert denied in told["problem"] + told["remedy"]
    assert "granted" in told["remedy"]
    assert "created" in done.things.values()
    ground.sandbox.faults.deny = set()
    assert ground.create_all().code == 0
    assert ground.status().code == 0


def not_dropped(ground: Ground, permissions: str, sentence: str) -> None:
    """Of a removal that lacks something, nothing is done, and a dry run says the same."""
    ground.fresh()

    shown, done = ground.delete("--dry-run"), ground.delete("--yes")

    for each, rest in ((shown, "to drop"), (done, "not tried")):
        assert each.code == 1
        assert each.but(rest, "kept") == {permissions: "failed"}
        assert sentence in each.out
    assert ground.mutating() == []
