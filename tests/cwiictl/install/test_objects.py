"""What is installed: in an order in which it can be made, closed, kept running, and never saying what is somebody else's."""

from __future__ import annotations

from typing import Any

import pytest

from cwiictl.errors import BadInput
from cwiictl.install.body import Object
from cwiictl.install.objects import objects
from cwiictl.install.values import Values
from cwiictl.manifests import dump_all
from tests.cwiictl.install.installed import FILES, IMAGE, installed, kinds, of, some


def pods(those: tuple[Object, ...]) -> list[Object]:
    """The specs of all pods that come of them."""
    deployments = [
        each["spec"]["template"]["spec"] for each in those if each["kind"] == "Deployment"
    ]
    return deployments + [
        each["spec"]["jobTemplate"]["spec"]["template"]["spec"]
        for each in those
        if each["kind"] == "CronJob"
    ]


def test_they_are_in_the_order_of_installation() -> None:
    assert kinds(objects(some(require=True))) == [
        "Namespace",
        "ServiceAccount",
        "ServiceAccount",
        "Secret",
        "Secret",
        "ClusterRole",
        "ClusterRoleBinding",
        "ClusterRole",
        "ClusterRoleBinding",
        "Role",
        "RoleBinding",
        "PriorityLevelConfiguration",
        "FlowSchema",
        "ValidatingAdmissionPolicy",
        "ValidatingAdmissionPolicyBinding",
        "Service",
        "Deployment",
        "PodDisruptionBudget",
        "CronJob",
        "MutatingWebhookConfiguration",
        "ValidatingAdmissionPolicy",
        "ValidatingAdmissionPolicyBinding",
    ]


@pytest.mark.parametrize("name", FILES)
def test_no_two_are_the_same_thing_and_all_are_in_their_place(name: str) -> None:
    values = of(name)
    those = objects(values)
    cluster = {
        "Namespace",
        "ClusterRole",
        "ClusterRoleBinding",
        "PriorityLevelConfiguration",
        "FlowSchema",
        "MutatingWebhookConfiguration",
    }
    cluster |= {"ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"}

    assert len({(each["kind"], each["metadata"]["name"]) for each in those}) == len(those)
    assert {each["kind"] for each in those if "namespace" not in each["metadata"]} <= cluster
    assert {each["metadata"].get("namespace", values.namespace) for each in those} == {
        values.namespace
    }
    assert all(
        each["metadata"]["labels"]["app.kubernetes.io/instance"] == values.name for each in those
    )


@pytest.mark.parametrize("name", FILES)
def test_the_same_values_are_the_same_objects(name: str) -> None:
    assert dump_all(objects(of(name))) == dump_all(objects(of(name)))


def test_without_an_image_there_is_nothing_to_install() -> None:
    with pytest.raises(BadInput, match="no image is named") as refused:
        objects(Values())

    assert "cwiictl image push" in refused.value.remedy


@pytest.mark.parametrize("name", FILES)
def test_what_others_keep_is_not_said(name: str) -> None:
    """Who renews fills the Secrets and the bundles, and an autoscaler counts replicas: what is said here would be taken back each time."""
    values = of(name)
    for each in objects(values):
        if each["kind"] == "Secret":
            assert set(each) == {"apiVersion", "kind", "metadata", "type"}
        if each["kind"] == "MutatingWebhookConfiguration":
            assert {"caBundle" in entry["clientConfig"] for entry in each["webhooks"]} == {
                values.certificates.by == "files"
            }
        if each["kind"] == "Deployment":
            assert ("replicas" in each["spec"]) is not values.autoscaling.enabled


# --- pods ---


@pytest.mark.parametrize("name", FILES)
def test_every_pod_is_restricted_and_of_the_image(name: str) -> None:
    for spec in pods(objects(of(name))):
        (container,) = spec["containers"]
        assert container["image"] == IMAGE
        assert container["resources"]["requests"]
        assert spec["securityContext"] == {
            "runAsNonRoot": True,
            "seccompProfile": {"type": "RuntimeDefault"},
        }
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }


