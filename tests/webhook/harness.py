"""The webhook's admission over objects that are at hand: a review's bytes in, a reply out, and no socket.

And what every answer has to be.
"""

from __future__ import annotations

import asyncio
import base64
import copy
import json
import os
from collections.abc import Awaitable, Mapping
from typing import Any, NamedTuple, cast

from cwii_webhook.admission.admit import Route
from cwii_webhook.admission.cluster_view import ClusterView, ObjectRef
from cwii_webhook.admission.decision_log import DecisionLog
from cwii_webhook.admission.dry_run import apply_patch
from cwii_webhook.admission.handler import AdmissionHandler
from cwii_webhook.admission.injection import ConfigMap
from cwii_webhook.admission.patch import Op
from cwii_webhook.dialects.dialect import build_service
from cwii_webhook.dialects.registry import ALL
from cwii_webhook.server.messages import JSON, HttpRequest, HttpResponse, text_response
from cwii_webhook.telemetry.log import Log
from cwii_webhook.telemetry.metrics import Metrics

# Each dialect, in each of the shapes that its flags give to what it does.
LINES: Mapping[str, tuple[str, ...]] = {
    "cwii": ("cwii",),
    "cwii by container": ("cwii", "--gcp-delivery=init-container", "--native-annotations=true"),
    "cwii by ConfigMap": ("cwii", "--gcp-delivery=config-map"),
    "eks": ("eks", "--aws-default-region=eu-west-1", "--sts-regional-endpoint"),
    "azwi": ("azwi", "--tenant-id=tenant"),
    "azwi v1.5": ("azwi", "--tenant-id=tenant", "--layout=v1.5"),
    "azwi next": (
        "azwi",
        "--tenant-id=tenant",
        "--layout=next",
        "--custom-token-endpoint-annotation-suffix=x",
        "--custom-token-endpoint-audience=y",
    ),
    "gcpwif": ("gcpwif", "--gcp-default-region=europe-west1"),
    "gcpwif direct": ("gcpwif", "--default-injection-mode=direct"),
}
ROUTES: Mapping[str, Route] = {
    name: build_service(ALL[dialect], flags, {}).route for name, (dialect, *flags) in LINES.items()
}


ROLE = "arn:aws:iam::123456789012:role/shop"
PROVIDER = "projects/1/locations/global/workloadIdentityPools/p/providers/q"

# What a ServiceAccount says that asks for all that there is.
SENSIBLE: Mapping[str, Mapping[str, str]] = {
    "cwii": {f"cwii.dev/{cloud}-verify": "true" for cloud in ("aws", "az", "gcp")}
    | {"cwii.dev/aws-inject": "true", "cwii.dev/aws-role-arn": ROLE}
    | {
        "cwii.dev/az-inject": "true",
        "cwii.dev/az-client-id": "11111111-2222-4333-8444-555555555555",
        "cwii.dev/az-tenant-id": "aaaaaaaa-2222-4333-8444-555555555555",
    }
    | {"cwii.dev/gcp-inject": "true", "cwii.dev/gcp-audience": f"//iam.googleapis.com/{PROVIDER}"},
    "eks": {"eks.amazonaws.com/role-arn": ROLE},
    "azwi": {"azure.workload.identity/client-id": "11111111-2222-4333-8444-555555555555"},
    "gcpwif": {
        "cloud.google.com/workload-identity-provider": PROVIDER,
        "cloud.google.com/service-account-email": "sa@project.iam.gserviceaccount.com",
    },
}


UNREAD = os.open(os.devnull, os.O_WRONLY)


class Sight:
    """All is known: there is nothing to look for."""

    def __init__(self, picture: ClusterView) -> None:
        self.get = picture.get

    async def look_up(self, ref: ObjectRef) -> None:
        raise AssertionError(f"{ref} is known to be there or not")


class Nowhere:
    """Delivers to no cluster."""

    async def write(self, thing: ConfigMap, picture: ClusterView) -> None:
        assert thing.namespace
        assert picture


