"""Exercises differences from amazon-eks-pod-identity-webhook that no other test covers."""

from __future__ import annotations

import json
from typing import Any

from cwii_webhook.dialects.dialect import build_service
from cwii_webhook.dialects.registry import ALL

from tests.webhook.dialects.cwii.pods import make_cluster
from tests.webhook.harness import (
    ACCOUNT_ANNOTATIONS,
    ROUTES,
    InProcessWebhook,
    check_response,
    make_review,
)
from tests.webhook.recorded_answers import decide

SERVICE_ACCOUNT = make_cluster(account=ACCOUNT_ANNOTATIONS["eks"])
DAY = 86400


def make_pod(**spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p", "namespace": "shop"},
        "spec": {"serviceAccountName": "worker", "containers": [{"name": "c"}]} | spec,
    }


def test_unknown_fields_are_kept() -> None:
    sidecar: dict[str, Any] = {
        "name": "s",
        "restartPolicy": "Always",
        "startupProbe": {"newKind": {}},
    }
    container = {"name": "c", "fieldOfContainer": {"a": [1]}, "env": [{"name": "A", "new": None}]}
    volume = {"name": "data", "emptyDir": {"fieldOfSource": 1}}
    pod = make_pod(
        fieldOfSpec="x", initContainers=[sidecar], containers=[container], volumes=[volume]
    )

    decision, injected = decide(ROUTES["eks"], pod, SERVICE_ACCOUNT)

    assert decision.outcome == "injected"
    assert injected["spec"]["fieldOfSpec"] == "x"
    assert injected["spec"]["initContainers"][0].items() >= sidecar.items()
    assert injected["spec"]["containers"][0]["fieldOfContainer"] == {"a": [1]}
    assert injected["spec"]["containers"][0]["env"][0] == {"name": "A", "new": None}
    assert volume in injected["spec"]["volumes"]


def test_unchanged_pod_gets_no_patch() -> None:
    """Covers a pod that has everything already, and a pod that asks for nothing."""
    _, injected = decide(ROUTES["eks"], make_pod(), SERVICE_ACCOUNT)
    webhook, other = (
        InProcessWebhook(ROUTES["eks"], SERVICE_ACCOUNT),
        InProcessWebhook(ROUTES["eks"], make_cluster()),
    )

    for reply in (webhook(make_review(injected)), other(make_review(make_pod()))):
        response = json.loads(reply.body)["response"]
        assert response["allowed"]
        assert not {"patch", "patchType"} & response.keys()


def test_expiration_depends_on_the_uid_of_the_request() -> None:
    eks = build_service(ALL["eks"], ("--watch-container-credentials-config=/identities.json",), {})
    (identities,) = eks.external_config
    identities.update('{"identities": [{"namespace": "shop", "serviceAccount": "worker"}]}')

    def expiration(uid: str) -> int:
        body = make_review(make_pod(), uid=uid)
        ops = check_response(body, InProcessWebhook(eks.route, make_cluster())(body))
        volumes: list[Any] = [op.value for op in ops if op.path == "/spec/volumes"]
        return volumes[0][0]["projected"]["sources"][0]["serviceAccountToken"]["expirationSeconds"]

    uids = [f"0000000{n}-6c1f-400e-a355-c0f31931946c" for n in range(8)]
    expirations = [expiration(uid) for uid in uids]

    assert [expiration(uid) for uid in uids] == expirations
    assert len(set(expirations)) > 1
    assert all(DAY - 7200 <= seconds <= DAY for seconds in expirations)
