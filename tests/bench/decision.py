"""Measures decisions from the bytes of a review to the bytes of the response, against `json.loads`.

The cluster view has all objects that the decisions read. The reviews are as an API server sends
them for the pods of a Deployment: 9 kB, two containers and one init container, with all fields that
a cluster adds. The reviews of several workloads alternate, as they do in a cluster.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from cwii_webhook.admission.admit import Route, admit
from cwii_webhook.admission.cluster_view import (
    ObjectMetadata,
    ObjectRef,
    OwnerReference,
    namespace_ref,
    service_account_ref,
)
from cwii_webhook.admission.handler import build_response
from cwii_webhook.admission.review import decode_review, encode_response
from cwii_webhook.dialects.dialect import build_service
from cwii_webhook.dialects.registry import ALL
from ratio import Ratio, measure

WORKLOADS = 40
PODS = 400  # of all workloads together
REVIEWS = 400  # in one measurement
ENV_VARIABLES = 14  # per container
POOL = "projects/1/locations/global/workloadIdentityPools/pool/providers/cluster"
ID = "11111111-2222-3333-4444-555555555555"

AWS = {
    "cwii.dev/aws-inject": "true",
    "cwii.dev/aws-role-arn": "arn:aws:iam::123456789012:role/shop",
    "cwii.dev/aws-region": "eu-west-1",
}
AZURE = {"cwii.dev/az-inject": "true", "cwii.dev/az-client-id": ID, "cwii.dev/az-tenant-id": ID}
GCP = {"cwii.dev/gcp-inject": "true", "cwii.dev/gcp-audience": f"//iam.googleapis.com/{POOL}"}

# By dialect: what is injected, the annotations of the ServiceAccounts, and the goal.
CASES: Mapping[str, tuple[str, Mapping[str, str], str]] = {
    "cwii": ("three clouds", AWS | AZURE | GCP, "at most 1"),
    "eks": (
        "AWS",
        {
            "eks.amazonaws.com/role-arn": "arn:aws:iam::123456789012:role/shop",
            "eks.amazonaws.com/sts-regional-endpoints": "true",
        },
        "",
    ),
    "azwi": ("Azure", {"azure.workload.identity/client-id": ID}, ""),
    "gcpwif": (
        "Google Cloud",
        {
            "cloud.google.com/workload-identity-provider": POOL,
            "cloud.google.com/service-account-email": "shop@project.iam.gserviceaccount.com",
        },
        "",
    ),
}
FLAGS = {"eks": ("--aws-default-region=eu-west-1",)}
ENVIRONMENT = {"AZURE_TENANT_ID": ID}


def ratios() -> Iterator[Ratio]:
    bodies = [
        json.dumps(make_review(number % WORKLOADS, f"{number:05x}"), separators=(",", ":")).encode()
        for number in range(PODS)
    ]
    for dialect, (clouds, account_annotations, goal) in CASES.items():
        route = build_service(ALL[dialect], FLAGS.get(dialect, ()), ENVIRONMENT).route
        view = WorkloadView(account_annotations)
        _check_injection(route, bodies[0], view)
        answer_all = _repeat(
            bodies, lambda body, route=route, view=view: _answer(route, body, view)
        )
        yield measure(
            (f"{REVIEWS} decisions of {dialect} ({clouds})", answer_all),
            ("json.loads", _repeat(bodies, json.loads)),
            goal=goal,
            rounds=25,
        )


class WorkloadView:
    """A view of the namespaces, ServiceAccounts and owners of all workloads."""

    def __init__(self, annotations: Mapping[str, str]) -> None:
        self._objects: dict[ObjectRef, ObjectMetadata] = {}
        for number in range(WORKLOADS):
            namespace = f"team-{number:02}"
            deployment = OwnerReference("apps/v1", "Deployment", "shop", "d", controller=True)
            self._objects[namespace_ref(namespace)] = ObjectMetadata(
                {"example.com/team": namespace}
            )
            self._objects[service_account_ref(namespace, "shop")] = ObjectMetadata(annotations)
            self._objects[ObjectRef("apps", "ReplicaSet", namespace, "shop-6b7f9c9d4")] = (
                ObjectMetadata({"deployment.kubernetes.io/revision": "1"}, (deployment,), "r")
            )
            self._objects[ObjectRef("apps", "Deployment", namespace, "shop")] = ObjectMetadata(
                {"deployment.kubernetes.io/revision": "1"}, (), "d"
            )

    def get(self, ref: ObjectRef) -> ObjectMetadata | None:
        return self._objects.get(ref)


def _repeat(bodies: list[bytes], run: Callable[[bytes], object]) -> Callable[[], None]:
    def run_all() -> None:
        for body in itertools.islice(itertools.cycle(bodies), REVIEWS):
            run(body)

    return run_all


def _answer(route: Route, body: bytes, view: WorkloadView) -> bytes:
    review = decode_review(body)
    decision = admit(route, review.request, view)
    response = build_response(review.request.uid, decision)
    return encode_response(review.api_version, review.kind, response)


def _check_injection(route: Route, body: bytes, view: WorkloadView) -> None:
    """Checks that all three containers get an injection, so that the whole work is measured."""
    decision = admit(route, decode_review(body).request, view)
    injected = {
        tuple(op.path.split("/")[2:4])
        for op in decision.ops
        if op.path.endswith(("/env/-", "/env"))
    }
    assert len(injected) == 3, (route.dialect, decision)


def make_review(  # noqa: PLR0913 - the values that differ between reviews
    workload: int,
    pod: str,
    env_variables: int = ENV_VARIABLES,
    *,
    uid: str = "",
    time: str = "",
    value: str = "https://shop.example.com",
) -> dict[str, Any]:
    """Returns a review of one of many pods of a workload.

    The uid, the time and the name of the volume with the API server's token differ between pods.
    """
    namespace = f"team-{workload:02}"
    request = {
        "uid": uid or f"0df28fbd-5f5f-11e8-bc74-36e6bb2{pod}",
        "kind": {"group": "", "version": "v1", "kind": "Pod"},
        "resource": {"group": "", "version": "v1", "resource": "pods"},
        "requestKind": {"group": "", "version": "v1", "kind": "Pod"},
        "requestResource": {"group": "", "version": "v1", "resource": "pods"},
        "namespace": namespace,
        "operation": "CREATE",
        "userInfo": {
            "username": "system:serviceaccount:kube-system:replicaset-controller",
            "uid": ID,
            "groups": ["system:serviceaccounts", "system:authenticated"],
        },
        "object": {
            "kind": "Pod",
            "apiVersion": "v1",
            "metadata": _metadata(
                namespace, f"2025-01-01T{time or f'00:00:{int(pod, 16) % 60:02}'}Z"
            ),
            "spec": _spec(f"kube-api-access-{pod}", env_variables, value),
            "status": {},
        },
        "oldObject": None,
        "dryRun": False,
        "options": {"kind": "CreateOptions", "apiVersion": "meta.k8s.io/v1"},
    }
    return {"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1", "request": request}


def _metadata(namespace: str, time: str) -> dict[str, Any]:
    owner = {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "name": "shop-6b7f9c9d4",
        "uid": "r",
        "controller": True,
        "blockOwnerDeletion": True,
    }
    container_fields: dict[str, Any] = {
        ".": {},
        "f:name": {},
        "f:image": {},
        "f:env": {},
        "f:resources": {},
    }
    containers = {
        f'k:{{"name":"{name}"}}': container_fields for name in ("migrate", "web", "worker")
    }
    fields: dict[str, Any] = {
        "f:metadata": {"f:annotations": {}, "f:generateName": {}, "f:labels": {}},
        "f:spec": {"f:containers": containers, "f:volumes": {}},
    }
    manager = {
        "manager": "kube-controller-manager",
        "operation": "Update",
        "apiVersion": "v1",
        "time": time,
        "fieldsType": "FieldsV1",
    }
    return {
        "generateName": "shop-6b7f9c9d4-",
        "namespace": namespace,
        "creationTimestamp": None,
        "labels": {
            "app.kubernetes.io/name": "shop",
            "pod-template-hash": "6b7f9c9d4",
            "azure.workload.identity/use": "true",
        },
        "annotations": {
            "prometheus.io/scrape": "true",
            "prometheus.io/port": "9090",
            "checksum/config": "5f1c" * 16,
        },
        "ownerReferences": [owner],
        "managedFields": [manager | {"fieldsV1": fields}],
    }


def _spec(token_volume: str, env_variables: int, value: str) -> dict[str, Any]:
    """Returns a spec. `env_variables` is the number of variables of each container."""
    token = {
        "sources": [
            {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
            {"configMap": {"name": "kube-root-ca.crt"}},
        ]
    }
    return {
        "volumes": [
            {"name": "config", "configMap": {"name": "shop", "defaultMode": 420}},
            {"name": "scratch", "emptyDir": {}},
            {"name": token_volume, "projected": token | {"defaultMode": 420}},
        ],
        "initContainers": [_container("migrate", token_volume, env_variables, value)],
        "containers": [
            _container(name, token_volume, env_variables, value, probes=_probes())
            for name in ("web", "worker")
        ],
        "restartPolicy": "Always",
        "terminationGracePeriodSeconds": 30,
        "dnsPolicy": "ClusterFirst",
        "serviceAccountName": "shop",
        "serviceAccount": "shop",
        "securityContext": {
            "runAsUser": 1000,
            "runAsNonRoot": True,
            "fsGroup": 1000,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "schedulerName": "default-scheduler",
        "tolerations": [
            {"key": f"node.kubernetes.io/{what}", "operator": "Exists", "effect": "NoExecute"}
            for what in ("not-ready", "unreachable")
        ],
        "priority": 0,
        "enableServiceLinks": True,
    }


def _container(
    name: str,
    token_volume: str,
    env_variables: int,
    value: str,
    probes: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    pod_name = {
        "name": "POD_NAME",
        "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.name"}},
    }
    env = [
        {
            "name": f"SHOP_SETTING_{number}",
            "value": f"https://service-{number}.shop.svc.cluster.local:8443/v1",
        }
        for number in range(env_variables)
    ]
    mounts = (
        ("config", "/etc/shop"),
        ("scratch", "/scratch"),
        (token_volume, "/var/run/secrets/kubernetes.io/serviceaccount"),
    )
    return {
        "name": name,
        "image": f"registry.example.com/shop/{name}@sha256:" + "0f" * 32,
        "args": ["--config=/etc/shop/config.yaml", "--log-format=json", "--listen=:8443"],
        "env": [pod_name, *env, {"name": "SHOP_URL", "value": value}],
        "resources": {
            "requests": {"cpu": "100m", "memory": "128Mi"},
            "limits": {"memory": "256Mi"},
        },
        "volumeMounts": [
            {"name": volume, "readOnly": True, "mountPath": path} for volume, path in mounts
        ],
        **(probes or {}),
        "terminationMessagePath": "/dev/termination-log",
        "terminationMessagePolicy": "File",
        "imagePullPolicy": "IfNotPresent",
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
            "readOnlyRootFilesystem": True,
        },
    }


def _probes() -> dict[str, Any]:
    timing = {
        "timeoutSeconds": 1,
        "periodSeconds": 10,
        "successThreshold": 1,
        "failureThreshold": 3,
    }
    return {
        f"{kind}Probe": {"httpGet": {"path": f"/{kind}", "port": 8080, "scheme": "HTTP"}} | timing
        for kind in ("liveness", "readiness")
    }
