"""install-webhook: from the ids that create-all has left to a webhook that has shown that it works."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any

from cwiictl import manifests
from cwiictl.actions.cluster import Ground, Installation, address, caller, served, unled
from cwiictl.actions.layout import Agreed, Step, carried_out, foreseen
from cwiictl.actions.result import Caller, Result
from cwiictl.actions.suited import suited
from cwiictl.actions.trial import Trial
from cwiictl.actions.waiting import Waiting
from cwiictl.engine.pace import Pace
from cwiictl.engine.resource import Plan, Report
from cwiictl.install import exposure, rivals, rollover, standing
from cwiictl.install.objects import objects
from cwiictl.install.served import foregone
from cwiictl.install.values import Values
from cwiictl.kubernetes import Place, connect, rights
from cwiictl.kubernetes.objects import resources, walk

WAITING = (
    rights.Right("list", "pods"),
    rights.Right("list", "events"),
    rights.Right("create", "jobs", "batch"),
    rights.Right("create", "pods"),
)


@dataclass(frozen=True)
class Stage:
    """All that is needed to act on an order."""

    order: Installation
    values: Values
    place: Place
    pace: Pace
    bodies: tuple[Any, ...]

    @property
    def callers(self) -> tuple[Caller, ...]:
        return (caller(self.place),)

    @property
    def name(self) -> str:
        return self.values.name

    @property
    def manifest(self) -> bytes:
        return manifests.dump_all(self.bodies)

    def plan(self, bodies: Sequence[Any]) -> Plan:
        return Plan(resources(bodies, self.place), [walk(self.place)])


def install(order: Installation, report: Report, agreed: Agreed) -> Result:
    """Whatever stands against it is found before the first write. Cut anywhere, the same command goes on."""
    with closing(connect(order.kubeconfig, order.context, order.width)) as place:
        wanted, hints = suited(order, place)
        stage, what = (
            _staged(order, wanted, place),
            address("Deployment", wanted.name, wanted.namespace),
        )
        result = carried_out(stage, lambda: _steps(stage, report), what, report, agreed)
        return replace(result, hints=(*_hints(stage, hints), *result.hints))


def planned(order: Installation, report: Report) -> Result:
    """What `install` would do. Nothing is written."""
    with closing(connect(order.kubeconfig, order.context, order.width)) as place:
        wanted, hints = suited(order, place)
        stage = _staged(order, wanted, place)
        return replace(foreseen(stage, report), planned=True, hints=tuple(_hints(stage, hints)))


def _staged(order: Installation, wanted: Values, place: Place) -> Stage:
    stage = Stage(order, wanted, place, Pace(order.width), objects(wanted, served(place)))
    ground = Ground(place)
    ground.check(
        [*rights.needed(stage.bodies, place.kinds), *ground.finding, *WAITING], "install-webhook"
    )
    standing.check(wanted, _there(wanted, place))
    rivals.check(wanted, place.api.list(rollover.CONFIGURATION))
    if wanted.failure_policy == "Fail":
        exposure.check(wanted, _by_namespace(place.api.list("Pod")))
    return stage


def _hints(stage: Stage, suiting: Iterable[str]) -> Iterator[str]:
    """What is to be known of the plan."""
    yield from (
        *unled(stage.order),
        *suiting,
        *_twice(stage.values),
        *foregone(stage.values, served(stage.place)),
    )


def _twice(wanted: Values) -> Iterator[str]:
    """Nobody who asks one cloud in two dialects is refused either: in which order they are to win is not ours to say."""
    if "cwii" in wanted.dialects and (
        others := [each for each in wanted.dialects if each != "cwii"]
    ):
        yield (
            f"A pod whose ServiceAccount has the words of cwii and those of {' or '.join(others)} for one cloud, as create-all writes them, is given its token "
            "by both: leave on it the words of one."
        )


def _there(wanted: Values, place: Place) -> standing.Standing:
    configuration = place.api.get(rollover.CONFIGURATION, "", wanted.name)
    return standing.standing(
        wanted, configuration, place.api.get("ServiceAccount", wanted.namespace, wanted.renewer)
    )


def _by_namespace(pods: Iterable[Any]) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for pod in pods:
        found.setdefault(pod["metadata"]["namespace"], []).append(pod)
    return found


def _steps(stage: Stage, report: Report) -> Iterator[Step]:
    """What is to be written, and what to wait for then."""
    around = [body for body in stage.bodies if not rollover.asks(body)]
    wanted = rollover.of(stage.bodies)
    for fewer in rollover.fewer(_standing(stage), wanted):
        yield [fewer], tuple[str, ...]
    yield [*around, *rollover.first(_standing(stage), wanted)], lambda: _ready(stage, report)
    for softer in rollover.between(_standing(stage), wanted):
        yield [*around, softer], lambda: _certified(stage, report)
    if stage.order.wait or rollover.bundled(_standing(stage)):
        yield stage.bodies, lambda: _shown(stage, report)


def _standing(stage: Stage) -> Any:
    """The configuration as it is now."""
    return stage.place.api.get(rollover.CONFIGURATION, "", stage.values.name)


def _ready(stage: Stage, report: Report) -> tuple[str, ...]:
    _certified(stage, report)
    if stage.order.wait:
        _waiting(stage, report).rolled_out(stage.values.name, stage.values.namespace)
    return ()


def _certified(stage: Stage, report: Report) -> tuple[str, ...]:
    """The renewer comes by itself every few hours, and at once where it has yet to come for the first time, or for an entry that is new.

    Whoever else makes bundles is waited for: an entry without one would refuse what it should let through.
    """
    wanted = stage.values
    if wanted.certificates.by in {"cert-manager", "service-ca"}:
        return _believed(stage, report)
    if wanted.certificates.by == "renewer":
        secret, standing = (
            stage.place.api.get("Secret", wanted.namespace, wanted.serving_secret),
            _standing(stage),
        )
        if not _filled(secret) or (standing and not rollover.bundled(standing)):
            _waiting(stage, report).renewed(wanted.name, wanted.namespace)
    return ()


def _believed(stage: Stage, report: Report) -> tuple[str, ...]:
    by, name = stage.values.certificates.by, stage.values.name
    if stage.order.wait:
        _waiting(stage, report).bundled(name, by)
    elif not rollover.bundled(_standing(stage)):
        return (
            f"{by} has yet to put its CA into the MutatingWebhookConfiguration {name}, which refuses no pod till then: run the same command again.",
        )
    return ()


def _filled(secret: Mapping[str, Any] | None) -> bool:
    data: Mapping[str, Any] = secret.get("data") or {} if secret else {}
    return bool(data.get("tls.crt"))


def _shown(stage: Stage, report: Report) -> tuple[str, ...]:
    if not stage.order.wait:
        return ()
    return Trial(_waiting(stage, report), stage.values).shown()


def _waiting(stage: Stage, report: Report) -> Waiting:
    return Waiting(stage.place, stage.pace, report, stage.order.timeout)
