"""What the world reads of an issuer whose keys turn: a stage is reached when everybody sees what it has published, and not before."""

from __future__ import annotations

from dataclasses import replace

from cwiictl.actions.result import Result, Row
from cwiictl.actions.stage import Stage
from cwiictl.engine.pace import Job, run
from cwiictl.engine.resource import Known, Report
from cwiictl.engine.run import Outcome
from cwiictl.errors import NotYet
from cwiictl.issuer import rotation


def unshown(stage: Stage, turning: rotation.Stage, known: Known, report: Report) -> NotYet | None:
    """Why what the stages before this one have published is not seen: whatever a later one waits for counts from when it is. There to put is to wait."""
    issuer = stage.issuer
    if issuer is None or turning == "add":
        return None
    want = issuer.want(known)
    want = (
        want if turning == "forget" else replace(want, turn=None)
    )  # what this one takes away is there yet

    def read(_address: str, _tried: int) -> str:
        issuer.store.put(issuer.place(known), want, None)
        return "read"

    job = Job(
        {issuer.address: ()},
        read,
        patience=lambda _address: issuer.store.patience,
        report=report,
        verb="reading",
    )
    try:
        run(job, stage.pace).checked()
    except NotYet as e:
        return e
    return None


def late(stage: Stage, outcome: Outcome) -> NotYet | None:
    """Why what was written is not seen yet, if nothing else stands against the stage."""
    e = outcome.failed.get(stage.issuer.address) if stage.issuer else None
    return (
        e
        if isinstance(e, NotYet) and len(outcome.failed) == 1 and not outcome.interrupted
        else None
    )


def awaiting(result: Result, stage: Stage, e: NotYet) -> Result:
    """Who serves it, has their turn."""
    address = stage.issuer.address if stage.issuer else ""
    rows = (
        *(row for row in result.rows if row.thing != address),
        Row(address, "incomplete", remarks=(e.problem,)),
    )
    hint = f"The next stage waits for who serves the issuer: {e.remedy}."
    return replace(
        result,
        rows=rows,
        hints=(*result.hints, hint),
        awaited=True,
        failures=tuple(each for each in result.failures if each is not e),
    )
