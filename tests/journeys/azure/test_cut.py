"""A run that is cut anywhere and started again ends where a clean run ends, and nobody keeps the role that was lent for it."""

from __future__ import annotations

import signal
from typing import Any

import pytest

from cwiictl.sandbox import Seen
from tests.journeys import cuts
from tests.journeys.azure.conftest import Enter
from tests.journeys.azure.ground import NOTHING, AzureGround

Everything = Any

CREATING = 16  # writes of create-all for two requests: two groups, account, container, two identities with three credentials, a role and what both are given;
# the right to write is lent, two documents are written, and it is taken back
DELETING = (
    11  # of delete: what both are given, a role, two identities, container, account, two groups;
)
# and the right to see what is in the container is lent, and taken back
ALL = ("--yes", "--delete-oidc-resource-group")


def lent(ground: AzureGround) -> list[Any]:
    """What is given to anybody but the identities."""
    return [each for each in ground.clouds()["assignments"] if each["principal"] == "somebody"]


def test_the_numbers_of_writes_are_those_that_are_cut_here(ground: AzureGround) -> None:
    ground.create_all()
    assert len(ground.mutating()) == CREATING
    ground.fresh()
    ground.delete(*ALL)
    assert len(ground.mutating()) == DELETING


@pytest.mark.parametrize("writes", cuts.after(range(1, CREATING + 1)))
def test_create_all_killed_after_any_write_ends_as_a_clean_run_when_run_again(
    clean_azure: Everything, enter: Enter, writes: int
) -> None:
    ground = enter()
    cuts.killed_creating(ground, clean_azure, writes)
    assert lent(ground) == []
    cuts.as_wanted(ground)


@pytest.mark.parametrize("writes", cuts.after(range(1, DELETING + 1)))
def test_delete_killed_after_any_write_leaves_nothing_when_run_again(
    enter: Enter, writes: int
) -> None:
    cuts.killed_deleting(enter(), NOTHING, writes, *ALL)


def until_lent(ground: AzureGround) -> None:
    """Waits until who runs cwiictl was given the right to write the documents, which from now on takes a minute to hold."""
    cuts.until_written(ground, "Microsoft.Storage/storageAccounts/blobServices/containers/write")
    ground.sandbox.faults.lag = 60.0
    cuts.until(
        ground, lambda: any(_lending(seen) and seen.status == 201 for seen in ground.sandbox.record)
    )


def _lending(seen: Seen) -> bool:
    return "/containers/" in seen.path and "/roleassignments/" in seen.path.lower()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_one_interruption_gives_back_what_was_lent_and_starts_nothing_else(
    clean_azure: Everything, enter: Enter, number: signal.Signals
) -> None:
    """Azure takes its time until what was lent holds: that is when people lose their patience."""
    ground = enter(latency=0.1)
    with ground.started(
        "create-all", *ground.where, *ground.asking, "--bits", "2048", "-o", "json"
    ) as process:
        until_lent(ground)
        process.send_signal(number)
        done = cuts.ended(process)

    assert done.code == 130
    assert done.data["interrupted"] is True
    assert "not tried" in done.things.values()
    ground.sandbox.faults.lag = ground.sandbox.faults.latency = 0.0
    assert lent(ground) == []
    assert ground.create_all().code == 0
    assert ground.everything() == clean_azure


def test_whoever_is_killed_while_the_right_is_lent_gives_it_back_with_the_next_run_of_any_kind(
    enter: Enter,
) -> None:
    ground = enter(latency=0.1)
    with ground.started(
        "create-all", *ground.where, *ground.asking, "--bits", "2048", "-o", "json"
    ) as process:
        until_lent(ground)
        process.kill()
        process.communicate(timeout=60)
    ground.sandbox.faults.lag = ground.sandbox.faults.latency = 0.0
    assert lent(ground)

    status = ground.status()
    gone = ground.delete("--yes")

    assert status.code == 3
    assert gone.code == 0, gone.out
    assert ground.clouds() == {**NOTHING, "groups": ground.clouds()["groups"]}


def test_a_second_interruption_does_not_wait_for_the_calls_under_way(
    clean_azure: Everything, enter: Enter
) -> None:
    ground = enter(latency=0.1)
    cuts.interrupted_twice(
        ground, clean_azure, lambda: "Microsoft.Storage/storageAccounts/write" in ground.mutating()
    )
    assert lent(ground) == []


def test_an_interrupted_delete_says_what_is_left_and_goes_on_when_run_again(enter: Enter) -> None:
    ground = enter()
    cuts.interrupted_deleting(
        ground,
        NOTHING,
        lambda: "Microsoft.Authorization/roleAssignments/delete" in ground.mutating(),
        *ALL,
    )
