"""Compares recorded answers of azure-workload-identity with the webhook's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from cwii_webhook.admission.admit import Decision, Route
from cwii_webhook.dialects.azwi import settings as azwi
from cwii_webhook.dialects.azwi.mutator import AzwiMutator
from cwii_webhook.settings.flags import parse

from tests.webhook.compatibility import OCCUPIED_PATH, PROXY_TOKEN
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

PROXIES = ("azwi-proxy", "azwi-proxy-init")


def route(recording: Recording) -> Route:
    """Builds a route with proxy images that have no registry and version, as in the recordings."""
    environ = {**recording.env, "PROXY_IMAGE": "/proxy:", "PROXY_INIT_IMAGE": "/proxy-init:"}
    return Route(
        "azwi",
        "/mutate-v1-pod",
        (AzwiMutator(azwi.parse_settings(parse(azwi.FLAGS, recording.flags, environ))),),
    )


def answer(recording: Recording) -> tuple[Decision, dict[str, Any]]:
    return decide(route(recording), recording.pod, make_view(recording))


def expected(recording: Recording) -> dict[str, Any]:
    """Returns the pod that the peer made, with the changes of docs/reference/compatibility.md."""
    return apply_changes(recording, CHANGES)


def _keep_occupied_paths(_: Recording, pod: Any) -> None:
    for volume in pod["spec"].get("volumes", ()):
        if volume["name"].startswith("azure-workload-identity-reserved-"):
            drop_conflicting_mounts(pod, volume["name"])


def _hide_api_token(recording: Recording, pod: Any) -> None:
    before = {c["name"] for c in recording.pod["spec"].get("initContainers", ())}
    proxies = [
        c
        for c in pod["spec"].get("initContainers", ())
        if c["name"] in PROXIES and c["name"] not in before
    ]
    for container in proxies:
        container.setdefault("volumeMounts", []).append(
            {
                "name": "cwii-no-token",
                "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount",
                "readOnly": True,
            }
        )
    if proxies:
        pod["spec"]["volumes"].append({"name": "cwii-no-token"})


CHANGES: Mapping[str, Change] = {
    OCCUPIED_PATH: _keep_occupied_paths,
    PROXY_TOKEN: _hide_api_token,
}


@pytest.mark.parametrize("recording", load_recordings("azwi"), ids=str)
def test_answer_equals_the_recorded_answer_with_documented_changes(recording: Recording) -> None:
    decision, pod = answer(recording)

    assert decision.message == (recording.row.get("message") or "")
    assert decision.outcome == ("refused" if recording.is_refused else "injected")
    assert not list(find_differences(expected(recording), normalized(pod)))


@pytest.mark.parametrize("recording", load_recordings("azwi"), ids=str)
def test_second_pass_makes_no_change(recording: Recording) -> None:
    _, pod = answer(recording)

    second, unchanged = decide(route(recording), pod, make_view(recording))

    assert not second.ops
    assert unchanged == pod
