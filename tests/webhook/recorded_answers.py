"""Compares the recorded answers of the replaced webhooks with the answers of cwii-webhook."""

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
from cwii_webhook.admission.cluster_view import (
    ObjectMetadata,
    ObjectRef,
    OwnerReference,
    namespace_ref,
    service_account_ref,
)
from cwii_webhook.admission.dry_run import apply_patch
from cwii_webhook.admission.patch import Op

RECORDINGS = Path(__file__).parent / "recordings"
UID = "00000000-0000-0000-0000-000000000000"


@dataclass(frozen=True)
class Recording:
    """A request and the answer of the compiled peer, recorded as one line of JSON."""

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
    def is_refused(self) -> bool:
        return not self.row["allowed"]

    @property
    def peer_pod(self) -> object:
        return self.row.get("becomes") or normalized(self.pod)

    def __str__(self) -> str:
        return f"{self.dialect}-{self.line}"


def load_recordings(dialect: str) -> list[Recording]:
    lines = (RECORDINGS / f"{dialect}.jsonl").read_text().splitlines()
    return [Recording(dialect, number, json.loads(line)) for number, line in enumerate(lines, 1)]


# Changes the peer's pod, in place, to the pod that the webhook makes in one respect.
Change = Callable[[Recording, Any], None]


def apply_changes(
    recording: Recording, changes: Mapping[str, Change], without: str = ""
) -> dict[str, Any]:
    """Returns the peer's pod in normal form, with all changes made to it except `without`.

    A pod that the peer did not change stays as it is.
    """
    pod: Any = copy.deepcopy(recording.peer_pod)
    if "becomes" in recording.row:
        for name, change in changes.items():
            if name != without:
                change(recording, pod)
    return normalized(pod)


class FakeClusterView:
    """A view in which only these objects exist."""

    def __init__(self, objects: Mapping[ObjectRef, ObjectMetadata]) -> None:
        self._objects = objects

    def get(self, ref: ObjectRef) -> ObjectMetadata | None:
        return self._objects.get(ref)


def make_view(recording: Recording) -> FakeClusterView:
    """Returns a view with the ServiceAccount, the namespace and the owners of the recorded pod."""
    row, namespace = recording.row, recording.pod["metadata"]["namespace"]
    objects = {
        service_account_ref(namespace, "worker"): ObjectMetadata(row["account"]),
        namespace_ref(namespace): ObjectMetadata(row.get("namespace", {})),
    }
    for reference in recording.pod["metadata"].get("ownerReferences", ()):
        group = str(reference["apiVersion"]).rpartition("/")[0]
        owner = ObjectRef(group, reference["kind"], namespace, reference["name"])
        annotations: Mapping[str, str] = row.get("ownerAnnotations") or {}
        deployment = ObjectRef("apps", "Deployment", namespace, "above")
        if reference["kind"] == "ReplicaSet":
            controller = OwnerReference("apps/v1", "Deployment", "above", UID, controller=True)
            objects[owner] = ObjectMetadata({}, (controller,), UID)
            objects[deployment] = ObjectMetadata(annotations, (), UID)
        else:
            objects[owner] = ObjectMetadata(annotations, (), UID)
            objects[deployment] = ObjectMetadata({}, (), UID)
    return FakeClusterView(objects)


def make_request(pod: Mapping[str, Any], **fields: object) -> review.Request:
    """Makes a request through the decoder. `fields` are added to it."""
    request = {
        "uid": "u",
        "operation": "CREATE",
        "namespace": pod["metadata"].get("namespace", "default"),
        "object": pod,
        **fields,
    }
    body = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request}
    return review.decode_review(json.dumps(body).encode()).request


class HintingMutator(Mutator, Protocol):
    def typo_hints(self, context: PodContext, /) -> tuple[str, ...]: ...


def make_route(dialect: str, mutator: HintingMutator) -> Route:
    return Route(dialect, "/mutate", (mutator,), typo_hints=mutator.typo_hints)


def decide(
    route: Route, pod: Mapping[str, Any], view: FakeClusterView
) -> tuple[Decision, dict[str, Any]]:
    """Returns the decision, and the pod with its patch applied."""
    decision = admit(route, make_request(pod), view)
    ops = [Op(op["op"], op["path"], op["value"]) for op in json.loads(review.encode(decision.ops))]
    return decision, apply_patch(json.loads(json.dumps(pod)), ops)


def normalized(value: object) -> Any:
    """Returns a pod in normal form.

    Empty and null members are left out. Volumes and mounts are sorted by name. A script in a
    command becomes `(script)`.
    """
    return _sorted(_without_empty(value))


def _without_empty(value: object) -> Any:
    """Leaves out empty members. The value of an annotation or a label may be empty."""
    if isinstance(value, dict):
        members = {
            key: item if key in {"annotations", "labels"} else _without_empty(item)
            for key, item in cast("dict[str, object]", value).items()
        }
        return {key: item for key, item in members.items() if item not in ({}, [], None, "")}
    if isinstance(value, list):
        return [_without_empty(item) for item in cast("list[object]", value)]
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
        for key in ("command", "args"):
            if key in container:
                container[key] = [
                    "(script)" if _is_script(argument) else argument for argument in container[key]
                ]
    return pod


def _is_script(argument: str) -> bool:
    return " " in argument or argument == "(script)"


def drop_conflicting_mounts(pod: Any, volume: str) -> Any:
    """Removes mounts of the volume where a container mounts another volume at the same path.

    Changes the pod in place and returns it.
    """
    for container in [*pod["spec"].get("containers", ()), *pod["spec"].get("initContainers", ())]:
        existing = container.get("volumeMounts", ())
        other_paths = {m["mountPath"] for m in existing if m["name"] != volume}
        mounts = [m for m in existing if m["name"] != volume or m["mountPath"] not in other_paths]
        container.update({"volumeMounts": mounts} if mounts else {})
    return pod


def find_differences(expected: object, actual: object, path: str = "") -> Iterable[str]:
    """Yields the paths at which two pods differ, for the message of a failed test."""
    if isinstance(expected, dict) and isinstance(actual, dict):
        left, right = cast("dict[str, object]", expected), cast("dict[str, object]", actual)
        for key in sorted(left.keys() | right.keys()):
            yield from find_differences(left.get(key), right.get(key), f"{path}/{key}")
    elif (
        isinstance(expected, list)
        and isinstance(actual, list)
        and len(cast("list[object]", expected)) == len(cast("list[object]", actual))
    ):
        for i, (a, b) in enumerate(
            zip(cast("list[object]", expected), cast("list[object]", actual), strict=True)
        ):
            yield from find_differences(a, b, f"{path}/{i}")
    elif expected != actual:
        yield f"{path}: expected {expected!r}, got {actual!r}"
