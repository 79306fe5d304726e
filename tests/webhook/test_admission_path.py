"""Compares the path of one admission in CONTRIBUTING.md with a traced review."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from types import FrameType

import pytest
from cwii_webhook.admission.cluster_view import (
    ClusterView,
    ObjectMetadata,
    ObjectRef,
    service_account_ref,
)
from cwii_webhook.admission.decision_log import DecisionLog
from cwii_webhook.admission.handler import AdmissionHandler
from cwii_webhook.admission.injection import ConfigMap
from cwii_webhook.dialects.dialect import build_service
from cwii_webhook.dialects.registry import ALL
from cwii_webhook.server.messages import JSON, HttpRequest, HttpResponse, text_response
from cwii_webhook.telemetry.log import Log
from cwii_webhook.telemetry.metrics import Metrics

CONTRIBUTING = (Path(__file__).parents[2] / "CONTRIBUTING.md").read_text()
ROW = re.compile(r"^\| `([\w/]+)\.py` \| `([\w.]+)` \|", re.MULTILINE)
ID = "11111111-2222-3333-4444-555555555555"
PROVIDER = "projects/1/locations/global/workloadIdentityPools/pool/providers/cluster"
ANNOTATIONS: Mapping[str, Mapping[str, str]] = {
    "eks": {"eks.amazonaws.com/role-arn": "arn:aws:iam::123456789012:role/shop"},
    "azwi": {"azure.workload.identity/client-id": ID},
    "gcpwif": {
        "cloud.google.com/workload-identity-provider": PROVIDER,
        "cloud.google.com/service-account-email": "shop@project.iam.gserviceaccount.com",
    },
    "cwii": {
        "cwii.dev/aws-inject": "true",
        "cwii.dev/aws-role-arn": "arn:aws:iam::123456789012:role/shop",
        "cwii.dev/az-inject": "true",
        "cwii.dev/az-client-id": ID,
        "cwii.dev/az-tenant-id": ID,
        "cwii.dev/gcp-inject": "true",
        "cwii.dev/gcp-audience": f"//iam.googleapis.com/{PROVIDER}",
    },
}
POD = {
    "metadata": {
        "generateName": "shop-6b7f9c9d4-",
        "annotations": {"prometheus.io/scrape": "true"},
        "ownerReferences": [
            {
                "apiVersion": "apps/v1",
                "kind": "ReplicaSet",
                "name": "shop",
                "uid": "r",
                "controller": True,
            }
        ],
    },
    "spec": {
        "serviceAccountName": "shop",
        "volumes": [{"name": "config", "configMap": {"name": "shop"}}],
        "containers": [
            {
                "name": "web",
                "env": [{"name": "URL", "value": "https://shop.example.com"}],
                "volumeMounts": [{"name": "config", "mountPath": "/etc/shop"}],
            }
        ],
    },
}


class OneServiceAccount:
    def __init__(self, annotations: Mapping[str, str]) -> None:
        self._objects = {
            service_account_ref("shop", "shop"): ObjectMetadata(annotations),
            ObjectRef("apps", "ReplicaSet", "shop", "shop"): ObjectMetadata(uid="r"),
        }

    def get(self, ref: ObjectRef) -> ObjectMetadata | None:
        return self._objects.get(ref)

    async def look_up(self, ref: ObjectRef) -> None:
        raise AssertionError(f"{ref} is not looked up")

    async def write(self, config_map: ConfigMap, view: ClusterView) -> None:
        raise AssertionError(f"{config_map} is not written, {view} is not read")


def trace_first_review(dialect: str) -> dict[str, set[str]]:
    """Returns the functions that the first review enters, by module, without telemetry."""
    route = build_service(ALL[dialect], (), {"AZURE_TENANT_ID": ID}).route
    cluster = OneServiceAccount(ANNOTATIONS[dialect])
    with open(os.devnull, "wb") as log:  # noqa: PTH123
        decision_log = DecisionLog(Metrics(), Log(log.fileno()), tuple(ALL))
        handler = AdmissionHandler(
            {b"/": route}, lambda: cluster, cluster, decision_log, lambda _: text_response(404, "")
        )
        handler.not_ready_reason = ""
        request = {"uid": "uid-1", "operation": "CREATE", "namespace": "shop", "object": POD}
        body = json.dumps({"request": request}).encode()
        entered: dict[str, set[str]] = {}

        def profile(frame: FrameType, event: str, _argument: object) -> None:
            module = frame.f_globals.get("__name__", "")
            name = frame.f_code.co_qualname
            if event == "call" and module.startswith("cwii_webhook.") and "<" not in name:
                path = module.removeprefix("cwii_webhook.").replace(".", "/")
                entered.setdefault(path, set()).add(name)

        sys.setprofile(profile)
        try:
            response = handler(HttpRequest(b"POST", b"/", JSON, body))
        finally:
            sys.setprofile(None)
    assert isinstance(response, HttpResponse)
    assert b'"patch"' in response.body
    return {module: names for module, names in entered.items() if "telemetry" not in module}


def test_documented_path_equals_the_modules_that_a_review_enters() -> None:
    documented = ROW.findall(CONTRIBUTING)
    entered = trace_first_review("eks")

    assert [module for module, _ in documented] == list(entered)
    assert {module: name in entered[module] for module, name in documented} == dict.fromkeys(
        entered, True
    )


@pytest.mark.parametrize(
    ("dialect", "modules"), [("eks", 14), ("azwi", 14), ("gcpwif", 16), ("cwii", 21)]
)
def test_first_review_enters_few_modules(dialect: str, modules: int) -> None:
    assert len(trace_first_review(dialect)) <= modules
