"""create-all and its parts; and the same without the last step, which is a dry run or `status`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from cwiictl import files, names
from cwiictl.actions import folder
from cwiictl.actions.declare import declare
from cwiictl.actions.key_pair import renewed
from cwiictl.actions.order import WHOLE, Order
from cwiictl.actions.outdated import outdated
from cwiictl.actions.result import (
    DONE,
    FOUND,
    Result,
    Row,
    failure,
    kept,
    left_over,
    present,
    ran,
    removed,
    trusted,
)
from cwiictl.actions.result import doomed as rows
from cwiictl.actions.spared import spared
from cwiictl.actions.stage import Stage, expected, giving_back, staged
from cwiictl.cluster_file.preset import summary
from cwiictl.engine.holdings import Holdings, holdings, inherit, remove
from cwiictl.engine.pace import Pace
from cwiictl.engine.resource import Known, Report
from cwiictl.engine.run import Outcome, apply, preview
from cwiictl.errors import Denied, Problem
from cwiictl.install import handover as webhook
from cwiictl.installers import INSTALLERS
from cwiictl.issuer.documents import DiscoveryDocument, Issuer
from cwiictl.model import Handover

Ask = Callable[[Result], bool]


def create(order: Order, report: Report, agreed: Ask) -> Result:
    """Make it so, and write what the installer needs. `agreed` is asked before anything is written if something would be dropped."""
    if order.declare:
        return declare(order, report, writes=True)
    stage = staged(order, Pace(order.width), report, writes=True)
    return giving_back(stage.sites, lambda: _created(stage, report, agreed))


def _created(stage: Stage, report: Report, agreed: Ask) -> Result:
    order = stage.order
    doomed = _doomed(stage, report) if order.prune else None
    checksum = stage.checksum(thing.address for thing in doomed or ())
    expected(order, checksum)
    if doomed and not agreed(Result(stage.callers, checksum, tuple(rows(doomed)))):
        return Result(stage.callers, checksum, tuple(rows(doomed)))
    outcome = apply(stage.plan, stage.mark, stage.pace, order.adopt, report)
    result = Result(
        stage.callers,
        checksum,
        tuple(ran(outcome, stage.plan, DONE)),
        stage.skipped,
        bindings=tuple(stage.bindings(outcome.known)),
    )
    result = result.plus((), outcome.failed.values(), interrupted=outcome.interrupted)
    result = _written(stage, outcome, result)
    if not outcome.whole or order.parts != WHOLE:
        return result
    return _tidied(stage, _inherited(stage, result, report), outcome, report, doomed)


def planned(order: Order, report: Report) -> Result:
    """What `create` would do. Nothing is written anywhere."""
    if order.declare:
        return declare(order, report, writes=False)
    result = replace(_previewed(order, report, writes=True), planned=True)
    if result.checksum and not result.failures:
        expected(order, result.checksum)
    return result


def status(order: Order, report: Report) -> Result:
    """Whether all is as wanted."""
    return replace(_previewed(order, report, writes=False), judged=True)


def _previewed(order: Order, report: Report, *, writes: bool) -> Result:
    stage = staged(order, Pace(order.width), report, writes=writes)
    return giving_back(
        stage.sites,
        lambda: foreseen(
            stage, preview(stage.plan, stage.mark, stage.pace, order.adopt, report), writes=writes
        ),
    )


def foreseen(stage: Stage, outcome: Outcome, *, writes: bool) -> Result:
    order = stage.order
    result = Result(
        stage.callers,
        "",
        tuple(ran(outcome, stage.plan, FOUND)),
        stage.skipped,
        bindings=tuple(stage.bindings(outcome.known)),
    )
    result = result.plus((), outcome.failed.values(), interrupted=outcome.interrupted)
    result = _told(stage, outcome, result) if writes else _unlent(result)
    result = replace(result, sight=None if writes else stage.sight(outcome.known))
    left = _beyond(stage, outcome.known, outcome.held)
    result = result.plus(_serving(stage, outcome.known, outcome.held))
    if not writes:
        told = trusted(result.rows, outcome.held.kept(stage.order.clouds))
        result = replace(result, rows=tuple(told)).plus(
            present(_others(stage, outcome.known, outcome.held))
        )
    result = replace(
        result, checksum=stage.checksum([thing.address for thing in left] if order.prune else [])
    )
    return result.plus(
        rows(left) if order.prune else left_over(left),
        left.failed.values(),
        interrupted=left.interrupted,
    )


def _unlent(result: Result) -> Result:
    return replace(result, rows=tuple(row for row in result.rows if row.condition != "may be lent"))


def _doomed(stage: Stage, report: Report) -> Holdings | None:
    """What --prune drops, known before anything is written. If not all can be read, nothing is."""
    outcome = preview(stage.plan, stage.mark, stage.pace, stage.order.adopt, report)
    left = _beyond(stage, outcome.known, outcome.held)
    for e in left.failed.values():
        raise e
    return left if list(left) and not left.interrupted else None


def _others(stage: Stage, known: Known, found: Holdings) -> Holdings:
    """What other commands made for the cluster; and all of it, where it is not asked who should have an identity."""
    asked, judged = _asked(stage, known), stage.order.parts == WHOLE
    return found.only(
        {
            thing.address
            for thing in found
            if thing.address not in asked
            and not (judged and thing.mark.origin == stage.mark.origin)
        }
    )


def _beyond(stage: Stage, known: Known, found: Holdings) -> Holdings:
    """Ours, and not asked for by this run. What another command made is that command's, and what is only not followed today stays."""
    if stage.order.parts != WHOLE:
        return found.only(())
    stays = _asked(stage, known) | found.kept(stage.order.clouds).keys()
    left = {
        thing.address
        for thing in found
        if thing.mark.origin == stage.mark.origin and thing.address not in stays
    }
    kinds = {resource.store.kind for resource in stage.plan.values()}
    failed = {
        kind: e for kind, e in found.failed.items() if kind in kinds or not isinstance(e, Denied)
    }  # who never made any need not look for them
    return replace(found.only(left), failed=failed, interrupted=found.interrupted)