class Counter:
    """Where one route's reviews are answered."""

    def __init__(self, route: Route, picture: ClusterView, view: type[Sight] = Sight) -> None:
        self.metrics = Metrics()
        diary = DecisionLog(self.metrics, Log(UNREAD, "debug"), tuple(ALL))
        self._admission = AdmissionHandler(
            {b"/": route},
            lambda: view(picture),
            Nowhere(),
            diary,
            lambda _: text_response(404, "no review"),
        )
        self._admission.not_ready_reason = ""

    def __call__(self, body: bytes) -> HttpResponse:
        reply = self._admission(HttpRequest(b"POST", b"/", JSON, body))
        return reply if isinstance(reply, HttpResponse) else asyncio.run(_waited(reply))


async def _waited(reply: Awaitable[HttpResponse]) -> HttpResponse:
    return await reply


def review(pod: object, **more: object) -> bytes:
    asked = {"uid": "u", "operation": "CREATE", "namespace": "shop", "object": pod, **more}
    return json.dumps(
        {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": asked}
    ).encode()


OWN = "OWN"  # in a pod that is `written`: the end of the name of its volume


class Own(NamedTuple):
    """What an API server writes anew into each review."""

    uid: str
    volume: str
    time: str


OWNS = tuple(
    Own(f"0000000{n}-6c1f-400e-a355-c0f31931946c", f"zw9n{n}", f"2026-11-19T15:19:0{n}Z")
    for n in range(4)
)


def written(pod: Mapping[str, Any], own: Own, *, mounts: bool = True, **more: object) -> bytes:
    """A review of it as an API server writes one, after what it has put into the pod itself."""
    made = copy.deepcopy(dict(pod))
    manager = {
        "manager": "kube-controller-manager",
        "operation": "Update",
        "apiVersion": "v1",
        "time": own.time,
        "fieldsType": "FieldsV1",
    }
    made["metadata"]["managedFields"] = [manager]
    if mounts:
        name, path = f"kube-api-access-{OWN}", "/var/run/secrets/kubernetes.io/serviceaccount"
        made["spec"]["volumes"] = [
            *(made["spec"].get("volumes") or ()),
            {"name": name, "projected": {"sources": []}},
        ]
        for container in made["spec"].get("containers") or ():
            container["volumeMounts"] = [
                *(container.get("volumeMounts") or ()),
                {"name": name, "readOnly": True, "mountPath": path},
            ]
    asked = {
        "uid": own.uid,
        "kind": {"group": "", "version": "v1", "kind": "Pod"},
        "operation": "CREATE",
        "namespace": "shop",
        "object": made,
        **more,
    }
    body = {"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1", "request": asked}
    return json.dumps(body, separators=(",", ":")).replace(OWN, own.volume).encode()


def well_formed(body: bytes, reply: HttpResponse) -> list[Op]:
    """What an API server would make of the answer: the patch in it, if there is one.

    It applies to the pod that was sent.
    """
    if reply.status == 400:
        assert reply.body.startswith(b"this is no review of a pod: ")
        return []
    assert reply.status == 200
    answer = json.loads(reply.body)
    response = cast("dict[str, Any]", answer["response"])
    assert answer.keys() == {"apiVersion", "kind", "response"}
    assert (response["allowed"] is True) or response["status"]["message"]
    assert all(text and isinstance(text, str) for text in response.get("warnings", []))
    assert all(
        "/" not in key and isinstance(text, str)
        for key, text in response.get("auditAnnotations", {}).items()
    )
    assert ("patch" in response) == ("patchType" in response)
    ops = [
        Op(op["op"], op["path"], op["value"])
        for op in json.loads(base64.b64decode(response.get("patch", "W10=")))
    ]
    assert not ops or response["allowed"]
    if request := _read(body):
        assert response["uid"] == request["uid"]
        apply_patch(request.get("object"), ops)
    return ops


def _read(body: bytes) -> dict[str, Any]:
    """As Python reads it, which minds what stands in members that nobody asks for."""
    try:
        return json.loads(body)["request"]
    except (ValueError, RecursionError):
        return {}
