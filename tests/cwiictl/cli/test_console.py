"""What is told while a run goes on, where no line can move."""

from __future__ import annotations

import pytest

from cwiictl.cli.console import SOMETIMES, Console
from cwiictl.engine.resource import Event


def done(number: int) -> Event:
    return Event("done", f"aws/role/{number}", "create", number, 40)


def test_people_are_told_now_and_then_how_far_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    now = [0.0]
    console = Console("text", clock=lambda: now[0])

    for number in range(1, 31):
        now[0] += SOMETIMES / 10
        console.report(done(number))

    assert capsys.readouterr().err.splitlines() == [
        "10 of 40 done",
        "20 of 40 done",
        "30 of 40 done",
    ]


def test_what_is_waited_for_is_told_at_once_and_once(capsys: pytest.CaptureFixture[str]) -> None:
    console = Console("text", clock=lambda: 0.0)

    for why in ("not yet", "not yet", "almost"):
        console.report(Event("waiting", "issuer/x", why))

    assert capsys.readouterr().err.splitlines() == [
        "waiting: issuer/x: not yet",
        "waiting: issuer/x: almost",
    ]


def test_beside_what_is_for_machines_each_thing_is_told_as_it_is_done(
    capsys: pytest.CaptureFixture[str],
) -> None:
    console = Console("json", clock=lambda: 0.0)

    console.report(done(1))

    assert capsys.readouterr().err.splitlines() == ["created aws/role/1"]
