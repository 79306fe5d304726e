"""What lies in a Namespace: whether all of it is ours, or what Kubernetes makes by itself, so that it may go with it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cwiictl.kubernetes import fields
from cwiictl.kubernetes.kinds import Kind, title
from cwiictl.kubernetes.state import owner

# Which every Namespace has: of Kubernetes, of OpenShift and of Istio.
ITS_OWN = frozenset(
    {("ServiceAccount", name) for name in ("default", "builder", "deployer")}
    | {
        ("ConfigMap", name)
        for name in ("kube-root-ca.crt", "openshift-service-ca.crt", "istio-ca-root-cert")
    }
    | {
        ("RoleBinding", name)
        for name in ("system:image-pullers", "system:image-builders", "system:deployers")
    }
)
NAMES_ITS_ACCOUNT = (
    "kubernetes.io/service-account.name",
    "openshift.io/internal-registry-auth-token.service-account",
)
NAMES_ITS_CERTIFICATE = "cert-manager.io/certificate-name"
FLEETING = frozenset({"Event"})


@dataclass(frozen=True)
class Item:
    kind: Kind
    live: Mapping[str, Any]  # its metadata suffice

    @property
    def about(self) -> Mapping[str, Any]:
        return self.live["metadata"]

    @property
    def name(self) -> str:
        return str(self.about["name"])

    @property
    def owners(self) -> Sequence[Mapping[str, Any]]:
        return self.about.get("ownerReferences") or ()


def worth_a_look(kinds: Iterable[Kind]) -> Iterator[Kind]:
    """What can be listed and deleted. The rest is told of others, as metrics are."""
    return (
        kind
        for kind in kinds
        if kind.namespaced and kind.verbs >= {"list", "delete"} and kind.name not in FLEETING
    )


def strangers(items: Sequence[Item], looked: Collection[str], installation: str) -> list[str]:
    """Among the kinds (by title) that were looked at, what is not of this installation, nor made for what is or was, nor every Namespace's own."""
    there = {item.about["uid"] for item in items}
    ours = {
        item.about["uid"]
        for item in items
        if (mark := owner(item.live)) and mark.cluster == installation
    }
    fine = ours | {
        item.about["uid"]
        for item in items
        if "deletionTimestamp" in item.about or _incidental(item, installation)
    }

    def goes(owned: Mapping[str, Any]) -> bool:
        """With the owner, or after one that has gone."""
        return owned["uid"] in fine or (
            owned["uid"] not in there and title(owned["apiVersion"], owned["kind"]) in looked
        )

    while (
        more := {item.about["uid"] for item in items if item.owners and all(map(goes, item.owners))}
        - fine
    ):
        fine |= more
    return sorted(
        f"{item.kind.short}/{item.name}" for item in items if item.about["uid"] not in fine
    )


def _incidental(item: Item, installation: str) -> bool:
    """Every Namespace's, or made for what has its name by who does not say so in owners, and takes their time to clear it away."""
    words = fields.within(item.about, "annotations")
    match item.kind.name:
        case "Endpoints" | "Lease":
            return _part(item.name, installation)
        case "Secret":
            account = next((words[key] for key in NAMES_ITS_ACCOUNT if key in words), "")
            return ("ServiceAccount", account) in ITS_OWN or _part(
                account or words.get(NAMES_ITS_CERTIFICATE, ""), installation
            )
        case kind:
            return (kind, item.name) in ITS_OWN


def _part(name: str, installation: str) -> bool:
    return name == installation or name.startswith(f"{installation}-")
