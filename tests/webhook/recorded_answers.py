"""Recorded answers of the webhooks that we replace, and ours to the same questions, in one normal form."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, cast

from cwii_webhook.admission import review
from cwii_webhook.admission.admit import Decision, Mutator, Route, admit
from cwii_webhook.admission.annotation_sources import PodContext
from cwii_webhook.admission.cluster_view import ObjectMetadata, ObjectRef, OwnerReference
from cwii_webhook.admission.dry_run import apply_patch
from cwii_webhook.admission.patch import Op

HERE = Path(__file__).parent / "recordings"
UID = "00000000-0000-0000-0000-000000000000"


@dataclass(frozen=True)
class Recording:
    """One question, and how the compiled webhook answered it."""

    dialect: str
    line: int
    row: Mapping[str, Any]

    @property
    def flags(self) -> tuple[str, ...]:
        return tuple(self.row["flags"])

    @property
    def env(self) -> Mapping[str, str]:
        return self.row["env"]

    @property
    def pod(self) -> dict[str, Any]:
        return self.row["pod"]

    @property
    def refused(self) -> bool:
        return not self.row["allowed"]

    @property
    def becomes(self) -> object:
        return self.row.get("becomes") or normal(self.pod)

    def __str__(self) -> str:
        return f"{self.dialect}-{self.line}"


def recordings(dialect: str) -> list[Recording]:
    lines = (HERE / f"{dialect}.jsonl").read_text().splitlines()
    return [Recording(dialect, number, json.loads(line)) for number, line in enumerate(lines, 1)]


# Changes the peer's pod, in place, to the pod that the webhook makes in one respect.
Change = Callable[[Recording, Any], None]


def apply_changes(
    recording: Recording, changes: Mapping[str, Change], without: str = ""
) -> dict[str, Any]:
    """Returns the peer's pod in normal form, with all changes made to it except `without`.

    A pod that the peer did not change stays as it is.
    """
    pod: Any = copy.deepcopy(recording.becomes)
    if "becomes" in recording.row:
        for name, change in changes.items():
            if name != without:
                change(recording, pod)
    return normal(pod)


class Objects:
    """A picture of these objects and no others."""

    def __init__(self, objects: Mapping[ObjectRef, ObjectMetadata]) -> None:
        self._objects = objects

    def get(self, ref: ObjectRef) -> ObjectMetadata | None:
        return self._objects.get(ref)


def picture(recording: Recording) -> Objects:
    row, space = recording.row, recording.pod["metadata"]["namespace"]
    objects = {
        ObjectRef("", "ServiceAccount", space, "worker"): ObjectMetadata(row["account"]),
        ObjectRef("", "Namespace", "", space): ObjectMetadata(row.get("namespace", {})),
    }
    for reference in recording.pod["metadata"].get("ownerReferences", ()):
        group = str(reference["apiVersion"]).rpartition("/")[0]
        above = OwnerReference("apps/v1", "Deployment", "above", UID, controller=True)
        walked = reference["kind"] == "ReplicaSet"
        said: Mapping[str, str] = row.get("ownerAnnotations") or {}
        objects[ObjectRef(group, reference["kind"], space, reference["name"])] = ObjectMetadata(
            {} if walked else said, (above,) if walked else (), UID
        )
        objects[ObjectRef("apps", "Deployment", space, "above")] = ObjectMetadata(
            said if walked else {}, (), UID
        )
    return Objects(objects)


def request(pod: Mapping[str, Any], **more: object) -> review.Request:
    """As an API server asks, through the decoder."""
    body = {
        "uid": "u",
        "operation": "CREATE",
        "namespace": pod["metadata"].get("namespace", "default"),
        "object": pod,
        **more,
    }
    return review.decode_review(
        json.dumps(
            {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": body}
        ).encode()
    ).request


class HintingMutator(Mutator, Protocol):
    def typo_hints(self, context: PodContext, /) -> tuple[str, ...]: ...


def make_route(dialect: str, mutator: HintingMutator) -> Route:
    return Route(dialect, "/mutate", (mutator,), typo_hints=mutator.typo_hints)


def asked(route: Route, pod: Mapping[str, Any], seen: Objects) -> tuple[Decision, dict[str, Any]]:
    """What is decided, and the pod as it then is."""
    decision = admit(route, request(pod), seen)
    ops = json.loads(review.encode(decision.ops))
    made = apply_patch(json.loads(json.dumps(pod)), [_op(op) for op in ops])
    return decision, made


def _op(op: Mapping[str, Any]) -> Any:
    return Op(op["op"], op["path"], op["value"])


def normal(value: object) -> Any:
    """Empty and null members left out, volumes and mounts in the order of their names, scripts unread."""
    return _sorted(_bare(value))


def _bare(value: object) -> Any:
    """An annotation may be empty: that is not nothing."""
    if isinstance(value, dict):
        given = cast("dict[str, object]", value)
        bare = {
            key: item if key in {"annotations", "labels"} else _bare(item)
            for key, item in given.items()
        }
        return {key: item for key, item in bare.items() if item not in ({}, [], None, "")}
    if isinstance(value, list):
        return [_bare(item) for item in cast("list[object]", value)]
    return value


def _sorted(pod: Any) -> Any:
    spec = pod.get("spec", {})
    if "volumes" in spec:
        spec["volumes"] = sorted(spec["volumes"], key=lambda v: v["name"])
    for container in [*spec.get("containers", ()), *spec.get("initContainers", ())]:
        if "volumeMounts" in container:
            container["volumeMounts"] = sorted(
                container["volumeMounts"], key=lambda m: (m["name"], m["mountPath"])
            )
        for words in ("command", "args"):
            if words in container:
                container[words] = [
                    "(script)" if _script(word) else word for word in container[words]
                ]
    return pod


def _script(word: str) -> bool:
    return " " in word or word == "(script)"


def once(pod: Any, volume: str) -> Any:
    """The same pod, but that no mount of this volume stands at a path where a container has mounted something itself."""
    for container in [*pod["spec"].get("containers", ()), *pod["spec"].get("initContainers", ())]:
        theirs = {m["mountPath"] for m in container.get("volumeMounts", ()) if m["name"] != volume}
        mounts = [
            m
            for m in container.get("volumeMounts", ())
            if m["name"] != volume or m["mountPath"] not in theirs
        ]
        container.update({"volumeMounts": mounts} if mounts else {})
    return pod


def differing(want: object, have: object, path: str = "") -> Iterable[str]:
    """Where two pods are not the same, for a person who reads a failed test."""
    if isinstance(want, dict) and isinstance(have, dict):
        ours, theirs = cast("dict[str, object]", have), cast("dict[str, object]", want)
        for key in sorted(theirs.keys() | ours.keys()):
            yield from differing(theirs.get(key), ours.get(key), f"{path}/{key}")
    elif (
        isinstance(want, list)
        and isinstance(have, list)
        and len(cast("list[object]", want)) == len(cast("list[object]", have))
    ):
        for i, (a, b) in enumerate(
            zip(cast("list[object]", want), cast("list[object]", have), strict=True)
        ):
            yield from differing(a, b, f"{path}/{i}")
    elif want != have:
        yield f"{path}: theirs {want!r}, ours {have!r}"
