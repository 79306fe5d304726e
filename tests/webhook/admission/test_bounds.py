"""What strangers may ask: so much, and no more."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from typing import Any

import pytest
from cwii_webhook.admission.admit import MAX_CONTAINERS as CONTAINERS
from cwii_webhook.admission.admit import admit
from cwii_webhook.admission.cluster_view import (
    LookupFailed,
    LookupRefused,
    ObjectMetadata,
    ObjectRef,
    namespace_ref,
)
from cwii_webhook.admission.injection import ConfigMap, PodRefused
from cwii_webhook.dialects.dialect import build_service
from cwii_webhook.dialects.registry import ALL
from cwii_webhook.kube.access import Access, Server
from cwii_webhook.kube.cache.config_maps import MAX_CONFIG_MAPS_PER_NAMESPACE, ConfigMapWriter
from cwii_webhook.kube.client import Client
from cwii_webhook.kube.clock import RealClock
from cwii_webhook.kube.identity import Credential, StaticIdentity
from cwii_webhook.settings.flags import BadFlag

from tests.webhook.apiserver.running import RunningApiServer, run_apiserver
from tests.webhook.recorded_answers import Objects, request

EKS = build_service(ALL["eks"], [], {}).route
GCPWIF = build_service(ALL["gcpwif"], [], {}).route
POD: dict[str, Any] = {
    "metadata": {"name": "p", "namespace": "shop"},
    "spec": {"serviceAccountName": "billing", "containers": [{"name": "c"}]},
}
AWS = {"cwii.dev/aws-inject": "true", "cwii.dev/aws-role-arn": "arn:aws:iam::111122223333:role/s3"}
PROVIDER = "projects/1/locations/global/workloadIdentityPools/p/providers/q"


ROLE = Objects(
    {
        ObjectRef("", "ServiceAccount", "shop", "billing"): ObjectMetadata(
            {"eks.amazonaws.com/role-arn": "arn:aws:iam::111122223333:role/s3"}
        )
    }
)


def google(provider: str, email: str) -> Objects:
    said = {
        "cloud.google.com/workload-identity-provider": provider,
        "cloud.google.com/service-account-email": email,
    }
    return Objects({ObjectRef("", "ServiceAccount", "shop", "billing"): ObjectMetadata(said)})


def test_a_pod_of_too_many_containers_is_not_looked_at() -> None:
    pod = {**POD, "spec": {**POD["spec"], "containers": [{"name": "c"}] * (CONTAINERS + 1)}}

    assert admit(EKS, request(pod), ROLE).outcome == "refused"


@pytest.mark.parametrize(
    ("more", "outcome"),
    [
        ({}, "injected"),
        ({"operation": "UPDATE"}, "nothing"),
        ({"operation": "UPDATE", "subResource": "resize"}, "nothing"),
        ({"operation": "UPDATE", "subResource": "status"}, "nothing"),
        ({"operation": "DELETE"}, "nothing"),
        ({"operation": "CREATE", "subResource": "binding"}, "nothing"),
    ],
)
def test_a_pod_that_is_there_is_left_as_it_is(more: dict[str, str], outcome: str) -> None:
    assert admit(EKS, request(POD, **more), ROLE).outcome == outcome


@pytest.mark.parametrize(
    "provider",
    ["projects/x" + "/locations/a" * 200 + "/workloadIdentityPools/b" * 200, PROVIDER + "x" * 1000],
)
def test_a_provider_that_is_too_long_to_be_one_is_refused_unread(provider: str) -> None:
    decision = admit(GCPWIF, request(POD), google(provider, "a@b"))

    assert (
        decision.outcome,
        decision.message.startswith("cloud.google.com/workload-identity-provider must be form of"),
    ) == ("refused", True)


def test_an_address_that_is_too_long_to_be_one_has_no_project() -> None:
    def projects(email: str) -> set[str]:
        (injection,) = admit(GCPWIF, request(POD), google(PROVIDER, email)).injections
        return {
            v.value
            for touch in injection.containers
            for v in touch.env
            if v.name == "CLOUDSDK_CORE_PROJECT"
        }

    assert projects("s@p.iam.gserviceaccount.com") == {"p"}
    assert projects("@" * 40_000 + "p.iam.gserviceaccount.com") == {""}


def test_a_second_dialect_has_no_say_in_how_it_is_served() -> None:
    with pytest.raises(
        BadFlag, match="eks is served where the first dialect is, and is told its port"
    ):
        build_service(ALL["eks"], ["--port", "4443"], {}, path="/eks/mutate")


def spaces(uid: str = "u", *, more: Iterable[str] = ()) -> Objects:
    return Objects(
        {
            namespace_ref(name): ObjectMetadata({}, (), uid)
            for name in ("shop", "kube-system", "own", *more)
        }
    )


class Writing:
    """What is written by one process, to an API server."""

    def __init__(self, apiserver: RunningApiServer) -> None:
        self.apiserver = apiserver

    def access(self) -> Access:
        return Access(
            Server.from_url(self.apiserver.url, ca=self.apiserver.ca),
            StaticIdentity(Credential("first")),
            RealClock(),
        )

    def made(
        self, *rounds: tuple[str, ...], namespace: str = "shop", uids: tuple[str, ...] = ("u", "u")
    ) -> list[list[object]]:
        """One round after the other, and all of a round at once."""

        async def every() -> list[list[object]]:
            api = Client(self.access())
            maps, ended = ConfigMapWriter(api, RealClock(), "own"), list[list[object]]()
            for names, uid in zip(rounds, uids, strict=False):
                things = [ConfigMap(namespace, name, {"a": "b"}) for name in names]
                ended.append(
                    list(
                        await asyncio.gather(
                            *[maps.write(thing, spaces(uid)) for thing in things],
                            return_exceptions=True,
                        )
                    )
                )
            await api.close()
            return ended

        return asyncio.run(every())

    @property
    def count(self) -> int:
        return self.apiserver.run_in_loop(
            lambda: self.apiserver.fake.count_requests("patch")["configmaps"]
        )


@pytest.fixture
def writing() -> Iterator[Writing]:
    with run_apiserver() as apiserver:
        yield Writing(apiserver)


def test_many_at_once_are_no_more_than_so_many_names(writing: Writing) -> None:
    (ended,) = writing.made(tuple(f"m{number}" for number in range(100)))

    assert writing.count == MAX_CONFIG_MAPS_PER_NAMESPACE
    assert (
        sum(isinstance(each, PodRefused) for each in ended) == 100 - MAX_CONFIG_MAPS_PER_NAMESPACE
    )


def test_what_all_wait_for_is_written_once(writing: Writing) -> None:
    assert writing.made(("m",) * 10, ("m",)) == [[None] * 10, [None]]
    assert writing.count == 1


def test_another_namespace_of_that_name_has_nothing_yet(writing: Writing) -> None:
    writing.made(("m",), ("m",), uids=("one", "another"))

    assert writing.count == 2


def test_another_cluster_has_nothing_yet(writing: Writing) -> None:
    with run_apiserver() as other:
        access = writing.access()

        async def story() -> None:
            api = Client(access)
            maps = ConfigMapWriter(api, RealClock())
            for _ in range(2):
                await maps.write(ConfigMap("shop", "m", {}), spaces())
            access.replace(
                Access(
                    Server.from_url(other.url, ca=other.ca),
                    StaticIdentity(Credential("first")),
                    RealClock(),
                )
            )
            await maps.write(ConfigMap("shop", "m", {}), spaces())
            await api.close()

        asyncio.run(story())
        assert (writing.count, Writing(other).count) == (1, 1)


def test_of_namespaces_that_are_gone_nothing_is_kept(writing: Writing) -> None:
    async def story() -> int:
        api = Client(writing.access())
        maps = ConfigMapWriter(api, RealClock())
        for number in range(20):
            await maps.write(ConfigMap(f"n{number}", "m", {}), spaces(more=[f"n{number}"]))
        await api.close()
        return len(maps)

    assert asyncio.run(story()) == 1


@pytest.mark.parametrize("namespace", ["kube-system", "nowhere", "own"])
def test_nothing_is_written_where_it_does_not_belong(writing: Writing, namespace: str) -> None:
    assert [type(each) for each in writing.made(("m",), namespace=namespace)[0]] == [PodRefused]
    assert writing.count == 0


def test_what_may_not_be_written_will_not_be_in_a_second_and_takes_no_name(
    writing: Writing,
) -> None:
    writing.apiserver.fake.behavior.denied_verbs.add(("patch", "configmaps"))
    names = tuple(f"m{number}" for number in range(MAX_CONFIG_MAPS_PER_NAMESPACE))

    refused, others = writing.made(
        names, tuple(f"o{number}" for number in range(MAX_CONFIG_MAPS_PER_NAMESPACE))
    )

    assert {type(each) for each in refused + others} == {LookupRefused}


def test_what_a_busy_api_server_did_not_write_it_may_in_a_second(writing: Writing) -> None:
    writing.apiserver.fake.behavior.retry_after["patch"] = [1]

    assert [[type(each) for each in ended] for ended in writing.made(("m",), ("m",))] == [
        [LookupFailed],
        [type(None)],
    ]


def test_what_another_wrote_is_taken_where_it_is_what_we_would_write(writing: Writing) -> None:
    theirs = {
        name: {"metadata": {"namespace": "shop", "name": name}, "data": data}
        for name, data in (("same", {"a": "b"}), ("other", {"a": "c"}))
    }
    writing.apiserver.fake.behavior.conflicts = theirs

    assert [type(each) for each in writing.made(("same", "other"))[0]] == [
        type(None),
        LookupRefused,
    ]
