"""Tests the QoS class of a pod, and that helper containers keep it."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from cwii_webhook.admission.review import Pod
from cwii_webhook.dialects.common.pod_traits import QosClass, parse_quantity, qos_class
from cwii_webhook.dialects.cwii.settings import Settings

from tests.webhook.dialects.cwii.pods import AWS, GCP, inject, make_cluster, make_pod
from tests.webhook.harness import ACCOUNT_ANNOTATIONS, ROUTES
from tests.webhook.recorded_answers import decide, make_request

Json = dict[str, Any]
CPU_AND_MEMORY = {"cpu": "1", "memory": "1Gi"}
ZERO = {"cpu": "0", "memory": "0"}
WITH_PROXY = {"azure.workload.identity/inject-proxy-sidecar": "true"}
CLASSES: list[tuple[list[Json], QosClass]] = [
    ([{}], "BestEffort"),
    ([{"requests": ZERO}], "BestEffort"),
    ([{"requests": {"cpu": 0, "memory": "0Mi"}, "limits": {"cpu": "0m"}}], "BestEffort"),
    ([{"requests": {"ephemeral-storage": "1Gi"}}], "BestEffort"),
    ([{"limits": CPU_AND_MEMORY}], "Guaranteed"),
    ([{"requests": {"cpu": "1000m", "memory": "1024Mi"}, "limits": CPU_AND_MEMORY}], "Guaranteed"),
    (
        [{"requests": {"cpu": 1, "memory": 1073741824}, "limits": {"cpu": "1e0", "memory": "1Gi"}}],
        "Guaranteed",
    ),
    ([{"requests": {"cpu": "0.5"}, "limits": CPU_AND_MEMORY}], "Burstable"),
    ([{"limits": {"cpu": "1", "memory": "0"}}], "Burstable"),
    ([{"limits": CPU_AND_MEMORY}, {}], "Burstable"),
    ([{"limits": CPU_AND_MEMORY}, {"requests": ZERO}], "Burstable"),
    ([{"requests": {"cpu": "1n"}}], "Burstable"),
]


def decode_pod(pod: Json) -> Pod:
    decoded = make_request(pod).object
    assert decoded
    return decoded


@pytest.mark.parametrize(
    ("resources", "expected"),
    CLASSES,
)
def test_qos_class_equals_that_of_the_api_server(resources: list[Json], expected: QosClass) -> None:
    containers = [
        {"name": f"c{number}", "resources": entry} for number, entry in enumerate(resources)
    ]

    assert qos_class(decode_pod(make_pod(containers=containers))) == expected
    assert (
        qos_class(decode_pod(make_pod(containers=containers[:1], initContainers=containers[1:])))
        == expected
    )


@pytest.mark.parametrize(
    ("pod_resources", "expected"),
    [
        ({"requests": ZERO}, "BestEffort"),
        ({"limits": CPU_AND_MEMORY}, "Guaranteed"),
        ({"requests": CPU_AND_MEMORY}, "Burstable"),
        ({}, "Burstable"),
    ],
)
def test_resources_of_the_pod_take_precedence_over_those_of_containers(
    pod_resources: Json, expected: QosClass
) -> None:
    assert (
        qos_class(
            decode_pod(
                make_pod(
                    resources=pod_resources,
                    containers=[{"name": "c", "resources": {"requests": CPU_AND_MEMORY}}],
                )
            )
        )
        == expected
    )


@pytest.mark.parametrize(
    "resources",
    [
        {},
        {"requests": ZERO},
        {"requests": {"cpu": "0m"}, "limits": {"memory": 0}},
        {"limits": ZERO},
        {"limits": CPU_AND_MEMORY},
        {"requests": {"cpu": "100m"}},
        {"requests": ZERO, "limits": CPU_AND_MEMORY},
    ],
    ids=str,
)
def test_helpers_of_cwii_keep_the_qos_class(resources: Json) -> None:
    pod = make_pod(containers=[{"name": "c", "resources": resources}])

    injected = inject(
        pod,
        Settings(gcp_delivery="init-container"),
        account={**AWS, **GCP, "cwii.dev/aws-verify": "true"},
    )[1]

    assert len(injected["spec"]["initContainers"]) == 2
    assert qos_class(decode_pod(injected)) == qos_class(decode_pod(pod))


@pytest.mark.parametrize("limits", [ZERO, CPU_AND_MEMORY, {"cpu": "1", "memory": "0"}], ids=str)
@pytest.mark.parametrize("dialect", ["azwi", "gcpwif"])
def test_helpers_of_other_dialects_keep_the_qos_class(dialect: str, limits: Json) -> None:
    pod = make_pod(WITH_PROXY, containers=[{"name": "c", "resources": {"limits": limits}}])

    decision, injected = decide(
        ROUTES[dialect], pod, make_cluster(account=ACCOUNT_ANNOTATIONS[dialect])
    )

    assert decision.outcome == "injected"
    assert len(injected["spec"]["initContainers"]) == {"azwi": 2, "gcpwif": 1}[dialect]
    assert qos_class(decode_pod(injected)) == qos_class(decode_pod(pod))


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("1", 1),
        ("0.5", Fraction(1, 2)),
        ("500m", Fraction(1, 2)),
        ("1Ki", 1024),
        ("1k", 1000),
        ("1.5Gi", 3 << 29),
        ("1E", 10**18),
        ("1e3", 1000),
        ("+.5", Fraction(1, 2)),
        (2, 2),
    ],
)
def test_quantity_is_parsed_as_in_kubernetes(text: str | int, number: Fraction | int) -> None:
    assert parse_quantity(text) == number * 10**9


@pytest.mark.parametrize("text", ["", "x", "1e999999999", "9" * 5000, "1 Gi"])
def test_invalid_quantity_is_not_zero(text: str) -> None:
    assert parse_quantity(text) == 1
