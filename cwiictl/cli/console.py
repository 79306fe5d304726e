"""Where results, progress and questions go: results to stdout, all else to stderr."""

from __future__ import annotations

import json
import logging
import os
import shutil
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from types import TracebackType

import click

from cwiictl.actions.result import DONE, Result
from cwiictl.cli.findings import junit
from cwiictl.cli.rendering import data, lines, problems
from cwiictl.engine.resource import Event
from cwiictl.errors import BadInput, Failed

log = logging.getLogger("cwiictl")

SOMETIMES = 10.0  # seconds between two lines of how far it is
SO_FAR = {"reading": "read", "writing": "done", "removing": "gone"}
DROPPED = {"drop": "dropped", "release": "released", "give back": "given back"}
QUIET = "as wanted"
UNKNOWN = b": <"  # how a word begins that stands for what the cloud has yet to say


class Console:
    """On a terminal one line that moves, and at the end what came of each thing.

    Elsewhere, where both would stay, each thing is told once: people are told at the end, and till then now and then how far it is; beside what is
    for machines a line for each thing that changes is told at once.
    """

    def __init__(
        self, form: str, *, yes: bool = False, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.form, self.yes, self.clock = form, yes, clock
        self.told = clock()
        self.moving = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
        self.waited: dict[str, str] = {}  # for what, and why
        self.moved = 0.0
        self.declined = False  # by whom all was shown to a moment ago

    def __enter__(self) -> Console:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._wipe()

    # --- while it goes on ---

    def report(self, event: Event) -> None:
        log.debug("%s %s %s", event.what, event.address, event.why)
        if self.moving:
            self._move(event)
        elif event.what == "waiting" and self.waited.get(event.address) != event.why:
            self.waited[event.address] = event.why
            click.echo(f"waiting: {_why(event)}", err=True)
        elif self.form == "text":
            self._tell(event)
        elif event.phase != "reading" and (word := _changed(event)):
            click.echo(f"{word} {event.address}", err=True)

    def _tell(self, event: Event) -> None:
        if self.clock() - self.told >= SOMETIMES:
            self.told = self.clock()
            click.echo(f"{event.ended} of {event.total} {SO_FAR[event.phase]}", err=True)

    def _move(self, event: Event) -> None:
        now = self.clock()
        if now - self.moved < 0.05 and event.what != "waiting":
            return
        self.moved = now
        line = f"{event.ended}/{event.total} {event.what} {_why(event) if event.what == 'waiting' else event.address}"
        click.echo(f"\r\x1b[K{line[: shutil.get_terminal_size().columns - 1]}", err=True, nl=False)

    def _wipe(self) -> None:
        if self.moved:
            click.echo("\r\x1b[K", err=True, nl=False)
            self.moved = 0.0

    # --- questions ---

    def agreed(self, shown: Result) -> bool:
        """Whether what is shown may be done. Where nobody can be asked, it has to be said beforehand."""
        self._wipe()
        if self.yes:
            return True
        if not (sys.stdin.isatty() and sys.stderr.isatty()):
            raise BadInput(
                "nobody can be asked whether to do this",
                remedy="look at them with --dry-run, and say --yes",
            )
        for line in lines(shown):
            click.echo(line, err=True)
        if click.confirm("Do this?", err=True):
            return True
        self.declined = True
        click.echo("Nothing was changed.", err=True)
        return False

    # --- the end ---

    def show(self, result: Result) -> None:
        self._wipe()
        for e in result.failures:
            log.debug("failed", exc_info=e)
        try:
            self._print(result)
            if sys.stdout:
                sys.stdout.flush()
        except (
            BrokenPipeError
        ):  # who reads no further has seen enough; what was done is told by the exit code
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        except OSError as e:
            sys.stdout = None
            raise Failed(
                f"what came of it cannot be printed: {e.strerror}", remedy="run status to see it"
            ) from e
        for line in problems(result) if self.form != "json" else ():
            click.echo(line, err=True)
        if result.code:
            sys.exit(result.code)

    def _print(self, result: Result) -> None:
        if self.form == "json":
            click.echo(json.dumps(data(result), indent=2, ensure_ascii=False, default=str))
        elif self.form == "junit":
            click.echo(junit(result.findings), nl=False)
        elif self.form in {"yaml", "mermaid"}:
            self._apart(result)
        elif not self.declined:
            for line in lines(result):
                click.echo(line)

    def _apart(self, result: Result) -> None:
        """What kubectl takes, or what draws a diagram, by itself. All else is for people: the plan of a dry run, and what came of a run that has failed."""
        told = lines(replace(result, manifest=b"")) if result.planned or result.code else ()
        for line in told:
            click.echo(line, err=True)
        if result.planned and UNKNOWN in result.manifest:
            click.echo("What stands between < and > below is known when it is made.", err=True)
        click.echo(result.manifest, nl=False)


def _why(event: Event) -> str:
    """What is waited for, named once."""
    return event.why if event.why.startswith(event.address) else f"{event.address}: {event.why}"


def _changed(event: Event) -> str:
    """The word for what has just been done to a thing, or none if it was left as it is."""
    if event.what == "failed":
        return "failed"
    word = {**DONE, **DROPPED}.get(event.why, event.why) if event.what == "done" else ""
    return "" if word == QUIET else word
