"""A running cluster, and what is to be installed in it, whole, before anything is looked at."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from cwiictl import files
from cwiictl.actions.result import Caller
from cwiictl.engine.resource import Mark, Walk
from cwiictl.errors import BadInput
from cwiictl.install import given, handover
from cwiictl.install.served import FLOWS, Served
from cwiictl.install.values import Values, Wishes
from cwiictl.kubernetes import Place, rights
from cwiictl.kubernetes.kinds import STAGE
from cwiictl.kubernetes.objects import walk
from cwiictl.shapes import told

ORIGIN = "install-webhook"
NOTHING: Mapping[str, Any] = {}


@dataclass(frozen=True)
class Installation:
    """Which cluster, and what was said of the webhook there."""

    kubeconfig: Path | None = None
    context: str = ""
    output: Path = field(default_factory=Path)  # where create-all has left its ids
    file: Path | None = None
    sets: tuple[str, ...] = ()
    adopt: frozenset[str] = frozenset()
    expect: str = ""
    prune: bool = False
    wait: bool = True
    timeout: float = 300.0
    width: int = 16


@dataclass(frozen=True)
class Ground:
    """A cluster that something of an installation is in, and the kinds of it."""

    place: Place
    titles: Collection[str] = tuple(STAGE)
    called: str = ""  # where there are two

    @property
    def walk(self) -> Walk:
        return walk(self.place, self.titles)

    @property
    def caller(self) -> Caller:
        return replace(caller(self.place), cloud=self.called or "cluster")

    @property
    def finding(self) -> tuple[rights.Right, ...]:
        return rights.finding(self.place.kinds, self.titles, self.place.within)

    def check(self, needed: Iterable[rights.Right], what: str) -> None:
        """Half of an installation is worse than the whole, or than none."""
        who = f"{self.place.caller}, in the {self.called}," if self.called else self.place.caller
        if problem := rights.denied(who, self.place.api.lacking(needed), what):
            raise problem


def values(order: Installation, below: Mapping[str, Any] = NOTHING) -> Values:
    """What is so in that kind of cluster, over it the ids that create-all has left, over them a file, and over all what is said on the command line."""
    left, file = files.found(order.output / handover.FILE), order.file
    under = given.read(str(order.output / handover.FILE), left) if left else None
    if under:
        told(under, Wishes)
    said = given.read(str(file), files.read(file, "the values file")) if file else None
    return given.values(
        said, order.sets, under=given.over(below, under.value if under else NOTHING)
    )


def mark(name: str) -> Mark:
    return Mark(name, origin=ORIGIN)


def caller(place: Place) -> Caller:
    return Caller(
        "cluster",
        f"{place.server} ({place.context}, {place.version})" if place.context else place.server,
        place.caller,
        "at",
    )


def version(place: Place) -> tuple[int, int]:
    major, minor, *_ = place.version.removeprefix("v").split(".")
    return int(major), int(minor)


def served(place: Place) -> Served:
    """Asked of the cluster itself: what its version has may be switched off."""
    policies = all(
        place.kinds.get(f"ValidatingAdmissionPolicy{what}.admissionregistration.k8s.io", "v1")
        for what in ("", "Binding")
    )
    flow = next(
        (
            version
            for version in FLOWS
            if place.kinds.get("FlowSchema.flowcontrol.apiserver.k8s.io", version)
        ),
        "",
    )
    return Served(policies, flow)


def address(kind: str, name: str, namespace: str = "") -> str:
    return f"k8s/{kind}/{namespace}/{name}" if namespace else f"k8s/{kind}/{name}"


def imaged(values: Values) -> Values:
    """Without an image nothing can run: known before anything is written."""
    if not values.image:
        raise BadInput(
            "no image is named for the webhook",
            remedy="make one with cwiictl image push REGISTRY/cwii-webhook, and name it with --image, best as it is printed, with its digest",
        )
    return values


def unled(order: Installation) -> tuple[str, ...]:
    """Where no ids lie, it is said: they may be elsewhere."""
    path = order.output / handover.FILE
    return (
        ()
        if path.is_file()
        else (
            f"There is no {path}: no ids of clouds are told to it but those of --values and --set.",
        )
    )
