"""What a recorded question speaks of, made in a real API server, and the question as it is then: in that namespace, with those owners."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from tests.cluster.kube.client import Object
from tests.cluster.kube.reach import Reach
from tests.cluster.space import Space
from tests.webhook.recorded_answers import Recording

_LABELS = {"app": "a"}
_POD: Object = {
    "metadata": {"labels": _LABELS},
    "spec": {"containers": [{"name": "c", "image": "c"}]},
}
_OF_MANY: Object = {"selector": {"matchLabels": _LABELS}, "template": _POD}
_SPECS: dict[str, Object] = {
    "Deployment": _OF_MANY,
    "ReplicaSet": _OF_MANY,
    "DaemonSet": _OF_MANY,
    "StatefulSet": {"serviceName": "s", **_OF_MANY},
    "Job": {"template": {"spec": {**_POD["spec"], "restartPolicy": "Never"}}},
}


@dataclass(frozen=True)
class Told:
    """What is said of a pod by others: one question after another may be asked of the same objects."""

    account: str
    namespace: str
    owners: str
    of_owner: str

    @classmethod
    def of(cls, recording: Recording) -> Told:
        row, owners = recording.row, recording.pod["metadata"].get("ownerReferences", [])
        said: list[object] = [
            row["account"],
            row.get("namespace") or {},
            owners,
            row.get("ownerAnnotations") or {},
        ]
        return cls(*map(json.dumps, said))


@dataclass(frozen=True)
class Made:
    space: str
    uids: tuple[str, ...]  # of its owners


def made(reach: Reach, told: Told) -> Made:
    """As `recorded_answers.make_view` has it in memory."""
    space = Space(reach, annotations=json.loads(told.namespace)).account(json.loads(told.account))
    return Made(
        space.name,
        tuple(
            _owner(space, reference, json.loads(told.of_owner))
            for reference in json.loads(told.owners)
        ),
    )


def real(recording: Recording, objects: Made) -> Recording:
    row, meta = dict(recording.row), recording.pod["metadata"]
    for reference, uid in zip(meta.get("ownerReferences", ()), objects.uids, strict=True):
        row = _renamed(row, reference["uid"], uid)
    return Recording(
        recording.dialect, recording.line, _renamed(row, meta["namespace"], objects.space)
    )


def _owner(space: Space, reference: Object, said: dict[str, str]) -> str:
    """Its uid. Of a ReplicaSet it is the Deployment above it that says something."""
    kind, meta = reference["kind"], {"name": reference["name"], "annotations": said}
    if kind == "ReplicaSet":
        above = _made(space, "apps/v1", "Deployment", {"name": "above", "annotations": said})
        meta = {
            "name": reference["name"],
            "ownerReferences": [
                {
                    "apiVersion": "apps/v1",
                    "kind": "Deployment",
                    "name": "above",
                    "uid": above,
                    "controller": True,
                }
            ],
        }
    return _made(space, reference["apiVersion"], kind, meta)


def _made(space: Space, version: str, kind: str, meta: Object) -> str:
    group, _, number = version.rpartition("/")
    body = {"apiVersion": version, "kind": kind, "metadata": meta, "spec": _SPECS[kind]}
    return space.admin.create(space.path(f"{kind.lower()}s", group, number), body)["metadata"][
        "uid"
    ]


def _renamed(value: Any, old: str, new: str) -> Any:
    if isinstance(value, dict):
        return {key: _renamed(item, old, new) for key, item in value.items()}  # pyright: ignore[reportUnknownVariableType]  # plain JSON
    if isinstance(value, list):
        return [_renamed(item, old, new) for item in value]  # pyright: ignore[reportUnknownVariableType]
    return new if value == old else value
