"""The smallest objects that tests make, and where they are made."""

from __future__ import annotations

from typing import Any

from tests.cluster.kube.client import Client, Object
from tests.cluster.kube.node_files import SHELL_IMAGE

_CORE = "/api/v1/namespaces/default"
ACCOUNTS = f"{_CORE}/serviceaccounts"
CONFIGS = f"{_CORE}/configmaps"
PODS = f"{_CORE}/pods"
SECRETS = f"{_CORE}/secrets"
SERVICES = f"{_CORE}/services"
DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"


def named(name: str, **more: Any) -> dict[str, Any]:
    return {"metadata": {"name": name}, **more}


def a_pod(name: str, script: str, **spec: Any) -> dict[str, Any]:
    """For a node: a shell's script, run once."""
    container = {
        "name": "main",
        "image": SHELL_IMAGE,
        "args": [script],
        **spec.pop("container", {}),
    }
    return named(
        name,
        spec={
            "restartPolicy": "Never",
            "terminationGracePeriodSeconds": 0,
            "containers": [container],
            **spec,
        },
    )


def path(client: Client, body: Object) -> str:
    """Where it is made, as the API server itself says."""
    version = body["apiVersion"]
    base = f"/apis/{version}" if "/" in version else f"/api/{version}"
    (plural,) = [
        each["name"]
        for each in client.get(base)["resources"]
        if each["kind"] == body["kind"] and "/" not in each["name"]
    ]
    within = (
        f"/namespaces/{body['metadata']['namespace']}" if "namespace" in body["metadata"] else ""
    )
    return f"{base}{within}/{plural}"
