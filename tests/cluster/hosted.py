"""A hosted control plane: a kube-apiserver's Deployment in a management cluster with HyperShift's CAs, and the guest that it serves. Here both are one."""

from __future__ import annotations

import base64
import http.client
import socket
import struct
import sys
from collections.abc import Generator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from fcntl import ioctl
from pathlib import Path
from typing import Any

from cwii_webhook.certificates.pem import KeyPair

from cwiictl.actions import sidecar, uninstall
from cwiictl.actions.authorities import Source
from cwiictl.actions.beside import Beside
from cwiictl.actions.cluster import Installation
from cwiictl.actions.result import Result
from cwiictl.engine.resource import silent
from tests.cluster.conftest import skipped_where_missing, started
from tests.cluster.kube.client import Client, Object
from tests.cluster.kube.cluster import Cluster, Settings, free_port
from tests.cluster.kube.missing import Missing
from tests.cluster.kube.pki import write
from tests.cluster.kube.processes import Processes
from tests.cluster.space import Space, a_name, plain
from tests.cwiictl.install.installed import IMAGE
from tests.webhook.certificates.hypershift import rsa_authority
from tests.webhook.harness import ACCOUNT_ANNOTATIONS

PROGRAM = Path(sys.executable).with_name("cwii-webhook")
SIOCGIFADDR = 0x8915
DIALECTS = {"azure": "azwi", "aws": "eks", "gcp": "gcpwif", "cwii": "cwii"}


@contextmanager
def hosting() -> Generator[tuple[Cluster, KeyPair]]:
    """With a second CA for clients, which HyperShift signs kubeconfigs with."""
    with started(Settings()) as cluster:
        clients = rsa_authority()
        bundle = write(
            cluster.folder / "clients.crt", cluster.reach.authority.pem + clients.certificate
        )
        cluster.servers[0].stop()
        cluster.servers[0].start([f"--client-ca-file={bundle}"])
        cluster.servers[0].wait()
        yield cluster, clients


