"""A run that is cut anywhere and started again ends where a clean run ends."""

from __future__ import annotations

import signal
import time
from subprocess import Popen
from typing import Any

import pytest

from tests.journeys import cuts
from tests.journeys.gcp.conftest import Enter
from tests.journeys.gcp.ground import NOTHING, GcpGround
from tests.journeys.ground import Done

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
def test_create_all_killed_after_any_write_ends_as_a_clean_run_when_run_again(clean_gcp: Everything, ground: GcpGround, writes: int) -> None:
    code = ground.killed(writes, "create-all", *ground.where, *ground.asking, "--bits", "2048")
    assert code == -signal.SIGKILL

    done = ground.create_all()

    assert done.code == 0, done.out
    assert ground.everything() == clean_gcp
    ground.fresh()
    assert ground.create_all().but("as wanted") == {}
    assert ground.mutating() == []


@pytest.mark.parametrize("writes", cuts.after(range(1, DELETING + 1)))
def test_delete_killed_after_any_write_leaves_nothing_when_run_again(ground: GcpGround, writes: int) -> None:
    """But for the names that Google keeps for weeks."""
    ground.create_all()
    tree = ground.tree()
    code = ground.killed(writes, "delete", *ground.where, *ALL)
    assert code == -signal.SIGKILL

    done = ground.delete(*ALL)

    assert done.code == 0, done.out
    assert ground.clouds() == NOTHING
    assert ground.tree() == tree  # keys and manifests on this disk stay


@pytest.mark.parametrize("writes", cuts.after(range(1, REVIVING + 1)))
def test_create_all_killed_after_any_write_while_it_revives_what_was_deleted_ends_as_a_clean_run_too(
    clean_gcp: Everything, ground: GcpGround, writes: int
) -> None:
    ground.create_all()
    assert ground.delete(*ALL).code == 0
    code = ground.killed(writes, "create-all", *ground.where, *ground.asking, "--bits", "2048")
    assert code == -signal.SIGKILL

    done = ground.create_all()

    assert done.code == 0, done.out
    assert ground.everything() == clean_gcp


def until(ground: GcpGround, what: str) -> None:
    """Waits until that was written."""
    end = time.monotonic() + 30
    while what not in ground.mutating():
        assert time.monotonic() < end, ground.asked()
        time.sleep(0.01)


def ended(process: Popen[str]) -> Done:
    out, err = process.communicate(timeout=60)
    assert "Traceback" not in err
    return Done(process.returncode, out, err)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_one_interruption_finishes_the_calls_under_way_and_starts_none(clean_gcp: Everything, enter: Enter, number: signal.Signals) -> None:
    ground = enter(latency=0.1)
    with ground.started("create-all", *ground.where, *ground.asking, "--bits", "2048", "--concurrency", "1", "-o", "json") as process:
        until(ground, "storage.buckets.create")
        process.send_signal(number)
        done = ended(process)

    assert done.code == 130
    assert done.data["interrupted"] is True
    assert "not tried" in done.things.values()
    assert set(done.things.values()) <= {"as wanted", "created", "not tried"}
    ground.sandbox.faults.latency = 0.0
    bucket = next(iter(ground.clouds()["buckets"].values()))
    assert any("allUsers" in each["members"] for each in bucket["policy"])  # what was begun was brought to its end, and nothing else was begun
    assert bucket["objects"] == {}
    assert ground.create_all().code == 0
    assert ground.everything() == clean_gcp


def test_a_second_interruption_does_not_wait_for_the_calls_under_way(clean_gcp: Everything, enter: Enter) -> None:
    ground = enter(latency=0.1)
    with ground.started("create-all", *ground.where, *ground.asking, "--bits", "2048") as process:
        until(ground, "iam.workloadIdentityPools.create")
        ground.sandbox.faults.latency = 4.0
        time.sleep(0.3)  # so that calls are under way that take that long
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
    assert ground.everything() == clean_gcp


def test_an_interrupted_delete_says_what_is_left_and_goes_on_when_run_again(enter: Enter) -> None:
    ground = enter()
    ground.create_all()
    ground.fresh()
    ground.sandbox.faults.latency = 0.1
    with ground.started("delete", *ground.where, *ALL, "--concurrency", "1", "-o", "json") as process:
        until(ground, "resourcemanager.projects.setIamPolicy")
        process.send_signal(signal.SIGINT)
        done = ended(process)

    assert done.code == 130
    assert "not tried" in done.things.values()
    ground.sandbox.faults.latency = 0.0
    assert ground.delete(*ALL).code == 0
    assert ground.clouds() == NOTHING
