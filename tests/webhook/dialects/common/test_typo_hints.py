"""Words that are none, or that are written where nobody hears them: each is told, with what may have been meant."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from cwii_webhook.admission.admit import Decision
from cwii_webhook.dialects.common.typo_hints import MAX_HINTS, nearest_match, printable

from tests.webhook.dialects.cwii.pods import make_cluster as objects
from tests.webhook.dialects.cwii.pods import make_pod
from tests.webhook.harness import ROUTES, SENSIBLE
from tests.webhook.recorded_answers import asked

EKS, AZWI, GCPWIF = "eks.amazonaws.com", "azure.workload.identity", "cloud.google.com"


def decide(dialect: str, pod: Mapping[str, str], account: Mapping[str, str]) -> Decision:
    return asked(ROUTES[dialect], make_pod(pod), objects(account=account))[0]


def warnings(
    dialect: str, pod: Mapping[str, str] | None = None, account: Mapping[str, str] | None = None
) -> tuple[str, ...]:
    """Of a pod that is given something."""
    return decide(dialect, pod or {}, {**SENSIBLE[dialect], **(account or {})}).warnings


@pytest.mark.parametrize(
    ("dialect", "key", "near"),
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
@pytest.mark.parametrize("bearer", ["account", "pod"])
def test_a_word_that_is_nearly_one_is_told_with_that(
    dialect: str, key: str, near: str, bearer: str
) -> None:
    ref = {"account": "ServiceAccount shop/worker", "pod": "Pod shop/p"}[bearer]

    assert warnings(dialect, **{bearer: {key: "x"}}) == (
        f"'{key}' of {ref} is no word of {dialect}'s: did you mean {near}?",
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
def test_others_have_words_in_these_domains_too(dialect: str, keys: list[str]) -> None:
    every = dict.fromkeys(keys, "x")

    assert warnings(dialect, every, every) == ()


@pytest.mark.parametrize(
    ("dialect", "key", "way"),
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
def test_a_word_on_the_pod_that_is_heard_elsewhere_is_told(
    dialect: str, key: str, way: str
) -> None:
    assert warnings(dialect, pod={key: "x"}) == (f"{key} of Pod shop/p {way}",)


@pytest.mark.parametrize(
    ("dialect", "key"),
    [
        ("eks", f"{EKS}/skip-containers"),
        ("azwi", f"{AZWI}/inject-proxy-sidecar"),
        ("gcpwif", f"{GCPWIF}/skip-containers"),
    ],
)
def test_a_word_on_the_account_that_is_heard_on_the_pod_is_told(dialect: str, key: str) -> None:
    assert warnings(dialect, account={key: "x"}) == (
        f"{key} of ServiceAccount shop/worker is not heard there: write it on the pod",
    )


def test_googles_words_are_written_on_pods_and_told_of_where_they_stand_there_alone() -> None:
    provider = f"{GCPWIF}/workload-identity-provider"

    assert warnings("gcpwif", pod=SENSIBLE["gcpwif"]) == ()
    assert decide("gcpwif", {provider: "x"}, {}).warnings == (
        f"{provider} of Pod shop/p is not heard there: write it on ServiceAccount shop/worker",
    )


def test_a_refusal_tells_of_misspelt_words_too() -> None:
    said = {f"{GCPWIF}/workload-identity-provder": "x", f"{GCPWIF}/service-account-email": "a@b"}

    decision = decide("gcpwif", {}, said)

    assert decision.outcome == "refused"
    assert "did you mean cloud.google.com/workload-identity-provider?" in decision.warnings[-1]


def test_of_many_odd_words_a_few_are_told() -> None:
    assert (
        len(warnings("eks", pod={f"{EKS}/role-arn{number}": "" for number in range(1000)}))
        == MAX_HINTS
    )


def test_what_is_like_nothing_is_near_nothing() -> None:
    assert (
        nearest_match("sidecra", ["sidecar", "web"]),
        nearest_match("x", ["sidecar"]),
        nearest_match("", []),
    ) == (
        "sidecar",
        "",
        "",
    )


def test_what_is_shown_has_nothing_that_a_terminal_obeys() -> None:
    assert printable("\x1b[31mred\n") == r"'\x1b[31mred\n'"
    assert len(printable("x" * 1000)) < 70
