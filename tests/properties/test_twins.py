"""The law of answers that are given again: whatever was asked and changed before, each review is answered and told of as by a webhook that has just begun."""

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
    Owner,
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

from tests.properties.pods import Json, plain
from tests.properties.test_admission import any_pod
from tests.webhook.harness import LINES, OWN, OWNS, ROLE, ROUTES, SENSIBLE, Own, written

SPACE, WORKER, SET = (
    namespace_ref("shop"),
    service_account_ref("shop", "worker"),
    ObjectRef("apps", "StatefulSet", "shop", "web"),
)
REPLICAS, DEPLOYMENT = (
    ObjectRef("apps", "ReplicaSet", "shop", "web"),
    ObjectRef("apps", "Deployment", "shop", "web"),
)
REFS = (
    SPACE,
    WORKER,
    SET,
    REPLICAS,
    DEPLOYMENT,
    service_account_ref("shop", f"kube-api-access-{OWNS[0].volume}"),
)
ABOVE = (Owner("apps/v1", "Deployment", "web", "u", controller=True),)
REPEATED = b"cwii_repeated_decisions_total "


class Cluster:
    """It changes between reviews, and of kinds that are `silent` it says nothing before it is asked directly."""

    def __init__(self, dialect: str) -> None:
        self.objects: dict[ObjectRef, ObjectMetadata | None] = {
            ref: ObjectMetadata(uid="u") for ref in REFS
        }
        self.objects |= {
            WORKER: ObjectMetadata(SENSIBLE[dialect]),
            REPLICAS: ObjectMetadata(owners=ABOVE, uid="u"),
        }
        self.silent: frozenset[str] = frozenset()


class Sight:
    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._read: set[ObjectRef] = set()

    def get(self, ref: ObjectRef) -> ObjectMetadata | None:
        if ref.kind in self._cluster.silent and ref not in self._read:
            raise NotCached(ref)
        return self._cluster.objects.get(ref)

    async def look_up(self, ref: ObjectRef) -> None:
        self._read.add(ref)


class Ears:
    """All that comes of reviews: what is answered, made, told and counted."""

    def __init__(self, route: Route, cluster: Cluster, log: int) -> None:
        self._route, self._cluster, self._log = route, cluster, log
        self._made: list[ConfigMap] = []
        self._metrics = Metrics()
        self._diary = DecisionLog(
            self._metrics, Log(log, "debug", lambda: datetime(2026, 11, 19, tzinfo=UTC)), tuple(ALL)
        )

    async def write(self, thing: ConfigMap, picture: ClusterView) -> None:
        assert picture
        self._made.append(thing)

    def webhook(self) -> AdmissionHandler:
        admission = AdmissionHandler(
            {b"/": self._route},
            lambda: Sight(self._cluster),
            self,
            self._diary,
            lambda _: text_response(404, "no review"),
        )
        admission.lacks = ""
        return admission

    def of(
        self, webhook: AdmissionHandler, body: bytes
    ) -> tuple[HttpResponse, bytes, list[ConfigMap], list[bytes]]:
        reply = webhook(HttpRequest(b"POST", b"/", JSON, body))
        if not isinstance(reply, HttpResponse):
            reply = asyncio.run(_waited(reply))
        said, (made, self._made) = os.pread(self._log, 1 << 20, 0), (self._made, [])
        os.truncate(self._log, 0)
        os.lseek(self._log, 0, os.SEEK_SET)
        return (
            reply,
            said,
            made,
            [
                line
                for line in self._metrics.exposition().splitlines()
                if not line.startswith(REPEATED)
            ],
        )


async def _waited(reply: Awaitable[HttpResponse]) -> HttpResponse:
    return await reply


@contextmanager
def both(shape: str, cluster: Cluster) -> Generator[tuple[Ears, Ears]]:
    logs = [os.memfd_create(name) for name in ("lasting", "fresh")]
    try:
        lasting, fresh = [Ears(ROUTES[shape], cluster, log) for log in logs]
        yield lasting, fresh
    finally:
        for log in logs:
            os.close(log)


# In a round the cluster may change, and some of it fall silent; then a pod of one workload comes after the other.

LETTERS = b'aZ:-9"\\\n,'
MORE: tuple[Json, ...] = (
    {},
    {},
    {},
    {"dryRun": True},
    {"dryRun": False},
    {"operation": "UPDATE"},
    {"namespace": "else"},
)
TEXTS = ("true", "false", "7200", "x", ROLE, "config-map", f"kube-api-access-{OWNS[0].volume}")


class Round(NamedTuple):
    changes: Mapping[ObjectRef, ObjectMetadata | None]
    silent: frozenset[str]
    pod: int
    owns: Sequence[Own]
    mounts: bool
    more: Json
    edits: Sequence[tuple[int, int]]  # a forger's: where, and which letter

    def bodies(self, pods: Sequence[Json]) -> Iterator[bytes]:
        true = [written(pods[self.pod], own, mounts=self.mounts, **self.more) for own in self.owns]
        for (at, letter), body in zip(self.edits, true, strict=False):
            place = at % len(body)
            yield body[:place] + bytes([letter]) + body[place + 1 :]
        yield from true


def sayings(dialect: str) -> st.SearchStrategy[ObjectMetadata | None]:
    keys = st.sampled_from([word.key for word in ALL[dialect].annotations])
    more = st.dictionaries(keys, st.sampled_from(TEXTS), max_size=2)
    said = more.map(lambda said: {**SENSIBLE[dialect], **said})
    return (
        st.builds(
            ObjectMetadata,
            said | said | more,
            st.sampled_from([(), ABOVE]),
            st.sampled_from(["u", "u", "u", "another"]),
        )
        | st.none()
    )


def rounds(dialect: str) -> st.SearchStrategy[Round]:
    return st.builds(
        Round,
        st.dictionaries(st.sampled_from([WORKER, WORKER, *REFS]), sayings(dialect), max_size=2),
        st.sampled_from(
            [frozenset[str]()] * 6
            + [frozenset({"ServiceAccount"}), frozenset({"Namespace", "ReplicaSet"})]
        ),
        st.integers(0, 2),
        st.permutations(OWNS),
        st.booleans(),
        st.sampled_from(MORE),
        st.lists(st.tuples(st.integers(0, 1 << 12), st.sampled_from(LETTERS)), max_size=2),
    )


def owned() -> Json:
    pod = plain()
    pod["metadata"]["ownerReferences"][0]["kind"] = "ReplicaSet"
    return pod


def called_as_its_volume() -> Json:
    """Whose account bears the name that the API server gives to a volume of this pod or another."""
    pod = owned()
    pod["spec"]["serviceAccountName"] = f"kube-api-access-{OWN}"
    return pod


@pytest.mark.parametrize("shape", ROUTES)
@settings(max_examples=8, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_whatever_came_before_a_review_is_answered_and_told_of_as_by_a_webhook_that_has_just_begun(
    shape: str, data: st.DataObject
) -> None:
    cluster = Cluster(LINES[shape][0])
    pods = [owned(), called_as_its_volume(), data.draw(any_pod(shape))]
    with both(shape, cluster) as (lasting, fresh):
        webhook = lasting.webhook()
        for now in data.draw(st.lists(rounds(LINES[shape][0]), min_size=3, max_size=8)):
            cluster.objects |= now.changes
            cluster.silent = now.silent
            for body in now.bodies(pods):
                assert lasting.of(webhook, body) == fresh.of(fresh.webhook(), body)
