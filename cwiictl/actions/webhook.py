"""status of the webhook in a cluster: what is there of it, whether it is believed, and how its replicas are; and of pods that it has missed."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace

from cwiictl.actions import pods
from cwiictl.actions.cluster import Installation, address, caller, version
from cwiictl.actions.installed import SELECTOR, Installed, installed
from cwiictl.actions.live import served
from cwiictl.actions.pods import Agreed
from cwiictl.actions.result import Result, Row, failure
from cwiictl.engine.pace import Pace
from cwiictl.errors import BadInput, Denied, Problem
from cwiictl.explain.installed import account, secret, services
from cwiictl.install import health
from cwiictl.install.believed import bundled, certificate
from cwiictl.install.command import PLAIN
from cwiictl.install.health import Finding, let_through, permitted, replica, running
from cwiictl.install.rollover import CONFIGURATION
from cwiictl.kubernetes import Place, connect
from cwiictl.kubernetes.place import Body
from cwiictl.kubernetes.rights import ACCOUNTS, Right

READS = ("get", "list", "watch")


@dataclass(frozen=True)
class Question:
    order: Installation
    pods: bool
    restart: bool
    namespaces: tuple[str, ...] = ()  # or all


@dataclass(frozen=True)
class Said:
    """By a replica: why it is not ready, if it is not, and its numbers."""

    ready: str
    metrics: str


def status(question: Question, agreed: Agreed | None) -> Result:
    """`agreed` is asked before anything is restarted; without it this is a dry run."""
    order = question.order
    with closing(connect(order.kubeconfig, order.context, order.width)) as place:
        those = installed(place)
        result = Result(
            (caller(place),),
            rows=tuple(row for one in those for row in _rows(place, one)),
            judged=True,
        )
        if not question.pods:
            return result
        try:
            told = pods.found(place, those, question.namespaces)
            if not question.restart:
                return result.plus(pods.rows(told))
            done = pods.restarted(place, told, agreed, Pace(order.width))
            return result.plus(done.rows, interrupted=done.interrupted)
        except BadInput:
            raise
        except Problem as e:
            return result.plus((failure("k8s/Pod", e),), (e,))


def _rows(place: Place, one: Installed) -> Iterator[Row]:
    """What cannot be read hinders nobody from reading the rest."""
    if one.beside:
        yield _row(CONFIGURATION, one.name, "", lambda: _elsewhere(place, one))
        return
    space, replicas = one.namespace, _replicas(place, one)
    said = {pod["metadata"]["name"]: _said(place, pod) for pod in replicas}
    versions = health.versions(each.metrics for each in said.values() if isinstance(each, Said))
    yield _row(
        "Deployment",
        one.name,
        space,
        lambda: running(one.deployment, replicas, place.api.list("Event", space), versions),
    )
    yield _row(CONFIGURATION, one.name, "", lambda: _asking(place, one))
    if deployment := one.deployment:
        name = secret(deployment)
        yield _row(
            "Secret",
            name,
            space,
            lambda: certificate(place.api.get("Secret", space, name), time.time()),
        )
        yield _row("ClusterRole", one.name, "", lambda: permitted(_lacking(place, one, deployment)))
    for name, told in said.items():
        yield _row("Pod", name, space, lambda told=told: _replica(told))


def _replicas(place: Place, one: Installed) -> list[Body]:
    """Without those on their way out, which are not ready by right. Who may not list them learns of the Deployment, which has them counted."""
    try:
        found = place.api.list(
            "Pod", one.namespace, f"{SELECTOR},app.kubernetes.io/instance={one.name}"
        )
    except Denied:
        return []
    return [pod for pod in found if "deletionTimestamp" not in pod["metadata"]]


def _row(kind: str, name: str, namespace: str, judged: Callable[[], Finding]) -> Row:
    try:
        found = judged()
    except Problem as e:
        return failure(address(kind, name, namespace), e)
    return Row(
        address(kind, name, namespace),
        found.word,
        remarks=found.remarks,
        problem=found.problem,
        remedy=found.remedy,
    )


def _asking(place: Place, one: Installed) -> Finding:
    found = bundled(one.configuration, _served_with(place, one))
    return (
        replace(found, remarks=(*found.remarks, *_let_through(place, one.configuration)))
        if one.configuration
        else found
    )


def _elsewhere(place: Place, one: Installed) -> Finding:
    found = _asking(place, one)
    return replace(
        found,
        remarks=(
            *found.remarks,
            "it runs in the pod of whichever API server asks: kubectl logs of its container, where that pod is, tell how it is",
        ),
    )


def _served_with(place: Place, one: Installed) -> Body | None:
    """Who may not read it learns so of the Secret itself."""
    try:
        return (
            place.api.get("Secret", one.namespace, secret(one.deployment))
            if one.deployment
            else None
        )
    except Denied:
        return None


def _let_through(place: Place, configuration: Body) -> Iterator[str]:
    try:
        count = let_through(place.api.text("/metrics"), configuration)
    except Problem:
        yield "how many pods were let through because nobody answered is told to who may get /metrics of the API server"
        return
    if count:
        yield f"{count} pods were let through because nobody answered, since the API server has started: see --pods"


def _lacking(place: Place, one: Installed, deployment: Body) -> tuple[Right, ...]:
    asked = {kind for each in services(deployment, version(place)) for kind in each.kinds}
    kinds = [kind for group, name in sorted(asked) if (kind := served(place, group, name))]
    return place.api.lacking(
        (Right(verb, kind.plural, kind.group) for kind in kinds for verb in READS),
        f"{ACCOUNTS}{one.namespace}:{account(deployment)}",
    )


def _said(place: Place, pod: Body) -> Said | Problem:
    space, name = pod["metadata"]["namespace"], pod["metadata"]["name"]
    try:
        ready, metrics = (
            place.api.through(space, name, PLAIN, path) for path in ("/readyz", "/metrics")
        )
    except Problem as e:
        return e
    return Said(
        "" if ready.status == 200 else ready.text, metrics.text if metrics.status == 200 else ""
    )


def _replica(said: Said | Problem) -> Finding:
    if isinstance(said, Problem):
        raise said
    return replica(said.ready, said.metrics)
