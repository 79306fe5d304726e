"""Who may do what: who answers reviews reads what its dialects ask for; who renews certificates has two Secrets, and the configurations' bundles."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from cwii_webhook.dialects.registry import ALL
from cwii_webhook.kube.resources import NAMESPACES, OWNERS, SERVICE_ACCOUNTS

from cwiictl.install.body import CORE, RBAC, Object, body
from cwiictl.install.values import Values

_GROUP = "rbac.authorization.k8s.io"
_VERBS = ["get", "list", "watch"]


def accounts(values: Values) -> Iterator[Object]:
    """Tokens go to our own pods alone, which say so."""
    for name in (values.name, *([values.renewer] if values.certificates.by == "renewer" else [])):
        yield body(values, CORE, "ServiceAccount", name, automountServiceAccountToken=False)


def rights(values: Values) -> Iterator[Object]:
    yield from reading(values)
    if values.certificates.by == "renewer":
        yield from _renewer(values)


def reading(values: Values) -> Iterator[Object]:
    """What it may that answers reviews."""
    yield body(values, RBAC, "ClusterRole", cluster=True, rules=_read(values))
    yield _bound(values, values.name, cluster=True)


def writes(values: Values) -> bool:
    """Whether it has anything to write: the ConfigMaps with Google's credentials."""
    return "cwii" in values.dialects and values.gcp.delivery == "config-map"


def _read(values: Values) -> list[Object]:
    asked = frozenset[tuple[str, str]]().union(*(ALL[dialect].kinds for dialect in values.dialects))
    plurals: dict[str, list[str]] = {}
    for kind in (SERVICE_ACCOUNTS, NAMESPACES, *OWNERS):
        if (kind.group, kind.kind) in asked:
            plurals.setdefault(kind.group, []).append(kind.plural)
    rules = [_rule(group, resources, _VERBS) for group, resources in plurals.items()]
    if writes(values):
        rules.append(_rule("", ["configmaps"], ["get", "create", "patch"]))
    return rules


def _renewer(values: Values) -> Iterator[Object]:
    """It cannot make Secrets: those that it fills are there."""
    configurations = _rule(
        "admissionregistration.k8s.io",
        ["mutatingwebhookconfigurations"],
        ["get", "patch"],
        [values.name],
    )
    yield body(values, RBAC, "ClusterRole", values.renewer, cluster=True, rules=[configurations])
    yield _bound(values, values.renewer, cluster=True)
    rules = [
        _rule("", ["secrets"], ["get", "patch"], [values.serving_secret, f"{values.name}-ca"]),
        _rule("discovery.k8s.io", ["endpointslices"], ["list"]),
        _rule("", ["events"], ["create"]),
    ]
    yield body(values, RBAC, "Role", values.renewer, rules=rules)
    yield _bound(values, values.renewer, cluster=False)


def _bound(values: Values, name: str, *, cluster: bool) -> Object:
    prefix = "Cluster" if cluster else ""
    subject = {"kind": "ServiceAccount", "name": name, "namespace": values.namespace}
    role = {"apiGroup": _GROUP, "kind": f"{prefix}Role", "name": name}
    return body(
        values,
        RBAC,
        f"{prefix}RoleBinding",
        name,
        cluster=cluster,
        roleRef=role,
        subjects=[subject],
    )


def _rule(
    group: str, resources: Iterable[str], verbs: Iterable[str], names: Iterable[str] = ()
) -> Object:
    named = {"resourceNames": list(names)} if names else {}
    return {"apiGroups": [group], "resources": list(resources), **named, "verbs": list(verbs)}
