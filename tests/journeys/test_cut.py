"""A run that is cut anywhere and started again ends where a clean run ends."""

from __future__ import annotations

import signal
from typing import Any

import pytest

from tests.journeys import cuts
from tests.journeys.conftest import Enter
from tests.journeys.ground import BUCKET, NOTHING, Ground

Everything = Any

CREATING = 10  # writes of create-all for two requests: bucket, block, policy, two documents, provider, two roles, two permissions
DELETING = 8  # of delete: two permissions, two roles, provider, two documents, bucket


def test_the_numbers_of_writes_are_those_that_are_cut_here(ground: Ground) -> None:
    ground.create_all()
    assert len(ground.mutating()) == CREATING
    ground.fresh()
    ground.delete("--yes")
    assert len(ground.mutating()) == DELETING


@pytest.mark.parametrize("writes", cuts.after(range(1, CREATING + 1)))
def test_create_all_killed_after_any_write_ends_as_a_clean_run_when_run_again(
    clean: Everything, ground: Ground, writes: int
) -> None:
    cuts.killed_creating(ground, clean, writes)
    cuts.as_wanted(ground)


@pytest.mark.parametrize("writes", cuts.after(range(1, DELETING + 1)))
def test_delete_killed_after_any_write_leaves_nothing_when_run_again(
    ground: Ground, writes: int
) -> None:
    cuts.killed_deleting(ground, NOTHING, writes, "--yes")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_one_interruption_finishes_the_calls_under_way_and_starts_none(
    clean: Everything, enter: Enter, number: signal.Signals
) -> None:
    ground = enter(latency=0.1)
    with ground.started(
        "create-all",
        *ground.where,
        *ground.asking,
        "--bits",
        "2048",
        "--concurrency",
        "1",
        "-o",
        "json",
    ) as process:
        cuts.until(ground, lambda: len(ground.mutating()) >= 2)
        process.send_signal(number)
        done = cuts.ended(process)

    assert done.code == 130
    assert done.data["interrupted"] is True
    conditions = set(done.things.values())
    assert conditions <= {"created", "not tried"}
    assert "not tried" in conditions
    clouds = ground.clouds()
    for (
        thing,
        condition,
    ) in done.things.items():  # what was begun was brought to its end, and nothing else was begun
        role = clouds["roles"].get(thing.removeprefix("aws/role/"))
        if thing.startswith("aws/role/"):
            assert (role is not None) == (condition == "created")
            assert role is None or role["inline"]
        elif thing.startswith(("aws/document/", "aws/key-set/")):
            key = thing.split("/", 3)[3]
            assert (key in clouds["buckets"].get(BUCKET, {"objects": {}})["objects"]) == (
                condition == "created"
            )

    ground.sandbox.faults.latency = 0.0
    assert ground.create_all().code == 0
    assert ground.everything() == clean


def test_a_second_interruption_does_not_wait_for_the_calls_under_way(
    clean: Everything, enter: Enter
) -> None:
    ground = enter(latency=0.1)
    cuts.interrupted_twice(ground, clean, lambda: len(ground.mutating()) >= 2)


def test_an_interrupted_delete_says_what_is_left_and_goes_on_when_run_again(enter: Enter) -> None:
    ground = enter()
    cuts.interrupted_deleting(ground, NOTHING, lambda: len(ground.mutating()) >= 1, "--yes")