def test_no_user_is_chosen_for_openshift_chooses_one() -> None:
    assert "runAsUser" not in str(objects(some())) and "fsGroup" not in str(objects(some()))  # noqa: PT018 - one claim


def test_the_namespace_takes_no_other_pods() -> None:
    labels = installed("Namespace")["metadata"]["labels"]

    assert {
        labels[f"pod-security.kubernetes.io/{mode}"] for mode in ("enforce", "audit", "warn")
    } == {"restricted"}


def test_the_renewers_pods_are_no_replicas() -> None:
    """A Service that took them for some would send them reviews, and its renewer would ask them for certificates."""
    selector = installed("Service")["spec"]["selector"]
    renewer = installed("CronJob")["spec"]["jobTemplate"]["spec"]["template"]["metadata"]["labels"]

    assert selector == installed("Deployment")["spec"]["selector"]["matchLabels"]
    assert not selector.items() <= renewer.items()


def test_labels_of_ones_own_do_not_take_ours_away() -> None:
    labels = installed("Deployment", **FILES["placed"])["spec"]["template"]["metadata"]["labels"]

    assert labels["team"] == "identity"
    assert labels["app.kubernetes.io/name"] == "cwii-webhook"


def test_replicas_are_spread_where_that_is_possible() -> None:
    spread = installed("Deployment")["spec"]["template"]["spec"]["topologySpreadConstraints"]

    assert [(each["topologyKey"], each["whenUnsatisfiable"]) for each in spread] == [
        ("kubernetes.io/hostname", "ScheduleAnyway"),
        ("topology.kubernetes.io/zone", "ScheduleAnyway"),
    ]


def test_a_rollout_takes_none_away_before_another_is_ready() -> None:
    assert installed("Deployment")["spec"]["strategy"]["rollingUpdate"] == {
        "maxSurge": 1,
        "maxUnavailable": 0,
    }


@pytest.mark.parametrize(
    ("said", "there"),
    [
        ({}, True),
        ({"replicas": 1}, False),
        ({"disruptionBudget": False}, False),
        ({"replicas": 1, "autoscaling": {"enabled": True}}, True),
        ({"autoscaling": {"enabled": True, "minReplicas": 1}}, False),
    ],
)
def test_a_budget_never_keeps_a_node_from_being_drained(said: dict[str, Any], there: bool) -> None:
    budgets = [each for each in objects(some(**said)) if each["kind"] == "PodDisruptionBudget"]

    assert bool(budgets) is there
    for each in budgets:
        assert (each["spec"]["maxUnavailable"], each["spec"]["unhealthyPodEvictionPolicy"]) == (
            1,
            "AlwaysAllow",
        )


def test_its_reads_have_a_priority_level_of_their_own() -> None:
    schema, level = installed("FlowSchema")["spec"], installed("PriorityLevelConfiguration")
    subjects = [
        subject["serviceAccount"]["name"]
        for rule in schema["rules"]
        for subject in rule["subjects"]
    ]

    assert schema["priorityLevelConfiguration"]["name"] == level["metadata"]["name"]
    assert subjects == ["cwii-webhook", "cwii-webhook-renewer"]
    assert level["spec"]["limited"]["nominalConcurrencyShares"] <= 10


# --- who may reach it ---


def test_reviews_come_from_anywhere_and_metrics_go_to_whom_they_are_for() -> None:
    rules = installed("NetworkPolicy", **FILES["watched"])["spec"]["ingress"]

    assert rules[0] == {"ports": [{"port": "https", "protocol": "TCP"}]}
    assert rules[1]["from"] == FILES["watched"]["networkPolicy"]["metricsFrom"]
    assert len(installed("NetworkPolicy", **FILES["closed"])["spec"]["ingress"]) == 1
