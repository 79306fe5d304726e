"""When the API servers have reached a stage: all of them, and there is one."""

from __future__ import annotations

import pytest

from cwiictl.issuer.rotation import STAGES, Stage
from cwiictl.rotate.servers import Server, all_reached, lacking

OLD, NEW = "A" * 12, "B" * 12


def a_server(*accepts: str, signs: str = OLD, problem: str = "") -> Server:
    return Server(
        "10.0.0.1:6443", {f"{kid}{'x' * 31}": {} for kid in accepts}, f"{signs}{'x' * 31}", problem
    )


FRESH, BOTH = a_server(OLD), a_server(OLD, NEW)
SIGNS, NEWEST = a_server(OLD, NEW, signs=NEW), a_server(NEW, signs=NEW)


@pytest.mark.parametrize(
    ("stage", "reached"),
    [("accept", [BOTH, SIGNS]), ("sign", [SIGNS]), ("unpublish", [SIGNS]), ("forget", [NEWEST])],
)
def test_a_server_has_reached_a_stage_with_just_what_it_says(
    stage: Stage, reached: list[Server]
) -> None:
    assert [
        server for server in (FRESH, BOTH, SIGNS, NEWEST) if not lacking(stage, server, OLD, NEW)
    ] == reached


def test_what_it_lacks_is_told() -> None:
    assert lacking("accept", FRESH, OLD, NEW) == f"it does not accept {NEW}..."
    assert (
        lacking("accept", a_server("C" * 12), OLD, NEW)
        == f"it does not accept {OLD}... and {NEW}..."
    )
    assert lacking("sign", BOTH, OLD, NEW) == f"it signs with {OLD}..."
    assert lacking("forget", SIGNS, OLD, NEW) == f"it still accepts {OLD}..."
    assert lacking("forget", a_server(), OLD, NEW) == f"it does not accept {NEW}..."


@pytest.mark.parametrize("stage", STAGES)
def test_one_that_cannot_be_asked_has_reached_nothing(stage: Stage) -> None:
    assert lacking(stage, a_server(NEW, signs=NEW, problem="it is away"), OLD, NEW) == "it is away"


def test_all_have_to_be_there_and_somebody() -> None:
    assert all_reached("accept", [BOTH, SIGNS], OLD, NEW)
    assert not all_reached("accept", [BOTH, FRESH], OLD, NEW)
    assert not all_reached("accept", [], OLD, NEW)
