"""Tests of the decision cache: a cached decision equals a fresh one, and the cache is bounded."""

from __future__ import annotations

import copy
import gc
import json
import os
import tracemalloc
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import pytest
from cwii_webhook.admission import decision_cache, review
from cwii_webhook.admission.admit import Route, admit
from cwii_webhook.admission.cluster_view import (
    ClusterView,
    NotCached,
    ObjectMetadata,
    ObjectRef,
    namespace_ref,
    service_account_ref,
)
from cwii_webhook.admission.decision_cache import (
    MAX_CACHE_BYTES,
    MAX_ENTRIES,
    MAX_REVIEW_BYTES,
    DecisionCache,
    Entry,
    RecordingView,
    decode_compared,
)
from cwii_webhook.admission.decision_log import DecisionLog, summarize
from cwii_webhook.admission.handler import AdmissionHandler, build_response
from cwii_webhook.admission.injection import ConfigMap
from cwii_webhook.admission.review import decode_review
from cwii_webhook.dialects.dialect import build_service
from cwii_webhook.dialects.registry import ALL
from cwii_webhook.server.messages import JSON, HttpRequest, HttpResponse, text_response
from cwii_webhook.telemetry.log import Log
from cwii_webhook.telemetry.metrics import Metrics
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Struct

Json = dict[str, Any]

TENANT = {"AZURE_TENANT_ID": "11111111-2222-3333-4444-555555555555"}
ROLE = "arn:aws:iam::123456789012:role/shop"
PROVIDER = "projects/1/locations/global/workloadIdentityPools/pool/providers/cluster"
CLIENT_ID = "11111111-2222-3333-4444-555555555555"
ANNOTATIONS = {
    "cwii.dev/aws-inject": "true",
    "cwii.dev/aws-role-arn": ROLE,
    "cwii.dev/az-inject": "true",
    "cwii.dev/az-client-id": CLIENT_ID,
    "cwii.dev/az-tenant-id": CLIENT_ID,
    "cwii.dev/gcp-inject": "true",
    "cwii.dev/gcp-audience": f"//iam.googleapis.com/{PROVIDER}",
    "eks.amazonaws.com/role-arn": ROLE,
    "eks.amazonaws.com/sts-regional-endpoints": "true",
    "azure.workload.identity/client-id": CLIENT_ID,
    "cloud.google.com/workload-identity-provider": PROVIDER,
    "cloud.google.com/service-account-email": "shop@project.iam.gserviceaccount.com",
}
TOKEN_PATH = "/var/run/secrets/kubernetes.io/serviceaccount"
COMMAND_LINES = {
    "cwii": ("cwii",),
    "cwii with an init container": ("cwii", "--gcp-delivery=init-container"),
    "eks": ("eks", "--aws-default-region=eu-west-1"),
    "eks with the path of the token": ("eks", f"--token-mount-path={TOKEN_PATH}/"),
    "azwi": ("azwi",),
    "azwi v1.5": ("azwi", "--layout=v1.5", "--check-label"),
    "gcpwif": ("gcpwif",),
    "gcpwif direct": ("gcpwif", "--default-injection-mode=direct"),
}
ROUTES = {
    name: build_service(ALL[dialect], flags, TENANT).route
    for name, (dialect, *flags) in COMMAND_LINES.items()
}


def make_container(name: str) -> Json:
    return {
        "name": name,
        "image": f"registry.example.com/{name}:1",
        "args": ["--verbose"],
        "env": [{"name": "URL", "value": "https://shop.example.com"}],
        "resources": {"requests": {"cpu": "100m"}, "limits": {"memory": "256Mi"}},
        "volumeMounts": [
            {"name": "config", "mountPath": "/etc/shop"},
            {"name": "kube-api-access-abcde", "readOnly": True, "mountPath": TOKEN_PATH},
        ],
        "securityContext": {"runAsUser": 1000, "runAsNonRoot": True},
    }