def _asked(stage: Stage, known: Known) -> set[str]:
    return {
        f"{r.store.kind}/{r.place(known) if r in known else r.name}" for r in stage.plan.values()
    } | stage.spared


def _serving(stage: Stage, known: Known, found: Holdings) -> Iterator[Row]:
    """What is not asked for and stays all the same: whoever took its place would be believed by clouds that this run does not move."""
    asked = _asked(stage, known)
    return kept(
        {
            address: clouds
            for address, clouds in found.kept(stage.order.clouds).items()
            if address not in asked
        }
    )


def _inherited(stage: Stage, result: Result, report: Report) -> Result:
    """What another tool made and this run did not ask for is taken over too, and so is left over."""
    if names.CCOCTL not in stage.order.adopt:
        return result
    found = holdings(stage.plan.walks, names.ccoctls(stage.order.cluster.name), stage.pace, report)
    outcome = inherit(found, stage.mark, stage.pace, report)
    return result.plus(
        (failure(address, e) for address, e in outcome.failed.items()),
        outcome.failed.values(),
        interrupted=outcome.interrupted,
    )


def _tidied(
    stage: Stage, result: Result, outcome: Outcome, report: Report, doomed: Holdings | None
) -> Result:
    """What was agreed to is dropped; what else is left over is told."""
    if doomed:
        removal = remove(doomed, stage.pace, report)
        result = result.plus(
            removed(removal), removal.failed.values(), interrupted=removal.interrupted
        )
        told = outdated(stage.order.output, removal.dropped, removal.called)
        result = replace(result, outdated=tuple(path for path in told if path not in result.files))
    changed = (
        doomed or names.CCOCTL in stage.order.adopt or outcome.held.failed
    )  # who could not say it then may be able to now
    found = (
        holdings(stage.plan.walks, stage.order.cluster.name, stage.pace, report)
        if changed
        else outcome.held
    )
    left = _beyond(stage, outcome.known, found)
    gone = {thing.address for thing in doomed or ()}
    rest = replace(left.only({thing.address for thing in left} - gone), failed=left.failed)
    return result.plus(
        (*_serving(stage, outcome.known, found), *left_over(rest)),
        left.failed.values(),
        interrupted=left.interrupted,
    )


