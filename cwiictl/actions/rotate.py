"""rotate-keys: one stage of the change to the next signing key. What it rests on is looked at first; where it stands is written last, with the keys."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from cwiictl import names
from cwiictl.actions import folder
from cwiictl.actions.asks import asks
from cwiictl.actions.key_pair import renewed
from cwiictl.actions.order import Order
from cwiictl.actions.result import DONE, FOUND, Condition, Result, ran
from cwiictl.actions.shown import awaiting, late, unshown
from cwiictl.actions.soak import Soak, Tries, tries
from cwiictl.actions.stage import (
    BUSY,
    Site,
    Stage,
    connected,
    expected,
    giving_back,
    issuing,
    signing_keys,
)
from cwiictl.actions.succession import (
    Cluster,
    Facing,
    Step,
    accepting,
    forgetting,
    signing,
    unpublishing,
)
from cwiictl.engine.pace import Job, Pace
from cwiictl.engine.pace import run as ran_all
from cwiictl.engine.resource import Report
from cwiictl.engine.run import Outcome, Verb, apply, preview
from cwiictl.errors import BadInput, Denied
from cwiictl.issuer import rotation
from cwiictl.issuer.documents import KeySet
from cwiictl.issuer.key import KEY, PAIR
from cwiictl.issuer.rotation import Rotation, Turn, begin
from cwiictl.issuer.stores.keys import KeyPair, Keys
from cwiictl.rotate.stages import DOES, fallen, onward, standing, turn, undue
from cwiictl.rotate.waits import SOAK


@dataclass(frozen=True)
class Ask:
    """What is asked of a rotation, beside the order."""

    stage: rotation.Stage
    cluster: Callable[[], Cluster]  # connects to it
    soak: int = SOAK
    force: bool = False
    writes: bool = True
    now: Callable[[], float] = time.time
    tries: Tries = tries


@dataclass(frozen=True)
class _Run:
    order: Order
    ask: Ask
    sites: tuple[Site, ...]
    pace: Pace
    report: Report

    def issuing(self, keys: Keys, turned: Turn | None = None) -> Stage:
        return issuing(
            replace(self.order, keys=turned) if turned else self.order, self.sites, self.pace, keys
        )


def rotate(order: Order, ask: Ask, report: Report) -> Result:
    folder.judge(order, writes=ask.writes)
    _judge_tried(order, ask.stage)
    kid = _signs(order) if ask.stage == "add" else ""
    asked, pace = asks(order), Pace(order.width)
    sites = tuple(
        replace(site, asks=asked.wanted[site.cloud.name]) for site in connected(order, pace, report)
    )
    return giving_back(sites, lambda: _turned(_Run(order, ask, sites, pace, report), kid))


def _judge_tried(order: Order, stage: str) -> None:
    """Before anything is waited for."""
    if stage == "sign" and not (order.requests or order.workloads):
        raise BadInput(
            "sign tries the new key as somebody who has an identity, and nobody is named",
            remedy="give --credentials-requests-dir DIR, --preset NAME, or a cluster.yaml with workloads, as when the identities were made",
        )


def _signs(order: Order) -> str:
    """The key that the cluster signs with: in no stage after this one anybody has to say it."""
    found = signing_keys(order, writes=False).get([KEY]).get(KEY)
    if found is None:
        raise BadInput(
            f"there is no key of the cluster in {order.output}, so which one is to be followed is not known",
            remedy="give the cluster's key as --public-key-file, or its folder as --output-dir",
        )
    return found.kid


def _turned(run: _Run, kid: str) -> Result:
    ask = run.ask
    records = _records(run.issuing(signing_keys(run.order, writes=False)))
    stands = standing(records)
    if problem := undue(ask.stage, stands, kid):
        raise problem
    stage = _staged(run, kid, records)
    for begun in records:
        if begun and not (ask.stage == "add" and begun.stage == "forget"):
            _judge_pair(stage, begun)
    expected(run.order, stage.checksum())
    foreseen = preview(stage.plan, stage.mark, run.pace, report=run.report)
    _undisturbed(stage, foreseen)
    if not foreseen.whole:
        return _result(stage, ask, foreseen, FOUND)
    if problem := unshown(stage, ask.stage, foreseen.known, run.report):
        return awaiting(
            Result(stage.callers, stage.checksum(), planned=not ask.writes), stage, problem
        )
    step = _step(run, stage, stands)
    if not step.reached:
        if ask.writes and stands and stands.stage == ask.stage == "sign" and stands.signed:
            return _fallen(run, stage, step, fallen(stands, records))
        return _awaiting(stage, ask, step)
    stage = _staged(run, kid, records)  # the time that is noted is not before that of what was seen
    outcome = apply(stage.plan, stage.mark, run.pace, report=run.report) if ask.writes else foreseen
    return _with(_result(stage, ask, outcome, DONE if ask.writes else FOUND), step)


def _fallen(run: _Run, stage: Stage, step: Step, turned: Turn) -> Result:
    """That is noted before anybody brings the server back, after which nobody could tell."""
    noted = run.issuing(_pair(run.order, turned), turned)
    outcome = apply(noted.plan, noted.mark, run.pace, report=run.report)
    return (
        _awaiting(stage, run.ask, step)
        if outcome.whole
        else _with(_result(noted, run.ask, outcome, DONE), step)
    )


def _staged(run: _Run, kid: str, records: tuple[Rotation | None, ...]) -> Stage:
    turned = turn(run.ask.stage, standing(records), kid, records, int(run.ask.now()))
    return run.issuing(_pair(run.order, turned), turned)


def _records(stage: Stage) -> tuple[Rotation | None, ...]:
    """What is said of a rotation, wherever the cluster's keys are published."""
    sets = {address: thing for address, thing in stage.plan.items() if _turns(thing)}
    if not sets:
        raise BadInput(
            "nothing of this issuer is published by cwiictl, so there is nothing to rotate",
            remedy="publish the keys where they are published now",
        )
    found: dict[str, Rotation | None] = {}

    def read(address: str, _tried: int) -> str:
        name = sets[address].name
        have = sets[address].store.get([name]).get(name)
        if have and have.hidden:
            raise Denied(
                have.hidden,
                remedy="have that granted to who runs this: whoever turns keys must have read them",
            )
        found[address] = have.rotation if have else None
        return "read"

    ran_all(
        Job(dict.fromkeys(sets, ()), read, patience=lambda _address: BUSY, verb="reading"),
        stage.pace,
    ).checked()
    return tuple(found.values())


