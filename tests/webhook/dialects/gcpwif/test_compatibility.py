"""Exercises differences from gcp-workload-identity-federation-webhook that no other test covers."""

from __future__ import annotations

from typing import Any

import pytest

from tests.webhook.dialects.cwii.pods import make_cluster
from tests.webhook.harness import ACCOUNT_ANNOTATIONS, ROUTES
from tests.webhook.recorded_answers import decide

SERVICE_ACCOUNT = make_cluster(account=ACCOUNT_ANNOTATIONS["gcpwif"])


def make_pod(annotations: dict[str, str] | None = None, **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p", "namespace": "shop", "annotations": annotations or {}},
        "spec": {"serviceAccountName": "worker", "containers": [{"name": "c"}]} | spec,
    }


@pytest.mark.parametrize("mode", ["gcpwif", "gcpwif direct"])
def test_unknown_fields_are_kept(mode: str) -> None:
    container = {"name": "c", "fieldOfContainer": {"a": [1]}, "env": [{"name": "A", "new": None}]}
    volume = {"name": "data", "emptyDir": {"fieldOfSource": 1}}
    pod = make_pod(fieldOfSpec="x", containers=[container], volumes=[volume])

    decision, injected = decide(ROUTES[mode], pod, SERVICE_ACCOUNT)

    assert decision.outcome == "injected"
    assert injected["spec"]["fieldOfSpec"] == "x"
    assert injected["spec"]["containers"][0]["fieldOfContainer"] == {"a": [1]}
    assert injected["spec"]["containers"][0]["env"][0] == {"name": "A", "new": None}
    assert volume in injected["spec"]["volumes"]


@pytest.mark.parametrize("mode", ["gcpwif", "gcpwif direct"])
def test_mirror_pod_is_not_changed(mode: str) -> None:
    pod = make_pod({"kubernetes.io/config.mirror": "x"})

    decision, injected = decide(ROUTES[mode], pod, SERVICE_ACCOUNT)

    assert decision.outcome == "nothing"
    assert injected == pod
