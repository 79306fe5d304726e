"""The class of a pod, as the API server judges it, and containers of ours that leave it as it is."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from cwii_webhook.admission.review import Pod
from cwii_webhook.dialects.common.pod_traits import QosClass, parse_quantity, qos_class
from cwii_webhook.dialects.cwii.settings import Settings

from tests.webhook.dialects.cwii.pods import AWS, GCP, inject, make_cluster, make_pod
from tests.webhook.harness import ROUTES, SENSIBLE
from tests.webhook.recorded_answers import asked, request

Json = dict[str, Any]
BOTH = {"cpu": "1", "memory": "1Gi"}
NONE = {"cpu": "0", "memory": "0"}
WITH_PROXY = {"azure.workload.identity/inject-proxy-sidecar": "true"}
CLASSES: list[tuple[list[Json], QosClass]] = [
    ([{}], "BestEffort"),
    ([{"requests": NONE}], "BestEffort"),
    ([{"requests": {"cpu": 0, "memory": "0Mi"}, "limits": {"cpu": "0m"}}], "BestEffort"),
    ([{"requests": {"ephemeral-storage": "1Gi"}}], "BestEffort"),
    ([{"limits": BOTH}], "Guaranteed"),
    ([{"requests": {"cpu": "1000m", "memory": "1024Mi"}, "limits": BOTH}], "Guaranteed"),
    (
        [{"requests": {"cpu": 1, "memory": 1073741824}, "limits": {"cpu": "1e0", "memory": "1Gi"}}],
        "Guaranteed",
    ),
    ([{"requests": {"cpu": "0.5"}, "limits": BOTH}], "Burstable"),
    ([{"limits": {"cpu": "1", "memory": "0"}}], "Burstable"),
    ([{"limits": BOTH}, {}], "Burstable"),
    ([{"limits": BOTH}, {"requests": NONE}], "Burstable"),
    ([{"requests": {"cpu": "1n"}}], "Burstable"),
]


def decode_pod(pod: Json) -> Pod:
    found = request(pod).object
    assert found
    return found


@pytest.mark.parametrize(
    ("resources", "judged"),
    CLASSES,
)
def test_a_pods_class_is_what_the_api_server_makes_of_it(
    resources: list[Json], judged: QosClass
) -> None:
    containers = [
        {"name": f"c{number}", "resources": each} for number, each in enumerate(resources)
    ]

    assert qos_class(decode_pod(make_pod(containers=containers))) == judged
    assert (
        qos_class(decode_pod(make_pod(containers=containers[:1], initContainers=containers[1:])))
        == judged
    )


@pytest.mark.parametrize(
    ("own", "judged"),
    [
        ({"requests": NONE}, "BestEffort"),
        ({"limits": BOTH}, "Guaranteed"),
        ({"requests": BOTH}, "Burstable"),
        ({}, "Burstable"),
    ],
)
def test_what_is_said_of_the_whole_pod_goes_before_its_containers(
    own: Json, judged: QosClass
) -> None:
    assert (
        qos_class(
            decode_pod(
                make_pod(resources=own, containers=[{"name": "c", "resources": {"requests": BOTH}}])
            )
        )
        == judged
    )


@pytest.mark.parametrize(
    "resources",
    [
        {},
        {"requests": NONE},
        {"requests": {"cpu": "0m"}, "limits": {"memory": 0}},
        {"limits": NONE},
        {"limits": BOTH},
        {"requests": {"cpu": "100m"}},
        {"requests": NONE, "limits": BOTH},
    ],
    ids=str,
)
def test_containers_of_ours_leave_a_pod_its_class(resources: Json) -> None:
    pod = make_pod(containers=[{"name": "c", "resources": resources}])

    after = inject(
        pod,
        Settings(gcp_delivery="init-container"),
        account={**AWS, **GCP, "cwii.dev/aws-verify": "true"},
    )[1]

    assert len(after["spec"]["initContainers"]) == 2
    assert qos_class(decode_pod(after)) == qos_class(decode_pod(pod))


@pytest.mark.parametrize("limits", [NONE, BOTH, {"cpu": "1", "memory": "0"}], ids=str)
@pytest.mark.parametrize("dialect", ["azwi", "gcpwif"])
def test_containers_of_the_peers_leave_a_pod_its_class(dialect: str, limits: Json) -> None:
    proxied = make_pod(WITH_PROXY, containers=[{"name": "c", "resources": {"limits": limits}}])

    decision, after = asked(ROUTES[dialect], proxied, make_cluster(account=SENSIBLE[dialect]))

    assert decision.outcome == "injected"
    assert len(after["spec"]["initContainers"]) == {"azwi": 2, "gcpwif": 1}[dialect]
    assert qos_class(decode_pod(after)) == qos_class(decode_pod(proxied))


@pytest.mark.parametrize(
    ("written", "number"),
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
def test_a_quantity_is_read_as_kubernetes_reads_it(
    written: str | int, number: Fraction | int
) -> None:
    assert parse_quantity(written) == number * 10**9


@pytest.mark.parametrize("written", ["", "x", "1e999999999", "9" * 5000, "1 Gi"])
def test_what_is_no_quantity_is_something(written: str) -> None:
    assert parse_quantity(written) == 1
