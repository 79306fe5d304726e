"""The recorded answers of Google's dialect, and ours to the same questions."""

from __future__ import annotations

from typing import Any

import pytest
from cwii_webhook.admission.admit import Route
from cwii_webhook.dialects.gcpwif import settings as gcpwif
from cwii_webhook.dialects.gcpwif.mutator import GcpwifMutator
from cwii_webhook.differences import gcpwif as differences
from cwii_webhook.settings.flags import parse

from tests.webhook.recorded_answers import (
    Recording,
    asked,
    differing,
    normal,
    once,
    picture,
    recordings,
)

SHOWN = {
    "a path is mounted once",
    "gcloud-setup sees no token of the API server",
    "gcloud-setup runs as the pod does",
}
NOBODY = 65532


def route(recording: Recording) -> Route:
    return Route(
        "gcpwif",
        "/mutate-v1-pod",
        (GcpwifMutator(gcpwif.settings(parse(gcpwif.FLAGS, recording.flags, recording.env))),),
    )


def expected(recording: Recording) -> Any:
    """What theirs became, but for the differences that show in recordings."""
    pod: Any = recording.becomes
    if "becomes" not in recording.row:
        return pod
    for volume in ("gcp-iam-token", "gcloud-config", "external-credential-config"):
        once(pod, volume)
    for container in pod["spec"].get("initContainers", ()):
        if container["name"] == "gcloud-setup":
            container["volumeMounts"].append(
                {
                    "name": "cwii-no-token",
                    "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount",
                    "readOnly": True,
                }
            )
            pod["spec"]["volumes"].append({"name": "cwii-no-token"})
            container["securityContext"] |= {
                "seccompProfile": {"type": "RuntimeDefault"},
                **user(recording, container["securityContext"]),
            }
    return normal(pod)


def user(recording: Recording, theirs: Any) -> dict[str, Any]:
    """By annotation, as theirs; else the containers' own where it is one; else nobody where the pod must not be root."""
    spec = recording.pod["spec"]
    base = spec.get("securityContext", {})
    every = {
        c.get("securityContext", base).get("runAsUser")
        for c in (*spec["containers"], *spec.get("initContainers", ()))
    }
    number = theirs.get("runAsUser", every.pop() if len(every) == 1 else None)
    if number is None and base.get("runAsNonRoot"):
        number = NOBODY
    alike: dict[str, Any] = {} if number is None else {"runAsUser": number}
    return alike | ({"runAsNonRoot": True} if number else {})


@pytest.mark.parametrize("recording", recordings("gcpwif"), ids=str)
def test_a_pod_becomes_what_it_became(recording: Recording) -> None:
    decision, pod = asked(route(recording), recording.pod, picture(recording))

    assert decision.message == (recording.row.get("message") or "")
    assert decision.outcome == (
        "refused" if recording.refused else "injected" if "becomes" in recording.row else "nothing"
    )
    assert not list(differing(expected(recording), normal(pod)))


@pytest.mark.parametrize("recording", recordings("gcpwif"), ids=str)
def test_a_second_pass_is_silent(recording: Recording) -> None:
    _, pod = asked(route(recording), recording.pod, picture(recording))

    again, same = asked(route(recording), pod, picture(recording))

    assert not again.ops
    assert same == pod


def test_differences_that_show_in_recordings_are_listed() -> None:
    assert {difference.name for difference in differences.ALL} >= SHOWN
