"""A watch of one object alone, with its data: EKS's ConfigMap of roles."""

from __future__ import annotations

import pytest
from cwii_webhook.admission.cluster_view import ObjectRef
from cwii_webhook.kube.resources import single_config_map

from tests.webhook.apiserver.running import CONFIG_MAPS, RunningApiServer
from tests.webhook.fake_clock import advance_until, wait_until
from tests.webhook.kube.running import RunningInformer, run_informer, run_synced_informer

REF = ObjectRef("", "ConfigMap", "eks", "pod-identity-webhook")
KIND = single_config_map(REF)


def give(
    ground: RunningApiServer, text: str, namespace: str = REF.namespace, name: str = REF.name
) -> None:
    ground.user.apply_config_map(namespace, name, {"config": text})


def held(r: RunningInformer) -> str:
    seen = r.informer.get_cached(REF)
    return seen.annotations.get("config", "") if seen else "none"


async def test_its_data_are_known_and_followed(apiserver: RunningApiServer) -> None:
    give(apiserver, "one")
    async with run_synced_informer(apiserver, [KIND]) as r:
        assert held(r) == "one"
        give(apiserver, "two")
        await wait_until(lambda: held(r) == "two")
        apiserver.user.delete(CONFIG_MAPS, REF.namespace, REF.name)
        await wait_until(lambda: held(r) == "none")
        give(apiserver, "three")
        await wait_until(lambda: held(r) == "three")


@pytest.mark.parametrize("watch_list", ["yes", "no"])
async def test_no_other_is_asked_for(apiserver: RunningApiServer, watch_list: str) -> None:
    apiserver.fake.behavior.watch_list = watch_list
    give(apiserver, "one")
    give(apiserver, "of another namespace", "shop")
    give(apiserver, "of another name", name="other")
    async with run_informer(apiserver, [KIND]) as r:
        await advance_until(r.clock, 0.1, lambda: not r.informer.not_ready_reasons())
        give(apiserver, "of another namespace, later", "shop")
        give(apiserver, "two")
        await advance_until(r.clock, 0.01, lambda: held(r) == "two")

        assert r.informer.sizes() == {"configmaps": 1}
    asked = [
        request
        for request in apiserver.fake.requests
        if "configmaps" in request.path and request.method == "GET"
    ]
    assert {request.path for request in asked} == {"/api/v1/namespaces/eks/configmaps"}
    assert {request.query["fieldSelector"] for request in asked} == {
        "metadata.name=pod-identity-webhook"
    }


async def test_one_without_data_is_there(apiserver: RunningApiServer) -> None:
    apiserver.user.apply(CONFIG_MAPS, REF.namespace, REF.name, {"config": "of its annotations"})
    async with run_synced_informer(apiserver, [KIND]) as r:
        seen = r.informer.get_cached(REF)
        assert seen is not None
        assert seen.annotations == {}


async def test_that_it_is_missing_is_no_reason_to_wait(apiserver: RunningApiServer) -> None:
    async with run_synced_informer(apiserver, [KIND]) as r:
        assert held(r) == "none"


async def test_a_role_that_names_it_alone_suffices(apiserver: RunningApiServer) -> None:
    apiserver.fake.behavior.allowed_names["configmaps"] = REF.name
    async with run_synced_informer(apiserver, [KIND]) as r:
        assert not r.reports


async def test_the_permission_that_is_missing_is_named(apiserver: RunningApiServer) -> None:
    apiserver.fake.behavior.denied_verbs.add(("watch", "configmaps"))
    async with run_informer(apiserver, [KIND]) as r:
        said = (
            f"the ServiceAccount may not watch the {REF}: give it that in a Role in namespace eks"
        )
        await advance_until(r.clock, 0.1, lambda: said in r.informer.not_ready_reasons())
