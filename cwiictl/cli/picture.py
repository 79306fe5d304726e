"""What came of `status` and `verify`, put where it belongs on a map."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from cwiictl.actions.result import Result, Row
from cwiictl.actions.sight import Side, Sight
from cwiictl.cli.rendering import COLOURS, changed
from cwiictl.cli.wording import sentence
from cwiictl.engine.plain import plain
from cwiictl.errors import Problem
from cwiictl.picture.map import Cloud, Identity, Issuer, Map, Note, State, Thing, worst
from cwiictl.verify.finding import TRUST, Finding

SEEN: Mapping[str, State] = {"green": "fine", "yellow": "warning", "red": "wrong"}
FOUND: Mapping[str, State] = {
    "ok": "fine",
    "warning": "warning",
    "failed": "wrong",
    "not tried": "warning",
}
UNASKED = {"left over", "kept", "present"}


def drawn(result: Result, sight: Sight, read: str = "") -> Map:
    things = _things(result)
    identities = tuple(_identities(sight, things))
    acting, clouds_ = (
        {thing.address for identity in identities for thing in identity.things},
        tuple(f"{side.cloud}/" for side in sight.sides),
    )
    unasked = {
        address
        for address, thing in things.items()
        if thing.condition in UNASKED and address.startswith(clouds_)
    } - acting
    placed = unasked | acting
    common = {address: thing for address, thing in things.items() if address not in placed}
    clouds = tuple(
        _cloud(
            side,
            result,
            _of(side, common, sight),
            tuple(things[a] for a in sorted(unasked) if a.startswith(f"{side.cloud}/")),
        )
        for side in sight.sides
    )
    beyond = {thing.address for cloud in clouds for thing in cloud.things}
    issuer = Issuer(
        sight.issuer,
        sight.key,
        tuple(thing for address, thing in common.items() if address not in beyond),
    )
    return Map(sight.cluster, issuer, clouds, identities, sight.pods, read)


def _cloud(
    side: Side, result: Result, things: tuple[Thing, ...], others: tuple[Thing, ...]
) -> Cloud:
    account, caller = next(
        (
            (caller.account, caller.caller)
            for caller in result.callers
            if caller.cloud == side.cloud
        ),
        ("", ""),
    )
    return Cloud(side.cloud, side.title, account, caller, things, others)


def _of(side: Side, common: Mapping[str, Thing], sight: Sight) -> tuple[Thing, ...]:
    return tuple(
        thing
        for address, thing in common.items()
        if address.startswith(f"{side.cloud}/") and address not in sight.behind
    )


def _identities(sight: Sight, things: Mapping[str, Thing]) -> Iterator[Identity]:
    for side in sight.sides:
        for acting in side.acting:
            of = tuple(
                things[address] for address in (acting.thing, *acting.parts) if address in things
            )
            yield Identity(acting, side.cloud, of)


def _things(result: Result) -> dict[str, Thing]:
    """Of what both speak of, the worse of what they say; and each sentence once."""
    found = {
        row.thing: Thing(
            row.thing,
            row.condition,
            SEEN.get(COLOURS.get(row.condition, ""), "fine"),
            tuple(_notes(row)),
        )
        for row in result.rows
    }
    unread = {e.problem for e in result.failures if isinstance(e, Problem)}
    for each in result.findings:
        word = (
            "not believed" if each.check == TRUST and each.problem not in unread else each.severity
        )
        found[each.thing] = _joined(
            found.get(each.thing, Thing(each.thing, "as wanted")), each, word
        )
    return found


def _joined(thing: Thing, finding: Finding, word: str) -> Thing:
    state = FOUND[finding.severity]
    worse = worst((thing.state, state))
    said = not finding.problem or any(
        note.text == sentence(finding.problem) for note in thing.notes
    )
    notes = (
        thing.notes
        if said
        else (*thing.notes, Note(state, sentence(finding.problem), _sentence(finding.remedy)))
    )
    told = worse == thing.state or thing.condition == "missing"
    return Thing(thing.address, thing.condition if told else word, worse, notes)


def _notes(row: Row) -> Iterable[Note]:
    state = SEEN.get(COLOURS.get(row.condition, ""), "fine")
    if row.problem:
        yield Note(state, sentence(row.problem), _sentence(row.remedy))
    for difference in row.differences:
        yield Note(
            state, f"{difference.field}: {changed(plain(difference.have), plain(difference.want))}"
        )
    for remark in row.remarks:
        yield Note(state, sentence(remark))


def _sentence(text: str) -> str:
    return sentence(text) if text else ""
