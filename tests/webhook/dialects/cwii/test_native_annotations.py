"""Tests when cwii's dialect reads annotations of other webhooks, and its warnings otherwise."""

from __future__ import annotations

from typing import Any

import pytest
from cwii_webhook.dialects.cwii.settings import Settings

from tests.webhook.dialects.cwii.pods import (
    AUDIENCE,
    AWS,
    AZURE,
    CLIENT_ID,
    ROLE,
    SOURCES,
    TENANT_ID,
    env,
    first_container,
    inject,
    inject_with_account,
    make_pod,
)

NATIVE_ANNOTATIONS = [
    ("aws", {"eks.amazonaws.com/role-arn": ROLE}),
    (
        "az",
        {
            "azure.workload.identity/client-id": CLIENT_ID,
            "azure.workload.identity/tenant-id": TENANT_ID,
        },
    ),
    (
        "gcp",
        {
            "iam.gke.io/gcp-service-account": "sa@p.iam.gserviceaccount.com",
            "cwii.dev/gcp-audience": AUDIENCE,
        },
    ),
]


@pytest.mark.parametrize(
    ("cloud", "annotations"), NATIVE_ANNOTATIONS, ids=[cloud for cloud, _ in NATIVE_ANNOTATIONS]
)
@pytest.mark.parametrize("source", SOURCES)
def test_native_annotations_request_a_cloud_only_with_the_flag(
    cloud: str, annotations: dict[str, str], source: str
) -> None:
    sources: dict[str, Any] = {source: annotations}
    pod = make_pod(sources.pop("pod", None))

    assert [
        i.provider for i in inject(pod, Settings(native_annotations=True), **sources)[0].injections
    ] == [cloud]
    assert inject(pod, Settings(), **sources)[0].outcome == "nothing"


@pytest.mark.parametrize(
    ("cloud", "annotations"), NATIVE_ANNOTATIONS, ids=[cloud for cloud, _ in NATIVE_ANNOTATIONS]
)
def test_inject_false_overrides_native_annotations(cloud: str, annotations: dict[str, str]) -> None:
    decision, _ = inject(
        make_pod(annotations),
        Settings(native_annotations=True),
        namespace={f"cwii.dev/{cloud}-inject": "false"},
    )

    assert decision.outcome == "nothing"


def test_cwii_annotation_overrides_the_native_one_with_a_warning() -> None:
    decision, pod = inject(
        make_pod({"eks.amazonaws.com/role-arn": "arn:aws:iam::123456789012:role/other"}),
        account=AWS,
    )

    assert env(first_container(pod))["AWS_ROLE_ARN"] == ROLE
    (warning,) = decision.warnings
    assert (
        "cwii.dev/aws-role-arn of ServiceAccount shop/worker and "
        "eks.amazonaws.com/role-arn of Pod shop/p say different things" in warning
    )


@pytest.mark.parametrize("native", [True, False])
def test_native_annotation_with_the_same_value_causes_no_warning(native: bool) -> None:  # noqa: FBT001 - a column of the table
    """cwiictl writes both annotations."""
    azwi = {
        "azure.workload.identity/client-id": AZURE["cwii.dev/az-client-id"],
        "azure.workload.identity/tenant-id": AZURE["cwii.dev/az-tenant-id"],
    }

    decision, _ = inject_with_account(
        AZURE | azwi | AWS | {"eks.amazonaws.com/role-arn": ROLE},
        Settings(native_annotations=native),
    )

    assert (decision.outcome, decision.warnings) == ("injected", ())


@pytest.mark.parametrize(
    ("key", "remedy"),
    [
        ("eks.amazonaws.com/role-arn", "with --native-annotations=true or in the dialect eks"),
        (
            "azure.workload.identity/client-id",
            "with --native-annotations=true or in the dialect azwi",
        ),
        ("iam.gke.io/gcp-service-account", "with --native-annotations=true"),
        ("cloud.google.com/workload-identity-provider", "in the dialect gcpwif"),
    ],
)
def test_ignored_annotation_of_another_webhook_is_reported_with_a_remedy(
    key: str, remedy: str
) -> None:
    decision, _ = inject_with_account({key: "x"})

    assert (decision.outcome, decision.warnings) == (
        "nothing",
        (
            (
                f"{key} of ServiceAccount shop/worker is not heeded by this webhook: "
                f"it would be {remedy}"
            ),
        ),
    )


def test_native_annotations_beside_those_of_cwii_cause_one_warning() -> None:
    annotations = {
        **AZURE,
        "azure.workload.identity/client-id": CLIENT_ID,
        "azure.workload.identity/tenant-id": TENANT_ID,
    }
    del annotations["cwii.dev/az-inject"]

    assert len(inject_with_account(annotations)[0].warnings) == 1
