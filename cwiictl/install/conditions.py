"""Whom we have no business with, in CEL: it is looked at by the API server before anybody is asked. Each key is guarded, for most pods lack it."""

from __future__ import annotations

from cwiictl.install.body import Object
from cwiictl.install.values import Values

SYSTEM = ("kube-system", "kube-public", "kube-node-lease")
PREFIXES = ("kube-", "openshift-")
NAME_LABEL = "kubernetes.io/metadata.name"
REQUIRE = "cwii.dev/require"

MIRROR: Object = {
    "name": "no-mirror-of-a-static-pod",
    "expression": "!has(object.metadata.annotations) || !('kubernetes.io/config.mirror' in object.metadata.annotations)",
}
BEYOND: Object = {
    "name": "no-namespace-of-the-system",
    "expression": "!has(request.namespace) || !("
    + " || ".join(f"request.namespace.startsWith('{prefix}')" for prefix in PREFIXES)
    + ")",
}


def conditions(values: Values) -> list[Object]:
    own = [{"name": each.name, "expression": each.expression} for each in values.match_conditions]
    return [MIRROR, BEYOND, *own]


def elsewhere(values: Values) -> Object:
    """Namespaces are known by the label that the API server gives them; a beginning cannot be said so."""
    return {"key": NAME_LABEL, "operator": "NotIn", "values": excluded(values)}


def excluded(values: Values) -> list[str]:
    return list(dict.fromkeys((values.namespace, *SYSTEM, *values.excluded_namespaces)))


def spared(values: Values, namespace: str) -> bool:
    """Whether no pod in it is ever looked at."""
    return namespace in excluded(values) or namespace.startswith(PREFIXES)
