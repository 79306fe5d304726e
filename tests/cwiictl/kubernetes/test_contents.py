"""What lies in a Namespace that is to go."""

from __future__ import annotations

from typing import Any

from cwiictl import names
from cwiictl.engine.resource import Mark
from cwiictl.kubernetes.contents import Item, strangers, worth_a_look
from cwiictl.kubernetes.kinds import Kind

MARK = Mark("hook", origin="install-webhook")
GROUPS = {
    "Deployment": "apps",
    "ReplicaSet": "apps",
    "EndpointSlice": "discovery.k8s.io",
    "Lease": "coordination.k8s.io",
    "Certificate": "cert-manager.io",
}


def kind(name: str, *verbs: str) -> Kind:
    return Kind(
        GROUPS.get(name, ""),
        "v1",
        name,
        f"{name.lower()}s",
        namespaced=True,
        verbs=frozenset(verbs or ("list", "delete")),
    )


def item(of: str, name: str, owner: str = "", **about: Any) -> Item:
    """Whose owner is named KIND/NAME."""
    upon, _, called = owner.partition("/")
    api = f"{GROUPS[upon]}/v1" if upon in GROUPS else "v1"
    owners = [{"apiVersion": api, "kind": upon, "name": called, "uid": owner}] if owner else []
    return Item(
        kind(of),
        {"metadata": {"name": name, "uid": f"{of}/{name}", "ownerReferences": owners, **about}},
    )


def ours(of: str, name: str, mark: Mark = MARK, manager: str = "cwiictl") -> Item:
    notes: list[dict[str, Any]] = [{"manager": manager, "operation": "Apply", "fieldsV1": {}}]
    return item(
        of,
        name,
        labels=names.labelled(mark),
        annotations=names.annotated(mark),
        managedFields=notes,
    )


def left(*items: Item) -> list[str]:
    looked = {
        kind(name).title
        for name in (
            *GROUPS,
            "Pod",
            "Service",
            "Secret",
            "ConfigMap",
            "ServiceAccount",
            "Endpoints",
        )
    }
    return strangers(items, looked, "hook")


def test_what_every_namespace_has_is_nobodys() -> None:
    token = item(
        "Secret", "default-token", annotations={"kubernetes.io/service-account.name": "default"}
    )
    assert (
        left(item("ServiceAccount", "default"), item("ConfigMap", "kube-root-ca.crt"), token) == []
    )


def test_what_is_made_for_ours_is_ours_however_far() -> None:
    made = (
        item("ReplicaSet", "hook-1", "Deployment/hook"),
        item("Pod", "hook-1-a", "ReplicaSet/hook-1"),
    )
    beside = (
        item("Endpoints", "hook"),
        item("EndpointSlice", "hook-x", "Service/hook"),
        item("Lease", "hook-renewer"),
    )
    secret = item(
        "Secret", "hook-serving", annotations={"cert-manager.io/certificate-name": "hook"}
    )
    assert (
        left(
            *made,
            *beside,
            secret,
            ours("Deployment", "hook"),
            ours("Service", "hook"),
            ours("Certificate", "hook"),
        )
        == []
    )


def test_what_was_made_for_what_has_gone_goes_after_it() -> None:
    after = (
        item("ReplicaSet", "hook-1", "Deployment/hook"),
        item("Pod", "hook-1-a", "ReplicaSet/hook-1"),
        item("Endpoints", "hook"),
    )
    going = item("ConfigMap", "theirs", deletionTimestamp="2026-01-01T00:00:00Z")
    assert left(*after, going) == []


def test_all_else_is_anothers() -> None:
    theirs = (
        item("Deployment", "web"),
        item("ReplicaSet", "web-1", "Deployment/web"),
        item("Endpoints", "web"),
        item("Lease", "web"),
    )
    assert left(ours("Deployment", "hook"), *theirs) == [
        "Deployment/web",
        "Endpoints/web",
        "Lease/web",
        "ReplicaSet/web-1",
    ]
    both = item("Pod", "a", "Deployment/hook")
    both.about["ownerReferences"].append(
        {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "uid": "Deployment/web"}
    )
    assert left(ours("Deployment", "hook"), theirs[0], both) == ["Deployment/web", "Pod/a"]


def test_neither_a_copy_nor_another_installations_is_ours() -> None:
    assert left(
        ours("ConfigMap", "copy", manager="kubectl-create"),
        ours("ConfigMap", "theirs", Mark("other")),
    ) == ["ConfigMap/copy", "ConfigMap/theirs"]


def test_what_belongs_to_the_world_outside_the_namespace_is_not_taken_for_garbage() -> None:
    assert left(item("Pod", "mirror", "Node/a")) == ["Pod/mirror"]


def test_what_cannot_be_deleted_is_not_looked_at() -> None:
    kinds = [
        kind("ConfigMap"),
        kind("PodMetrics", "get", "list"),
        kind("Event"),
        Kind("", "v1", "Node", "nodes", namespaced=False),
    ]
    assert [each.name for each in worth_a_look(kinds)] == ["ConfigMap"]
