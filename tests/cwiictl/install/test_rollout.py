"""How far a Deployment is: whole, or what hinders it. What is shown here is what API servers and kubelets say."""

from __future__ import annotations

from typing import Any

import pytest

from cwiictl.install.rollout import rollout, unready

WHOLE = {
    "observedGeneration": 2,
    "replicas": 2,
    "updatedReplicas": 2,
    "readyReplicas": 2,
    "availableReplicas": 2,
}


def a_deployment(**status: Any) -> dict[str, Any]:
    return {
        "metadata": {"name": "cwii-webhook", "generation": 2},
        "spec": {"replicas": 2},
        "status": status,
    }


def a_pod(**status: Any) -> dict[str, Any]:
    return {"metadata": {"name": "web-1"}, "status": status}


def waiting(reason: str, message: str = "", **more: Any) -> dict[str, Any]:
    return a_pod(
        containerStatuses=[
            {
                "image": "example.org/web",
                "state": {"waiting": {"reason": reason, "message": message}},
                **more,
            }
        ]
    )


def test_a_rollout_whose_replicas_are_all_new_and_available_is_whole() -> None:
    assert rollout(a_deployment(**WHOLE), [], []).whole


@pytest.mark.parametrize(
    "short",
    [
        {"observedGeneration": 1},
        {"updatedReplicas": 1},
        {"replicas": 3},
        {"availableReplicas": 1},
    ],
)
def test_a_rollout_that_lacks_anything_is_not(short: dict[str, int]) -> None:
    assert not rollout(a_deployment(**{**WHOLE, **short}), [], []).whole


def test_ready_replicas_of_the_old_template_do_not_count() -> None:
    assert (
        str(
            rollout(
                a_deployment(**{**WHOLE, "replicas": 3, "updatedReplicas": 1, "readyReplicas": 2}),
                [],
                [],
            )
        )
        == "1 of 2 replicas are ready"
    )


@pytest.mark.parametrize(
    ("pod", "told"),
    [
        (
            waiting("ImagePullBackOff", "not found"),
            "pod web-1 cannot get the image example.org/web: not found",
        ),
        (
            a_pod(
                conditions=[
                    {
                        "type": "PodScheduled",
                        "status": "False",
                        "message": "0/1 nodes are available: 1 Insufficient memory.",
                    }
                ]
            ),
            "pod web-1 has no node: 0/1 nodes are available: 1 Insufficient memory.",
        ),
        (
            waiting(
                "CrashLoopBackOff",
                "back-off",
                lastState={"terminated": {"exitCode": 2, "message": "no flag --prot\n"}},
            ),
            "pod web-1 ends as soon as it has begun, with exit code 2: no flag --prot",
        ),
        (
            waiting("CreateContainerConfigError", 'secret "web" not found'),
            'pod web-1 cannot start: secret "web" not found',
        ),
        (
            a_pod(
                containerStatuses=[
                    {"name": "kube-apiserver", "state": {"running": {}}},
                    {
                        "name": "webhook",
                        "state": {"waiting": {"reason": "CrashLoopBackOff"}},
                        "lastState": {"terminated": {"exitCode": 2}},
                    },
                ]
            ),
            "pod web-1 (container webhook) ends as soon as it has begun, with exit code 2",
        ),
    ],
)
def test_what_hinders_a_pod_is_told(pod: dict[str, Any], told: str) -> None:
    assert rollout(a_deployment(), [pod], []).hindrances == (told,)


def test_a_container_that_is_only_being_created_hinders_nothing() -> None:
    assert rollout(a_deployment(), [waiting("ContainerCreating")], []).hindrances == ()


def test_of_what_happened_to_a_pod_the_last_is_told() -> None:
    events = [
        {
            "involvedObject": {"name": "web-1"},
            "reason": "Unhealthy",
            "message": "Readiness probe failed: 503",
            "lastTimestamp": "2026-01-01T00:00:02Z",
        },
        {
            "involvedObject": {"name": "web-1"},
            "reason": "FailedMount",
            "message": "no secret",
            "lastTimestamp": "2026-01-01T00:00:01Z",
        },
        {
            "involvedObject": {"name": "web-1"},
            "reason": "Pulled",
            "message": "pulled",
            "lastTimestamp": "2026-01-01T00:00:03Z",
        },
        {
            "involvedObject": {"name": "other"},
            "reason": "Unhealthy",
            "message": "not mine",
            "lastTimestamp": "2026-01-01T00:00:04Z",
        },
    ]

    assert rollout(a_deployment(), [a_pod()], events).hindrances == (
        "pod web-1 is not ready: Readiness probe failed: 503",
    )


def test_what_a_pod_says_itself_goes_before_what_its_probe_has_seen() -> None:
    events = [
        {
            "involvedObject": {"name": "web-1"},
            "reason": "Unhealthy",
            "message": "Readiness probe failed: 503",
        }
    ]

    assert rollout(a_deployment(), [a_pod()], events, {"web-1": "no certificate"}).hindrances == (
        "pod web-1 is not ready: no certificate",
    )
    for nothing in ("", "ok\n"):
        assert rollout(a_deployment(), [a_pod()], events, {"web-1": nothing}).hindrances == (
            "pod web-1 is not ready: Readiness probe failed: 503",
        )


def test_who_runs_and_is_not_ready_could_be_asked() -> None:
    running = a_pod(containerStatuses=[{"state": {"running": {}}, "ready": False}])
    ready = a_pod(containerStatuses=[{"state": {"running": {}}, "ready": True}])
    gone = {**running, "metadata": {"name": "web-1", "deletionTimestamp": "2026-01-01T00:00:00Z"}}

    assert unready([running]) == ["web-1"]
    assert unready([ready, gone, waiting("CrashLoopBackOff")]) == []


def test_why_no_pod_can_be_made_is_told_once() -> None:
    refused = {"type": "ReplicaFailure", "status": "True", "message": "exceeded quota"}

    assert rollout(a_deployment(conditions=[refused, refused]), [], []).hindrances == (
        "no pod can be made: exceeded quota",
    )


def test_a_pod_that_is_ready_or_on_its_way_out_hinders_nothing() -> None:
    gone = waiting("CrashLoopBackOff") | {
        "metadata": {"name": "web-1", "deletionTimestamp": "2026-01-01T00:00:00Z"}
    }
    ready = waiting("CrashLoopBackOff")
    ready["status"]["conditions"] = [{"type": "Ready", "status": "True"}]

    assert rollout(a_deployment(), [gone, ready], []).hindrances == ()
