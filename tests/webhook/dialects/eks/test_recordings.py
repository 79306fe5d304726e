"""EKS pod identity's recorded answers, and ours to the same questions."""

from __future__ import annotations

import pytest
from cwii_webhook.admission.admit import Route
from cwii_webhook.dialects.eks import settings as eks
from cwii_webhook.dialects.eks.mutator import EksMutator
from cwii_webhook.differences import eks as differences
from cwii_webhook.settings import flags

from tests.webhook.recorded_answers import (
    Recording,
    asked,
    differing,
    normal,
    once,
    picture,
    recordings,
)


def route(recording: Recording) -> Route:
    settings = flags.build_settings(
        flags.parse(eks.FLAGS, recording.flags, recording.env), eks.Settings
    )
    return Route("eks", "/mutate", (EksMutator(settings),))


@pytest.mark.parametrize("recording", recordings("eks"), ids=str)
def test_a_pod_becomes_what_it_became(recording: Recording) -> None:
    decision, pod = asked(route(recording), recording.pod, picture(recording))

    assert not list(differing(once(normal(recording.becomes), "aws-iam-token"), normal(pod)))
    assert decision.outcome == ("injected" if "becomes" in recording.row else "nothing")


@pytest.mark.parametrize("recording", recordings("eks"), ids=str)
def test_a_second_pass_is_silent(recording: Recording) -> None:
    _, pod = asked(route(recording), recording.pod, picture(recording))

    again, same = asked(route(recording), pod, picture(recording))

    assert not again.ops
    assert same == pod


def test_the_only_difference_that_shows_in_recordings_is_listed() -> None:
    doubled = [
        r
        for r in recordings("eks")
        if list(differing(r.becomes, once(normal(r.becomes), "aws-iam-token")))
    ]

    assert len(doubled) == 17
    assert "a path is mounted once" in {difference.name for difference in differences.ALL}
