"""Makes pods, their sources of annotations, and the answers of cwii's dialect."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cwii_webhook.admission.admit import Decision, Route
from cwii_webhook.admission.cluster_view import ObjectMetadata, ObjectRef, OwnerReference
from cwii_webhook.dialects.cwii.annotations import INJECTED
from cwii_webhook.dialects.cwii.dialect import behavior
from cwii_webhook.dialects.cwii.settings import Settings

from tests.webhook.recorded_answers import FakeClusterView, decide

ROOT = "/var/run/secrets/cwii.dev"
ROLE = "arn:aws:iam::123456789012:role/shop"
CLIENT_ID, TENANT_ID = (
    "11111111-2222-3333-4444-555555555555",
    "aaaaaaaa-2222-3333-4444-555555555555",
)
AUDIENCE = "//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/q"

AWS = {"cwii.dev/aws-inject": "true", "cwii.dev/aws-role-arn": ROLE}
AZURE = {
    "cwii.dev/az-inject": "true",
    "cwii.dev/az-client-id": CLIENT_ID,
    "cwii.dev/az-tenant-id": TENANT_ID,
}
GCP = {"cwii.dev/gcp-inject": "true", "cwii.dev/gcp-audience": AUDIENCE}
ALL_CLOUDS = {**AWS, **AZURE, **GCP}

SOURCES = ("pod", "owner", "account", "namespace")
DEFAULT_SETTINGS = Settings()


def make_pod(annotations: Mapping[str, str] | None = None, **spec: Any) -> dict[str, Any]:
    metadata: dict[str, Any] = {
        "name": "p",
        "namespace": "shop",
        "annotations": dict(annotations or {}),
    }
    metadata["ownerReferences"] = [
        {
            "apiVersion": "apps/v1",
            "kind": "StatefulSet",
            "name": "web",
            "uid": "u",
            "controller": True,
        }
    ]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": {"containers": [{"name": "c"}], "serviceAccountName": "worker"} | spec,
    }


def make_cluster(**annotations: Mapping[str, str]) -> FakeClusterView:
    """Makes the owner, the ServiceAccount and the namespace of a pod, with their annotations."""
    owner, account = annotations.get("owner", {}), annotations.get("account", {})
    namespace = annotations.get("namespace", {})
    return FakeClusterView(
        {
            ObjectRef("apps", "StatefulSet", "shop", "web"): ObjectMetadata(owner, (), "u"),
            ObjectRef("", "ServiceAccount", "shop", "worker"): ObjectMetadata(account),
            ObjectRef("", "Namespace", "", "shop"): ObjectMetadata(namespace),
        }
    )


def inject(
    pod: Mapping[str, Any], settings: Settings = DEFAULT_SETTINGS, **sources: Mapping[str, str]
) -> tuple[Decision, dict[str, Any]]:
    cwii = behavior(settings)
    route = Route("cwii", "/mutate", cwii.mutators, INJECTED.key, cwii.typo_hints)
    return decide(route, pod, make_cluster(**sources))


def inject_with_account(
    annotations: Mapping[str, str], settings: Settings = DEFAULT_SETTINGS, **spec: Any
) -> tuple[Decision, dict[str, Any]]:
    """Injects into a pod whose ServiceAccount has these annotations."""
    return inject(make_pod(**spec), settings, account=annotations)


def env(container: Mapping[str, Any]) -> dict[str, str]:
    return {v["name"]: v.get("value", "") for v in container.get("env", ())}


def first_container(pod: Mapping[str, Any]) -> dict[str, Any]:
    return pod["spec"]["containers"][0]


def find_helper(pod: Mapping[str, Any], name: str) -> dict[str, Any]:
    return next(c for c in pod["spec"]["initContainers"] if c["name"] == name)


def find_volume(pod: Mapping[str, Any], name: str) -> dict[str, Any]:
    return next(v for v in pod["spec"]["volumes"] if v["name"] == name)


def find_token(pod: Mapping[str, Any], cloud: str) -> dict[str, Any]:
    return find_volume(pod, f"cwii-{cloud}-token")["projected"]["sources"][0]["serviceAccountToken"]


def make_controller(
    kind: str, name: str, uid: str = "u", version: str = "apps/v1"
) -> OwnerReference:
    return OwnerReference(version, kind, name, uid, controller=True)
