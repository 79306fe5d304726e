"""What cwii's users are told: that something is missing, misspelt, or known to no cloud."""

from __future__ import annotations

from typing import Any

import pytest
from cwii_webhook.dialects.cwii.settings import Settings

from tests.webhook.dialects.cwii.pods import (
    AUDIENCE,
    AWS,
    AZURE,
    CLIENT_ID,
    GCP,
    SOURCES,
    inject,
    inject_with_account,
    make_pod,
)


@pytest.mark.parametrize(
    ("said", "missing"),
    [
        (AWS, "cwii.dev/aws-role-arn"),
        (AZURE, "cwii.dev/az-client-id"),
        (AZURE, "cwii.dev/az-tenant-id"),
        (GCP, "cwii.dev/gcp-audience"),
    ],
)
def test_who_asks_and_does_not_say_enough_is_told_what_is_missing(
    said: dict[str, str], missing: str
) -> None:
    decision, _ = inject_with_account({key: value for key, value in said.items() if key != missing})

    assert decision.outcome == "nothing"
    (warning,) = decision.warnings
    assert (
        f"nobody says {missing}: set it on the pod, its owner, its ServiceAccount or its namespace"
        in warning
    )
    assert "of ServiceAccount shop/worker asks" in warning


WITHOUT_INJECT = [
    ("aws", AWS, "aws-role-arn"),
    ("az", AZURE, "az-client-id"),
    ("gcp", GCP, "gcp-audience"),
]


@pytest.mark.parametrize(
    ("cloud", "said", "telling"), WITHOUT_INJECT, ids=[cloud for cloud, *_ in WITHOUT_INJECT]
)
@pytest.mark.parametrize("voice", SOURCES)
def test_who_says_all_but_that_it_should_be_given_is_told(
    cloud: str, said: dict[str, str], telling: str, voice: str
) -> None:
    """A namespace's words are for whoever asks."""
    by: dict[str, Any] = {
        voice: {key: value for key, value in said.items() if key != f"cwii.dev/{cloud}-inject"}
    }

    decision, _ = inject(make_pod(by.pop("pod", None)), **by)

    assert decision.outcome == "nothing"
    assert [
        f"cwii.dev/{telling} of " in w
        and f'alone gives nothing: set cwii.dev/{cloud}-inject to "true" beside it' in w
        for w in decision.warnings
    ] == [True for _ in SOURCES[:3] if voice != "namespace"][:1]


@pytest.mark.parametrize(
    ("rest", "key", "value", "told"),
    [
        (
            AZURE,
            "cwii.dev/az-client-id",
            "foo",
            "is 'foo', which is no UUID: Azure will not know it",
        ),
        (
            AZURE,
            "cwii.dev/az-tenant-id",
            "foo",
            "is 'foo', neither a UUID nor a domain: Azure will not know it",
        ),
        (AZURE, "cwii.dev/az-client-id", CLIENT_ID.upper(), ""),
        (AZURE, "cwii.dev/az-tenant-id", "contoso.onmicrosoft.com", ""),
        (
            GCP,
            "cwii.dev/gcp-audience",
            "foo",
            "is 'foo', which names no provider: Google Cloud knows it as //iam.googleapis.com/projects/NUMBER/",
        ),
        (GCP, "cwii.dev/gcp-audience", AUDIENCE.removeprefix("//"), "which names no provider"),
        (
            GCP,
            "cwii.dev/gcp-audience",
            "//iam.googleapis.com/locations/global/workforcePools/p/providers/q",
            "",
        ),
        (
            GCP,
            "cwii.dev/gcp-service-account",
            "foo",
            "is 'foo', which is no service account's address: Google Cloud will not know it",
        ),
        (GCP, "cwii.dev/gcp-service-account", "112233445566778899001", ""),
    ],
)
def test_what_no_cloud_will_know_is_given_and_told(
    rest: dict[str, str], key: str, value: str, told: str
) -> None:
    decision, _ = inject_with_account({**rest, key: value})

    assert decision.outcome == "injected"
    assert [
        w.startswith(f"{key} of ServiceAccount shop/worker") and told in w
        for w in decision.warnings
    ] == ([True] if told else [])


@pytest.mark.parametrize(
    ("key", "near"),
    [
        ("cwii.dev/aws-injcet", "cwii.dev/aws-inject"),
        ("cwii.dev/aws_role_arn", "cwii.dev/aws-role-arn"),
        ("cwii.dev/azure-client-id", "cwii.dev/az-client-id"),
        ("cwii.dev/gcp-serviceaccount", "cwii.dev/gcp-service-account"),
        ("cwii.dev/xyzzy", ""),
    ],
)
@pytest.mark.parametrize("scope", ["account", "namespace", "owner"])
def test_a_word_that_is_none_is_told_once_with_the_nearest(key: str, near: str, scope: str) -> None:
    ref = {
        "account": "ServiceAccount shop/worker",
        "namespace": "Namespace shop",
        "owner": "StatefulSet shop/web",
    }[scope]
    hint = f"did you mean {near}?" if near else "see README for those that there are"

    for pod in (make_pod(), make_pod(AWS)):
        assert inject(pod, Settings(), **{scope: {key: "true"}})[0].warnings == (
            f"'{key}' of {ref} is no word of cwii's: {hint}",
        )


def test_a_pods_own_word_that_is_none_is_told_and_its_written_ones_are_not() -> None:
    written = {
        "cwii.dev/injected": "aws",
        "cwii.dev/gcp-credentials": "{}",
        "not.cwii.dev/x": "x",
        "example.com/cwii.dev": "x",
    }

    assert inject(make_pod({"cwii.dev/aws-regoin": "x", **written}))[0].warnings == (
        "'cwii.dev/aws-regoin' of Pod shop/p is no word of cwii's: did you mean cwii.dev/aws-region?",
    )


def test_of_many_words_that_are_none_a_few_are_told() -> None:
    assert (
        len(inject(make_pod({f"cwii.dev/x{number}": "" for number in range(1000)}))[0].warnings)
        == 4
    )
