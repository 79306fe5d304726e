"""Tests warnings about annotations that are missing, misspelt, or unknown to the cloud."""

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
    ("annotations", "missing"),
    [
        (AWS, "cwii.dev/aws-role-arn"),
        (AZURE, "cwii.dev/az-client-id"),
        (AZURE, "cwii.dev/az-tenant-id"),
        (GCP, "cwii.dev/gcp-audience"),
    ],
)
def test_missing_required_annotation_is_reported(annotations: dict[str, str], missing: str) -> None:
    decision, _ = inject_with_account(
        {key: value for key, value in annotations.items() if key != missing}
    )

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
    ("cloud", "annotations", "reported"),
    WITHOUT_INJECT,
    ids=[cloud for cloud, *_ in WITHOUT_INJECT],
)
@pytest.mark.parametrize("source", SOURCES)
def test_annotations_without_inject_are_reported(
    cloud: str, annotations: dict[str, str], reported: str, source: str
) -> None:
    """Annotations of a namespace are defaults, and cause no warning."""
    sources: dict[str, Any] = {
        source: {
            key: value for key, value in annotations.items() if key != f"cwii.dev/{cloud}-inject"
        }
    }

    decision, _ = inject(make_pod(sources.pop("pod", None)), **sources)

    assert decision.outcome == "nothing"
    assert [
        f"cwii.dev/{reported} of " in w
        and f'alone gives nothing: set cwii.dev/{cloud}-inject to "true" beside it' in w
        for w in decision.warnings
    ] == [True for _ in SOURCES[:3] if source != "namespace"][:1]


@pytest.mark.parametrize(
    ("annotations", "key", "value", "problem"),
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
            (
                "is 'foo', which names no provider: Google Cloud knows it as "
                "//iam.googleapis.com/projects/NUMBER/"
            ),
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
def test_value_unknown_to_the_cloud_is_injected_with_a_warning(
    annotations: dict[str, str], key: str, value: str, problem: str
) -> None:
    decision, _ = inject_with_account({**annotations, key: value})

    assert decision.outcome == "injected"
    assert [
        w.startswith(f"{key} of ServiceAccount shop/worker") and problem in w
        for w in decision.warnings
    ] == ([True] if problem else [])


@pytest.mark.parametrize(
    ("key", "nearest"),
    [
        ("cwii.dev/aws-injcet", "cwii.dev/aws-inject"),
        ("cwii.dev/aws_role_arn", "cwii.dev/aws-role-arn"),
        ("cwii.dev/azure-client-id", "cwii.dev/az-client-id"),
        ("cwii.dev/gcp-serviceaccount", "cwii.dev/gcp-service-account"),
        ("cwii.dev/xyzzy", ""),
    ],
)
@pytest.mark.parametrize("scope", ["account", "namespace", "owner"])
def test_unknown_annotation_is_reported_once_with_the_nearest_key(
    key: str, nearest: str, scope: str
) -> None:
    ref = {
        "account": "ServiceAccount shop/worker",
        "namespace": "Namespace shop",
        "owner": "StatefulSet shop/web",
    }[scope]
    hint = f"did you mean {nearest}?" if nearest else "see README for those that there are"

    for pod in (make_pod(), make_pod(AWS)):
        assert inject(pod, Settings(), **{scope: {key: "true"}})[0].warnings == (
            f"'{key}' of {ref} is no word of cwii's: {hint}",
        )


def test_unknown_pod_annotation_is_reported_unless_the_webhook_writes_it() -> None:
    unreported = {
        "cwii.dev/injected": "aws",
        "cwii.dev/gcp-credentials": "{}",
        "not.cwii.dev/x": "x",
        "example.com/cwii.dev": "x",
    }

    assert inject(make_pod({"cwii.dev/aws-regoin": "x", **unreported}))[0].warnings == (
        (
            "'cwii.dev/aws-regoin' of Pod shop/p is no word of cwii's: "
            "did you mean cwii.dev/aws-region?"
        ),
    )


def test_number_of_hints_is_limited() -> None:
    assert (
        len(inject(make_pod({f"cwii.dev/x{number}": "" for number in range(1000)}))[0].warnings)
        == 4
    )
