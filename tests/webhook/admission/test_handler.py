"""Tests the responses and the log lines of the admission handler."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from cwii_webhook.admission.admit import Decision, admit
from cwii_webhook.admission.decision_log import DecisionLog, summarize
from cwii_webhook.admission.handler import build_response
from cwii_webhook.telemetry.log import Log
from cwii_webhook.telemetry.metrics import Metrics

from tests.webhook.dialects.cwii.pods import make_cluster, make_pod
from tests.webhook.harness import ACCOUNT_ANNOTATIONS, ROLE, ROUTES, InProcessWebhook, make_review
from tests.webhook.recorded_answers import make_request

WEBHOOK = InProcessWebhook(ROUTES["eks"], make_cluster(account=ACCOUNT_ANNOTATIONS["eks"]))
SCALE = {"kind": "Scale", "metadata": {"name": "web"}, "spec": {"replicas": 1}}


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ({"group": "", "kind": "ConfigMap"}, {"metadata": {"name": "p"}}),
        (
            {"group": "apps", "kind": "Deployment"},
            {"metadata": {"name": "p"}, "spec": make_pod()["spec"]},
        ),
        ({"group": "autoscaling", "kind": "Scale"}, SCALE),
        ({"group": "example.com", "kind": "Pod"}, {"spec": {"containers": {"named": "otherwise"}}}),
        ({"group": "example.com", "kind": "Pod"}, make_pod()),
        ({"group": "", "kind": "Binding"}, None),
    ],
)
def test_object_that_is_not_a_pod_is_allowed_unchanged(kind: dict[str, str], body: object) -> None:
    response = WEBHOOK(make_review(body, kind=kind))

    assert (response.status, json.loads(response.body)["response"]) == (
        200,
        {"uid": "u", "allowed": True},
    )


def test_invalid_pod_is_answered_with_400() -> None:
    assert WEBHOOK(make_review({"spec": {"containers": "x"}}, kind={"kind": "Pod"})).status == 400


@pytest.mark.parametrize("version", ["admission.k8s.io/v1", "admission.k8s.io/v1beta1"])
def test_response_has_the_api_version_of_the_review(version: str) -> None:
    review = json.loads(make_review(make_pod())) | {"apiVersion": version}

    response = json.loads(WEBHOOK(json.dumps(review).encode()).body)

    assert (response["apiVersion"], response["kind"], response["response"]["patchType"]) == (
        version,
        "AdmissionReview",
        "JSONPatch",
    )


@pytest.mark.parametrize(
    ("annotations", "level", "why"),
    [
        ({"cwii.dev/aws-inject": "true"}, "info", "aws: incomplete"),
        ({"cwii.dev/aws-role-arn": ROLE}, "info", "aws: not-asked"),
        ({}, "debug", "aws: not-asked"),
    ],
    ids=["incomplete", "value without opt-in", "no annotations"],
)
def test_log_gives_the_reason_for_no_injection(
    tmp_path: Path, annotations: dict[str, str], level: str, why: str
) -> None:
    decision = admit(ROUTES["cwii"], make_request(make_pod()), make_cluster(account=annotations))

    lines: dict[str, Any] = {}
    for log_level in ("info", "debug"):
        path = tmp_path / log_level
        with path.open("w+") as file:
            DecisionLog(Metrics(), Log(file.fileno(), log_level), tuple(ROUTES)).log_decision(
                make_request(make_pod()), summarize("cwii", decision)
            )
            lines[log_level] = [json.loads(line) for line in path.read_text().splitlines()]

    (line,) = lines["debug"]
    assert (line["level"], why in line["why"]) == (level, True)
    assert len(lines["info"]) == (level == "info")


@pytest.mark.parametrize(
    ("warnings", "sent"),
    [
        (("a", "b", "a"), ("a", "b")),
        (("x" * 4000,), ("x" * 4000,)),
        (("x" * 5000,), ("x" * 253 + "...",)),
        (("x" * 4000, "y" * 300), ("x" * 253 + "...", "y" * 253 + "...")),
        (
            tuple(f"{n:>256}" for n in range(20)),
            (*[f"{n:>256}" for n in range(15)], "5 more warnings: cwiictl explain shows them all"),
        ),
    ],
    ids=["repeated", "long", "too long", "two too long", "too many"],
)
def test_warnings_stay_within_the_limits_of_the_api_server(
    warnings: tuple[str, ...], sent: tuple[str, ...]
) -> None:
    assert build_response("u", Decision("nothing", warnings=warnings)).warnings == sent
    assert sum(map(len, sent)) <= 4096
