"""Compares recorded answers of amazon-eks-pod-identity-webhook with the webhook's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from cwii_webhook.admission.admit import Decision, Route
from cwii_webhook.dialects.eks import settings as eks
from cwii_webhook.dialects.eks.mutator import EksMutator
from cwii_webhook.settings import flags

from tests.webhook.compatibility import OCCUPIED_PATH
from tests.webhook.recorded_answers import (
    Change,
    Recording,
    apply_changes,
    decide,
    drop_conflicting_mounts,
    find_differences,
    load_recordings,
    make_route,
    make_view,
    normalized,
)


def route(recording: Recording) -> Route:
    settings = flags.build_settings(
        flags.parse(eks.FLAGS, recording.flags, recording.env), eks.Settings
    )
    return make_route("eks", EksMutator(settings))


def answer(recording: Recording) -> tuple[Decision, dict[str, Any]]:
    return decide(route(recording), recording.pod, make_view(recording))


def expected(recording: Recording) -> dict[str, Any]:
    """Returns the pod that the peer made, with the changes of docs/reference/compatibility.md."""
    return apply_changes(recording, CHANGES)


def _keep_occupied_paths(_: Recording, pod: Any) -> None:
    drop_conflicting_mounts(pod, "aws-iam-token")


CHANGES: Mapping[str, Change] = {OCCUPIED_PATH: _keep_occupied_paths}


@pytest.mark.parametrize("recording", load_recordings("eks"), ids=str)
def test_answer_equals_the_recorded_answer_with_documented_changes(recording: Recording) -> None:
    decision, pod = answer(recording)

    assert not list(find_differences(expected(recording), normalized(pod)))
    assert decision.outcome == ("injected" if "becomes" in recording.row else "nothing")


@pytest.mark.parametrize("recording", load_recordings("eks"), ids=str)
def test_second_pass_makes_no_change(recording: Recording) -> None:
    _, pod = answer(recording)

    second, unchanged = decide(route(recording), pod, make_view(recording))

    assert not second.ops
    assert unchanged == pod


def test_seventeen_recordings_have_an_occupied_mount_path() -> None:
    changed = [
        r
        for r in load_recordings("eks")
        if expected(r) != apply_changes(r, CHANGES, without=OCCUPIED_PATH)
    ]

    assert len(changed) == 17
