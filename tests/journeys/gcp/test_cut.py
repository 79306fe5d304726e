"""A run that is cut anywhere and started again ends where a clean run ends."""

from __future__ import annotations

import signal
from typing import Any

import pytest

from tests.journeys import cuts
from tests.journeys.gcp.conftest import Enter
from tests.journeys.gcp.ground import NOTHING, GcpGround

Everything = Any

CREATING = 12  # writes of create-all for two requests: bucket, its policy, two documents, pool, provider, two service accounts and whom each believes, a role,
# and the project's policy
REVIVING = CREATING  # of create-all after that, for most a coming back
DELETING = 9  # of delete: a role, the project's policy, two service accounts, provider, pool, two documents, bucket
ALL = ("--yes", "--delete-shared-roles")


def test_the_numbers_of_writes_are_those_that_are_cut_here(ground: GcpGround) -> None:
    ground.create_all()
    assert len(ground.mutating()) == CREATING
    ground.fresh()
    ground.delete(*ALL)
    assert len(ground.mutating()) == DELETING
    ground.fresh()
    ground.create_all()
    assert len(ground.mutating()) == REVIVING


@pytest.mark.parametrize("writes", cuts.after(range(1, CREATING + 1)))
def test_create_all_killed_after_any_write_ends_as_a_clean_run_when_run_again(
    clean_gcp: Everything, ground: GcpGround, writes: int
) -> None:
    cuts.killed_creating(ground, clean_gcp, writes)
    cuts.as_wanted(ground)


@pytest.mark.parametrize("writes", cuts.after(range(1, DELETING + 1)))
def test_delete_killed_after_any_write_leaves_nothing_when_run_again(
    ground: GcpGround, writes: int
) -> None:
    """But for the names that Google keeps for weeks."""
    cuts.killed_deleting(ground, NOTHING, writes, *ALL)


@pytest.mark.parametrize("writes", cuts.after(range(1, REVIVING + 1)))
def test_create_all_killed_after_any_write_while_it_revives_what_was_deleted_ends_as_a_clean_run_too(
    clean_gcp: Everything, ground: GcpGround, writes: int
) -> None:
    ground.create_all()
    assert ground.delete(*ALL).code == 0

    cuts.killed_creating(ground, clean_gcp, writes)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_one_interruption_finishes_the_calls_under_way_and_starts_none(
    clean_gcp: Everything, enter: Enter, number: signal.Signals
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
        cuts.until_written(ground, "storage.buckets.create")
        process.send_signal(number)
        done = cuts.ended(process)

    assert done.code == 130
    assert done.data["interrupted"] is True
    assert "not tried" in done.things.values()
    assert set(done.things.values()) <= {"as wanted", "created", "not tried"}
    ground.sandbox.faults.latency = 0.0
    bucket = next(iter(ground.clouds()["buckets"].values()))
    assert any(
        "allUsers" in each["members"] for each in bucket["policy"]
    )  # what was begun was brought to its end, and nothing else was begun
    assert bucket["objects"] == {}
    assert ground.create_all().code == 0
    assert ground.everything() == clean_gcp


def test_a_second_interruption_does_not_wait_for_the_calls_under_way(
    clean_gcp: Everything, enter: Enter
) -> None:
    ground = enter(latency=0.1)
    cuts.interrupted_twice(
        ground, clean_gcp, lambda: "iam.workloadIdentityPools.create" in ground.mutating()
    )


def test_an_interrupted_delete_says_what_is_left_and_goes_on_when_run_again(enter: Enter) -> None:
    ground = enter()
    cuts.interrupted_deleting(
        ground, NOTHING, lambda: "resourcemanager.projects.setIamPolicy" in ground.mutating(), *ALL
    )
