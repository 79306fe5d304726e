"""Tests of the watch of a single object with its data: the ConfigMap of roles of EKS."""

from __future__ import annotations

import pytest
from cwii_webhook.admission.cluster_view import ObjectRef
from cwii_webhook.kube.resources import single_config_map

from tests.webhook.apiserver.running import CONFIG_MAPS, RunningApiServer
from tests.webhook.fake_clock import advance_until, wait_until
from tests.webhook.kube.running import RunningInformer, run_informer, run_synced_informer

REF = ObjectRef("", "ConfigMap", "eks", "pod-identity-webhook")
RESOURCE = single_config_map(REF)


def write_config_map(
    apiserver: RunningApiServer, content: str, namespace: str = REF.namespace, name: str = REF.name
) -> None:
    apiserver.user.apply_config_map(namespace, name, {"config": content})


def cached_content(r: RunningInformer) -> str:
    metadata = r.informer.get_cached(REF)
    return metadata.annotations.get("config", "") if metadata else "none"


async def test_data_of_the_object_is_cached_and_updated(apiserver: RunningApiServer) -> None:
    write_config_map(apiserver, "one")
    async with run_synced_informer(apiserver, [RESOURCE]) as r:
        assert cached_content(r) == "one"
        write_config_map(apiserver, "two")
        await wait_until(lambda: cached_content(r) == "two")
        apiserver.user.delete(CONFIG_MAPS, REF.namespace, REF.name)
        await wait_until(lambda: cached_content(r) == "none")
        write_config_map(apiserver, "three")
        await wait_until(lambda: cached_content(r) == "three")


@pytest.mark.parametrize("watch_list", ["yes", "no"])
async def test_no_other_object_is_requested(apiserver: RunningApiServer, watch_list: str) -> None:
    apiserver.fake.behavior.watch_list = watch_list
    write_config_map(apiserver, "one")
    write_config_map(apiserver, "of another namespace", "shop")
    write_config_map(apiserver, "of another name", name="other")
    async with run_informer(apiserver, [RESOURCE]) as r:
        await advance_until(r.clock, 0.1, lambda: not r.informer.not_ready_reasons())
        write_config_map(apiserver, "of another namespace, later", "shop")
        write_config_map(apiserver, "two")
        await advance_until(r.clock, 0.01, lambda: cached_content(r) == "two")

        assert r.informer.sizes() == {"configmaps": 1}
    reads = [
        request
        for request in apiserver.fake.requests
        if "configmaps" in request.path and request.method == "GET"
    ]
    assert {request.path for request in reads} == {"/api/v1/namespaces/eks/configmaps"}
    assert {request.query["fieldSelector"] for request in reads} == {
        "metadata.name=pod-identity-webhook"
    }


async def test_config_map_without_data_exists(apiserver: RunningApiServer) -> None:
    apiserver.user.apply(CONFIG_MAPS, REF.namespace, REF.name, {"config": "of its annotations"})
    async with run_synced_informer(apiserver, [RESOURCE]) as r:
        metadata = r.informer.get_cached(REF)
        assert metadata is not None
        assert metadata.annotations == {}


async def test_informer_is_ready_without_the_object(apiserver: RunningApiServer) -> None:
    async with run_synced_informer(apiserver, [RESOURCE]) as r:
        assert cached_content(r) == "none"


async def test_role_with_resource_names_is_sufficient(apiserver: RunningApiServer) -> None:
    apiserver.fake.behavior.allowed_names["configmaps"] = REF.name
    async with run_synced_informer(apiserver, [RESOURCE]) as r:
        assert not r.reports


async def test_missing_permission_names_the_object_and_the_role(
    apiserver: RunningApiServer,
) -> None:
    apiserver.fake.behavior.denied_verbs.add(("watch", "configmaps"))
    async with run_informer(apiserver, [RESOURCE]) as r:
        problem = (
            f"the ServiceAccount may not watch the {REF}: give it that in a Role in namespace eks"
        )
        await advance_until(r.clock, 0.1, lambda: problem in r.informer.not_ready_reasons())
