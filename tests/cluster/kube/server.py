"""The API server, and etcd below it: their flags, as kubeadm would set them, and how one is stopped and started."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.cluster.kube.client import Client, Object, Refused
from tests.cluster.kube.pki import Authority, Files, public_half, signing_key, write
from tests.cluster.kube.processes import Processes

SERVICES = "10.96.0.0/16"
FIRST_SERVICE = "10.96.0.1"
_AUDIT = {
    "apiVersion": "audit.k8s.io/v1",
    "kind": "Policy",
    "omitStages": ["RequestReceived"],
    "rules": [{"level": "Metadata"}],
}


@dataclass(frozen=True)
class Place:
    """Where an API server listens, and under which URL we reach it."""

    address: str
    port: int
    url: str

    @property
    def inside(self) -> str:
        """As its neighbours reach it."""
        return f"https://{self.address}:{self.port}"


@dataclass(frozen=True)
class Etcd:
    """On loopback, and trusting whoever is there: what it holds is worth nothing when the tests are over."""

    client: int
    peer: int

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.client}"

    def command(self, program: Path, folder: Path) -> list[str]:
        peer = f"http://127.0.0.1:{self.peer}"
        flags = {
            "data-dir": str(folder / "etcd"),
            "listen-client-urls": self.url,
            "advertise-client-urls": self.url,
            "listen-peer-urls": peer,
            "initial-advertise-peer-urls": peer,
            "initial-cluster": f"default={peer}",
            "log-level": "warn",
        }
        return [
            str(program),
            "--unsafe-no-fsync",
            *(f"--{name}={value}" for name, value in flags.items()),
        ]


@dataclass(frozen=True)
class Shared:
    """What all API servers of a cluster have in common."""

    program: Path
    etcd: Etcd
    authority: Authority
    kubelet: Files
    private: Path
    public: Path


def shared(
    program: Path, etcd: Etcd, authority: Authority, folder: Path, key: bytes | None
) -> Shared:
    private = key or signing_key()
    kubelet = authority.write(
        "apiserver-kubelet-client",
        authority.client("kube-apiserver-kubelet-client", "system:masters"),
    )
    return Shared(
        program,
        etcd,
        authority,
        kubelet,
        write(folder / "sa.key", private),
        write(folder / "sa.pub", public_half(private)),
    )


def audit_log(folder: Path, name: str) -> Path:
    return folder / f"{name}-audit.log"


def requests(audit: Path) -> list[Object]:
    """All that were answered so far: who asked what. The last line may be half written."""
    return [
        json.loads(line)
        for line in audit.read_text().splitlines(keepends=True)
        if line.endswith("\n")
    ]


class Server:
    """One API server. `flags` replace ours of the same name, and another start may have others."""

    def __init__(self, name: str, place: Place, processes: Processes, shared: Shared) -> None:
        self.name = name
        self.place = place
        self.audit = audit_log(processes.folder, name)
        self._program = shared.program
        self._processes = processes
        self._anybody = Client(place.url, shared.authority.pem)
        self._ours = self._flags(shared)

    @staticmethod
    def named(number: int) -> str:
        return f"kube-apiserver-{number}"

    def start(self, flags: Iterable[str] = ()) -> None:
        """Returns at once: see `wait`."""
        theirs = list(flags)
        named = {flag.partition("=")[0] for flag in theirs}
        kept = [flag for flag in self._ours if flag.partition("=")[0] not in named]
        self._processes.start(self.name, [self._program, *kept, *theirs])

    def wait(self) -> None:
        self._processes.until(self.ready, f"{self.name} to be ready")

    def ready(self) -> bool:
        """Nobody in particular may ask that, as soon as the roles that every cluster is born with are there."""
        try:
            return self._anybody.text("/readyz") == "ok"
        except (OSError, http.client.HTTPException, Refused):
            return False

    def requests(self) -> list[Object]:
        return requests(self.audit)

    def stop(self) -> None:
        """As it would be before an upgrade."""
        self._processes.stop(self.name)

    def kill(self) -> None:
        """As if the machine had lost its power."""
        self._processes.kill(self.name)

    def _flags(self, shared: Shared) -> Sequence[str]:
        policy = write(self._processes.folder / "audit-policy.json", json.dumps(_AUDIT).encode())
        hosts = [
            *dict.fromkeys(("127.0.0.1", self.place.address, FIRST_SERVICE)),
            "localhost",
            "kubernetes",
            "kubernetes.default",
            "kubernetes.default.svc",
        ]
        tls = shared.authority.write(self.name, shared.authority.server(self.name, hosts))
        alone = (
            self.place.address == "127.0.0.1"
        )  # no endpoint of a Service may be a loopback address
        flags = {
            "etcd-servers": shared.etcd.url,
            "bind-address": self.place.address,
            "advertise-address": self.place.address,
            "secure-port": self.place.port,
            "tls-cert-file": tls.certificate,
            "tls-private-key-file": tls.key,
            "client-ca-file": shared.authority.files.certificate,
            "kubelet-client-certificate": shared.kubelet.certificate,
            "kubelet-client-key": shared.kubelet.key,
            "kubelet-preferred-address-types": "InternalIP",
            "authorization-mode": "Node,RBAC",
            "enable-admission-plugins": "NodeRestriction",
            "service-account-issuer": "https://kubernetes.default.svc.cluster.local",
            "service-account-signing-key-file": shared.private,
            "service-account-key-file": shared.public,
            "service-cluster-ip-range": SERVICES,
            "endpoint-reconciler-type": "none" if alone else "lease",
            "audit-policy-file": policy,
            "audit-log-path": self.audit,
            "allow-privileged": "true",
        }
        return [f"--{name}={value}" for name, value in flags.items()]
