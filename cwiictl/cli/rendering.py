"""A result as lines for people, and as data for machines."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any, cast

from cwiictl.actions.result import CHANGED, INTERRUPTED, Result, Row
from cwiictl.cli import findings
from cwiictl.cli.wording import coloured, error, wrapped
from cwiictl.engine.plain import plain
from cwiictl.errors import BadInput, Conflict, few

COLOURS = {
    **dict.fromkeys(
        (
            "as wanted",
            "present",
            "created",
            "repaired",
            "updated",
            "given back",
            "declared",
            "restarted",
            "dropped",
            "released",
        ),
        "green",
    ),
    **dict.fromkeys(
        (
            "drifted",
            "incomplete",
            "missing",
            "left over",
            "to drop",
            "to release",
            "to restart",
            "may be lent",
            "kept",
        ),
        "yellow",
    ),
    **dict.fromkeys(("foreign", "failed", "unfinished", "not tried"), "red"),
}

MOST = 160  # characters of a thing that comes or goes


def lines(result: Result) -> Iterator[str]:
    for caller in result.callers:
        yield f"{caller.cloud}: {caller.word} {caller.account}, as {caller.caller}"
    for row in () if _at_once(result) else result.rows:
        yield from _row(row, result)
    for row in result.skipped:
        yield f"  {'skipped':<10}  {row.thing}: {row.problem}"
    yield from findings.lines(result.findings) if result.findings else ()
    yield from filter(None, [_summary(result)]) if result.rows or not result.findings else ()
    yield from result.hints
    if result.planned and result.checksum and not result.failures:
        yield f"Plan {result.checksum}: to act on exactly this, say --expect {result.checksum}"
    yield from _files(result)
    if result.outdated:
        yield "These tell of what is gone, and are yours to remove; of what is left, the next run of create-all writes them anew:"
    yield from (f"  {path}" for path in result.outdated)
    if result.manifest and not result.planned:
        yield "For kubectl apply:"
        yield from result.manifest.decode().splitlines()


def _files(result: Result) -> Iterator[str]:
    """Where something stands against everything, no file is worth a word."""
    if (
        not result.files
        or (result.failures and not result.written)
        or (result.planned and not (result.written and not result.failures))
    ):
        return
    yield "These files would be written:" if result.planned else f"What {result.taker} takes:"
    for path in result.files:
        if not result.planned:
            yield f"  {'written' if path in result.written else 'as it was':<10}  {path}"
        elif path in result.written:
            yield f"  {path}"


def problems(result: Result) -> Iterator[str]:
    """What happened and what to do, once for all things that it happened to."""
    told: dict[tuple[str, str], list[str]] = {}
    once = _one_mistake(result)
    for row in result.rows:
        if row.condition in {"failed", "unfinished", "foreign"}:
            told.setdefault((row.problem, row.remedy), []).append(row.thing)
    for (problem, remedy), things in told.items():
        whose = "" if once or things[0] in problem else f"{few(things, 1)}: "
        yield from error(whose + problem, remedy)


def _one_mistake(result: Result) -> bool:
    """Whether all that failed failed for it."""
    failed = [(row.problem, row.remedy) for row in result.rows if row.condition == "failed"]
    return result.code == BadInput.code and len(failed) > 1 and len(set(failed)) == 1


def _at_once(result: Result) -> bool:
    """Whether it stands against everything: then that is all there is to say."""
    return _one_mistake(result) and {row.condition for row in result.rows} <= {
        "failed",
        "not tried",
    }


def data(result: Result) -> dict[str, Any]:
    return {
        "callers": [plain(caller) for caller in result.callers],
        "checksum": result.checksum,
        "exitCode": result.code,
        "interrupted": result.interrupted,
        "things": [_thing(row) for row in result.rows],
        "skipped": [{"name": row.thing, "why": row.problem} for row in result.skipped],
        "files": list(result.files),
        "written": sorted(result.written),
        "outdated": list(result.outdated),
        **({"hints": list(result.hints)} if result.hints else {}),
        **({"findings": [plain(each) for each in result.findings]} if result.findings else {}),
        **({"manifest": result.manifest.decode()} if result.manifest else {}),
    }


def _thing(row: Row) -> dict[str, Any]:
    differences = [
        {"field": d.field, "have": plain(d.have), "want": plain(d.want)} for d in row.differences
    ]
    told: dict[str, Any] = {
        "thing": row.thing,
        "condition": row.condition,
        "differences": differences,
    }
    if row.remarks:
        told |= {"remarks": list(row.remarks)}
    if row.problem:
        told |= {"problem": row.problem, "remedy": row.remedy}
    return told | ({"want": row.want} if row.want is not None else {})


def _row(row: Row, result: Result) -> Iterator[str]:
    if _hidden(row, result):
        return
    why = (
        f": {row.problem}"
        if row.condition in {"not tried", "kept", "present", "may be lent"} and row.problem
        else ""
    )
    yield f"  {coloured(f'{row.condition:<10}', COLOURS[row.condition])}  {row.thing}{why}"
    for difference in row.differences:
        yield from wrapped(
            f"{difference.field}: {changed(plain(difference.have), plain(difference.want))}"
        )
    for remark in row.remarks:
        yield from wrapped(remark)
    if result.planned and row.condition == "missing" and row.want:
        for field, value in row.want.items():
            if value not in ("", None, [], {}, False):
                yield from wrapped(f"{field}: {_short(value)}")


def _hidden(row: Row, result: Result) -> bool:
    """A long list of what was not done hides why."""
    return row.condition == "not tried" and bool(result.failures) and not row.problem


def changed(have: Any, want: Any) -> str:
    """Of two lists what comes and what goes, of two documents what differs in them: whoever had to find that would overlook it."""
    return "; ".join(
        f"{'.'.join(path)}: {told}" if path else told for path, told in _within((), have, want)
    )


def _within(path: tuple[str, ...], have: Any, want: Any) -> Iterator[tuple[tuple[str, ...], str]]:
    old, new = _members(path, have), _members(path, want)
    if old and new:
        for key in sorted(old.keys() | new.keys()):
            if old.get(key) != new.get(key):
                yield from _within((*path, key), old.get(key), new.get(key))
    elif {type(have), type(want)} == {list}:
        yield path, _moved(have, want)
    else:
        told = _begun if have is None or want is None else _short
        yield path, f"{told(have)} -> {told(want)}"


def _members(path: tuple[str, ...], value: Any) -> dict[str, Any]:
    """Of a document, also of one that is all of a list in another, as most policies' one statement is."""
    if path and isinstance(value, list) and len(cast("list[Any]", value)) == 1:
        return _members((), value[0])
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _moved(old: list[Any], new: list[Any]) -> str:
    comes: list[Any] = [each for each in new if each not in old]
    goes: list[Any] = [each for each in old if each not in new]
    return ", ".join(
        f"{verb} {_short(some)}" for verb, some in (("add", comes), ("take away", goes)) if some
    )


