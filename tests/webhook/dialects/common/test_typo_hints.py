"""Tests hints for misspelt annotations and for annotations on the wrong object."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from cwii_webhook.admission.admit import Decision
from cwii_webhook.dialects.common.typo_hints import MAX_HINTS, nearest_match, printable

from tests.webhook.dialects.cwii.pods import make_cluster, make_pod
from tests.webhook.harness import ACCOUNT_ANNOTATIONS, ROUTES
from tests.webhook.recorded_answers import decide

EKS, AZWI, GCPWIF = "eks.amazonaws.com", "azure.workload.identity", "cloud.google.com"


def decide_with_annotations(
    dialect: str, pod: Mapping[str, str], account: Mapping[str, str]
) -> Decision:
    return decide(ROUTES[dialect], make_pod(pod), make_cluster(account=account))[0]


def get_warnings(
    dialect: str, pod: Mapping[str, str] | None = None, account: Mapping[str, str] | None = None
) -> tuple[str, ...]:
    """Returns the warnings for a pod that is injected."""
    return decide_with_annotations(
        dialect, pod or {}, {**ACCOUNT_ANNOTATIONS[dialect], **(account or {})}
    ).warnings


@pytest.mark.parametrize(
    ("dialect", "key", "nearest"),
    [
        ("eks", f"{EKS}/rolearn", f"{EKS}/role-arn"),
        ("eks", f"{EKS}/role_arn", f"{EKS}/role-arn"),
        ("eks", f"{EKS}/sts-regional-endpoint", f"{EKS}/sts-regional-endpoints"),
        ("eks", f"{EKS}/token-expiry", f"{EKS}/token-expiration"),
        ("azwi", f"{AZWI}/clientid", f"{AZWI}/client-id"),
        ("azwi", f"{AZWI}/tenant", f"{AZWI}/tenant-id"),
        ("gcpwif", f"{GCPWIF}/workload-identity-providers", f"{GCPWIF}/workload-identity-provider"),
        ("gcpwif", f"{GCPWIF}/service-account", f"{GCPWIF}/service-account-email"),
    ],
)
@pytest.mark.parametrize("scope", ["account", "pod"])
def test_misspelt_annotation_is_reported_with_the_nearest_key(
    dialect: str, key: str, nearest: str, scope: str
) -> None:
    ref = {"account": "ServiceAccount shop/worker", "pod": "Pod shop/p"}[scope]

    assert get_warnings(dialect, **{scope: {key: "x"}}) == (
        f"'{key}' of {ref} is no word of {dialect}'s: did you mean {nearest}?",
    )


@pytest.mark.parametrize(
    ("dialect", "keys"),
    [
        (
            "eks",
            [
                "eks.amazonaws.com/fargate-profile",
                "eks.amazonaws.com/compute-type",
                "eks.amazonaws.com/nodegroup",
                "eks.amazonaws.com/component",
            ],
        ),
        (
            "gcpwif",
            [
                f"cloud.google.com/{name}"
                for name in (
                    "neg",
                    "backend-config",
                    "load-balancer-type",
                    "app-protocols",
                    "gke-spot",
                    "compute-class",
                    "network-tier",
                )
            ],
        ),
        ("azwi", ["azure.workload.identity/use-other", "example.com/client-idd"]),
    ],
)
def test_annotations_of_other_software_in_the_domain_cause_no_hint(
    dialect: str, keys: list[str]
) -> None:
    annotations = dict.fromkeys(keys, "x")

    assert get_warnings(dialect, annotations, annotations) == ()


@pytest.mark.parametrize(
    ("dialect", "key", "remedy"),
    [
        ("eks", f"{EKS}/role-arn", "is not heard there: write it on its ServiceAccount"),
        ("eks", f"{EKS}/audience", "is not heard there: write it on its ServiceAccount"),
        (
            "eks",
            f"{EKS}/skip-pod-identity-webhook",
            "is an annotation, and is heard as a label of pods alone",
        ),
        ("azwi", f"{AZWI}/client-id", "is not heard there: write it on its ServiceAccount"),
        ("azwi", f"{AZWI}/use", "is an annotation, and is heard as a label of pods alone"),
        (
            "gcpwif",
            f"{GCPWIF}/injection-mode",
            "is not heard there: write it on its ServiceAccount",
        ),
    ],
)
def test_misplaced_annotation_on_the_pod_is_reported(dialect: str, key: str, remedy: str) -> None:
    assert get_warnings(dialect, pod={key: "x"}) == (f"{key} of Pod shop/p {remedy}",)


@pytest.mark.parametrize(
    ("dialect", "key"),
    [
        ("eks", f"{EKS}/skip-containers"),
        ("azwi", f"{AZWI}/inject-proxy-sidecar"),
        ("gcpwif", f"{GCPWIF}/skip-containers"),
    ],
)
def test_misplaced_annotation_on_the_account_is_reported(dialect: str, key: str) -> None:
    assert get_warnings(dialect, account={key: "x"}) == (
        f"{key} of ServiceAccount shop/worker is not heard there: write it on the pod",
    )


def test_gcpwif_annotations_on_the_pod_are_reported_only_if_the_account_has_none() -> None:
    provider = f"{GCPWIF}/workload-identity-provider"

    assert get_warnings("gcpwif", pod=ACCOUNT_ANNOTATIONS["gcpwif"]) == ()
    assert decide_with_annotations("gcpwif", {provider: "x"}, {}).warnings == (
        f"{provider} of Pod shop/p is not heard there: write it on ServiceAccount shop/worker",
    )


def test_refusal_reports_misspelt_annotations() -> None:
    annotations = {
        f"{GCPWIF}/workload-identity-provder": "x",
        f"{GCPWIF}/service-account-email": "a@b",
    }

    decision = decide_with_annotations("gcpwif", {}, annotations)

    assert decision.outcome == "refused"
    assert "did you mean cloud.google.com/workload-identity-provider?" in decision.warnings[-1]


def test_number_of_hints_is_limited() -> None:
    assert (
        len(get_warnings("eks", pod={f"{EKS}/role-arn{number}": "" for number in range(1000)}))
        == MAX_HINTS
    )


def test_nearest_match_is_empty_without_a_similar_candidate() -> None:
    assert (
        nearest_match("sidecra", ["sidecar", "web"]),
        nearest_match("x", ["sidecar"]),
        nearest_match("", []),
    ) == (
        "sidecar",
        "",
        "",
    )


def test_printable_text_is_escaped_and_short() -> None:
    assert printable("\x1b[31mred\n") == r"'\x1b[31mred\n'"
    assert len(printable("x" * 1000)) < 70
