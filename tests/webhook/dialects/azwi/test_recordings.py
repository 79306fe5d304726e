"""Azure workload identity's recorded answers, and ours to the same questions."""

from __future__ import annotations

from typing import Any

import pytest
from cwii_webhook.admission.admit import Route
from cwii_webhook.dialects.azwi import settings as azwi
from cwii_webhook.dialects.azwi.mutator import AzwiMutator
from cwii_webhook.differences import azwi as differences
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

MOUNTED_ONCE, NO_TOKEN = "a path is mounted once", "proxies see no token of the API server"
PROXIES = ("azwi-proxy", "azwi-proxy-init")


def route(recording: Recording) -> Route:
    """The recorded one was built without a registry and a version for its proxies."""
    environ = {**recording.env, "PROXY_IMAGE": "/proxy:", "PROXY_INIT_IMAGE": "/proxy-init:"}
    return Route(
        "azwi",
        "/mutate-v1-pod",
        (AzwiMutator(azwi.settings(parse(azwi.FLAGS, recording.flags, environ))),),
    )


def expected(recording: Recording) -> Any:
    """What theirs became, but for the two differences that show in recordings."""
    pod: Any = recording.becomes
    reserved = [
        v["name"]
        for v in pod["spec"].get("volumes", ())
        if v["name"].startswith("azure-workload-identity-reserved-")
    ]
    for volume in reserved:
        once(pod, volume)
    there = {c["name"] for c in recording.pod["spec"].get("initContainers", ())}
    new = [
        c
        for c in pod["spec"].get("initContainers", ())
        if c["name"] in PROXIES and c["name"] not in there
    ]
    for container in new:
        container.setdefault("volumeMounts", []).append(
            {
                "name": "cwii-no-token",
                "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount",
                "readOnly": True,
            }
        )
    if new:
        pod["spec"]["volumes"].append({"name": "cwii-no-token"})
    return normal(pod)


@pytest.mark.parametrize("recording", recordings("azwi"), ids=str)
def test_a_pod_becomes_what_it_became(recording: Recording) -> None:
    decision, pod = asked(route(recording), recording.pod, picture(recording))

    assert decision.message == (recording.row.get("message") or "")
    assert decision.outcome == ("refused" if recording.refused else "injected")
    assert not list(
        differing(
            expected(recording) if not recording.refused else normal(recording.pod), normal(pod)
        )
    )


@pytest.mark.parametrize("recording", recordings("azwi"), ids=str)
def test_a_second_pass_is_silent(recording: Recording) -> None:
    _, pod = asked(route(recording), recording.pod, picture(recording))

    again, same = asked(route(recording), pod, picture(recording))

    assert not again.ops
    assert same == pod


def test_differences_that_show_in_recordings_are_listed() -> None:
    assert {MOUNTED_ONCE, NO_TOKEN} <= {difference.name for difference in differences.ALL}
