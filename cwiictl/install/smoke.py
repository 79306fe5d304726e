"""A pod that nobody makes: sent in a dry run, it shows whether reviews are answered, and believed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cwiictl.install.values import Dialect

Body = dict[str, Any]

ROLE = "arn:aws:iam::000000000000:role/nobody"
# What each dialect hears on the pod itself. In the others only ServiceAccounts ask.
_ASKS: Mapping[Dialect, Mapping[str, Mapping[str, str]]] = {
    "cwii": {"annotations": {"cwii.dev/aws-inject": "true", "cwii.dev/aws-role-arn": ROLE}},
    "azwi": {"labels": {"azure.workload.identity/use": "true"}},
}
_GIVEN: Mapping[Dialect, str] = {"cwii": "AWS_ROLE_ARN", "azwi": "AZURE_FEDERATED_TOKEN_FILE"}


def pod(dialect: Dialect, namespace: str) -> Body | None:
    """One that any namespace would take, if it lets pods in at all."""
    if dialect not in _ASKS:
        return None
    closed = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}, "seccompProfile": {"type": "RuntimeDefault"}}
    container = {
        "name": "nobody",
        "image": "nobody.invalid/nobody",
        "securityContext": {**closed, "runAsNonRoot": True, "runAsUser": 65532},
        "resources": {"requests": {"cpu": "1m", "memory": "1Mi"}, "limits": {"cpu": "1m", "memory": "1Mi"}},
    }
    metadata = {"generateName": "cwii-webhook-smoke-", "namespace": namespace, **_ASKS[dialect]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"containers": [container], "automountServiceAccountToken": False}}


def given(dialect: Dialect, answered: Mapping[str, Any]) -> bool:
    """Whether the pod, as the API server would have made it, was given what it asks for."""
    names = {variable["name"] for container in answered["spec"]["containers"] for variable in container.get("env") or ()}
    return _GIVEN[dialect] in names
