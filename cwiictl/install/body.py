"""The beginning of every object: what it is, what it is called, and whose it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from cwiictl.install.values import Values

Object: TypeAlias = dict[str, Any]

PROGRAM = "cwii-webhook"
RENEWER = "cwii-webhook-renewer"  # so that no Service takes its pods for replicas
CORE, APPS, BATCH, RBAC = "v1", "apps/v1", "batch/v1", "rbac.authorization.k8s.io/v1"


def labels(values: Values, program: str = PROGRAM) -> dict[str, str]:
    """By these two pods are selected."""
    return {"app.kubernetes.io/name": program, "app.kubernetes.io/instance": values.name}


def body(  # noqa: PLR0913 - most of it by name, and seldom
    values: Values,
    version: str,
    kind: str,
    name: str = "",
    *,
    annotations: Mapping[str, str] | None = None,
    cluster: bool = False,
    **more: Any,
) -> Object:
    """In our namespace, unless it is the cluster's."""
    noted = {"annotations": dict(annotations)} if annotations else {}
    where = {} if cluster else {"namespace": values.namespace}
    metadata = {"name": name or values.name, **where, "labels": labels(values), **noted}
    return {"apiVersion": version, "kind": kind, "metadata": metadata, **more}
