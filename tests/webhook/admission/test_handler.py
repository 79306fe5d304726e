"""What is answered to an API server, whatever it asks about."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from cwii_webhook.admission.admit import Decision, admit
from cwii_webhook.admission.decision_log import DecisionLog
from cwii_webhook.admission.handler import build_response
from cwii_webhook.telemetry.log import Log
from cwii_webhook.telemetry.metrics import Metrics

from tests.webhook.dialects.cwii.pods import make_cluster, make_pod
from tests.webhook.harness import ROLE, ROUTES, SENSIBLE, Counter, review
from tests.webhook.recorded_answers import request

ANSWERED = Counter(ROUTES["eks"], make_cluster(account=SENSIBLE["eks"]))
REPLICAS = {"kind": "Scale", "metadata": {"name": "web"}, "spec": {"replicas": 1}}


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ({"group": "", "kind": "ConfigMap"}, {"metadata": {"name": "p"}}),
        (
            {"group": "apps", "kind": "Deployment"},
            {"metadata": {"name": "p"}, "spec": make_pod()["spec"]},
        ),
        ({"group": "autoscaling", "kind": "Scale"}, REPLICAS),
        ({"group": "example.com", "kind": "Pod"}, {"spec": {"containers": {"named": "otherwise"}}}),
        ({"group": "example.com", "kind": "Pod"}, make_pod()),
        ({"group": "", "kind": "Binding"}, None),
    ],
)
def test_what_is_no_pod_is_allowed_unchanged(kind: dict[str, str], body: object) -> None:
    asked = review(body, kind=kind)

    reply = ANSWERED(asked)

    assert (reply.status, json.loads(reply.body)["response"]) == (
        200,
        {"uid": "u", "allowed": True},
    )


def test_a_pod_that_is_none_is_unreadable_whatever_it_is_called() -> None:
    assert ANSWERED(review({"spec": {"containers": "x"}}, kind={"kind": "Pod"})).status == 400


@pytest.mark.parametrize("version", ["admission.k8s.io/v1", "admission.k8s.io/v1beta1"])
def test_it_is_answered_in_the_version_in_which_it_was_asked(version: str) -> None:
    asked = json.loads(review(make_pod())) | {"apiVersion": version}

    answer = json.loads(ANSWERED(json.dumps(asked).encode()).body)

    assert (answer["apiVersion"], answer["kind"], answer["response"]["patchType"]) == (
        version,
        "AdmissionReview",
        "JSONPatch",
    )


@pytest.mark.parametrize(
    ("said_by_account", "level", "why"),
    [
        ({"cwii.dev/aws-inject": "true"}, "info", "aws: incomplete"),
        ({"cwii.dev/aws-role-arn": ROLE}, "info", "aws: not-asked"),
        ({}, "debug", "aws: not-asked"),
    ],
    ids=["asked and incomplete", "not asked in so many words", "not asked"],
)
def test_why_nothing_is_given_stands_in_the_log(
    tmp_path: Path, said_by_account: dict[str, str], level: str, why: str
) -> None:
    decision = admit(ROUTES["cwii"], request(make_pod()), make_cluster(account=said_by_account))

    lines: dict[str, Any] = {}
    for allowed in ("info", "debug"):
        with (tmp_path / allowed).open("w+") as file:
            DecisionLog(Metrics(), Log(file.fileno(), allowed), tuple(ROUTES)).log_decision(
                "cwii", request(make_pod()), decision
            )
            lines[allowed] = [
                json.loads(line) for line in (tmp_path / allowed).read_text().splitlines()
            ]

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
    ids=["once each", "one that is long", "one too long", "two too long", "too many"],
)
def test_warnings_are_no_more_than_an_api_server_hands_on(
    warnings: tuple[str, ...], sent: tuple[str, ...]
) -> None:
    assert build_response("u", Decision("nothing", warnings=warnings)).warnings == sent
    assert sum(map(len, sent)) <= 4096