def _written(stage: Stage, outcome: Outcome, result: Result) -> Result:
    """Of what succeeded: an identity that is there can be used, whatever became of the others."""
    tree, told = _tree(stage, outcome), _summary(stage, outcome)
    written = {str(stage.order.output / name) for name in _renewed(stage, outcome)}
    try:
        note = (
            {}
            if stage.issuer and stage.issuer not in outcome.known
            else folder.noted(stage.order, tree)
        )  # a later run will know better what says it
        written |= {
            str(stage.order.output / name)
            for name in files.write(stage.order.output, {**note, **tree})
            if name in tree
        }
        for path, text in told.items():
            written |= {
                str(path.parent / name)
                for name in files.write(path.parent, {path.name: files.Public(text)})
            }
    except Problem as e:
        return result.plus([failure(str(stage.order.output), e)], [e])
    return replace(
        result, files=(*_paths(stage, outcome, tree), *map(str, told)), written=frozenset(written)
    )


def _told(stage: Stage, outcome: Outcome, result: Result) -> Result:
    """The same, foretold."""
    tree, told = _tree(stage, outcome), _summary(stage, outcome)
    written = {
        str(stage.order.output / name)
        for name in (*_renewed(stage, outcome), *files.unlike(stage.order.output, tree))
    }
    written |= {
        str(path)
        for path, text in told.items()
        if files.unlike(path.parent, {path.name: files.Public(text)})
    }
    return replace(
        result, files=(*_paths(stage, outcome, tree), *map(str, told)), written=frozenset(written)
    )


def _renewed(stage: Stage, outcome: Outcome) -> frozenset[str]:
    return renewed(outcome, stage.issuer.key, stage.keys) if stage.issuer else frozenset()


def _tree(stage: Stage, outcome: Outcome) -> dict[str, bytes]:
    handover = _handover(stage, outcome)
    tree = {
        path: text
        for name in stage.order.installers
        for path, text in INSTALLERS[name].render(handover, files.template).items()
    }
    return spared(stage.order, tree, whole=outcome.whole) | _for_webhook(stage.order, handover)


def _for_webhook(order: Order, handover: Handover) -> dict[str, bytes]:
    """Of a run that has come to nothing there is nothing to tell."""
    told = (
        webhook.told(handover.facts, handover.bindings)
        if order.installers and (handover.issuer or handover.bindings)
        else {}
    )
    return (
        {webhook.FILE: webhook.file(files.found(order.output / webhook.FILE), told)} if told else {}
    )


def _summary(stage: Stage, outcome: Outcome) -> dict[Path, bytes]:
    """All or nothing: whoever reads it looks for every workload."""
    path = stage.order.summary
    text = summary(stage.order.parts_of_summary, stage.bindings(outcome.known)) if path else b""
    return {path: text} if path and text else {}


def _handover(stage: Stage, outcome: Outcome) -> Handover:
    bindings = tuple(stage.bindings(outcome.known))
    if stage.issuer is None or stage.issuer not in outcome.known:
        return Handover(bindings=bindings, facts=stage.facts)
    url, order = outcome.known[stage.issuer].url, stage.order
    if (
        order.served and order.served.issuer == url
    ):  # it has nothing to change; and whether tokens of the issuer before are about, only its files say
        return Handover(bindings=bindings, facts=stage.facts)
    public, uri = (
        outcome.known[stage.issuer.key].pem.encode(),
        _jwks_uri(stage.issuer, outcome.known),
    )
    handover = Handover(
        url, uri, bindings, public, stage.keys.private, stage.facts, order.cluster.name
    )
    return (
        replace(handover, former=order.served.issuer, audiences=order.served.audiences)
        if order.served
        else handover
    )


def _jwks_uri(issuer: Issuer, known: Known) -> str:
    documents = [
        thing for thing in issuer.behind if isinstance(thing, DiscoveryDocument) and thing in known
    ]
    return "".join(str(known[document].body["jwks_uri"]) for document in documents)


def _paths(stage: Stage, outcome: Outcome, tree: Iterable[str]) -> tuple[str, ...]:
    keys = stage.keys.files if stage.issuer and stage.issuer.key in outcome.known else ()
    return tuple(sorted(str(stage.order.output / path) for path in (*tree, *keys)))
