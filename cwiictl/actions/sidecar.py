"""install-webhook --mode sidecar: beside a kube-apiserver in a management cluster, with what its hosted cluster has of it; and out again."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

import msgspec

from cwiictl import manifests
from cwiictl.actions.authorities import certified, signer
from cwiictl.actions.beside import DEPLOYMENT, Beside, Both, both, wanted
from cwiictl.actions.cluster import Installation, address, served
from cwiictl.actions.layout import Agreed, Step, carried_out, foreseen
from cwiictl.actions.result import Caller, Result
from cwiictl.actions.trial import Trial
from cwiictl.actions.waiting import Waiting
from cwiictl.engine.pace import Pace
from cwiictl.engine.resource import Plan, Report
from cwiictl.errors import BadInput, Conflict
from cwiictl.install import rivals, rollover
from cwiictl.install.served import foregone
from cwiictl.install.sidecar.guest import guest
from cwiictl.install.sidecar.patch import found, patch, sized
from cwiictl.install.sidecar.secrets import Certified, read, secrets
from cwiictl.install.sidecar.sidecar import Sidecar
from cwiictl.kubernetes import Place, rights
from cwiictl.kubernetes.objects import Body, resources
from cwiictl.kubernetes.state import owner

HYPERSHIFT = (
    "hypershift.openshift.io/"  # of whom a kube-apiserver is that HyperShift's operator looks after
)
KEPT = "The kube-apiserver is HyperShift's, whose operator takes out again what others put into it: this is for those that it does not reconcile."

Bodies = Sequence[tuple[Place, Body]]  # each with the cluster that it is for


@dataclass(frozen=True)
class Stage:
    """All that is needed to act on it."""

    beside: Beside
    sidecar: Sidecar
    both: Both
    pace: Pace
    bodies: tuple[tuple[Place, Body], ...]

    @property
    def order(self) -> Installation:
        return self.beside.order

    @property
    def name(self) -> str:
        return self.beside.name

    @property
    def callers(self) -> tuple[Caller, ...]:
        return self.both.callers

    @property
    def manifest(self) -> bytes:
        return manifests.dump_all([body for _, body in self.bodies if body["kind"] != "Secret"])

    def plan(self, bodies: Bodies) -> Plan:
        made = [
            each
            for place in (self.both.management, self.both.guest)
            for each in resources(_of(place, bodies), place, (DEPLOYMENT,))
        ]
        return Plan(made, self.both.walks)


def install(beside: Beside, report: Report, agreed: Agreed) -> Result:
    with _staged(beside) as (stage, hints):
        what = address("Deployment", beside.deployment, beside.namespace)
        result = carried_out(stage, lambda: _steps(stage, report), what, report, agreed)
        return replace(result, hints=(*hints, *result.hints))


def planned(beside: Beside, report: Report) -> Result:
    with _staged(beside) as (stage, hints):
        return replace(foreseen(stage, report), planned=True, hints=hints)


@contextmanager
def _staged(beside: Beside) -> Generator[tuple[Stage, tuple[str, ...]]]:
    """Whatever stands against it is found before the first write."""
    asked = wanted(beside)
    with both(beside) as places:
        deployment = _standing(beside, asked, places.management)
        rivals.check(
            msgspec.structs.replace(asked.values, name=asked.flavour.configuration),
            places.guest.api.list(rollover.CONFIGURATION),
        )
        api = places.management.api
        lying = {
            name: read(api.get("Secret", beside.namespace, name))
            for name in (asked.serving, asked.kubeconfig)
        }
        root, client = (
            signer(source, places.management, beside.namespace)
            for source in (beside.root, beside.client)
        )
        made, hints = certified(asked, root, client, lying)
        stage = Stage(
            beside,
            asked,
            places,
            Pace(beside.order.width),
            tuple(_bodies(asked, made, deployment, places)),
        )
        _allowed(stage)
        kept = any(
            each.get("apiVersion", "").startswith(HYPERSHIFT)
            for each in deployment["metadata"].get("ownerReferences") or ()
        )
        yield (
            stage,
            (
                *([KEPT] if kept else []),
                *hints,
                *foregone(asked.guest(made.authority), served(places.guest)),
            ),
        )


def _standing(beside: Beside, asked: Sidecar, place: Place) -> Body:
    """The kube-apiserver's Deployment, which is somebody's, and may have a container of that name that is somebody's too."""
    live, where = (
        place.api.get(DEPLOYMENT, beside.namespace, beside.deployment),
        address("Deployment", beside.deployment, beside.namespace),
    )
    if live is None:
        raise BadInput(
            f"there is no Deployment {beside.namespace}/{beside.deployment}",
            remedy="name the kube-apiserver's with --namespace and --deployment",
        )
    mark = owner(live)
    if mark and mark.cluster != beside.name:
        raise Conflict(
            f"{where} has the sidecar {mark.cluster} already, and takes one",
            remedy="take that out first, with uninstall-webhook and its --flavour; to have several dialects, say --flavour cwii and each --dialect",
        )
    if found(live, asked.flavour.name) and not (mark or where in beside.order.adopt):
        raise Conflict(
            f"{where} has a container {asked.flavour.name} already, which is not ours",
            remedy=f"leave it to whoever put it there, say --flavour cwii to have ours beside it, or take it over with --adopt {where}",
        )
    return live


def _bodies(
    asked: Sidecar, made: Certified, deployment: Body, places: Both
) -> Iterator[tuple[Place, Body]]:
    yield from (
        (places.management, body)
        for body in (*secrets(asked, made), patch(asked, sized(asked, deployment)))
    )
    yield from ((places.guest, body) for body in guest(asked, made.authority, served(places.guest)))


def _allowed(stage: Stage) -> None:
    waiting = [
        rights.Right("list", plural, namespace=stage.beside.namespace)
        for plural in ("pods", "events")
    ]
    for ground, more in zip(
        stage.both.grounds, (waiting, [rights.Right("create", "pods")]), strict=True
    ):
        ground.check(
            [
                *rights.needed(_of(ground.place, stage.bodies), ground.place.kinds),
                *ground.finding,
                *more,
            ],
            "install-webhook",
        )


def _steps(stage: Stage, report: Report) -> Iterator[Step]:
    """The API server is told to ask when there is somebody to answer."""
    first = [
        (place, body) for place, body in stage.bodies if body["kind"] != rollover.CONFIGURATION
    ]
    unasked: list[str] = []
    yield first, lambda: _ready(stage, report, unasked)
    yield stage.bodies, lambda: (*unasked, *_shown(stage, report))


def _ready(stage: Stage, report: Report, unasked: list[str]) -> tuple[str, ...]:
    """The API server's pod does not wait for its sidecar, and so says nothing of it. `unasked` is for what is to be told in the end."""
    if stage.order.wait:
        waiting, where = (
            Waiting(stage.both.management, stage.pace, report, stage.order.timeout),
            (stage.beside.deployment, stage.beside.namespace),
        )
        waiting.rolled_out(*where, port=None)
        unasked.extend(waiting.ready(*where, stage.sidecar.flavour.doors.plain))
    return ()


def _shown(stage: Stage, report: Report) -> tuple[str, ...]:
    if not stage.order.wait:
        return ()
    see = (
        f"see kubectl logs of the container {stage.sidecar.flavour.name} beside the kube-apiserver"
    )
    return Trial(
        Waiting(stage.both.guest, stage.pace, report, stage.order.timeout),
        stage.sidecar.values,
        see,
    ).shown()


def _of(place: Place, bodies: Bodies) -> list[Body]:
    return [body for where, body in bodies if where is place]
