"""Compares the texts that users and their tools read with golden files.

GOLDEN=renew scripts/test tests/webhook/test_user_output.py

writes the golden files again. Read the difference before you commit it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from cwii_webhook.__main__ import run
from cwii_webhook.admission.admit import Decision, Route
from cwii_webhook.admission.decision_log import DecisionLog, summarize
from cwii_webhook.dialects.dialect import Dialect, build_service
from cwii_webhook.dialects.registry import ALL
from cwii_webhook.telemetry.log import Log
from cwii_webhook.telemetry.metrics import Metrics
from cwii_webhook.worker import Instruments

from tests.journeys.goldens import compared
from tests.webhook.dialects.cwii.pods import make_cluster
from tests.webhook.harness import ACCOUNT_ANNOTATIONS
from tests.webhook.recorded_answers import decide, make_request

GOLDEN = Path(__file__).parent / "golden"
AZURE_TENANT = {"AZURE_TENANT_ID": "aaaaaaaa-2222-4333-8444-555555555555"}
FLAGS: Mapping[str, tuple[str, ...]] = {"azwi": ("--check-label=true",)}
LABELS: Mapping[str, Mapping[str, str]] = {"azwi": {"azure.workload.identity/use": "true"}}
# No annotation makes the EKS dialect refuse a pod: only the limit of all dialects does.
REFUSED_ANNOTATIONS: Mapping[str, Mapping[str, str]] = {
    "cwii": {"cwii.dev/aws-role-arn": "no-role"},
    "azwi": {"azure.workload.identity/service-account-token-expiration": "1h"},
    "gcpwif": {"cloud.google.com/injection-mode": "sidecar"},
}
TOO_MANY_CONTAINERS = 501


def make_pod(labels: Mapping[str, str], containers: int = 1) -> dict[str, Any]:
    return {
        "metadata": {"name": "web-1", "namespace": "shop", "labels": dict(labels)},
        "spec": {
            "serviceAccountName": "worker",
            "containers": [{"name": f"c{index}"} for index in range(containers)],
        },
    }


def route(dialect: str) -> Route:
    return build_service(ALL[dialect], FLAGS.get(dialect, ()), AZURE_TENANT).route


def injected(dialect: str) -> tuple[Any, Decision]:
    pod = make_pod(LABELS.get(dialect, {}))
    return pod, decide(route(dialect), pod, make_cluster(account=ACCOUNT_ANNOTATIONS[dialect]))[0]


def nothing(dialect: str) -> tuple[Any, Decision]:
    pod = make_pod({})
    return pod, decide(route(dialect), pod, make_cluster())[0]


def refused(dialect: str) -> tuple[Any, Decision]:
    annotations = REFUSED_ANNOTATIONS.get(dialect)
    pod = make_pod(LABELS.get(dialect, {}), 1 if annotations else TOO_MANY_CONTAINERS)
    account = {**ACCOUNT_ANNOTATIONS[dialect], **(annotations or {})}
    return pod, decide(route(dialect), pod, make_cluster(account=account))[0]


DECISIONS: Mapping[str, Callable[[str], tuple[Any, Decision]]] = {
    "injected": injected,
    "nothing": nothing,
    "refused": refused,
}


def log_lines(dialect: str, file: Path) -> list[dict[str, Any]]:
    """Returns one line of the decision log for each outcome, without its time."""
    with file.open("w") as stream:
        log = DecisionLog(Metrics(), Log(stream.fileno(), "debug"), tuple(ALL))
        for outcome, decide in DECISIONS.items():
            pod, decision = decide(dialect)
            assert decision.outcome == outcome
            log.log_decision(make_request(pod), summarize(dialect, decision))
        log.log_undecided(dialect, make_request(make_pod({})), "REASON")
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    for line in lines:
        del line["time"]
    return lines


def annotation_table(dialect: Dialect) -> list[dict[str, Any]]:
    fields = ("key", "place", "kind", "sources", "default", "is_output")
    return [
        {field: getattr(annotation, field) for field in fields}
        for annotation in dialect.annotations
    ]


def to_json_lines(rows: list[dict[str, Any]]) -> bytes:
    return "".join(f"{json.dumps(row)}\n" for row in rows).encode()


def test_help_texts_equal_the_golden_files(capsys: pytest.CaptureFixture[str]) -> None:
    texts: dict[str, bytes] = {}
    for words in ((), *((dialect,) for dialect in ALL), ("renew",)):
        assert run(["cwii-webhook", *words, "--help"], {}) == 0
        name = words[0] if words else "cwii-webhook"
        texts[f"{name}.txt"] = capsys.readouterr().out.encode()

    compared("help", texts, GOLDEN)


def test_metric_descriptions_equal_the_golden_file() -> None:
    metrics = Instruments("info", ["serviceaccounts"]).metrics
    exposition = metrics.exposition().decode()
    lines = [line for line in exposition.splitlines(keepends=True) if line.startswith("# ")]
    descriptions = sorted(lines, key=lambda line: line.split()[2])

    assert len(descriptions) > 20
    compared("metrics", {"descriptions.txt": "".join(descriptions).encode()}, GOLDEN)


def test_log_lines_equal_the_golden_files(tmp_path: Path) -> None:
    compared(
        "log",
        {f"{name}.jsonl": to_json_lines(log_lines(name, tmp_path / name)) for name in ALL},
        GOLDEN,
    )


def test_annotation_tables_equal_the_golden_files() -> None:
    compared(
        "annotations",
        {
            f"{name}.jsonl": to_json_lines(annotation_table(dialect))
            for name, dialect in ALL.items()
        },
        GOLDEN,
    )