POD: Json = {
    "metadata": {
        "generateName": "shop-6b7f9c9d4-",
        "namespace": "shop",
        "labels": {"app": "shop", "azure.workload.identity/use": "true"},
        "annotations": {"prometheus.io/scrape": "true"},
        "ownerReferences": [
            {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "shop", "uid": "r"}
        ],
    },
    "spec": {
        "volumes": [
            {"name": "config", "configMap": {"name": "shop"}},
            {"name": "kube-api-access-abcde", "projected": {"sources": []}},
        ],
        "initContainers": [make_container("migrate")],
        "containers": [make_container("web"), make_container("worker")],
        "serviceAccountName": "shop",
        "securityContext": {"fsGroup": 1000},
    },
}


class FakeClusterView:
    def __init__(self, objects: Mapping[ObjectRef, ObjectMetadata | None]) -> None:
        self.objects = dict(objects)
        self.unknown: set[ObjectRef] = set()

    def get(self, ref: ObjectRef) -> ObjectMetadata | None:
        if ref in self.unknown:
            raise NotCached(ref)
        return self.objects.get(ref)

    async def look_up(self, ref: ObjectRef) -> None:
        raise AssertionError(f"{ref} is not looked up")


class RefusingWriter:
    async def write(self, config_map: ConfigMap, view: ClusterView) -> None:
        raise AssertionError(f"{config_map} is not written, {view} is not read")


def make_view() -> FakeClusterView:
    return FakeClusterView(
        {
            service_account_ref("shop", "shop"): ObjectMetadata(ANNOTATIONS),
            namespace_ref("shop"): ObjectMetadata(),
            ObjectRef("apps", "ReplicaSet", "shop", "shop"): ObjectMetadata(uid="r"),
        }
    )


def encode(pod: Json, uid: str = "uid-1", **fields: Any) -> bytes:
    request = {"uid": uid, "operation": "CREATE", "namespace": "shop", "object": pod, **fields}
    return json.dumps({"request": request}).encode()


@dataclass
class Handled:
    response: HttpResponse
    log: Json


class RecordingHandler:
    """A handler whose log is read after each review."""

    def __init__(self, route: Route) -> None:
        self._log = os.memfd_create("log")
        log = DecisionLog(Metrics(), Log(self._log, "debug"), tuple(ALL))
        self._handler = AdmissionHandler(
            {b"/": route}, make_view, RefusingWriter(), log, lambda _: text_response(404, "")
        )
        self._handler.not_ready_reason = ""

    def handle(self, body: bytes) -> Handled:
        os.truncate(self._log, 0)
        os.lseek(self._log, 0, os.SEEK_SET)
        response = self._handler(HttpRequest(b"POST", b"/", JSON, body))
        assert isinstance(response, HttpResponse)
        lines = os.pread(self._log, 1 << 20, 0)
        return Handled(response, {**json.loads(lines or "{}"), "time": ""})

    def close(self) -> None:
        os.close(self._log)


# Edits of one field. Names that some dialect injects are among the values.

