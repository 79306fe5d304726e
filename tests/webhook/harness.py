"""Runs admission in process, without a socket, and checks the responses."""

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

# A command line for each dialect and each mode that its flags select.
COMMAND_LINES: Mapping[str, tuple[str, ...]] = {
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
    name: build_service(ALL[dialect], flags, {}).route
    for name, (dialect, *flags) in COMMAND_LINES.items()
}


ROLE = "arn:aws:iam::123456789012:role/shop"
PROVIDER = "projects/1/locations/global/workloadIdentityPools/p/providers/q"

# By dialect: annotations of a ServiceAccount that request all that the dialect injects.
ACCOUNT_ANNOTATIONS: Mapping[str, Mapping[str, str]] = {
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


DEV_NULL = os.open(os.devnull, os.O_WRONLY)


class FakeRequestView:
    """A view that needs no lookups, because it knows which objects exist."""

    def __init__(self, view: ClusterView) -> None:
        self.get = view.get

    async def look_up(self, ref: ObjectRef) -> None:
        raise AssertionError(f"unexpected lookup of {ref}")


class NullWriter:
    """Accepts prerequisites and discards them."""

    async def write(self, config_map: ConfigMap, view: ClusterView) -> None:
        assert config_map.namespace
        assert view


class InProcessWebhook:
    """Answers reviews of one route."""

    def __init__(
        self, route: Route, view: ClusterView, view_class: type[FakeRequestView] = FakeRequestView
    ) -> None:
        self.metrics = Metrics()
        decision_log = DecisionLog(self.metrics, Log(DEV_NULL, "debug"), tuple(ALL))
        self._handler = AdmissionHandler(
            {b"/": route},
            lambda: view_class(view),
            NullWriter(),
            decision_log,
            lambda _: text_response(404, "not a review path"),
        )
        self._handler.not_ready_reason = ""

    def __call__(self, body: bytes) -> HttpResponse:
        response = self._handler(HttpRequest(b"POST", b"/", JSON, body))
        if isinstance(response, HttpResponse):
            return response
        return asyncio.run(_await_response(response))


async def _await_response(response: Awaitable[HttpResponse]) -> HttpResponse:
    return await response


def make_review(pod: object, **fields: object) -> bytes:
    """Returns the bytes of a review. `fields` are added to the request."""
    request = {"uid": "u", "operation": "CREATE", "namespace": "shop", "object": pod, **fields}
    return json.dumps(
        {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request}
    ).encode()


# In a pod, stands for the random suffix of the token volume's name. `make_api_server_review`
# replaces it.
SUFFIX_PLACEHOLDER = "OWN"


class GeneratedFields(NamedTuple):
    """Values that an API server generates for each review."""

    uid: str
    volume_suffix: str
    time: str


GENERATED_FIELDS = tuple(
    GeneratedFields(
        f"0000000{n}-6c1f-400e-a355-c0f31931946c", f"zw9n{n}", f"2026-11-19T15:19:0{n}Z"
    )
    for n in range(4)
)


def make_api_server_review(
    pod: Mapping[str, Any], generated: GeneratedFields, *, with_token: bool = True, **fields: object
) -> bytes:
    """Returns the bytes of a review as an API server writes it.

    An API server adds `managedFields`, and the volume with the pod's own token, before admission.
    `fields` are added to the request.
    """
    sent_pod = copy.deepcopy(dict(pod))
    manager = {
        "manager": "kube-controller-manager",
        "operation": "Update",
        "apiVersion": "v1",
        "time": generated.time,
        "fieldsType": "FieldsV1",
    }
    sent_pod["metadata"]["managedFields"] = [manager]
    if with_token:
        name = f"kube-api-access-{SUFFIX_PLACEHOLDER}"
        path = "/var/run/secrets/kubernetes.io/serviceaccount"
        sent_pod["spec"]["volumes"] = [
            *(sent_pod["spec"].get("volumes") or ()),
            {"name": name, "projected": {"sources": []}},
        ]
        for container in sent_pod["spec"].get("containers") or ():
            container["volumeMounts"] = [
                *(container.get("volumeMounts") or ()),
                {"name": name, "readOnly": True, "mountPath": path},
            ]
    request = {
        "uid": generated.uid,
        "kind": {"group": "", "version": "v1", "kind": "Pod"},
        "operation": "CREATE",
        "namespace": "shop",
        "object": sent_pod,
        **fields,
    }
    body = {"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1", "request": request}
    text = json.dumps(body, separators=(",", ":"))
    return text.replace(SUFFIX_PLACEHOLDER, generated.volume_suffix).encode()


def check_response(body: bytes, response: HttpResponse) -> list[Op]:
    """Checks that an API server would accept the response. Returns the operations of its patch.

    The patch must apply to the pod of the request.
    """
    if response.status == 400:
        assert response.body.startswith(b"this is no review of a pod: ")
        return []
    assert response.status == 200
    review = json.loads(response.body)
    admission_response = cast("dict[str, Any]", review["response"])
    assert review.keys() == {"apiVersion", "kind", "response"}
    assert (admission_response["allowed"] is True) or admission_response["status"]["message"]
    assert all(text and isinstance(text, str) for text in admission_response.get("warnings", []))
    assert all(
        "/" not in key and isinstance(text, str)
        for key, text in admission_response.get("auditAnnotations", {}).items()
    )
    assert ("patch" in admission_response) == ("patchType" in admission_response)
    ops = [
        Op(op["op"], op["path"], op["value"])
        for op in json.loads(base64.b64decode(admission_response.get("patch", "W10=")))
    ]
    assert not ops or admission_response["allowed"]
    if request := _decode_request(body):
        assert admission_response["uid"] == request["uid"]
        apply_patch(request.get("object"), ops)
    return ops


def _decode_request(body: bytes) -> dict[str, Any]:
    """Decodes the request. Returns an empty one if Python refuses the JSON.

    Python checks all members of the JSON. The webhook checks only those that it reads.
    """
    try:
        return json.loads(body)["request"]
    except (ValueError, RecursionError):
        return {}