def _turns(thing: object) -> bool:
    """Where keys only were before, nothing is written."""
    return isinstance(thing, KeySet) and not thing.quiet


def _pair(order: Order, turned: Turn) -> KeyPair:
    """Beside all others, and called after the key that it follows: a run that was cut finds the same again."""
    return KeyPair(
        order.output / f"{names.AFTER}{turned.old}", order.bits, PAIR - {names.INSTALLER_KEY}
    )


def _judge_pair(stage: Stage, stands: Rotation) -> None:
    found = stage.keys.get([KEY]).get(KEY)
    if found is None or begin(found.kid) != stands.new:
        place = stage.order.output / f"{names.AFTER}{stands.old}"
        raise BadInput(
            f"a rotation to the key {stands.new}... is under way, and that is not in {place}",
            remedy="give the folder that rotate-keys add was told first, as --output-dir",
        )


def _undisturbed(stage: Stage, foreseen: Outcome) -> None:
    """A rotation changes keys, and repairs nothing on the way: then it is known what it has done."""
    drifted = [
        change.address
        for change in foreseen.changes
        if change.verb != "keep" and not _spared(stage, change.address)
    ]
    if drifted:
        raise BadInput(
            f"{drifted[0]} is not as wanted, and a rotation changes nothing but keys",
            remedy="mend it first, with create-identity-provider",
        )


def _spared(stage: Stage, address: str) -> bool:
    """What is lent for the run is given back after it."""
    return _own(stage, address) or bool(stage.plan[address].lends)


def _own(stage: Stage, address: str) -> bool:
    thing = stage.plan[address]
    return (
        _turns(thing)
        or thing is stage.issuer
        or (stage.issuer is not None and address == stage.issuer.key.address)
    )


def _step(run: _Run, stage: Stage, stands: Rotation | None) -> Step:
    ask, now = run.ask, int(run.ask.now())
    if stands is None or ask.stage == "add":
        return Step()
    at = Facing(stage, ask.cluster(), stands, ask.writes)
    match ask.stage:
        case "accept":
            step = accepting(at)
        case "sign":
            step = signing(at, Soak(ask.tries, ask.soak, ask.now, run.report))
        case "unpublish":
            step = unpublishing(at, ask.soak, now, force=ask.force)
        case "forget":
            step = forgetting(at, now, force=ask.force)
    return replace(step, hints=(*step.hints, at.cluster.doubt)) if at.cluster.doubt else step


def _result(stage: Stage, ask: Ask, outcome: Outcome, words: dict[Verb, Condition]) -> Result:
    rows = tuple(
        row for row in ran(outcome, stage.plan, words) if _own(stage, row.thing) or row.problem
    )
    result = Result(
        stage.callers, stage.checksum(), rows, planned=not ask.writes, taker="each API server"
    )
    result = result.plus((), outcome.failed.values(), interrupted=outcome.interrupted)
    if words is DONE and (problem := late(stage, outcome)):
        result = awaiting(result, stage, problem)
    if words is DONE and outcome.whole:
        result = replace(
            result,
            hints=(
                f"Now {DOES[ask.stage]}: {onward(Rotation(ask.stage, 0, '', ''))}.",
                *_over(stage, ask),
            ),
        )
    return _with_pair(result, stage, outcome) if ask.stage == "add" else result


def _over(stage: Stage, ask: Ask) -> tuple[str, ...]:
    """Every other command looks for the cluster's pair where the old one is."""
    if ask.stage != "forget" or not isinstance(stage.keys, KeyPair):
        return ()
    return (
        f"The cluster's pair is the one in {stage.keys.folder} now: move it to where the old one is, or name its public half with --public-key-file.",
    )


def _with(result: Result, step: Step) -> Result:
    return replace(result, rows=(*result.rows, *step.rows), hints=(*step.hints, *result.hints))


def _awaiting(stage: Stage, ask: Ask, step: Step) -> Result:
    """The clouds' side waits for the API servers'."""
    hint = "It is the API servers' turn: do what README.txt says, and run the same command again."
    result = Result(
        stage.callers,
        stage.checksum(),
        step.rows,
        files=step.files,
        written=step.written,
        hints=(*step.hints, hint),
    )
    return replace(result, planned=not ask.writes, awaited=True, taker="each API server")


def _with_pair(result: Result, stage: Stage, outcome: Outcome) -> Result:
    pair = stage.keys
    if stage.issuer is None or not isinstance(pair, KeyPair):
        return result
    made = renewed(outcome, stage.issuer.key, pair)
    paths = tuple(sorted(str(pair.folder / name) for name in pair.files)) if outcome.whole else ()
    return replace(
        result,
        taker="the next stage",
        files=paths,
        written=frozenset(str(pair.folder / name) for name in made),
    )