INJECTED_NAMES = (
    "aws-iam-token",
    "azure-identity-token",
    "azure-workload-identity-reserved-1",
    "cwii-aws-token",
    "cwii-gcp-creds",
    "cwii-no-token",
    "gcp-iam-token",
    "gcloud-config",
    "kube-api-access-fghij",
)
INJECTED_PATHS = (
    "/var/run/secrets/eks.amazonaws.com/serviceaccount",
    "/var/run/secrets/azure/wi",
    "/var/run/secrets/cwii.dev/aws",
    "/var/run/secrets/sts.googleapis.com/serviceaccount/",
    TOKEN_PATH,
    f"{TOKEN_PATH}/",
)
INJECTED_VARIABLES = ("AWS_ROLE_ARN", "AWS_REGION", "AZURE_CLIENT_ID", "CLOUDSDK_CONFIG")
HELPERS = ("azwi-proxy", "azwi-proxy-init", "gcloud-setup", "cwii-gcp-creds-writer")
TEXTS = ("", "x", "true", "false", "shop", *INJECTED_NAMES, *INJECTED_PATHS, *HELPERS)
SCALARS = (*TEXTS, *INJECTED_VARIABLES, 0, 1000, 65532, True, False, None)
KEYS: Mapping[str, Sequence[Any]] = {
    "annotations": [
        {"eks.amazonaws.com/skip-containers": "web"},
        {"eks.amazonaws.com/token-expiration": "7200"},
        {"azure.workload.identity/inject-proxy-sidecar": "true"},
        {"azure.workload.identity/skip-containers": "worker"},
        {"cloud.google.com/token-expiration": "7200"},
        {"cwii.dev/aws-verify": "true"},
        {"cwii.dev/aws-regio": "eu-west-1"},
    ],
    "labels": [{"eks.amazonaws.com/skip-pod-identity-webhook": ""}],
    "spec": [
        {"os": {"name": "windows"}},
        {"nodeSelector": {"kubernetes.io/os": "windows"}},
        {"hostNetwork": True},
        {"resources": {"limits": {"cpu": "1"}}},
        {"ephemeralContainers": [{"name": "debug"}]},
    ],
    "container": [{"envFrom": [{"configMapRef": {"name": "more"}}]}, {"command": ["run"]}],
    "securityContext": [{"runAsUser": 7}, {"runAsNonRoot": False}],
}
ITEMS: Mapping[str, Sequence[Json]] = {
    "env": [{"name": name, "value": "own"} for name in INJECTED_VARIABLES],
    "volumes": [{"name": name, "emptyDir": {}} for name in INJECTED_NAMES],
    "volumeMounts": [
        *({"name": name, "mountPath": "/own"} for name in INJECTED_NAMES),
        *({"name": "config", "mountPath": path} for path in INJECTED_PATHS),
        *({"name": "kube-api-access-x", "mountPath": path} for path in INJECTED_PATHS),
    ],
    "containers": [{"name": name} for name in ("debug", *HELPERS)],
    "initContainers": [{"name": name, "env": []} for name in ("debug", *HELPERS)],
}


def list_nodes(value: Any, name: str = "") -> list[tuple[Any, Any, str]]:
    """Lists all places in a document as (parent, key, name of the enclosing field)."""
    nodes: list[tuple[Any, Any, str]] = []
    children: list[tuple[Any, Any]] = []
    if isinstance(value, dict):
        children = list(cast("Json", value).items())
    elif isinstance(value, list):
        children = list(enumerate(cast("list[Any]", value)))
    for key, child in children:
        field = key if isinstance(key, str) else name
        nodes += [(value, key, field), *list_nodes(child, field)]
    return nodes


@st.composite
def edited(draw: st.DrawFn, pod: Json) -> Json:
    """A copy of the pod with one field changed, removed or added."""
    pod = copy.deepcopy(pod)
    parent, key, name = draw(st.sampled_from(list_nodes(pod)))
    value = parent[key]
    if isinstance(value, list) and len(cast("list[Any]", value)) > 1 and draw(st.booleans()):
        cast("list[Any]", value).reverse()
    elif isinstance(value, list) and name in ITEMS and draw(st.booleans()):
        cast("list[Json]", value).append(copy.deepcopy(draw(st.sampled_from(ITEMS[name]))))
    elif isinstance(value, dict) and draw(st.booleans()):
        kind = "container" if isinstance(key, int) and "image" in value else name
        if kind in KEYS:
            cast("Json", value).update(copy.deepcopy(draw(st.sampled_from(KEYS[kind]))))
    elif draw(st.integers(0, 3)) == 0 and name not in {"metadata", "spec"}:
        del parent[key]
    elif not isinstance(value, dict | list):
        # An API server sends texts only, and the cache does not decode the values of variables.
        parent[key] = draw(st.sampled_from(TEXTS if name == "value" else SCALARS))
    return pod


@pytest.mark.parametrize("name", ROUTES)
@settings(max_examples=120)
@given(data=st.data())
def test_cached_decision_equals_a_fresh_one_for_pods_that_differ_in_one_field(
    name: str, data: st.DataObject
) -> None:
    cached = RecordingHandler(ROUTES[name])
    pod = POD
    bodies = [encode(pod)]
    for number in range(data.draw(st.integers(1, 4))):
        pod = data.draw(edited(pod))
        bodies.append(encode(pod, f"uid-{number}"))
    for body in (*bodies, *bodies[:-1]):
        fresh = RecordingHandler(ROUTES[name])
        assert cached.handle(body) == fresh.handle(body)
        fresh.close()
    cached.close()


