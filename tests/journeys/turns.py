"""A rotation as far as the clouds go, walked in every cloud and for every way of hosting."""

from __future__ import annotations

import json
import signal
from pathlib import Path

from tests.journeys.ground import Done, Ground, a_key, kid_of

OLD = kid_of(a_key(0))[:12]
PAIR = f"out/after-{OLD}/serviceaccount-signer"


def rotate(ground: Ground, stage: str, *more: str | Path) -> Done:
    out = () if "--output-dir" in more else ("--output-dir", "out")
    return ground.cwiictl(
        "rotate-keys", stage, *ground.where, *out, "--bits", "2048", "-o", "json", *more
    )


def made(ground: Ground, *how: str) -> Ground:
    ground.keys()
    assert ground.create_all(*how).code == 0
    ground.fresh()
    return ground


def added(ground: Ground, key_set: str, writes: list[str], *how: str) -> None:
    """And again, which writes nothing. What the dry run says is what is done."""
    foreseen = rotate(ground, "add", "--dry-run", *how)
    assert (foreseen.code, foreseen.but("as wanted", "missing")[key_set]) == (0, "drifted"), (
        foreseen.out
    )
    assert (ground.mutating(), (ground.folder / PAIR).parent.exists()) == ([], False)

    done = rotate(ground, "add", "--expect", foreseen.data["checksum"], *how)

    assert done.code == 0, done.out
    assert done.things[key_set] == "repaired"
    assert ground.mutating() == writes
    assert [Path(path).name for path in done.data["files"]] == [
        "serviceaccount-signer.private",
        "serviceaccount-signer.public",
    ]
    assert (ground.folder / f"{PAIR}.private").stat().st_mode & 0o777 == 0o600
    assert "PRIVATE" not in done.out + done.err
    files = ground.tree()
    ground.fresh()
    again = rotate(ground, "add", *how)
    assert (again.code, again.but("as wanted")) == (0, {}), again.out
    assert (ground.mutating(), ground.tree()) == ([], files)
    told = ground.status("--output-dir", "out", *how)
    assert told.code == 0, told.out
    assert any(
        f"from {OLD}..." in remark and "stands at add since" in remark
        for remark in told.remarks[key_set]
    )


def killed_adding(ground: Ground, key_set: str, *how: str, writes: int = 1) -> None:
    """After each of its writes, in one run after the other. The pair that was made first is the one that is published."""
    pairs: set[bytes] = set()
    for _ in range(writes):
        code = ground.killed(
            1, "rotate-keys", "add", *ground.where, "--output-dir", "out", "--bits", "2048", *how
        )
        assert code == -signal.SIGKILL
        pairs.add((ground.folder / f"{PAIR}.private").read_bytes())
    ground.fresh()

    done = rotate(ground, "add", *how)

    assert (done.code, done.but("as wanted"), ground.mutating()) == (0, {}, []), done.out
    assert pairs == {(ground.folder / f"{PAIR}.private").read_bytes()}
    assert ground.status("--output-dir", "out", *how).remarks[key_set]


def refused(done: Done, *sentences: str) -> None:
    assert done.code == 2, done.out
    assert all(sentence in json.dumps(done.data) for sentence in sentences), done.out
