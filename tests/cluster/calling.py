"""Who has the webhook called: a configuration in the API server, for namespaces that bear its label."""

from __future__ import annotations

import base64
from collections.abc import Generator
from contextlib import contextmanager

from tests.cluster.kube.client import Object
from tests.cluster.space import HOOK, Space, a_name, plain, volumes
from tests.cluster.webhook import Webhook
from tests.webhook.harness import ACCOUNT_ANNOTATIONS


@contextmanager
def called(webhook: Webhook, dialect: str, *, port: int = 0, late: str = "Fail") -> Generator[str]:
    """Gives the value of the label: pods in namespaces that bear it are shown to the webhook. `late` is the policy for containers that join later."""
    reach, hook = webhook.reach, a_name(dialect)
    path = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations"
    client = {"url": webhook.url(dialect, port), "caBundle": _base64(reach.authority.pem)}
    common: Object = {
        "clientConfig": client,
        "admissionReviewVersions": ["v1"],
        "sideEffects": "NoneOnDryRun",
        "timeoutSeconds": 10,
        "reinvocationPolicy": "IfNeeded",
        "namespaceSelector": {"matchLabels": {HOOK: hook}},
    }
    pods = {
        "name": "pods.cwii.dev",
        "rules": [_rule("CREATE", "pods")],
        "failurePolicy": "Fail",
        **common,
    }
    joining = {
        "name": "late.cwii.dev",
        "rules": [_rule("UPDATE", "pods/ephemeralcontainers")],
        "failurePolicy": late,
        **common,
    }
    reach.admin.create(path, {"metadata": {"name": hook}, "webhooks": [pods, joining]})
    try:
        _wait_until_called(webhook, dialect, hook)
        yield hook
    finally:
        reach.admin.delete(f"{path}/{hook}")


def _wait_until_called(webhook: Webhook, dialect: str, hook: str) -> None:
    """An API server hears of it a moment later."""
    probe = Space(webhook.reach, hook=hook).account(ACCOUNT_ANNOTATIONS[dialect])
    for number in range(len(webhook.reach.urls)):
        webhook.processes.until(
            lambda: bool(volumes(probe.tried(plain(), number))),  # noqa: B023  # it is asked at once
            "the API server to call the webhook",
        )


def _rule(operation: str, resource: str) -> Object:
    return {
        "apiGroups": [""],
        "apiVersions": ["v1"],
        "operations": [operation],
        "resources": [resource],
    }


def _base64(content: bytes) -> str:
    return base64.b64encode(content).decode()