def decide(
    cache: DecisionCache, route: Route, view: ClusterView, body: bytes
) -> tuple[Entry | None, bool]:
    """Asks the cache, and stores a fresh decision. Returns the hit, and whether a next get hits."""
    review = decode_compared(body)
    assert review
    hit = cache.get(review, view)
    recording = RecordingView(view)
    decision = admit(route, decode_review(body).request, recording)
    summary = summarize(route.dialect, decision)
    cache.put(review, decision, Entry(recording.reads, build_response("", decision), summary))
    return hit, cache.get(review, view) is not None


def is_cached(body: bytes, route: Route = ROUTES["eks"]) -> bool:
    _, is_stored = decide(DecisionCache(route), route, make_view(), body)
    return is_stored


def test_pods_of_a_workload_share_an_entry() -> None:
    """The uid, the values of other variables, and the token volume differ in each pod."""
    route, view = ROUTES["eks"], make_view()
    cache = DecisionCache(route)
    second = json.dumps(POD).replace("abcde", "fghij").replace("https://shop", "https://other")
    decide(cache, route, view, encode(POD))

    hit, _ = decide(cache, route, view, encode(json.loads(second), "uid-2"))

    assert hit
    assert hit.summary.outcome == "injected"
    assert len(cache) == 1


def test_changed_object_in_the_cluster_ends_an_entry() -> None:
    route, view = ROUTES["eks"], make_view()
    cache = DecisionCache(route)
    decide(cache, route, view, encode(POD))
    ref = service_account_ref("shop", "shop")

    view.objects[ref] = ObjectMetadata({**ANNOTATIONS, "eks.amazonaws.com/role-arn": f"{ROLE}2"})
    changed, _ = decide(cache, route, view, encode(POD))
    del view.objects[ref]
    deleted, _ = decide(cache, route, view, encode(POD))

    assert (changed, deleted) == (None, None)


def test_entry_does_not_serve_while_an_object_is_not_cached() -> None:
    route, view = ROUTES["eks"], make_view()
    cache = DecisionCache(route)
    decide(cache, route, view, encode(POD))
    key = decode_compared(encode(POD))
    assert key

    view.unknown.add(service_account_ref("shop", "shop"))

    assert cache.get(key, view) is None


def with_item(field: str, item: Json) -> Json:
    pod = copy.deepcopy(POD)
    target = pod["spec"] if field in pod["spec"] else pod["spec"]["containers"][0]
    target[field].append(item)
    return pod


@pytest.mark.parametrize(
    ("body", "route"),
    [
        (encode(with_item("env", {"name": "AWS_ROLE_ARN", "value": "own"})), "eks"),
        (encode(with_item("volumes", {"name": "aws-iam-token", "emptyDir": {}})), "eks"),
        (encode(with_item("volumeMounts", {"name": "aws-iam-token", "mountPath": "/own"})), "eks"),
        (encode(with_item("initContainers", {"name": "gcloud-setup"})), "gcpwif"),
        (encode(POD, subResource="ephemeralcontainers"), "eks"),
        (encode(POD), "eks with the path of the token"),
    ],
    ids=["variable", "volume", "mount", "helper container", "ephemeral containers", "token path"],
)
def test_decision_that_reads_more_than_the_key_is_not_cached(body: bytes, route: str) -> None:
    assert is_cached(encode(POD))
    assert not is_cached(body, ROUTES[route])


def test_decision_with_a_config_map_is_not_cached() -> None:
    route = build_service(ALL["cwii"], ["--gcp-delivery=config-map"], {}).route

    assert not is_cached(encode(POD), route)


def test_route_with_external_config_has_no_cache() -> None:
    route = build_service(ALL["eks"], ["--watch-config-map"], {}).route

    assert not DecisionCache(route).is_enabled
    assert DecisionCache(ROUTES["eks"]).is_enabled


