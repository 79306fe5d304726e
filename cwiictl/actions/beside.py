"""Beside which kube-apiserver the webhook is to run, and the two clusters that this takes: the one it runs in, and the one that it serves."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from cwiictl.actions.authorities import Source
from cwiictl.actions.cluster import Ground, Installation, imaged, values
from cwiictl.actions.result import Caller
from cwiictl.engine.resource import Walk
from cwiictl.install.sidecar.flavours import FLAVOURS
from cwiictl.install.sidecar.sidecar import (
    KUBE_APISERVER,
    PORT,
    Sidecar,
    flavour,
    installation,
    sidecar,
)
from cwiictl.kubernetes import Place, connect

DEPLOYMENT = "Deployment.apps"
MANAGEMENT = ("Secret", DEPLOYMENT)  # the kinds of what goes there, and of what goes into the other
HOSTED = (
    "PriorityLevelConfiguration.flowcontrol.apiserver.k8s.io",
    "FlowSchema.flowcontrol.apiserver.k8s.io",
    "ClusterRole.rbac.authorization.k8s.io",
    "ClusterRoleBinding.rbac.authorization.k8s.io",
    "MutatingWebhookConfiguration.admissionregistration.k8s.io",
    "ValidatingAdmissionPolicy.admissionregistration.k8s.io",
    "ValidatingAdmissionPolicyBinding.admissionregistration.k8s.io",
)
GUEST = "guest"


@dataclass(frozen=True)
class Beside:
    """The order's cluster is the one that it runs in."""

    order: Installation
    flavour: str = "cwii"
    namespace: str = ""
    deployment: str = KUBE_APISERVER
    port: int = PORT  # the kube-apiserver's
    ports: tuple[int, int] = (
        0,
        0,
    )  # the webhook's own, with TLS and without, where they are not its flavour's
    profile: str = "intermediate"
    readiness: bool = False
    static: bool = False
    root: Source = field(default_factory=Source)
    client: Source = field(default_factory=Source)
    guest_kubeconfig: Path | None = None
    guest_context: str = ""
    whole: Path | None = None  # the kube-apiserver's Deployment, in a file

    @property
    def name(self) -> str:
        return installation(self.flavour, self.namespace)


@dataclass(frozen=True)
class Both:
    management: Place
    guest: Place

    @property
    def grounds(self) -> tuple[Ground, Ground]:
        return Ground(self.management, MANAGEMENT, "management cluster"), Ground(
            self.guest, HOSTED, "hosted cluster"
        )

    @property
    def walks(self) -> list[Walk]:
        return [ground.walk for ground in self.grounds]

    @property
    def callers(self) -> tuple[Caller, ...]:
        return tuple(ground.caller for ground in self.grounds)


def wanted(beside: Beside) -> Sidecar:
    """The flavour says whose words are spoken, if nobody does."""
    dialect, order = FLAVOURS[beside.flavour].dialect, beside.order
    sets = (f"dialects={{{dialect}}}", *order.sets) if dialect else order.sets
    said = imaged(values(replace(order, sets=sets)))
    kind = flavour(beside.flavour, *beside.ports)
    return sidecar(
        Sidecar(
            said,
            kind,
            beside.namespace,
            beside.deployment,
            beside.port,
            beside.profile,
            beside.readiness,
        )
    )


@contextmanager
def connected(beside: Beside) -> Generator[Place]:
    """To the management cluster, in which nothing of ours is outside the control plane's namespace."""
    order = beside.order
    place = connect(order.kubeconfig, order.context, order.width, within=beside.namespace)
    try:
        yield place
    finally:
        place.close()


@contextmanager
def both(beside: Beside) -> Generator[Both]:
    with ExitStack() as stack:
        management = stack.enter_context(connected(beside))
        guest = connect(beside.guest_kubeconfig, beside.guest_context, beside.order.width, GUEST)
        stack.callback(guest.close)
        yield Both(management, guest)
