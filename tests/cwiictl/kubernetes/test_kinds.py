"""What a cluster serves, as it says itself."""

from __future__ import annotations

from typing import Any

import pytest

from cwiictl.errors import BadInput
from cwiictl.kubernetes.kinds import STAGE, Kinds, discovered


def served(resource: str, kind: str, scope: str = "Namespaced") -> dict[str, Any]:
    return {
        "resource": resource,
        "responseKind": {"group": "", "version": "", "kind": kind},
        "scope": scope,
        "verbs": ["get", "list"],
    }


ANSWER: dict[str, Any] = {
    "items": [
        {
            "metadata": {},
            "versions": [
                {
                    "version": "v1",
                    "resources": [
                        served("namespaces", "Namespace", "Cluster"),
                        served("services", "Service"),
                    ],
                }
            ],
        },
        {
            "metadata": {"name": "autoscaling"},
            "versions": [
                {
                    "version": "v2",
                    "resources": [served("horizontalpodautoscalers", "HorizontalPodAutoscaler")],
                },
                {
                    "version": "v1",
                    "resources": [served("horizontalpodautoscalers", "HorizontalPodAutoscaler")],
                },
            ],
        },
        {
            "metadata": {"name": "serving.knative.dev"},
            "versions": [{"version": "v1", "resources": [served("services", "Service")]}],
        },
        {
            "metadata": {"name": "metrics.k8s.io"},
            "versions": [
                {
                    "version": "v1beta1",
                    "freshness": "Stale",
                    "resources": [served("pods", "PodMetrics")],
                }
            ],
        },
        {
            "metadata": {"name": "odd"},
            "versions": [
                {"version": "v1", "resources": [{"resource": "nothing", "scope": "Cluster"}]}
            ],
        },
    ]
}


@pytest.fixture
def kinds() -> Kinds:
    return Kinds(discovered(ANSWER))


def test_a_body_is_of_the_version_that_it_says_and_a_title_of_the_preferred_one(
    kinds: Kinds,
) -> None:
    assert kinds["HorizontalPodAutoscaler"].api == "autoscaling/v2"
    assert kinds.of({"apiVersion": "autoscaling/v1", "kind": "HorizontalPodAutoscaler"}).path(
        "a", "b"
    ) == ("/apis/autoscaling/v1/namespaces/a/horizontalpodautoscalers/b")


def test_paths_are_those_of_the_api(kinds: Kinds) -> None:
    assert kinds["Namespace"].place("a") == "/api/v1/namespaces/a"
    assert kinds["Service"].place("a/b") == "/api/v1/namespaces/a/services/b"
    assert kinds["Service"].path() == "/api/v1/services"


def test_of_two_kinds_of_one_name_each_has_a_title_of_its_own(kinds: Kinds) -> None:
    assert kinds["Service"].short == "Service"
    assert kinds["Service.serving.knative.dev"].short == "Service.serving.knative.dev"
    assert kinds["HorizontalPodAutoscaler"].short == "HorizontalPodAutoscaler"


@pytest.mark.parametrize(
    "body",
    [
        ("v1", "HorizontalPodAutoscaler"),
        ("autoscaling/v3", "HorizontalPodAutoscaler"),
        ("metrics.k8s.io/v1beta1", "PodMetrics"),
    ],
)
def test_what_is_not_served_is_told(kinds: Kinds, body: tuple[str, str]) -> None:
    with pytest.raises(
        BadInput, match=f"the cluster does not serve the kind {body[1]} of {body[0]}"
    ):
        kinds.of({"apiVersion": body[0], "kind": body[1]})
    with pytest.raises(BadInput, match="the cluster does not serve the kind Nothing"):
        kinds["Nothing"]


def test_what_refers_to_others_is_made_after_them() -> None:
    order = [
        "Namespace",
        "ServiceAccount",
        "Service",
        "Deployment.apps",
        "MutatingWebhookConfiguration.admissionregistration.k8s.io",
    ]
    assert [STAGE[title] for title in order] == sorted({STAGE[title] for title in order})
