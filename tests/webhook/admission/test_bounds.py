"""Tests the limits on requests and on the ConfigMaps that they cause."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from typing import Any

import pytest
from cwii_webhook.admission.admit import MAX_CONTAINERS, admit
from cwii_webhook.admission.cluster_view import (
    LookupFailed,
    LookupRefused,
    ObjectMetadata,
    namespace_ref,
    service_account_ref,
)
from cwii_webhook.admission.injection import ConfigMap, PodRefused
from cwii_webhook.dialects.dialect import build_service
from cwii_webhook.dialects.registry import ALL
from cwii_webhook.kube.access import Access, ApiServer
from cwii_webhook.kube.cache.config_maps import MAX_CONFIG_MAPS_PER_NAMESPACE, ConfigMapWriter
from cwii_webhook.kube.client import Client
from cwii_webhook.kube.clock import RealClock
from cwii_webhook.kube.identity import Credential, StaticIdentity
from cwii_webhook.settings.flags import BadFlag

from tests.webhook.apiserver.running import RunningApiServer, run_apiserver
from tests.webhook.recorded_answers import FakeClusterView, make_request

EKS = build_service(ALL["eks"], [], {}).route
GCPWIF = build_service(ALL["gcpwif"], [], {}).route
POD: dict[str, Any] = {
    "metadata": {"name": "p", "namespace": "shop"},
    "spec": {"serviceAccountName": "billing", "containers": [{"name": "c"}]},
}
PROVIDER = "projects/1/locations/global/workloadIdentityPools/p/providers/q"
BILLING = service_account_ref("shop", "billing")

EKS_VIEW = FakeClusterView(
    {BILLING: ObjectMetadata({"eks.amazonaws.com/role-arn": "arn:aws:iam::111122223333:role/s3"})}
)


def make_gcpwif_view(provider: str, email: str) -> FakeClusterView:
    annotations = {
        "cloud.google.com/workload-identity-provider": provider,
        "cloud.google.com/service-account-email": email,
    }
    return FakeClusterView({BILLING: ObjectMetadata(annotations)})


def test_pod_with_too_many_containers_is_refused() -> None:
    pod = {**POD, "spec": {**POD["spec"], "containers": [{"name": "c"}] * (MAX_CONTAINERS + 1)}}

    assert admit(EKS, make_request(pod), EKS_VIEW).outcome == "refused"


@pytest.mark.parametrize(
    ("fields", "outcome"),
    [
        ({}, "injected"),
        ({"operation": "UPDATE"}, "nothing"),
        ({"operation": "UPDATE", "subResource": "resize"}, "nothing"),
        ({"operation": "UPDATE", "subResource": "status"}, "nothing"),
        ({"operation": "DELETE"}, "nothing"),
        ({"operation": "CREATE", "subResource": "binding"}, "nothing"),
    ],
)
def test_existing_pod_is_left_unchanged(fields: dict[str, str], outcome: str) -> None:
    assert admit(EKS, make_request(POD, **fields), EKS_VIEW).outcome == outcome


@pytest.mark.parametrize(
    "provider",
    ["projects/x" + "/locations/a" * 200 + "/workloadIdentityPools/b" * 200, PROVIDER + "x" * 1000],
)
def test_provider_that_is_too_long_is_refused(provider: str) -> None:
    decision = admit(GCPWIF, make_request(POD), make_gcpwif_view(provider, "a@b"))

    assert (
        decision.outcome,
        decision.message.startswith("cloud.google.com/workload-identity-provider must be form of"),
    ) == ("refused", True)


def test_email_that_is_too_long_has_no_project() -> None:
    def projects(email: str) -> set[str]:
        (injection,) = admit(
            GCPWIF, make_request(POD), make_gcpwif_view(PROVIDER, email)
        ).injections
        return {
            v.value
            for container in injection.containers
            for v in container.env
            if v.name == "CLOUDSDK_CORE_PROJECT"
        }

    assert projects("s@p.iam.gserviceaccount.com") == {"p"}
    assert projects("@" * 40_000 + "p.iam.gserviceaccount.com") == {""}


def test_second_dialect_refuses_flags_of_the_server() -> None:
    with pytest.raises(
        BadFlag, match="eks is served where the first dialect is, and is told its port"
    ):
        build_service(ALL["eks"], ["--port", "4443"], {}, path="/eks/mutate")


def make_namespace_view(uid: str = "u", *, more: Iterable[str] = ()) -> FakeClusterView:
    return FakeClusterView(
        {
            namespace_ref(name): ObjectMetadata({}, (), uid)
            for name in ("shop", "kube-system", "own", *more)
        }
    )


class WriterProcess:
    """Runs a ConfigMapWriter against a fake API server, as one process of the webhook does."""

    def __init__(self, apiserver: RunningApiServer) -> None:
        self.apiserver = apiserver

    def access(self) -> Access:
        return Access(
            ApiServer.from_url(self.apiserver.url, ca=self.apiserver.ca),
            StaticIdentity(Credential("first")),
            RealClock(),
        )

    def write(
        self, *rounds: tuple[str, ...], namespace: str = "shop", uids: tuple[str, ...] = ("u", "u")
    ) -> list[list[object]]:
        """Writes ConfigMaps, and returns the result or the exception of each write.

        Rounds run one after the other. All writes of a round run concurrently. `uids` has the UID
        of the namespace in each round.
        """

        async def write_rounds() -> list[list[object]]:
            client = Client(self.access())
            writer = ConfigMapWriter(client, RealClock(), "own")
            results = list[list[object]]()
            for names, uid in zip(rounds, uids, strict=False):
                config_maps = [ConfigMap(namespace, name, {"a": "b"}) for name in names]
                writes = [writer.write(each, make_namespace_view(uid)) for each in config_maps]
                results.append(list(await asyncio.gather(*writes, return_exceptions=True)))
            await client.close()
            return results

        return asyncio.run(write_rounds())

    @property
    def patch_count(self) -> int:
        return self.apiserver.run_in_loop(
            lambda: self.apiserver.fake.count_requests("patch")["configmaps"]
        )


@pytest.fixture
def process() -> Iterator[WriterProcess]:
    with run_apiserver() as apiserver:
        yield WriterProcess(apiserver)


def test_config_maps_of_a_namespace_are_limited(process: WriterProcess) -> None:
    (results,) = process.write(tuple(f"m{number}" for number in range(100)))

    assert process.patch_count == MAX_CONFIG_MAPS_PER_NAMESPACE
    assert (
        sum(isinstance(result, PodRefused) for result in results)
        == 100 - MAX_CONFIG_MAPS_PER_NAMESPACE
    )


def test_concurrent_writes_of_one_config_map_make_one_request(process: WriterProcess) -> None:
    assert process.write(("m",) * 10, ("m",)) == [[None] * 10, [None]]
    assert process.patch_count == 1


def test_config_map_is_written_again_in_a_recreated_namespace(process: WriterProcess) -> None:
    process.write(("m",), ("m",), uids=("one", "another"))

    assert process.patch_count == 2


def test_config_map_is_written_again_in_another_cluster(process: WriterProcess) -> None:
    with run_apiserver() as other:
        access = process.access()

        async def write_in_both_clusters() -> None:
            client = Client(access)
            writer = ConfigMapWriter(client, RealClock())
            for _ in range(2):
                await writer.write(ConfigMap("shop", "m", {}), make_namespace_view())
            access.replace(
                Access(
                    ApiServer.from_url(other.url, ca=other.ca),
                    StaticIdentity(Credential("first")),
                    RealClock(),
                )
            )
            await writer.write(ConfigMap("shop", "m", {}), make_namespace_view())
            await client.close()

        asyncio.run(write_in_both_clusters())
        assert (process.patch_count, WriterProcess(other).patch_count) == (1, 1)


def test_writer_forgets_deleted_namespaces(process: WriterProcess) -> None:
    async def count_after_deletions() -> int:
        client = Client(process.access())
        writer = ConfigMapWriter(client, RealClock())
        for number in range(20):
            view = make_namespace_view(more=[f"n{number}"])
            await writer.write(ConfigMap(f"n{number}", "m", {}), view)
        await client.close()
        return len(writer)

    assert asyncio.run(count_after_deletions()) == 1


@pytest.mark.parametrize("namespace", ["kube-system", "nowhere", "own"])
def test_write_outside_of_user_namespaces_is_refused(
    process: WriterProcess, namespace: str
) -> None:
    assert [type(result) for result in process.write(("m",), namespace=namespace)[0]] == [
        PodRefused
    ]
    assert process.patch_count == 0


def test_forbidden_writes_are_refused_again_and_do_not_count_towards_the_limit(
    process: WriterProcess,
) -> None:
    process.apiserver.fake.behavior.denied_verbs.add(("patch", "configmaps"))
    names = tuple(f"m{number}" for number in range(MAX_CONFIG_MAPS_PER_NAMESPACE))

    first, second = process.write(
        names, tuple(f"o{number}" for number in range(MAX_CONFIG_MAPS_PER_NAMESPACE))
    )

    assert {type(result) for result in first + second} == {LookupRefused}


def test_throttled_write_can_succeed_at_the_next_review(process: WriterProcess) -> None:
    process.apiserver.fake.behavior.retry_after["patch"] = [1]

    assert [[type(result) for result in results] for results in process.write(("m",), ("m",))] == [
        [LookupFailed],
        [type(None)],
    ]


def test_config_map_of_another_manager_is_used_if_its_data_is_the_same(
    process: WriterProcess,
) -> None:
    existing = {
        name: {"metadata": {"namespace": "shop", "name": name}, "data": data}
        for name, data in (("same", {"a": "b"}), ("other", {"a": "c"}))
    }
    process.apiserver.fake.behavior.conflicts = existing

    assert [type(result) for result in process.write(("same", "other"))[0]] == [
        type(None),
        LookupRefused,
    ]
