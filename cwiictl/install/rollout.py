"""How far a Deployment has come, and what hinders it, judged from what the API server shows of it, of its pods and of their events."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

Body = Mapping[str, Any]

NOTHING: Mapping[str, str] = MappingProxyType({})

_IMAGE = {
    "ErrImagePull",
    "ImagePullBackOff",
    "ErrImageNeverPull",
    "InvalidImageName",
    "ImageInspectError",
    "RegistryUnavailable",
}
_BEGINNING = {"ContainerCreating", "PodInitializing"}
_TOLD = {
    "FailedMount",
    "FailedAttachVolume",
    "FailedCreatePodSandBox",
    "Unhealthy",
    "FailedScheduling",
}


@dataclass(frozen=True)
class Rollout:
    """Where it is. `hindrances` are sentences, each once."""

    wanted: int
    ready: int
    whole: bool
    hindrances: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.ready} of {self.wanted} replicas are ready"


def running(pods: Iterable[Body]) -> list[str]:
    """The names of those that run, and are to stay."""
    return [
        pod["metadata"]["name"]
        for pod in pods
        if "deletionTimestamp" not in pod["metadata"]
        and pod.get("status", {}).get("phase") == "Running"
    ]


def unready(pods: Iterable[Body]) -> list[str]:
    """The names of those that run, and could be asked themselves."""
    return [
        pod["metadata"]["name"]
        for pod in pods
        if "deletionTimestamp" not in pod["metadata"]
        and any(
            "running" in status.get("state", {}) and not status.get("ready")
            for status in pod.get("status", {}).get("containerStatuses", ())
        )
    ]


def rollout(
    deployment: Body,
    pods: Sequence[Body],
    events: Iterable[Body],
    answers: Mapping[str, str] = NOTHING,
) -> Rollout:
    """Whole when every replica is of the template that was asked for, and ready; as `kubectl rollout status` has it.

    `answers` are what pods say themselves of why they are not ready: a probe's event has only the number of its answer.
    """
    status, wanted = deployment.get("status", {}), deployment["spec"].get("replicas", 1)
    seen = status.get("observedGeneration", 0) >= deployment["metadata"]["generation"]
    updated, ready = (
        status.get("updatedReplicas", 0),
        min(status.get("updatedReplicas", 0), status.get("readyReplicas", 0)),
    )
    whole = (
        seen
        and updated >= wanted
        and status.get("replicas", 0) == updated
        and status.get("availableReplicas", 0) >= wanted
    )
    if whole:
        return Rollout(wanted, wanted, whole=True)
    told = [
        *_of_deployment(deployment),
        *(line for pod in pods for line in _of_pod(pod, events, answers)),
    ]
    return Rollout(wanted, ready, whole=False, hindrances=tuple(dict.fromkeys(told)))


def _of_deployment(deployment: Body) -> Iterator[str]:
    """What keeps pods from being made: a quota, a standard that the namespace enforces, another webhook."""
    for condition in deployment.get("status", {}).get("conditions", ()):
        if condition["type"] == "ReplicaFailure" and condition["status"] == "True":
            yield f"no pod can be made: {condition.get('message', '')}"


def _of_pod(pod: Body, events: Iterable[Body], answers: Mapping[str, str]) -> Iterator[str]:
    name, status = pod["metadata"]["name"], pod.get("status", {})
    conditions = {condition["type"]: condition for condition in status.get("conditions", ())}
    if (
        "deletionTimestamp" in pod["metadata"]
        or conditions.get("Ready", {}).get("status") == "True"
    ):
        return
    scheduled = conditions.get("PodScheduled", {})
    if scheduled.get("status") == "False":
        yield f"pod {name} has no node: {scheduled.get('message', scheduled.get('reason', ''))}"
        return
    several = status.get("containerStatuses", ())
    found = [
        line
        for each in several
        for line in _of_container(
            f"{name} (container {each['name']})" if len(several) > 1 else name, each
        )
    ]
    asked = (
        [f"pod {name} is not ready: {said}"]
        if (said := answers.get(name, "").strip()) not in {"", "ok"}
        else []
    )
    yield from found or asked or _latest(name, events)


def _of_container(pod: str, status: Body) -> Iterator[str]:
    waiting, ended = (
        status.get("state", {}).get("waiting", {}),
        status.get("lastState", {}).get("terminated", {}),
    )
    reason = waiting.get("reason", "")
    if reason in _IMAGE:
        yield f"pod {pod} cannot get the image {status.get('image', '')}: {waiting.get('message', reason)}"
    elif reason == "CrashLoopBackOff" or (waiting and ended):
        said = f": {ended['message'].strip()}" if ended.get("message") else ""
        yield f"pod {pod} ends as soon as it has begun, with exit code {ended.get('exitCode', '?')}{said}"
    elif reason and reason not in _BEGINNING:
        yield f"pod {pod} cannot start: {waiting.get('message', reason)}"


def _latest(pod: str, events: Iterable[Body]) -> Iterator[str]:
    """Of events the last one alone: those before it may be over."""
    theirs = [
        event
        for event in events
        if event.get("involvedObject", {}).get("name") == pod and event.get("reason") in _TOLD
    ]
    for event in sorted(theirs, key=_when)[-1:]:
        yield f"pod {pod} is not ready: {event.get('message', event['reason'])}"


def _when(event: Body) -> str:
    return str(event.get("lastTimestamp") or event.get("eventTime") or "")