@dataclass
class Hosted:
    """Of one flavour, in a namespace that nobody else has."""

    cluster: Cluster
    clients: KeyPair
    folder: Path
    flavour: str
    namespace: str = field(default_factory=lambda: a_name("clusters"))
    ports: tuple[int, int] = field(default_factory=lambda: (free_port(), free_port()))

    def __post_init__(self) -> None:
        self.admin.create("/api/v1/namespaces", {"metadata": {"name": self.namespace}})
        root = KeyPair(
            self.cluster.reach.authority.pem, self.cluster.reach.authority.files.key.read_bytes()
        )
        for name, pair in (("root-ca", root), ("cluster-signer-ca", self.clients)):
            data = {
                key: coded(each)
                for key, each in (("ca.crt", pair.certificate), ("ca.key", pair.key))
            }
            self.admin.create(
                f"/api/v1/namespaces/{self.namespace}/secrets",
                {"metadata": {"name": name}, "data": data},
            )
        self.admin.create(
            f"{self.deployments}?fieldManager=control-plane-operator", kube_apiserver()
        )

    @property
    def admin(self) -> Client:
        return self.cluster.admin

    @property
    def deployments(self) -> str:
        return f"/apis/apps/v1/namespaces/{self.namespace}/deployments"

    def deployment(self) -> Object:
        return self.admin.get(f"{self.deployments}/kube-apiserver")

    def containers(self) -> dict[str, Object]:
        return {
            each["name"]: each
            for each in self.deployment()["spec"]["template"]["spec"]["containers"]
        }

    def beside(
        self, *sets: str, waits: float = 0.0, kubeconfig: Path | None = None, **more: Any
    ) -> Beside:
        values = (f"image={IMAGE}", "azure.tenantId=tenant", *sets)
        order = Installation(
            kubeconfig=kubeconfig or self.cluster.kubeconfig,
            output=self.folder,
            sets=values,
            wait=bool(waits),
            timeout=waits,
        )
        port = int(self.cluster.reach.urls[0].rpartition(":")[2])
        sources = {"root": Source(secret="root-ca"), "client": Source(secret="cluster-signer-ca")}
        said: dict[str, Any] = {
            "guest_kubeconfig": self.cluster.kubeconfig,
            "port": port,
            "ports": self.ports,
            **sources,
            **more,
        }
        return Beside(order, self.flavour, self.namespace, **said)

    def tried(self, *sets: str, **more: Any) -> Result:
        return sidecar.install(self.beside(*sets, **more), silent, lambda _: True)

    def install(self, *sets: str, **more: Any) -> Result:
        result = self.tried(*sets, **more)
        assert not result.code, [(row.thing, row.problem) for row in result.rows]
        return result

    def uninstall(self, **more: Any) -> Result:
        return uninstall.uninstall_sidecar(self.beside(**more), silent, lambda _: True)

    def secret(self, name: str) -> dict[str, bytes]:
        data: Mapping[str, str] = self.admin.get(
            f"/api/v1/namespaces/{self.namespace}/secrets/{name}"
        )["data"]
        return {key: base64.b64decode(text) for key, text in data.items()}

    def has_run(self, ip: str = "") -> None:
        """As the controllers and a kubelet would tell of it: one replica, which has the address of this machine, if no other."""
        self.admin.create(
            f"/api/v1/namespaces/{self.namespace}/serviceaccounts",
            {"metadata": {"name": "default"}},
        )
        pods, labels = f"/api/v1/namespaces/{self.namespace}/pods", {"app": "kube-apiserver"}
        self.admin.create(
            pods,
            {
                "metadata": {"name": "kas-0", "labels": labels},
                "spec": {"containers": [{"name": "c", "image": "c"}]},
            },
        )
        with skipped_where_missing():
            ip = ip or address()
        self.admin.patch(
            f"{pods}/kas-0/status",
            {"status": {"phase": "Running", "podIP": ip, "podIPs": [{"ip": ip}]}},
        )
        counted = dict.fromkeys(
            ("replicas", "updatedReplicas", "readyReplicas", "availableReplicas"), 3
        )
        generation = self.deployment()["metadata"]["generation"]
        self.admin.patch(
            f"{self.deployments}/kube-apiserver/status",
            {"status": {**counted, "observedGeneration": generation}},
        )

    def start(self, processes: Processes, server: str = "") -> None:
        """The container as it is in the Deployment, with its Secrets as a kubelet would mount them. `server` is another way to the API server."""
        pod = self.deployment()["spec"]["template"]["spec"]
        (container,) = [each for each in pod["containers"] if each.get("args")]
        names = {
            volume["name"]: volume["secret"]["secretName"]
            for volume in pod["volumes"]
            if "secret" in volume
        }
        for mount in container["volumeMounts"]:
            folder = processes.folder / Path(mount["mountPath"]).name
            folder.mkdir(exist_ok=True)
            for name, content in self.secret(names[mount["name"]]).items():
                write(
                    folder / name,
                    content.replace(b"https://kube-apiserver:", b"https://localhost:"),
                )  # as its Service is called
        kubeconfig = processes.folder / "kubeconfig" / "kubeconfig"
        if server:
            write(
                kubeconfig,
                kubeconfig.read_bytes().replace(
                    f"https://localhost:{self.beside().port}".encode(), server.encode()
                ),
            )
        processes.start(
            "sidecar",
            [
                PROGRAM,
                *(
                    word.replace("/var/run/app", str(processes.folder))
                    for word in container["args"]
                ),
            ],
        )

    def health(self, path: str = "/readyz") -> str:
        with (
            suppress(OSError),
            closing(
                http.client.HTTPConnection("127.0.0.1", self.ports[1], timeout=10)
            ) as connection,
        ):
            connection.request("GET", path)
            return connection.getresponse().read().decode()
        return "nobody listens"

    def ready(self, processes: Processes) -> None:
        processes.until(
            lambda: self.health() == "ok\n", f"the sidecar to be ready, which says {self.health()}"
        )

    def shop(self) -> Space:
        """With a ServiceAccount that asks in the flavour's words."""
        return Space(self.cluster.reach).account(ACCOUNT_ANNOTATIONS[DIALECTS[self.flavour]])


def asking() -> Object:
    """In every dialect's words, as far as pods have them."""
    pod = plain()
    pod["metadata"]["labels"] = {"azure.workload.identity/use": "true"}
    return pod


def conditions(result: Result) -> dict[str, str]:
    return {row.thing: row.condition for row in result.rows}


def kube_apiserver() -> Object:
    """As far as we could disturb it."""
    container = {"image": "example.org/openshift:1", "resources": {"requests": {"cpu": "350m"}}}
    pod = {
        "automountServiceAccountToken": False,
        "containers": [
            {
                "name": "kube-apiserver",
                **container,
                "volumeMounts": [{"name": "kas", "mountPath": "/etc/kas"}],
            },
            {"name": "audit-logs", **container},
        ],
        "volumes": [{"name": "kas", "secret": {"secretName": "kas-server-crt"}}],
    }
    labels = {"app": "kube-apiserver"}
    spec = {
        "replicas": 3,
        "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels}, "spec": pod},
    }
    return {"metadata": {"name": "kube-apiserver", "labels": {"hypershift": "yes"}}, "spec": spec}


def address() -> str:
    """Of this machine, and not its loopback: no API server asks pods there."""
    with closing(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) as sock:
        for _, name in socket.if_nameindex():
            with suppress(OSError):  # one that has none
                found = socket.inet_ntoa(
                    ioctl(sock.fileno(), SIOCGIFADDR, struct.pack("256s", name.encode()))[20:24]
                )
                if not found.startswith("127."):
                    return found
    raise Missing("this machine has no address but its loopback")


def coded(content: bytes) -> str:
    return base64.b64encode(content).decode()
