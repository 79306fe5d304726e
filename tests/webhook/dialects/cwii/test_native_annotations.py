"""Words of other webhooks in cwii's dialect: where they are honoured, and what is told where they are not."""

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
    ("cloud", "said"), NATIVE_ANNOTATIONS, ids=[cloud for cloud, _ in NATIVE_ANNOTATIONS]
)
@pytest.mark.parametrize("voice", SOURCES)
def test_words_of_other_webhooks_ask_for_a_cloud_where_they_are_honoured(
    cloud: str, said: dict[str, str], voice: str
) -> None:
    by: dict[str, Any] = {voice: said}
    pod = make_pod(by.pop("pod", None))

    assert [
        i.provider for i in inject(pod, Settings(native_annotations=True), **by)[0].injections
    ] == [cloud]
    assert inject(pod, Settings(), **by)[0].outcome == "nothing"


@pytest.mark.parametrize(
    ("cloud", "said"), NATIVE_ANNOTATIONS, ids=[cloud for cloud, _ in NATIVE_ANNOTATIONS]
)
def test_an_own_false_goes_before_the_words_of_other_webhooks(
    cloud: str, said: dict[str, str]
) -> None:
    decision, _ = inject(
        make_pod(said),
        Settings(native_annotations=True),
        namespace={f"cwii.dev/{cloud}-inject": "false"},
    )

    assert decision.outcome == "nothing"


def test_an_own_word_goes_before_that_of_another_webhook_and_both_are_told() -> None:
    decision, pod = inject(
        make_pod({"eks.amazonaws.com/role-arn": "arn:aws:iam::123456789012:role/other"}),
        account=AWS,
    )

    assert env(first_container(pod))["AWS_ROLE_ARN"] == ROLE
    (warning,) = decision.warnings
    assert (
        "cwii.dev/aws-role-arn of ServiceAccount shop/worker and eks.amazonaws.com/role-arn of Pod shop/p say different things"
        in warning
    )


@pytest.mark.parametrize("native", [True, False])
def test_words_of_another_webhook_that_say_the_same_are_nothing_to_tell(native: bool) -> None:  # noqa: FBT001 - a column of the table
    """cwiictl writes both beside each other."""
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
    ("key", "way"),
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
def test_a_word_of_another_webhook_that_is_not_heeded_is_told_with_what_would_heed_it(
    key: str, way: str
) -> None:
    decision, _ = inject_with_account({key: "x"})

    assert (decision.outcome, decision.warnings) == (
        "nothing",
        (f"{key} of ServiceAccount shop/worker is not heeded by this webhook: it would be {way}",),
    )


def test_words_of_another_webhook_beside_our_own_are_told_of_once() -> None:
    words = {
        **AZURE,
        "azure.workload.identity/client-id": CLIENT_ID,
        "azure.workload.identity/tenant-id": TENANT_ID,
    }
    del words["cwii.dev/az-inject"]

    assert len(inject_with_account(words)[0].warnings) == 1
