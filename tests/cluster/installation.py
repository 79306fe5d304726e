"""A small installation of every sort of object, as it would be installed; and a cluster to put it in, as somebody."""

from __future__ import annotations

from collections.abc import Collection, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cwiictl.engine import holdings, run
from cwiictl.engine.holdings import Removal
from cwiictl.engine.pace import Pace
from cwiictl.engine.resource import Mark, Plan
from cwiictl.engine.run import Outcome
from cwiictl.kubernetes import Place, connect
from cwiictl.kubernetes.objects import Body, resources, walk
from tests.cluster.kube.client import Object
from tests.cluster.kube.reach import Reach
from tests.cluster.space import a_name

LABELS = {"app.kubernetes.io/name": "webhook"}


@contextmanager
def connected(reach: Reach, folder: Path, user: str = "admin", *groups: str) -> Generator[Place]:
    pair = reach.authority.client(user, *(groups or ("system:masters",)))
    place = connect(reach.authority.kubeconfig(folder / f"{user}.kubeconfig", reach.urls[0], pair))
    try:
        yield place
    finally:
        place.close()


@dataclass
class Installation:
    """Of a name that nobody else has, in a namespace of its own."""

    place: Place
    name: str
    bodies: list[Object]
    origin: str = "install-webhook"

    @property
    def mark(self) -> Mark:
        return Mark(self.name, origin=self.origin)

    def plan(self, bodies: Sequence[Body] | None = None) -> Plan:
        return Plan(resources(self.bodies if bodies is None else bodies, self.place))

    def apply(self, bodies: Sequence[Body] | None = None, adopt: Collection[str] = ()) -> Outcome:
        return run.apply(self.plan(bodies), self.mark, Pace(), adopt)

    def preview(self, bodies: Sequence[Body] | None = None, adopt: Collection[str] = ()) -> Outcome:
        return run.preview(self.plan(bodies), self.mark, Pace(), adopt)

    def held(self) -> holdings.Holdings:
        return holdings.holdings([walk(self.place)], self.name, Pace())

    def remove(self) -> Removal:
        return holdings.remove(self.held(), Pace())

    def address(self, kind: str) -> str:
        return next(address for address in self.plan() if address.startswith(f"k8s/{kind}/"))

    def path(self, kind: str) -> str:
        """In the API."""
        body = next(body for body in self.bodies if body["kind"] == kind)
        return self.place.kinds.of(body).path(
            body["metadata"].get("namespace", ""), body["metadata"]["name"]
        )


def an_installation(place: Place, *more: Object) -> Installation:
    name = a_name("hook")
    return Installation(place, name, [*bodies(name), *(placed(body, name) for body in more)])


def placed(body: Object, name: str) -> Object:
    return {**body, "metadata": {"name": name, "namespace": name, **body.get("metadata", {})}}


def bodies(name: str) -> list[Object]:
    here = {"name": name, "namespace": name, "labels": LABELS}
    everywhere = {"name": name, "labels": LABELS}
    rules = [
        {"apiGroups": [""], "resources": ["serviceaccounts"], "verbs": ["get", "list", "watch"]}
    ]
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name}
    return [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": everywhere},
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": here},
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": here, "data": {"colour": "blue"}},
        {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": here,
            "type": "Opaque",
            "stringData": {"password": "hush"},
        },
        {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRole",
            "metadata": everywhere,
            "rules": rules,
        },
        {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRoleBinding",
            "metadata": everywhere,
            "roleRef": role,
            "subjects": [{"kind": "ServiceAccount", "name": name, "namespace": name}],
        },
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": here,
            "spec": {
                "selector": LABELS,
                "ports": [
                    {"name": "metrics", "port": 9443},
                    {"name": "https", "port": 443, "targetPort": "https"},
                ],
            },
        },
        {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": here, "spec": deployment(name)},
        {
            "apiVersion": "policy/v1",
            "kind": "PodDisruptionBudget",
            "metadata": here,
            "spec": {"maxUnavailable": 1, "selector": {"matchLabels": LABELS}},
        },
        {
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": "MutatingWebhookConfiguration",
            "metadata": everywhere,
            "webhooks": [webhook(name)],
        },
    ]


def deployment(name: str) -> Object:
    """With amounts that the API server writes in its own way."""
    container = {
        "name": "webhook",
        "image": "example.org/webhook:1",
        "args": ["--dialect", "cwii"],
        "env": [{"name": "B", "value": "b"}, {"name": "A", "value": "a"}],
        "ports": [
            {"name": "https", "containerPort": 8443},
            {"name": "plain", "containerPort": 8080},
        ],
        "resources": {"requests": {"cpu": "1000m", "memory": "0.5Gi"}},
        "securityContext": {"readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]}},
    }
    pod = {
        "serviceAccountName": name,
        "containers": [container, {"name": "second", "image": "example.org/second:1"}],
    }
    return {
        "replicas": 2,
        "selector": {"matchLabels": LABELS},
        "template": {"metadata": {"labels": LABELS}, "spec": pod},
    }


def webhook(name: str) -> Object:
    """For pods that nobody makes."""
    return {
        "name": "pods.webhook.cwii.dev",
        "admissionReviewVersions": ["v1"],
        "sideEffects": "None",
        "failurePolicy": "Ignore",
        "clientConfig": {"service": {"name": name, "namespace": name, "path": "/mutate"}},
        "objectSelector": {"matchLabels": {"nobody": name}},
        "rules": [
            {
                "apiGroups": [""],
                "apiVersions": ["v1"],
                "operations": ["CREATE"],
                "resources": ["pods"],
            }
        ],
    }


def verbs(outcome: Outcome) -> dict[str, str]:
    return {change.address: change.verb for change in outcome.changes}


def told(outcome: Outcome) -> dict[str, Any]:
    """What differs, by address and field: what is, and what would be."""
    return {
        f"{change.address} {each.field}": (each.have, each.want)
        for change in outcome.changes
        for each in change.differing
    }
