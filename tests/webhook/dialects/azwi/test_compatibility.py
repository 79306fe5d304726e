"""Exercises differences from azure-workload-identity that no other test of the dialect covers."""

from __future__ import annotations

from typing import Any

from tests.webhook.dialects.cwii.pods import make_cluster
from tests.webhook.harness import ACCOUNT_ANNOTATIONS, ROUTES
from tests.webhook.recorded_answers import decide

SERVICE_ACCOUNT = make_cluster(account=ACCOUNT_ANNOTATIONS["azwi"])


def make_pod(**spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p", "namespace": "shop"},
        "spec": {"serviceAccountName": "worker", "containers": [{"name": "c"}]} | spec,
    }


def test_unknown_fields_are_kept() -> None:
    container = {"name": "c", "fieldOfContainer": {"a": [1]}, "env": [{"name": "A", "new": None}]}
    volume = {"name": "data", "emptyDir": {"fieldOfSource": 1}}
    pod = make_pod(fieldOfSpec="x", containers=[container], volumes=[volume])

    decision, injected = decide(ROUTES["azwi"], pod, SERVICE_ACCOUNT)

    assert decision.outcome == "injected"
    assert injected["spec"]["fieldOfSpec"] == "x"
    assert injected["spec"]["containers"][0]["fieldOfContainer"] == {"a": [1]}
    assert injected["spec"]["containers"][0]["env"][0] == {"name": "A", "new": None}
    assert volume in injected["spec"]["volumes"]


def test_v15_adds_its_volume_beside_another_token_volume() -> None:
    token = {"audience": "a", "path": "azure-identity-token"}
    volume = {"name": "mine", "projected": {"sources": [{"serviceAccountToken": token}]}}
    mount = {"name": "mine", "mountPath": "/mine"}
    pod = make_pod(containers=[{"name": "c", "volumeMounts": [mount]}], volumes=[volume])

    _, injected = decide(ROUTES["azwi v1.5"], pod, SERVICE_ACCOUNT)

    mounts = {m["name"] for m in injected["spec"]["containers"][0]["volumeMounts"]}
    assert mounts == {"mine", "azure-identity-token"}
    assert {v["name"] for v in injected["spec"]["volumes"]} == mounts
