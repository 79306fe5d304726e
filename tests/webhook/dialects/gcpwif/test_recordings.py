"""Compares recorded answers of gcp-workload-identity-federation-webhook with the webhook's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from cwii_webhook.admission.admit import Decision, Route
from cwii_webhook.dialects.gcpwif import settings as gcpwif
from cwii_webhook.dialects.gcpwif.mutator import GcpwifMutator
from cwii_webhook.settings.flags import parse

from tests.webhook.compatibility import OCCUPIED_PATH, SETUP_TOKEN, SETUP_USER
from tests.webhook.recorded_answers import (
    Change,
    Recording,
    apply_changes,
    decide,
    drop_conflicting_mounts,
    find_differences,
    load_recordings,
    make_view,
    normalized,
)

NONROOT_USER = 65532


def route(recording: Recording) -> Route:
    return Route(
        "gcpwif",
        "/mutate-v1-pod",
        (
            GcpwifMutator(
                gcpwif.parse_settings(parse(gcpwif.FLAGS, recording.flags, recording.env))
            ),
        ),
    )


def answer(recording: Recording) -> tuple[Decision, dict[str, Any]]:
    return decide(route(recording), recording.pod, make_view(recording))


def expected(recording: Recording) -> dict[str, Any]:
    """Returns the pod that the peer made, with the changes of docs/reference/compatibility.md."""
    return apply_changes(recording, CHANGES)


def _keep_occupied_paths(_: Recording, pod: Any) -> None:
    for volume in ("gcp-iam-token", "gcloud-config", "external-credential-config"):
        drop_conflicting_mounts(pod, volume)


def _hide_api_token(_: Recording, pod: Any) -> None:
    for container in _setup_containers(pod):
        container["volumeMounts"].append(
            {
                "name": "cwii-no-token",
                "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount",
                "readOnly": True,
            }
        )
        pod["spec"]["volumes"].append({"name": "cwii-no-token"})


def _set_user(recording: Recording, pod: Any) -> None:
    for container in _setup_containers(pod):
        container["securityContext"] |= {
            "seccompProfile": {"type": "RuntimeDefault"},
            **_user(recording, container["securityContext"]),
        }


def _setup_containers(pod: Any) -> Iterator[Any]:
    return (c for c in pod["spec"].get("initContainers", ()) if c["name"] == "gcloud-setup")


def _user(recording: Recording, security_context: Any) -> dict[str, Any]:
    """Returns the user of the annotation, else of all containers, else 65532 if root is forbidden.

    The peer's security context has the user of the annotation.
    """
    spec = recording.pod["spec"]
    base = spec.get("securityContext", {})
    users = {
        c.get("securityContext", base).get("runAsUser")
        for c in (*spec["containers"], *spec.get("initContainers", ()))
    }
    number = security_context.get("runAsUser", users.pop() if len(users) == 1 else None)
    if number is None and base.get("runAsNonRoot"):
        number = NONROOT_USER
    user: dict[str, Any] = {} if number is None else {"runAsUser": number}
    return user | ({"runAsNonRoot": True} if number else {})


CHANGES: Mapping[str, Change] = {
    OCCUPIED_PATH: _keep_occupied_paths,
    SETUP_TOKEN: _hide_api_token,
    SETUP_USER: _set_user,
}


@pytest.mark.parametrize("recording", load_recordings("gcpwif"), ids=str)
def test_answer_equals_the_recorded_answer_with_documented_changes(recording: Recording) -> None:
    decision, pod = answer(recording)

    assert decision.message == (recording.row.get("message") or "")
    assert decision.outcome == (
        "refused"
        if recording.is_refused
        else "injected"
        if "becomes" in recording.row
        else "nothing"
    )
    assert not list(find_differences(expected(recording), normalized(pod)))


@pytest.mark.parametrize("recording", load_recordings("gcpwif"), ids=str)
def test_second_pass_makes_no_change(recording: Recording) -> None:
    _, pod = answer(recording)

    second, unchanged = decide(route(recording), pod, make_view(recording))

    assert not second.ops
    assert unchanged == pod
