"""One cluster with a real node for all that is installed in it, changed and taken out again; and whoever does that, with the outputs of create-all."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from cwiictl.sandbox import Sandbox, Settings
from tests.cluster.conftest import started
from tests.cluster.imaged import saved
from tests.cluster.kube.cluster import Settings as ClusterSettings
from tests.cluster.life.user import User
from tests.federation.world import OUT, World


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    """Clouds that trust a cluster which is not there yet; what was written for it is all that is needed of them."""
    with Sandbox(Settings(deploy=0.2)) as sandbox:
        world = World(sandbox, tmp_path_factory.mktemp("life"))
        world.asked()
        world.cwiictl("create-all", *world.where)
        return world


@pytest.fixture(scope="session")
def user(world: World) -> Iterator[User]:
    """The cluster is as create-all's outputs prescribe it. Who installs may do all, but has a name of their own, by which the audit log knows them."""
    with started(ClusterSettings(node=True, flags=world.flags, signing_key=world.key)) as cluster:
        cluster.node.load(saved(world.folder))
        authority, who = cluster.reach.authority, "installer"
        kubeconfig = authority.kubeconfig(
            world.folder / "kubeconfig",
            cluster.reach.urls[0],
            authority.client(who, "system:masters"),
        )
        yield User(cluster, kubeconfig, world.folder / OUT, who)
