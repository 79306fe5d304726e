"""Tests that a webhook with cached decisions answers each review as a new webhook does."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import NamedTuple

import pytest
from cwii_webhook.admission.admit import Route
from cwii_webhook.admission.cluster_view import (
    ClusterView,
    NotCached,
    ObjectMetadata,
    ObjectRef,
    OwnerReference,
    namespace_ref,
    service_account_ref,
)
from cwii_webhook.admission.decision_log import DecisionLog
from cwii_webhook.admission.handler import AdmissionHandler
from cwii_webhook.admission.injection import ConfigMap
from cwii_webhook.dialects.registry import ALL
from cwii_webhook.server.messages import JSON, HttpRequest, HttpResponse, text_response
from cwii_webhook.telemetry.log import Log
from cwii_webhook.telemetry.metrics import Metrics
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.properties.pods import Json, make_pod
from tests.properties.test_admission import any_pod
from tests.webhook.harness import (
    ACCOUNT_ANNOTATIONS,
    COMMAND_LINES,
    GENERATED_FIELDS,
    ROLE,
    ROUTES,
    SUFFIX_PLACEHOLDER,
    GeneratedFields,
    make_api_server_review,
)

TOKEN_VOLUME = f"kube-api-access-{GENERATED_FIELDS[0].volume_suffix}"
NAMESPACE = namespace_ref("shop")
SERVICE_ACCOUNT = service_account_ref("shop", "worker")
STATEFUL_SET = ObjectRef("apps", "StatefulSet", "shop", "web")
REPLICA_SET = ObjectRef("apps", "ReplicaSet", "shop", "web")
DEPLOYMENT = ObjectRef("apps", "Deployment", "shop", "web")
REFS = (
    NAMESPACE,
    SERVICE_ACCOUNT,
    STATEFUL_SET,
    REPLICA_SET,
    DEPLOYMENT,
    service_account_ref("shop", TOKEN_VOLUME),
)
DEPLOYMENT_OWNER = (OwnerReference("apps/v1", "Deployment", "web", "u", controller=True),)


class FakeCluster:
    """Objects that change between reviews. Objects of `uncached_kinds` must be looked up first."""

    def __init__(self, dialect: str) -> None:
        self.objects: dict[ObjectRef, ObjectMetadata | None] = {
            ref: ObjectMetadata(uid="u") for ref in REFS
        }
        self.objects |= {
            SERVICE_ACCOUNT: ObjectMetadata(ACCOUNT_ANNOTATIONS[dialect]),
            REPLICA_SET: ObjectMetadata(owners=DEPLOYMENT_OWNER, uid="u"),
        }
        self.uncached_kinds: frozenset[str] = frozenset()


class FakeClusterRequestView:
    """The view of one review."""

    def __init__(self, cluster: FakeCluster) -> None:
        self._cluster = cluster
        self._looked_up: set[ObjectRef] = set()

    def get(self, ref: ObjectRef) -> ObjectMetadata | None:
        if ref.kind in self._cluster.uncached_kinds and ref not in self._looked_up:
            raise NotCached(ref)
        return self._cluster.objects.get(ref)

    async def look_up(self, ref: ObjectRef) -> None:
        self._looked_up.add(ref)


class Output(NamedTuple):
    """All that a review causes. The metrics are the sums of all reviews so far."""

    response: HttpResponse
    log: bytes
    config_maps: list[ConfigMap]
    metrics: bytes


class OutputRecorder:
    """Makes webhooks that share a log, metrics and a writer, and records the output of reviews."""

    def __init__(self, route: Route, cluster: FakeCluster, log: int) -> None:
        self._route, self._cluster, self._log = route, cluster, log
        self._config_maps: list[ConfigMap] = []
        self._metrics = Metrics()
        self._decision_log = DecisionLog(
            self._metrics, Log(log, "debug", lambda: datetime(2026, 11, 19, tzinfo=UTC)), tuple(ALL)
        )

    async def write(self, config_map: ConfigMap, view: ClusterView) -> None:
        assert view
        self._config_maps.append(config_map)

    def make_webhook(self) -> AdmissionHandler:
        webhook = AdmissionHandler(
            {b"/": self._route},
            lambda: FakeClusterRequestView(self._cluster),
            self,
            self._decision_log,
            lambda _: text_response(404, "not a review path"),
        )
        webhook.not_ready_reason = ""
        return webhook

    def record(self, webhook: AdmissionHandler, body: bytes) -> Output:
        response = webhook(HttpRequest(b"POST", b"/", JSON, body))
        if not isinstance(response, HttpResponse):
            response = asyncio.run(_await_response(response))
        log, config_maps = os.pread(self._log, 1 << 20, 0), self._config_maps
        self._config_maps = []
        os.truncate(self._log, 0)
        os.lseek(self._log, 0, os.SEEK_SET)
        return Output(response, log, config_maps, self._metrics.exposition())


async def _await_response(response: Awaitable[HttpResponse]) -> HttpResponse:
    return await response


@contextmanager
def make_recorders(
    variant: str, cluster: FakeCluster
) -> Generator[tuple[OutputRecorder, OutputRecorder]]:
    logs = [os.memfd_create(name) for name in ("cached", "new")]
    try:
        cached, new = [OutputRecorder(ROUTES[variant], cluster, log) for log in logs]
        yield cached, new
    finally:
        for log in logs:
            os.close(log)


# Bytes that forged reviews have at random places.
FORGED_BYTES = b'aZ:-9"\\\n,'
REQUEST_FIELDS: tuple[Json, ...] = (
    {},
    {},
    {},
    {"dryRun": True},
    {"dryRun": False},
    {"operation": "UPDATE"},
    {"namespace": "else"},
)
VALUES = ("true", "false", "7200", "x", ROLE, "config-map", TOKEN_VOLUME)


class Round(NamedTuple):
    """Changes of the cluster, followed by reviews of several pods of one workload."""

    changes: Mapping[ObjectRef, ObjectMetadata | None]
    uncached_kinds: frozenset[str]
    workload: int
    generated: Sequence[GeneratedFields]
    with_token: bool
    request_fields: Json
    forgeries: Sequence[tuple[int, int]]  # offset and new byte of each forged review

    def bodies(self, pods: Sequence[Json]) -> Iterator[bytes]:
        """Yields the forged reviews, and then the reviews that an API server sends."""
        bodies = [
            make_api_server_review(
                pods[self.workload], generated, with_token=self.with_token, **self.request_fields
            )
            for generated in self.generated
        ]
        for (offset, byte), body in zip(self.forgeries, bodies, strict=False):
            index = offset % len(body)
            yield body[:index] + bytes([byte]) + body[index + 1 :]
        yield from bodies


def object_metadata(dialect: str) -> st.SearchStrategy[ObjectMetadata | None]:
    keys = st.sampled_from([annotation.key for annotation in ALL[dialect].annotations])
    random = st.dictionaries(keys, st.sampled_from(VALUES), max_size=2)
    complete = random.map(lambda changed: {**ACCOUNT_ANNOTATIONS[dialect], **changed})
    return (
        st.builds(
            ObjectMetadata,
            complete | complete | random,
            st.sampled_from([(), DEPLOYMENT_OWNER]),
            st.sampled_from(["u", "u", "u", "another"]),
        )
        | st.none()
    )


def rounds(dialect: str) -> st.SearchStrategy[Round]:
    return st.builds(
        Round,
        st.dictionaries(
            st.sampled_from([SERVICE_ACCOUNT, SERVICE_ACCOUNT, *REFS]),
            object_metadata(dialect),
            max_size=2,
        ),
        st.sampled_from(
            [frozenset[str]()] * 6
            + [frozenset({"ServiceAccount"}), frozenset({"Namespace", "ReplicaSet"})]
        ),
        st.integers(0, 2),
        st.permutations(GENERATED_FIELDS),
        st.booleans(),
        st.sampled_from(REQUEST_FIELDS),
        st.lists(st.tuples(st.integers(0, 1 << 12), st.sampled_from(FORGED_BYTES)), max_size=2),
    )


def make_replica_set_pod() -> Json:
    pod = make_pod()
    pod["metadata"]["ownerReferences"][0]["kind"] = "ReplicaSet"
    return pod


def make_pod_with_account_of_token_volume() -> Json:
    """Makes a pod whose ServiceAccount has the name of the token volume of a pod.

    The cache leaves the name of that volume out of its key, but not the name of the ServiceAccount.
    """
    pod = make_replica_set_pod()
    pod["spec"]["serviceAccountName"] = f"kube-api-access-{SUFFIX_PLACEHOLDER}"
    return pod


@pytest.mark.parametrize("variant", ROUTES)
@settings(max_examples=8, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_webhook_with_a_cache_gives_the_output_of_a_new_webhook(
    variant: str, data: st.DataObject
) -> None:
    dialect = COMMAND_LINES[variant][0]
    cluster = FakeCluster(dialect)
    pods = [
        make_replica_set_pod(),
        make_pod_with_account_of_token_volume(),
        data.draw(any_pod(variant)),
    ]
    with make_recorders(variant, cluster) as (cached, new):
        webhook = cached.make_webhook()
        for each in data.draw(st.lists(rounds(dialect), min_size=3, max_size=8)):
            cluster.objects |= each.changes
            cluster.uncached_kinds = each.uncached_kinds
            for body in each.bodies(pods):
                assert cached.record(webhook, body) == new.record(new.make_webhook(), body)
