"""What a recorded question speaks of, made in a real API server, and the question as it is then: in that namespace, with those owners."""

from __future__ import annotations

import copy
from typing import Any

from tests.cluster.kube.client import Object
from tests.cluster.kube.reach import Reach
from tests.cluster.space import ACCOUNT, Space
from tests.webhook.recorded import Recording

_LABELS = {"app": "a"}
_POD: Object = {"metadata": {"labels": _LABELS}, "spec": {"containers": [{"name": "c", "image": "c"}]}}
_OF_MANY: Object = {"selector": {"matchLabels": _LABELS}, "template": _POD}
_SPECS: dict[str, Object] = {
    "Deployment": _OF_MANY,
    "ReplicaSet": _OF_MANY,
    "DaemonSet": _OF_MANY,
    "StatefulSet": {"serviceName": "s", **_OF_MANY},
    "Job": {"template": {"spec": {**_POD["spec"], "restartPolicy": "Never"}}},
}


def real(reach: Reach, recording: Recording) -> Recording:
    """As `recorded.picture` has it in memory."""
    row = copy.deepcopy(dict(recording.row))
    space = Space(reach, annotations=row.get("namespace") or {})
    space.account(row["account"], ACCOUNT)
    said: dict[str, str] = row.get("ownerAnnotations") or {}
    for reference in row["pod"]["metadata"].get("ownerReferences", ()):
        row = _renamed(row, reference["uid"], _owner(space, reference, said))
    return Recording(recording.dialect, recording.line, _renamed(row, row["pod"]["metadata"]["namespace"], space.name))


def _owner(space: Space, reference: Object, said: dict[str, str]) -> str:
    """Its uid. Of a ReplicaSet it is the Deployment above it that says something."""
    kind, meta = reference["kind"], {"name": reference["name"], "annotations": said}
    if kind == "ReplicaSet":
        above = _made(space, "apps/v1", "Deployment", {"name": "above", "annotations": said})
        meta = {
            "name": reference["name"],
            "ownerReferences": [{"apiVersion": "apps/v1", "kind": "Deployment", "name": "above", "uid": above, "controller": True}],
        }
    return _made(space, reference["apiVersion"], kind, meta)


def _made(space: Space, version: str, kind: str, meta: Object) -> str:
    group, _, number = version.rpartition("/")
    body = {"apiVersion": version, "kind": kind, "metadata": meta, "spec": _SPECS[kind]}
    return space.admin.create(space.path(f"{kind.lower()}s", group, number), body)["metadata"]["uid"]


def _renamed(value: Any, old: str, new: str) -> Any:
    if isinstance(value, dict):
        return {key: _renamed(item, old, new) for key, item in value.items()}  # pyright: ignore[reportUnknownVariableType]  # plain JSON
    if isinstance(value, list):
        return [_renamed(item, old, new) for item in value]  # pyright: ignore[reportUnknownVariableType]
    return new if value == old else value
