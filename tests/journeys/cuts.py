"""Runs that are cut: killed after any of their writes, or interrupted. Each is walked in every cloud."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Sequence
from subprocess import Popen
from typing import Any

import pytest

from tests.journeys.ground import Done, Ground

STEP = 5  # of so many one is quick


def after(writes: Sequence[int]) -> list[Any]:
    """After all of these writes a run is killed in the soak test, after some of them whenever anything is tested: always after the first, and the last."""
    quick = {*writes[::STEP], writes[-1]}
    return [n if n in quick else pytest.param(n, marks=pytest.mark.soak) for n in writes]


def killed_creating(ground: Ground, clean: Any, writes: int) -> None:
    """Run again, it ends as a clean run."""
    code = ground.killed(writes, "create-all", *ground.where, *ground.asking, "--bits", "2048")
    assert code == -signal.SIGKILL

    done = ground.create_all()

    assert done.code == 0, done.out
    assert ground.everything() == clean


def as_wanted(ground: Ground) -> None:
    ground.fresh()
    assert ground.create_all().but("as wanted") == {}
    assert ground.mutating() == []


def killed_deleting(ground: Ground, nothing: Any, writes: int, *how: str) -> None:
    """Run again, nothing is left in the cloud. Keys and manifests on this disk stay."""
    ground.create_all()
    tree = ground.tree()
    code = ground.killed(writes, "delete", *ground.where, *how)
    assert code == -signal.SIGKILL

    done = ground.delete(*how)

    assert done.code == 0, done.out
    assert ground.clouds() == nothing
    assert ground.tree() == tree


def until(ground: Ground, reached: Callable[[], bool]) -> None:
    end = time.monotonic() + 30
    while not reached():
        assert time.monotonic() < end, ground.asked()
        time.sleep(0.01)


def until_written(ground: Ground, what: str) -> None:
    until(ground, lambda: what in ground.mutating())


def ended(process: Popen[str]) -> Done:
    out, err = process.communicate(timeout=60)
    assert "Traceback" not in err
    return Done(process.returncode, out, err)


def interrupted_twice(ground: Ground, clean: Any, reached: Callable[[], bool]) -> None:
    """The second time does not wait for the calls under way, and what they did is no harm."""
    with ground.started("create-all", *ground.where, *ground.asking, "--bits", "2048") as process:
        until(ground, reached)
        ground.sandbox.faults.latency = 4.0
        time.sleep(0.5)  # so that calls are under way that take that long
        began = time.monotonic()
        process.send_signal(signal.SIGINT)
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        done = ended(process)
        took = time.monotonic() - began

    assert done.code == 130
    assert "Interrupted: run the same command again" in done.err
    assert took < 3
    ground.sandbox.faults.latency = 0.0
    time.sleep(4.5 - took)  # what was under way arrives yet
    assert ground.create_all().code == 0
    assert ground.everything() == clean


def interrupted_deleting(
    ground: Ground, nothing: Any, reached: Callable[[], bool], *how: str
) -> None:
    """It says what is left, and goes on when it is run again."""
    ground.create_all()
    ground.fresh()
    ground.sandbox.faults.latency = 0.1
    with ground.started(
        "delete", *ground.where, *how, "--concurrency", "1", "-o", "json"
    ) as process:
        until(ground, reached)
        process.send_signal(signal.SIGINT)
        done = ended(process)

    assert done.code == 130
    assert "not tried" in done.things.values()
    ground.sandbox.faults.latency = 0.0
    assert ground.delete(*how).code == 0
    assert ground.clouds() == nothing
