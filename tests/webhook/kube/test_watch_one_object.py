"""A watch of one object alone, with its data: EKS's ConfigMap of roles."""

from __future__ import annotations

import pytest
from cwii_webhook.admission.cluster_view import ObjectRef
from cwii_webhook.kube.resources import config_map

from tests.webhook.apiserver.running import CONFIG_MAPS, Ground
from tests.webhook.fake_clock import passing, until
from tests.webhook.kube.running import Running, ready, running

REF = ObjectRef("", "ConfigMap", "eks", "pod-identity-webhook")
KIND = config_map(REF)


def give(ground: Ground, text: str, namespace: str = REF.namespace, name: str = REF.name) -> None:
    ground.hands.fill(namespace, name, {"config": text})


def held(r: Running) -> str:
    seen = r.informer.held(REF)
    return seen.annotations.get("config", "") if seen else "none"


async def test_its_data_are_known_and_followed(apiserver: Ground) -> None:
    give(apiserver, "one")
    async with ready(apiserver, [KIND]) as r:
        assert held(r) == "one"
        give(apiserver, "two")
        await until(lambda: held(r) == "two")
        apiserver.hands.drop(CONFIG_MAPS, REF.namespace, REF.name)
        await until(lambda: held(r) == "none")
        give(apiserver, "three")
        await until(lambda: held(r) == "three")


@pytest.mark.parametrize("watch_list", ["yes", "no"])
async def test_no_other_is_asked_for(apiserver: Ground, watch_list: str) -> None:
    apiserver.double.ways.watch_list = watch_list
    give(apiserver, "one")
    give(apiserver, "of another namespace", "shop")
    give(apiserver, "of another name", name="other")
    async with running(apiserver, [KIND]) as r:
        await passing(r.clock, 0.1, lambda: not r.informer.lacks())
        give(apiserver, "of another namespace, later", "shop")
        give(apiserver, "two")
        await passing(r.clock, 0.01, lambda: held(r) == "two")

        assert r.informer.sizes() == {"configmaps": 1}
    asked = [
        request
        for request in apiserver.double.requests
        if "configmaps" in request.path and request.method == "GET"
    ]
    assert {request.path for request in asked} == {"/api/v1/namespaces/eks/configmaps"}
    assert {request.query["fieldSelector"] for request in asked} == {
        "metadata.name=pod-identity-webhook"
    }


async def test_one_without_data_is_there(apiserver: Ground) -> None:
    apiserver.hands.put(CONFIG_MAPS, REF.namespace, REF.name, {"config": "of its annotations"})
    async with ready(apiserver, [KIND]) as r:
        seen = r.informer.held(REF)
        assert seen is not None
        assert seen.annotations == {}


async def test_that_it_is_missing_is_no_reason_to_wait(apiserver: Ground) -> None:
    async with ready(apiserver, [KIND]) as r:
        assert held(r) == "none"


async def test_a_role_that_names_it_alone_suffices(apiserver: Ground) -> None:
    apiserver.double.ways.named["configmaps"] = REF.name
    async with ready(apiserver, [KIND]) as r:
        assert not r.told


async def test_the_permission_that_is_missing_is_named(apiserver: Ground) -> None:
    apiserver.double.ways.denied.add(("watch", "configmaps"))
    async with running(apiserver, [KIND]) as r:
        said = (
            f"the ServiceAccount may not watch the {REF}: give it that in a Role in namespace eks"
        )
        await passing(r.clock, 0.1, lambda: said in r.informer.lacks())
