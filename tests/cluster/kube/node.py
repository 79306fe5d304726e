"""One real node: containerd, kubelet, scheduler, controllers and kube-proxy, in namespaces of their own: the machine stays as it is."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from tests.cluster.kube import images, node_files
from tests.cluster.kube.client import Client, Object
from tests.cluster.kube.node_files import PAUSE_IMAGE, PODS, SHELL_IMAGE, SOCKET
from tests.cluster.kube.pki import Authority, write
from tests.cluster.kube.processes import Broken, Processes

NAME = "node1"
ADDRESSES = ("10.87.0.1", "10.87.0.2")  # of the node; each API server has one
_RELAY = Path(__file__).parent / "relay.py"
_APPLETS = (
    "sh",
    "cat",
    "sleep",
    "ls",
    "id",
    "stat",
    "wget",
    "nc",
    "env",
    "true",
    "false",
    "httpd",
    "tail",
    "date",
    "timeout",
)
_PATH = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"
# What a kubelet would set in the kernel for the whole machine, if it did not find it so already.
_KERNEL = {
    "vm/overcommit_memory": 1,
    "vm/panic_on_oom": 0,
    "kernel/panic": 10,
    "kernel/panic_on_oops": 1,
    "kernel/keys/root_maxkeys": 1000000,
    "kernel/keys/root_maxbytes": 25000000,
}
_GROUPS = Path("/sys/fs/cgroup")


@dataclass(frozen=True)
class Needs:
    """What a node is given by the rest of the cluster."""

    programs: Mapping[str, Path]
    authority: Authority
    server: str  # as it is reached from in there
    signing_key: Path
    shell: bytes
    outside: int  # an open file: the network that we came from
    controller_flags: Sequence[str] = ()


class Node:
    def __init__(self, processes: Processes, folder: Path, needs: Needs) -> None:
        self.folder = folder
        self._processes = processes
        self._needs = needs
        self._lent = 0
        self.groups: list[Path] = []

    def prepare(self) -> None:
        """An own machine, as far as its programs can see. Before the API servers: they listen on its addresses."""
        self.folder.mkdir()
        self._processes.remove(self.folder)
        run = self._processes.run
        run("ip", "link", "set", "lo", "up")
        run(
            "ip", "link", "add", "node0", "type", "veth", "peer", "name", "nowhere"
        )  # a dummy is not in every kernel
        run("ip", "link", "set", "nowhere", "up")
        for address in ADDRESSES:
            run("ip", "address", "add", f"{address}/24", "dev", "node0")
        run("ip", "link", "set", "node0", "up")
        run(
            "ip", "route", "add", "default", "dev", "node0"
        )  # an address of a Service needs a way before it is translated
        run("mount", "-t", "tmpfs", "tmpfs", "/run")
        for name in ("log", node_files.STATIC):
            (self.folder / name).mkdir()
        run("mount", "--bind", self.folder / "log", "/var/log")
        for name, value in _KERNEL.items():
            run(
                "mount",
                "--bind",
                write(self.folder / name.replace("/", "-"), f"{value}\n".encode()),
                f"/proc/sys/{name}",
            )

    def start(self) -> None:
        self._start_containerd()
        self._start("kube-controller-manager", *self._controllers())
        self._start(
            "kube-scheduler",
            *self._kubeconfigs("kube-scheduler", "system:kube-scheduler"),
            "--leader-elect=false",
            "--bind-address=127.0.0.1",
        )
        self._start("kubelet", *self._kubelet())
        kubeconfig = self._kubeconfig("kube-proxy", "system:kube-proxy")
        self._start(
            "kube-proxy",
            f"--kubeconfig={kubeconfig}",
            f"--hostname-override={NAME}",
            f"--cluster-cidr={PODS}",
            "--proxy-mode=iptables",
            "--conntrack-max-per-core=0",
        )

    def wait(self, admin: Client) -> None:
        """Ready, and its controllers have begun: the first namespace has its ServiceAccount."""

        def ready() -> bool:
            path = "/api/v1/namespaces/default/serviceaccounts/default"
            return _is_ready(admin.list("/api/v1/nodes")) and admin.exists(path)

        self._processes.until(ready, "the node to be ready", 120)

    @property
    def enter(self) -> list[str]:
        """Put before a command, has it run in the node's network, where all addresses of pods and Services can be reached."""
        return ["nsenter", f"--net=/proc/{self._processes.first}/ns/net", "--"]

    def load(self, image: Path) -> None:
        """An OCI layout, as a tar file."""
        self._processes.run(
            self._needs.programs["ctr"],
            "--address",
            SOCKET,
            "--namespace",
            "k8s.io",
            "images",
            "import",
            "--no-unpack",
            image,
        )

    def lend(self, port: int) -> str:
        """What listens on our loopback, made reachable for pods: the address that they are to use."""
        self._lent += 1
        address = f"{ADDRESSES[0]}:{20000 + self._lent}"
        self._processes.start(
            f"relay-{port}",
            [sys.executable, "-I", _RELAY, address, f"ns:{self._needs.outside}:127.0.0.1:{port}"],
        )
        return address

    def static(self, pod: Object) -> None:
        """A pod that the kubelet runs by itself, and whose mirror it shows to the API server."""
        new = write(
            self.folder / "static.new",
            json.dumps({"apiVersion": "v1", "kind": "Pod", **pod}).encode(),
        )
        new.rename(self.folder / node_files.STATIC / f"{pod['metadata']['name']}.json")

    def restart(self, program: str) -> None:
        self._processes.restart(program)

    def fail(self) -> None:
        """As if its power had gone, and come back: whatever ran in its pods, and what ran them, begins anew."""
        for program in ("kubelet", "containerd"):
            self._processes.stop(program)
        for process in {
            line
            for group in self.groups
            for file in group.rglob("cgroup.procs")
            for line in file.read_text().split()
        }:
            with suppress(ProcessLookupError):
                os.kill(int(process), signal.SIGKILL)
        self._processes.again("containerd")
        self._processes.until(
            self._answering, "containerd to answer"
        )  # a kubelet that finds nobody there ends
        self._processes.again("kubelet")

    def _start(self, program: str, *flags: str | Path) -> None:
        self._processes.start(
            program,
            [self._needs.programs[program], *flags],
            {"PATH": f"{self._needs.programs['containerd'].parent}:{_PATH}"},
        )

    def _start_containerd(self) -> None:
        (self.folder / "cni").mkdir()
        write(
            self.folder / "cni" / "pods.conflist",
            json.dumps(node_files.network(self.folder)).encode(),
        )
        config = write(
            self.folder / "containerd.toml",
            node_files.containerd(self.folder, _PATH, _snapshotter(self.folder)).encode(),
        )
        self._start("containerd", "--config", config)
        self._processes.until(self._answering, "containerd to answer", 60)
        self.load(
            images.save(
                self.folder / "pause.tar",
                PAUSE_IMAGE,
                {"pause": self._needs.programs["pause"].read_bytes()},
                ["/pause"],
            )
        )
        shell: dict[str, bytes | str] = {
            "bin/busybox": self._needs.shell,
            "tmp/": "",
            **{f"bin/{name}": "busybox" for name in _APPLETS},
        }
        self.load(images.save(self.folder / "shell.tar", SHELL_IMAGE, shell, ["/bin/sh", "-c"]))

    def _answering(self) -> bool:
        try:
            self._processes.run(
                self._needs.programs["ctr"],
                "--address",
                SOCKET,
                "--connect-timeout",
                "1s",
                "version",
                seconds=5,
            )
        except Broken:
            return False
        return True

    def _controllers(self) -> list[str]:
        files = self._needs.authority.files
        theirs = {flag.partition("=")[0] for flag in self._needs.controller_flags}
        ours = [
            *self._kubeconfigs("kube-controller-manager", "system:kube-controller-manager"),
            f"--service-account-private-key-file={self._needs.signing_key}",
            f"--root-ca-file={files.certificate}",
            f"--client-ca-file={files.certificate}",
            f"--cluster-signing-cert-file={files.certificate}",
            f"--cluster-signing-key-file={files.key}",
            "--controllers=*,bootstrapsigner,tokencleaner",
            "--use-service-account-credentials=true",
            "--leader-elect=false",
            "--bind-address=127.0.0.1",
        ]
        return [
            *(flag for flag in ours if flag.partition("=")[0] not in theirs),
            *self._needs.controller_flags,
        ]

    def _kubelet(self) -> list[str]:
        config = node_files.kubelet(
            self.folder, self._needs.authority.files.certificate, self._group()
        )
        return [
            f"--config={write(self.folder / 'kubelet.json', json.dumps(config, indent=1).encode())}",
            f"--kubeconfig={self._kubeconfig('kubelet', f'system:node:{NAME}', 'system:nodes')}",
            f"--root-dir={self.folder / 'kubelet'}",
            f"--cert-dir={self.folder / 'kubelet-pki'}",
            f"--hostname-override={NAME}",
            f"--node-ip={ADDRESSES[0]}",
        ]

    def _kubeconfigs(self, name: str, user: str) -> list[str]:
        file = self._kubeconfig(name, user)
        return [
            f"--{kind}={file}"
            for kind in ("kubeconfig", "authentication-kubeconfig", "authorization-kubeconfig")
        ]

    def _kubeconfig(self, name: str, *who: str) -> Path:
        return self._needs.authority.kubeconfig(
            self.folder / f"{name}.kubeconfig",
            self._needs.server,
            self._needs.authority.client(*who),
        )

    def _group(self) -> str:
        """Control groups of its own: a kubelet ends what it finds in its groups and does not know, such as another's pods."""
        name = f"cluster-{uuid4().hex[:8]}"
        for above in _hierarchies():
            (above / name).mkdir()
            self.groups.append(above / name)
            self._processes.remove(above / name)
        return f"/{name}"


def _hierarchies() -> list[Path]:
    """Version 2 has one, version 1 one for each controller."""
    if (_GROUPS / "cgroup.controllers").exists():
        return [_GROUPS]
    mounts = [line.split() for line in Path("/proc/self/mounts").read_text().splitlines()]
    return [Path(place) for _, place, kind, *_ in mounts if kind == "cgroup"]


def _snapshotter(folder: Path) -> str:
    """Overlays cannot lie upon overlays, as where all of this runs in a container itself."""
    mounts = [line.split() for line in Path("/proc/self/mounts").read_text().splitlines()]
    holding = max(
        (entry for entry in mounts if folder.is_relative_to(entry[1])),
        key=lambda entry: len(entry[1]),
    )
    return "native" if holding[2] == "overlay" else "overlayfs"


def _is_ready(nodes: list[Object]) -> bool:
    conditions = [condition for node in nodes for condition in node["status"].get("conditions", [])]
    return any(
        condition["type"] == "Ready" and condition["status"] == "True" for condition in conditions
    )
