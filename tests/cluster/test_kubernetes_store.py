"""The cluster as a place: its store keeps the contract of all stores, on a real API server."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from cwiictl.engine.resource import Mark
from cwiictl.kubernetes import Place, connect
from cwiictl.kubernetes.state import ObjectState
from tests.cluster.kube.reach import Reach
from tests.cluster.space import Space, a_name
from tests.contracts.store import Specimen, StoreContract


@pytest.fixture(scope="module")
def cluster(reach: Reach, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """As its administrator."""
    pair = reach.authority.client("admin", "system:masters")
    place = connect(
        reach.authority.kubeconfig(
            tmp_path_factory.mktemp("kube") / "kubeconfig", reach.urls[0], pair
        )
    )
    yield place
    place.close()


@pytest.fixture
def space(reach: Reach) -> Space:
    return Space(reach)


def a_state(
    kind: str,
    api: str,
    name: str,
    namespace: str = "",
    secret: dict[str, str] | None = None,
    **rest: Any,
) -> ObjectState:
    about = {"name": name, **({"namespace": namespace} if namespace else {})}
    return ObjectState(
        body={"apiVersion": api, "kind": kind, "metadata": about, **rest}, data=secret or {}
    )


class TestConfigMaps(StoreContract):
    @pytest.fixture
    def specimen(self, cluster: Place, space: Space) -> Specimen:
        want, other = (
            a_state("ConfigMap", "v1", "x", space.name, data=data)
            for data in ({"a": "1", "b": "2"}, {"a": "3"})
        )
        return Specimen(
            cluster.store(cluster.kinds["ConfigMap"]),
            f"{space.name}/x",
            want,
            other,
            Mark(a_name("mark")),
            f"{space.name}/unknown",
        )


class TestSecrets(StoreContract):
    @pytest.fixture
    def specimen(self, cluster: Place, space: Space) -> Specimen:
        want, other = (
            a_state("Secret", "v1", "x", space.name, secret, type="Opaque")
            for secret in ({"a": "MQ==", "b": "Mg=="}, {"a": "Mw=="})
        )
        return Specimen(
            cluster.store(cluster.kinds["Secret"]),
            f"{space.name}/x",
            want,
            other,
            Mark(a_name("mark")),
            f"{space.name}/unknown",
        )


class TestClusterRoles(StoreContract):
    @pytest.fixture
    def specimen(self, cluster: Place) -> Specimen:
        name = a_name("role")
        rules = [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]
        want = a_state("ClusterRole", "rbac.authorization.k8s.io/v1", name, rules=rules)
        other = a_state(
            "ClusterRole",
            "rbac.authorization.k8s.io/v1",
            name,
            rules=[{**rules[0], "verbs": ["get", "list"]}, *rules],
        )
        return Specimen(
            cluster.store(cluster.kinds["ClusterRole"]),
            name,
            want,
            other,
            Mark(a_name("mark")),
            a_name("unknown"),
        )
