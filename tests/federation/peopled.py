"""A cluster that clouds trust, with the webhook and pods in it, and nothing that anybody did by hand."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from contextlib import contextmanager
from pathlib import Path

from cwiictl.sandbox import Sandbox, Settings
from tests.cluster.conftest import started
from tests.cluster.kube.cluster import Settings as ClusterSettings
from tests.federation import images
from tests.federation.world import WORDS, WORKLOADS, Pods, World

IMAGE = "localhost/cwii-webhook:0.1.0"


@contextmanager
def trusting(settings: Settings, folder: Path) -> Generator[World]:
    """Clouds that trust a cluster which is not there yet."""
    with Sandbox(settings) as sandbox:
        world = World(sandbox, folder)
        world.asked()
        world.cwiictl("create-all", *world.where)
        yield world


@contextmanager
def peopled(
    world: World, folder: Path, workloads: Iterable[tuple[str, str]] = WORKLOADS, servers: int = 1
) -> Generator[Pods]:
    """`folder` is for images."""
    with started(
        ClusterSettings(node=True, servers=servers, flags=world.flags, signing_key=world.key)
    ) as cluster:
        for image in images.made(folder):
            cluster.node.load(image)
        dialects = [word for dialect in WORDS for word in ("--dialect", dialect)]
        world.cwiictl(
            "install-webhook",
            "--output-dir",
            "out",
            "--image",
            IMAGE,
            *dialects,
            KUBECONFIG=str(cluster.kubeconfig),
        )
        door = cluster.node.lend(int(world.sandbox.proxy.rpartition(":")[2]))
        pods = Pods(cluster, door, world.sandbox.ca_file.read_text())
        pods.prepared(world.accounts)
        for namespace, account in workloads:
            pods.deploy(namespace, account)
        yield pods