def _begun(value: object) -> str:
    """Of what is wholly new, or goes as a whole, nothing has to be found."""
    text = _short(value)
    return text if len(text) <= MOST else f"{text[:MOST]}..."


def _short(value: object) -> str:
    data = plain(value)
    if isinstance(data, str):
        return data or "nothing"
    return (
        "nothing"
        if data is None
        else json.dumps(data, sort_keys=True, ensure_ascii=False, default=str)
    )


def _summary(result: Result) -> str:
    counts = Counter(row.condition for row in result.rows if not _hidden(row, result))
    things = ", ".join(f"{count} {condition}" for condition, count in counts.items())
    told = (
        [things or f"Nothing of this {result.whole} is there"] if things or not result.files else []
    )
    if result.code == INTERRUPTED:
        told.append("Interrupted: run the same command again to go on")
    elif result.code in {BadInput.code, Conflict.code} and not CHANGED & counts.keys():
        told.append("Nothing was changed")
    elif result.failures and counts.keys() & {"created", "unfinished"}:
        told.append(
            f"What was made stays{', also what is unfinished' if 'unfinished' in counts else ''}: mend what failed, and run the same command again to go on"
        )
    elif way := next(
        (row.remedy for row in result.rows if row.condition == "kept" and row.remedy), ""
    ):
        told.append(f"To drop what is kept, {way}")
    elif "left over" in counts:
        told.append(f"What is left over goes with {result.maker} --prune")
    return " ".join(f"{part}." for part in told)