def test_incomplete_reads_are_recognized() -> None:
    view = make_view()
    view.unknown.add(namespace_ref("shop"))
    recording = RecordingView(view)

    with pytest.raises(NotCached):
        recording.get(namespace_ref("shop"))

    assert not recording.is_complete


def test_long_review_is_not_cached() -> None:
    pod = copy.deepcopy(POD)
    pod["metadata"]["annotations"]["long"] = "x" * MAX_REVIEW_BYTES

    assert decode_compared(encode(pod)) is None
    assert decode_compared(encode(POD))


@pytest.mark.parametrize("body", [b"", b"{}", b"[1]", b'{"request":{"uid":"u"}}', b"\xff" * 9])
def test_other_bodies_have_no_key(body: bytes) -> None:
    assert decode_compared(body) is None


def make_large_pod(number: int, count: int, **lists: Json) -> Json:
    """A pod with `count` items in each of the given lists."""
    items = {name: [item] * count for name, item in lists.items()}
    spec: Json = {"containers": [{}], "serviceAccountName": "shop", **items}
    return {"metadata": {"generateName": f"pod-{number}-"}, "spec": spec}


@pytest.mark.parametrize(
    ("name", "count", "lists"),
    [
        ("cwii", 500, {"containers": {}}),
        ("cwii", 20, {"containers": make_container("web")}),
        ("eks", 12_000, {"containers": {}}),
        ("eks", 10_000, {"volumes": {}}),
        ("gcpwif", 1, {"volumes": {}}),
    ],
    ids=["500 containers", "real containers", "refused", "volumes", "small pods"],
)
def test_memory_of_the_cache_is_bounded(name: str, count: int, lists: Json) -> None:
    """Half as much again as the estimate is allowed: it counts texts, and not all objects."""
    route, view = ROUTES[name], make_view()
    cache = DecisionCache(route)
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        for number in range(max(60, min(600, 60_000 // count))):
            decide(cache, route, view, encode(make_large_pod(number, count, **lists)))
        gc.collect()
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert after - before <= 1.5 * MAX_CACHE_BYTES


def test_old_versions_of_cluster_objects_are_counted() -> None:
    """A tenant can change a large annotation between two pods."""
    route, view = ROUTES["eks"], make_view()
    cache = DecisionCache(route)
    ref = service_account_ref("shop", "shop")
    for number in range(400):
        annotations = {**ANNOTATIONS, "eks.amazonaws.com/x": f"{number:0100000}"}
        view.objects[ref] = ObjectMetadata(annotations)
        pod = {**POD, "metadata": {**POD["metadata"], "generateName": f"pod-{number}-"}}
        decide(cache, route, view, encode(pod))

    assert 0 < len(cache) <= MAX_CACHE_BYTES // 100_000


def test_number_of_entries_is_bounded() -> None:
    route, view = ROUTES["eks"], make_view()
    cache = DecisionCache(route)
    for number in range(MAX_ENTRIES + 10):
        decide(cache, route, view, encode(make_large_pod(number, 0)))

    assert len(cache) == MAX_ENTRIES


def test_least_recently_used_entry_is_removed_first() -> None:
    route, view = ROUTES["eks"], make_view()
    cache = DecisionCache(route)
    bodies = [encode(make_large_pod(number, 0)) for number in range(MAX_ENTRIES + 1)]
    for body in bodies:
        decide(cache, route, view, body)
        decide(cache, route, view, bodies[0])

    assert decide(cache, route, view, bodies[0])[0]
    assert decide(cache, route, view, bodies[1])[0] is None


# Fields that no decision reads.
UNREAD = {"ephemeral_containers"}


@pytest.mark.parametrize(
    ("read", "compared"),
    [
        (review.Pod, decision_cache.ComparedPod),
        (review.Metadata, decision_cache.ComparedMetadata),
        (review.Spec, decision_cache.ComparedSpec),
        (review.Container, decision_cache.ComparedContainer),
        (review.VolumeMount, decision_cache.ComparedMount),
    ],
)
def test_cache_compares_all_fields_that_decisions_can_read(
    read: type[Struct], compared: type[Struct]
) -> None:
    assert {*read.__struct_fields__} - UNREAD <= {*compared.__struct_fields__}
