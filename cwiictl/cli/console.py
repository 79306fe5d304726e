"""What people and machines are shown. Results go to stdout, progress and questions to stderr."""

from __future__ import annotations

import json
import logging
import sys
import time
from types import TracebackType
from typing import Any

import click

from cwiictl.actions.result import INTERRUPTED, Result, Row
from cwiictl.engine.plain import plain
from cwiictl.engine.resource import Event
from cwiictl.errors import BadInput

log = logging.getLogger("cwiictl")

COLOURS = {
    "as wanted": "green",
    "created": "green",
    "repaired": "green",
    "drifted": "yellow",
    "missing": "yellow",
    "left over": "yellow",
    "foreign": "red",
    "failed": "red",
    "not tried": "red",
}


class Console:
    """On a terminal one line that moves; elsewhere one line per thing; and at the end what came of it."""

    def __init__(self, form: str, *, yes: bool = False) -> None:
        self.form, self.yes = form, yes
        self.moving = sys.stderr.isatty()
        self.told = 0.0

    def __enter__(self) -> Console:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._wipe()

    # --- while it goes on ---

    def report(self, event: Event) -> None:
        log.debug("%s %s %s", event.what, event.address, event.why)
        if self.moving:
            self._move(event)
        elif event.phase == "writing" and event.what in {"done", "failed"} and event.why != "keep":
            click.echo(f"{event.what}: {event.address}{_why(event)}", err=True)

    def _move(self, event: Event) -> None:
        now = time.monotonic()
        if now - self.told > 0.05 or event.what == "waiting":
            self.told = now
            line = f"{event.ended}/{event.total} {event.what} {event.address}{_why(event)}"
            width = max(20, click.get_current_context().terminal_width or 100)
            click.echo(f"\r\x1b[K{line[: width - 1]}", err=True, nl=False)

    def _wipe(self) -> None:
        if self.moving and self.told:
            click.echo("\r\x1b[K", err=True, nl=False)
            self.told = 0.0

    # --- questions ---

    def agreed(self, shown: Result) -> bool:
        """Whether what is shown may be dropped. Where nobody can be asked, it has to be said beforehand."""
        self._wipe()
        if self.yes:
            return True
        if not sys.stdin.isatty():
            raise BadInput("nobody can be asked whether to drop these things", remedy="look with --dry-run, and say --yes")
        self._text(shown, err=True)
        return click.confirm("Drop all that is listed as ours or left over?", err=True)

    @staticmethod
    def never(_shown: Result) -> bool:
        return False

    # --- the end ---

    def show(self, result: Result) -> None:
        self._wipe()
        for e in result.failures:
            log.debug("failed", exc_info=e)
        if self.form == "json":
            click.echo(json.dumps(_data(result), indent=2, ensure_ascii=False, default=str))
        else:
            self._text(result)
        if result.code:
            sys.exit(result.code)

    def _text(self, result: Result, *, err: bool = False) -> None:
        for caller in result.callers:
            click.echo(f"{caller.cloud}: account {caller.account}, as {caller.caller}", err=err)
        width = max((len(row.thing) for row in result.rows), default=0)
        for row in result.rows:
            _row(row, width, whole=result.planned, err=err)
        for row in result.skipped:
            click.echo(f"skipped {row.thing}: {row.problem}", err=err)
        click.echo(_summary(result), err=err)
        for path in result.files:
            click.echo(f"  {path}", err=err)


def _why(event: Event) -> str:
    return f": {event.why}" if event.why else ""


def _row(row: Row, width: int, *, whole: bool, err: bool) -> None:
    condition = click.style(f"{row.condition:<9}", fg=COLOURS.get(row.condition))
    click.echo(f"  {row.thing:<{width}}  {condition}{'  ' + row.problem if row.problem else ''}".rstrip(), err=err)
    if row.remedy:
        click.echo(f"  {'':<{width}}  {row.remedy[0].upper()}{row.remedy[1:]}.", err=err)
    for difference in row.differences:
        click.echo(f"      {difference.field}: {_short(difference.have)} -> {_short(difference.want)}", err=err)
    if whole and row.condition == "missing" and row.want:
        for field, value in row.want.items():
            click.echo(f"      {field}: {_short(value)}", err=err)


def _short(value: object) -> str:
    data = plain(value)
    return data if isinstance(data, str) else json.dumps(data, sort_keys=True, ensure_ascii=False, default=str)


def _summary(result: Result) -> str:
    counts: dict[str, int] = {}
    for row in result.rows:
        counts[row.condition] = counts.get(row.condition, 0) + 1
    told = ", ".join(f"{count} {condition}" for condition, count in counts.items()) or "nothing of this cluster is there"
    head = "Interrupted: run the same command again to go on. " if result.code == INTERRUPTED else ""
    plan = f"\nThe plan's checksum is {result.checksum}: act on it and no other with --expect {result.checksum}" if result.planned else ""
    return f"{head}{told}{plan}{chr(10) + 'Files:' if result.files else ''}"


def _data(result: Result) -> dict[str, Any]:
    return {
        "callers": [plain(caller) for caller in result.callers],
        "checksum": result.checksum,
        "exitCode": result.code,
        "interrupted": result.interrupted,
        "things": [_thing(row) for row in result.rows],
        "skipped": [{"name": row.thing, "why": row.problem} for row in result.skipped],
        "files": list(result.files),
    }


def _thing(row: Row) -> dict[str, Any]:
    differences = [{"field": d.field, "have": plain(d.have), "want": plain(d.want)} for d in row.differences]
    told: dict[str, Any] = {"thing": row.thing, "condition": row.condition, "differences": differences}
    if row.problem:
        told |= {"problem": row.problem, "remedy": row.remedy}
    return told | ({"want": row.want} if row.want is not None else {})
