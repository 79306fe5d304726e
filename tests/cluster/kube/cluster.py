"""A cluster that lives as long as a `with`: one or more API servers on one etcd, and on request a node."""

from __future__ import annotations

import os
import random
import socket
import sys
import tempfile
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from tests.cluster.kube import packages, processes, recipe
from tests.cluster.kube.build import Say, programs, say
from tests.cluster.kube.client import Client
from tests.cluster.kube.missing import Missing
from tests.cluster.kube.node import ADDRESSES, Needs, Node
from tests.cluster.kube.pki import Authority
from tests.cluster.kube.processes import Processes
from tests.cluster.kube.reach import Reach
from tests.cluster.kube.server import Etcd, Place, Server, shared

_RELAY = Path(__file__).parent / "relay.py"


@dataclass(frozen=True)
class Settings:
    servers: int = 1
    flags: tuple[
        str, ...
    ] = ()  # of each API server: --name=value; they replace ours of the same name
    signing_key: bytes | None = None  # of ServiceAccounts, as PEM; made when it is not given
    controller_flags: tuple[str, ...] = ()
    node: bool = False
    images: tuple[Path, ...] = ()  # for the node


def ready_made(node: bool, tell: Say = say) -> Mapping[str, Path]:  # noqa: FBT001  # what is asked for, passed on
    """All that a cluster is made of, or Missing."""
    if not node:
        return programs(recipe.SERVER, tell=tell)
    packages.check_root()
    packages.install(tell)
    return programs(recipe.SERVER, recipe.NODE, tell=tell)


class Cluster:
    """`with Cluster(settings) as cluster`: ready when the block begins, and gone without a trace when it ends, or when this process does."""

    node: Node  # where one was asked for

    def __init__(
        self, settings: Settings | None = None, folder: Path | None = None, tell: Say = say
    ) -> None:
        """With a folder, logs and certificates stay there."""
        self.settings = settings or Settings()
        self._programs = ready_made(self.settings.node, tell)
        self._shell = packages.busybox(tell) if self.settings.node else b""
        self._stays = folder
        if folder and folder.exists() and any(folder.iterdir()):
            raise Missing(
                f"{folder} is not empty: name a folder that is, for each cluster has its own"
            )
        self._stack = ExitStack()

    def __enter__(self) -> Cluster:
        with ExitStack() as stack:  # what fails halfway leaves nothing behind
            self._start(stack)
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.close()

    @property
    def admins(self) -> list[Client]:
        return self.reach.admins

    @property
    def admin(self) -> Client:
        return self.reach.admin

    def _start(self, stack: ExitStack) -> None:
        places, files = (
            self._node_places(stack)
            if self.settings.node
            else (_own_places(self.settings.servers), [])
        )
        self.folder = (
            _made(self._stays) if self._stays else Path(tempfile.mkdtemp(prefix="cluster-"))
        )
        self.processes = stack.enter_context(
            Processes(self.folder, processes.APART if self.settings.node else (), files)
        )
        if not self._stays:
            self.processes.remove(self.folder)
        authority = Authority.made(self.folder)
        etcd = Etcd(2379, 2380) if self.settings.node else Etcd(free_port(), free_port())
        common = shared(
            self._programs["kube-apiserver"],
            etcd,
            authority,
            self.folder,
            self.settings.signing_key,
        )
        if self.settings.node:
            needs = Needs(
                self._programs,
                authority,
                places[0].inside,
                common.private,
                self._shell,
                files[-1],
                self.settings.controller_flags,
            )
            self.node = Node(self.processes, self.folder / "node", needs)
            self.node.prepare()
        self.processes.start("etcd", etcd.command(self._programs["etcd"], self.folder))
        self.servers = [
            Server(Server.named(number), place, self.processes, common)
            for number, place in enumerate(places)
        ]
        self._start_servers(files)
        if self.settings.node:
            self.node.start()
            for image in self.settings.images:
                self.node.load(image.absolute())
            self.node.wait(self.admin)

    def _start_servers(self, files: list[int]) -> None:
        for number, server in enumerate(self.servers):
            server.start(self.settings.flags)
            if self.settings.node:
                place = f"{server.place.address}:{server.place.port}"
                self.processes.start(
                    f"relay-to-{server.name}",
                    [sys.executable, "-I", _RELAY, f"fd:{files[number]}", place],
                )
        self.reach = Reach(self.folder, [server.place.url for server in self.servers])
        pair = self.reach.authority.client("admin", "system:masters")
        self.kubeconfig = self.reach.authority.kubeconfig(
            self.folder / "kubeconfig", self.reach.urls[0], pair
        )
        for server in self.servers:
            server.wait()
        self.processes.until(
            lambda: self.admin.exists("/api/v1/namespaces/default"), "the first namespaces"
        )

    def _node_places(self, stack: ExitStack) -> tuple[list[Place], list[int]]:
        """In the node's network, one address for each; here a port of our loopback, which a relay carries there. And last, the way back to here."""
        if self.settings.servers > len(ADDRESSES):
            raise Missing(f"beside a node there can be {len(ADDRESSES)} API servers")
        listeners = [
            stack.enter_context(socket.create_server(("127.0.0.1", 0), backlog=512))
            for _ in range(self.settings.servers)
        ]
        here = os.open("/proc/self/ns/net", os.O_RDONLY)
        stack.callback(os.close, here)
        urls = [f"https://127.0.0.1:{listener.getsockname()[1]}" for listener in listeners]
        return [Place(address, 6443, url) for address, url in zip(ADDRESSES, urls, strict=False)], [
            *(one.fileno() for one in listeners),
            here,
        ]


def _made(folder: Path) -> Path:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder.resolve()


def _own_places(servers: int) -> list[Place]:
    ports = [free_port() for _ in range(servers)]
    return [Place("127.0.0.1", port, f"https://127.0.0.1:{port}") for port in ports]


def free_port() -> int:
    """Below those that the system gives to whoever connects: one of these stays free until its program listens on it."""
    for _ in range(100):
        port = random.randrange(18000, 32000)  # no secret
        try:
            with socket.create_server(("127.0.0.1", port)):
                return port
        except OSError:
            continue
    raise Missing("no port is free on this machine's loopback: end what holds them")
