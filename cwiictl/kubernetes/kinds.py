"""The kinds of objects: what a cluster serves, where, and in which order they are made."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from cwiictl.errors import BadInput

# In the order of installation: all of a stage can be made at once, when the one before is there. What is asked for by name is found by it.
STAGES = (
    ("Namespace", "PriorityClass.scheduling.k8s.io"),
    (
        "PriorityLevelConfiguration.flowcontrol.apiserver.k8s.io",
        "FlowSchema.flowcontrol.apiserver.k8s.io",
        "NetworkPolicy.networking.k8s.io",
        "ServiceAccount",
        "Secret",
        "ConfigMap",
        "ClusterRole.rbac.authorization.k8s.io",
        "Role.rbac.authorization.k8s.io",
        "Issuer.cert-manager.io",
        "ClusterIssuer.cert-manager.io",
        "Certificate.cert-manager.io",
    ),
    (
        "ClusterRoleBinding.rbac.authorization.k8s.io",
        "RoleBinding.rbac.authorization.k8s.io",
        "Service",
    ),
    (
        "Deployment.apps",
        "DaemonSet.apps",
        "PodDisruptionBudget.policy",
        "HorizontalPodAutoscaler.autoscaling",
        "CronJob.batch",
        "Job.batch",
    ),
    (
        "ServiceMonitor.monitoring.coreos.com",
        "PrometheusRule.monitoring.coreos.com",
        "ValidatingWebhookConfiguration.admissionregistration.k8s.io",
        "MutatingWebhookConfiguration.admissionregistration.k8s.io",
    ),
    (  # what refuses pods that were not given anything comes after, and goes before, what gives it to them
        "ValidatingAdmissionPolicy.admissionregistration.k8s.io",
        "ValidatingAdmissionPolicyBinding.admissionregistration.k8s.io",
    ),
)
STAGE = {title: number for number, stage in enumerate(STAGES) for title in stage}
NAMESPACE = "Namespace"


@dataclass(frozen=True)
class Kind:
    group: str
    version: str
    name: str  # Deployment
    plural: str
    namespaced: bool
    verbs: frozenset[str] = frozenset()
    aliases: frozenset[str] = frozenset()  # as people may call it: deploy

    @property
    def title(self) -> str:
        """Of two groups that have one of that name each is its own."""
        return f"{self.name}.{self.group}" if self.group else self.name

    @property
    def short(self) -> str:
        """As far as it is clear: the groups of Kubernetes itself have no two of a name that we install."""
        return self.title if "." in self.group and not self.group.endswith(".k8s.io") else self.name

    @property
    def api(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def resource(self) -> str:
        """As rights are given on it."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    def path(self, namespace: str = "", name: str = "") -> str:
        """Without a namespace, those of all."""
        root = f"/apis/{self.api}" if self.group else f"/api/{self.api}"
        within = f"/namespaces/{namespace}" if namespace and self.namespaced else ""
        return f"{root}{within}/{self.plural}{f'/{name}' if name else ''}"

    def place(self, name: str) -> str:
        """Of one object, by the name that its store gives it: NAMESPACE/NAME, or NAME."""
        namespace, _, own = name.rpartition("/")
        return self.path(namespace, own)


def title(api: str, kind: str) -> str:
    """Of an object that says apiVersion and kind."""
    group = api.rpartition("/")[0]
    return f"{kind}.{group}" if group else kind


class Kinds:
    """What a cluster serves: in each version, the preferred one first."""

    def __init__(self, served: Iterable[Kind]) -> None:
        self._all: dict[str, list[Kind]] = {}
        for kind in served:
            self._all.setdefault(kind.title, []).append(kind)

    def __iter__(self) -> Iterator[Kind]:
        """Each in its preferred version."""
        return (versions[0] for versions in self._all.values())

    def get(self, title: str, version: str = "") -> Kind | None:
        return next(
            (kind for kind in self._all.get(title, ()) if version in {"", kind.version}), None
        )

    def __getitem__(self, title: str) -> Kind:
        """A name alone is of the first group that has it: that of Kubernetes itself comes first."""
        if kind := self.get(title) or next((kind for kind in self if kind.name == title), None):
            return kind
        raise BadInput(
            f"the cluster does not serve the kind {title}",
            remedy="install what brings it (its CustomResourceDefinition), or leave it out",
        )

    def called(self, word: str) -> Kind:
        """As kubectl has it: deployment, deployments, deploy, or deployment.apps."""
        word = word.lower()
        for kind in self:
            if word in {
                kind.name.lower(),
                kind.plural,
                kind.title.lower(),
                kind.resource,
                *kind.aliases,
            }:
                return kind
        raise BadInput(
            f"the cluster does not serve a kind {word}",
            remedy="write it as kubectl has it, such as pod/NAME or deployment/NAME",
        )

    def of(self, body: Mapping[str, Any]) -> Kind:
        """Of an object."""
        name, api = title(body["apiVersion"], body["kind"]), str(body["apiVersion"])
        if kind := self.get(name, api.rpartition("/")[2]):
            return kind
        raise BadInput(
            f"the cluster does not serve the kind {body['kind']} of {api}",
            remedy="install what brings it, upgrade the cluster, or leave it out",
        )


def discovered(answer: Mapping[str, Any]) -> Iterator[Kind]:
    """Of an APIGroupDiscoveryList. What another server than the API server itself should serve, and does not, is not there."""
    for group in answer.get("items", ()):
        for version in group.get("versions", ()):
            if version.get("freshness") != "Stale":
                yield from (
                    _served(group["metadata"].get("name", ""), version["version"], each)
                    for each in version.get("resources", ())
                    if each.get("responseKind")
                )


def _served(group: str, version: str, each: Mapping[str, Any]) -> Kind:
    return Kind(
        group,
        version,
        str(each["responseKind"].get("kind", "")),
        each["resource"],
        each.get("scope") == "Namespaced",
        frozenset(each.get("verbs", ())),
        frozenset(each.get("shortNames", ())),
    )
