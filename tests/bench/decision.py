"""Reviews of pods, from their bytes to the answers' bytes, with all that is asked of the cluster known; against `json.loads` of the same bytes.

The pods are as an API server sends those of a Deployment: 9 kB, two containers and one that comes first, with all that a cluster writes into them.
Each dialect is asked for those of several workloads in turn, as it happens in a cluster.
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
PODS = 400  # of all of them
TURNS = 400  # reviews in one measurement
SETTINGS = 14  # variables of a container
POOL = "projects/1/locations/global/workloadIdentityPools/pool/providers/cluster"
ID = "11111111-2222-3333-4444-555555555555"

AWS = {
    "cwii.dev/aws-inject": "true",
    "cwii.dev/aws-role-arn": "arn:aws:iam::123456789012:role/shop",
    "cwii.dev/aws-region": "eu-west-1",
}
AZURE = {"cwii.dev/az-inject": "true", "cwii.dev/az-client-id": ID, "cwii.dev/az-tenant-id": ID}
GCP = {"cwii.dev/gcp-inject": "true", "cwii.dev/gcp-audience": f"//iam.googleapis.com/{POOL}"}

# Of each dialect: what is asked, what its ServiceAccounts say, and the goal.
ASKED: Mapping[str, tuple[str, Mapping[str, str], str]] = {
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
        json.dumps(review(number % WORKLOADS, f"{number:05x}"), separators=(",", ":")).encode()
        for number in range(PODS)
    ]
    for dialect, (given, says, goal) in ASKED.items():
        route = build_service(ALL[dialect], FLAGS.get(dialect, ()), ENVIRONMENT).route
        picture = Known(says)
        _given(route, bodies[0], picture)
        decided = _turns(
            bodies, lambda body, route=route, picture=picture: _decided(route, body, picture)
        )
        yield measure(
            (f"{TURNS} decisions of {dialect} ({given})", decided),
            ("json.loads", _turns(bodies, json.loads)),
            goal=goal,
            rounds=25,
        )


class Known:
    """A picture of the workloads' objects."""

    def __init__(self, says: Mapping[str, str]) -> None:
        self._objects: dict[ObjectRef, ObjectMetadata] = {}
        for number in range(WORKLOADS):
            where = f"team-{number:02}"
            above = OwnerReference("apps/v1", "Deployment", "shop", "d", controller=True)
            self._objects[namespace_ref(where)] = ObjectMetadata({"example.com/team": where})
            self._objects[service_account_ref(where, "shop")] = ObjectMetadata(says)
            self._objects[ObjectRef("apps", "ReplicaSet", where, "shop-6b7f9c9d4")] = (
                ObjectMetadata({"deployment.kubernetes.io/revision": "1"}, (above,), "r")
            )
            self._objects[ObjectRef("apps", "Deployment", where, "shop")] = ObjectMetadata(
                {"deployment.kubernetes.io/revision": "1"}, (), "d"
            )

    def get(self, ref: ObjectRef) -> ObjectMetadata | None:
        return self._objects.get(ref)


def _turns(bodies: list[bytes], run: Callable[[bytes], object]) -> Callable[[], None]:
    def turns() -> None:
        for body in itertools.islice(itertools.cycle(bodies), TURNS):
            run(body)

    return turns


def _decided(route: Route, body: bytes, picture: Known) -> bytes:
    asked = decode_review(body)
    decision = admit(route, asked.request, picture)
    response = build_response(asked.request.uid, decision)
    return encode_response(asked.api_version, asked.kind, response)


def _given(route: Route, body: bytes, picture: Known) -> None:
    """What is measured has to be the whole: each container is given something."""
    decision = admit(route, decode_review(body).request, picture)
    touched = {
        tuple(op.path.split("/")[2:4])
        for op in decision.ops
        if op.path.endswith(("/env/-", "/env"))
    }
    assert len(touched) == 3, (route.dialect, decision)


# The pods.


def review(  # noqa: PLR0913 - what is new in each review
    workload: int,
    pod: str,
    settings: int = SETTINGS,
    *,
    uid: str = "",
    time: str = "",
    value: str = "https://shop.example.com",
) -> dict[str, Any]:
    """A review for one of many pods of a workload: uid, time, and the name of the volume with the API server's token are new in each."""
    where = f"team-{workload:02}"
    request = {
        "uid": uid or f"0df28fbd-5f5f-11e8-bc74-36e6bb2{pod}",
        "kind": {"group": "", "version": "v1", "kind": "Pod"},
        "resource": {"group": "", "version": "v1", "resource": "pods"},
        "requestKind": {"group": "", "version": "v1", "kind": "Pod"},
        "requestResource": {"group": "", "version": "v1", "resource": "pods"},
        "namespace": where,
        "operation": "CREATE",
        "userInfo": {
            "username": "system:serviceaccount:kube-system:replicaset-controller",
            "uid": ID,
            "groups": ["system:serviceaccounts", "system:authenticated"],
        },
        "object": {
            "kind": "Pod",
            "apiVersion": "v1",
            "metadata": _metadata(where, f"2025-01-01T{time or f'00:00:{int(pod, 16) % 60:02}'}Z"),
            "spec": _spec(f"kube-api-access-{pod}", settings, value),
            "status": {},
        },
        "oldObject": None,
        "dryRun": False,
        "options": {"kind": "CreateOptions", "apiVersion": "meta.k8s.io/v1"},
    }
    return {"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1", "request": request}


def _metadata(where: str, time: str) -> dict[str, Any]:
    owner = {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "name": "shop-6b7f9c9d4",
        "uid": "r",
        "controller": True,
        "blockOwnerDeletion": True,
    }
    each: dict[str, Any] = {".": {}, "f:name": {}, "f:image": {}, "f:env": {}, "f:resources": {}}
    named = {f'k:{{"name":"{name}"}}': each for name in ("migrate", "web", "worker")}
    fields: dict[str, Any] = {
        "f:metadata": {"f:annotations": {}, "f:generateName": {}, "f:labels": {}},
        "f:spec": {"f:containers": named, "f:volumes": {}},
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
        "namespace": where,
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


def _spec(own: str, settings: int, value: str) -> dict[str, Any]:
    """`own`: how the volume with the API server's token is called; `settings`: how many variables each container has."""
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
            {"name": own, "projected": token | {"defaultMode": 420}},
        ],
        "initContainers": [_container("migrate", own, settings, value)],
        "containers": [
            _container(name, own, settings, value, probes=_probes()) for name in ("web", "worker")
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
    name: str, own: str, settings: int, value: str, probes: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    field = {
        "name": "POD_NAME",
        "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.name"}},
    }
    env = [
        {
            "name": f"SHOP_SETTING_{number}",
            "value": f"https://service-{number}.shop.svc.cluster.local:8443/v1",
        }
        for number in range(settings)
    ]
    mounts = (
        ("config", "/etc/shop"),
        ("scratch", "/scratch"),
        (own, "/var/run/secrets/kubernetes.io/serviceaccount"),
    )
    return {
        "name": name,
        "image": f"registry.example.com/shop/{name}@sha256:" + "0f" * 32,
        "args": ["--config=/etc/shop/config.yaml", "--log-format=json", "--listen=:8443"],
        "env": [field, *env, {"name": "SHOP_URL", "value": value}],
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
    often = {"timeoutSeconds": 1, "periodSeconds": 10, "successThreshold": 1, "failureThreshold": 3}
    return {
        f"{kind}Probe": {"httpGet": {"path": f"/{kind}", "port": 8080, "scheme": "HTTP"}} | often
        for kind in ("liveness", "readiness")
    }
