"""What a renewer finds in a cluster: Secrets, a configuration, and replicas at addresses of their own. And one who does a kubelet's part."""

from __future__ import annotations

import base64
import json
import re
import ssl
import subprocess
import sys
import threading
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cwii_webhook.certificates import pki
from cwii_webhook.certificates.pem import KeyPair

from tests.cluster.kube.client import Client, Object
from tests.cluster.kube.cluster import free_port
from tests.cluster.kube.pki import write
from tests.cluster.kube.processes import Processes
from tests.cluster.kube.reach import Reach
from tests.cluster.space import HOOK, Space, a_name, plain, volumes
from tests.cluster.webhook import Account, account
from tests.webhook.harness import ACCOUNT_ANNOTATIONS

MANAGER = "cwii-webhook-renewer"
RELAY = Path(__file__).parent / "kube" / "relay.py"
PROGRAM = Path(sys.executable).with_name("cwii-webhook")
CONFIGURATIONS = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations"
SLICES = ("endpointslices", "discovery.k8s.io")
_RBAC = "/apis/rbac.authorization.k8s.io/v1"


def own_address() -> str:
    """Of this machine, and not of its loopback: an EndpointSlice may name no other."""
    table = Path("/proc/net/fib_trie").read_text()
    found = [
        each
        for each in re.findall(r"\|-- (\S+)\n\s+/32 host LOCAL", table)
        if not each.startswith("127.")
    ]
    if not found:
        pytest.skip("this machine has no address but the loopback's")
    return found[0]


@dataclass
class Kubelet:
    """Puts a Secret into a folder as a volume has it: all in one moment, and a while after it was written."""

    client: Client
    secret: str
    folder: Path
    lag: float
    over: threading.Event = field(default_factory=threading.Event)
    _version: str = ""
    _count: int = 0

    def run(self) -> None:
        while not self.over.wait(self.lag):
            self.sync()

    def sync(self) -> None:
        found = self.client.get(self.secret)
        data: dict[str, str] = found.get("data", {})
        if not data or found["metadata"]["resourceVersion"] == self._version:
            return
        self._version, self._count = found["metadata"]["resourceVersion"], self._count + 1
        new = self.folder / f"..{self._count}"
        new.mkdir(parents=True)
        for name, content in data.items():
            write(new / name, base64.b64decode(content))
        for name in data:
            if not (self.folder / name).is_symlink():
                (self.folder / name).symlink_to(Path("..data") / name)
        (self.folder / "..new").symlink_to(new.name)
        (self.folder / "..new").rename(self.folder / "..data")


@dataclass(frozen=True)
class Replica:
    """A process that serves what a kubelet gives it, on every address."""

    name: str
    port: int
    kubelet: Kubelet


@dataclass(frozen=True)
class Run:
    code: int
    lines: list[Object]
    last_words: Object

    @property
    def said(self) -> list[str]:
        return [line["what"] for line in self.lines]


class Installed:
    def __init__(self, reach: Reach, processes: Processes) -> None:
        self.reach, self.processes, self.admin = reach, processes, reach.admin
        self.name = a_name("hook")
        self.space = Space(reach)
        self.replicas: list[Replica] = []
        for which in ("serving", "ca"):
            self.admin.create(
                self.space.path("secrets"),
                {"metadata": {"name": f"{self.name}-{which}"}, "type": "Opaque"},
            )
        self.who = self._account()
        self.kubeconfig = reach.authority.kubeconfig(
            processes.folder / f"{self.name}.kubeconfig", reach.urls[0], self.who
        )
        self.webhooks("pods", "late")

    def _account(self) -> str:
        """It may do what a renewer must, and nothing else. Its token."""
        home = f"/api/v1/namespaces/{self.space.name}/serviceaccounts"
        self.admin.create(home, {"metadata": {"name": "renewer"}})
        secrets = {
            "apiGroups": [""],
            "resources": ["secrets"],
            "resourceNames": [f"{self.name}-serving", f"{self.name}-ca"],
            "verbs": ["get", "patch"],
        }
        slices = {
            "apiGroups": ["discovery.k8s.io"],
            "resources": ["endpointslices"],
            "verbs": ["list"],
        }
        events = {"apiGroups": [""], "resources": ["events"], "verbs": ["create"]}
        hooks = {
            "apiGroups": ["admissionregistration.k8s.io"],
            "resources": ["mutatingwebhookconfigurations"],
            "resourceNames": [self.name],
        }
        subject = {"kind": "ServiceAccount", "name": "renewer", "namespace": self.space.name}
        self._may(
            "roles",
            f"{_RBAC}/namespaces/{self.space.name}",
            "Role",
            [secrets, slices, events],
            subject,
        )
        self._may(
            "clusterroles", _RBAC, "ClusterRole", [{**hooks, "verbs": ["get", "patch"]}], subject
        )
        return self.admin.create(f"{home}/renewer/token", {"spec": {"expirationSeconds": 7200}})[
            "status"
        ]["token"]

    def _may(
        self, plural: str, path: str, kind: str, rules: list[Object], subject: Object
    ) -> None:  # an object's parts
        self.admin.create(f"{path}/{plural}", {"metadata": {"name": self.name}, "rules": rules})
        role = {"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": self.name}
        self.admin.create(
            f"{path}/{plural[:-1]}bindings",
            {"metadata": {"name": self.name}, "roleRef": role, "subjects": [subject]},
        )

    def webhooks(self, *names: str) -> None:
        """Called for nobody. As somebody installs them: without whom to trust."""
        rule = {
            "apiGroups": [""],
            "apiVersions": ["v1"],
            "operations": ["CREATE"],
            "resources": ["pods"],
        }
        common = {
            "clientConfig": {
                "service": {"namespace": self.space.name, "name": self.name, "path": "/mutate"}
            },
            "rules": [rule],
            "admissionReviewVersions": ["v1"],
            "sideEffects": "None",
            "failurePolicy": "Ignore",
            "namespaceSelector": {"matchLabels": {HOOK: self.name}},
        }
        self.admin.create(
            CONFIGURATIONS,
            {
                "metadata": {"name": self.name},
                "webhooks": [{"name": f"{name}.cwii.dev", **common} for name in names],
            },
        )

    @property
    def configuration(self) -> Object:
        return self.admin.get(f"{CONFIGURATIONS}/{self.name}")

    @property
    def bundles(self) -> list[bytes]:
        return [
            base64.b64decode(each["clientConfig"].get("caBundle", ""))
            for each in self.configuration["webhooks"]
        ]

    def secret(self, which: str) -> str:
        return f"{self.space.path('secrets')}/{self.name}-{which}"

    def data(self, which: str) -> Mapping[str, bytes]:
        return {
            key: base64.b64decode(value)
            for key, value in self.admin.get(self.secret(which)).get("data", {}).items()
        }

    def versions(self) -> list[str]:
        return [
            each["metadata"]["resourceVersion"]
            for each in (
                self.admin.get(self.secret("serving")),
                self.admin.get(self.secret("ca")),
                self.configuration,
            )
        ]

    def events(self) -> list[tuple[str, str, str]]:
        uid = self.admin.get(self.secret("serving"))["metadata"]["uid"]
        events = [
            each
            for each in self.admin.list(self.space.path("events"))
            if each["involvedObject"]["uid"] == uid
        ]
        return [(each["type"], each["reason"], each["message"]) for each in events]

    def whole(self) -> bool:
        """One authority, which signed what is served and is trusted by all, and nothing of another."""
        ca, pair = self.data("ca"), self.data("serving")
        return (
            set(ca) == {"tls.crt", "tls.key"}
            and set(self.bundles) == {ca["tls.crt"]}
            and pair["ca.crt"] == ca["tls.crt"]
        )

    def with_an_old_authority(self) -> KeyPair:
        """As if it had been made long ago: valid, served and trusted by all, and due."""
        now = datetime.now(UTC)
        old = pki.create_authority(
            self.name,
            pki.Lifetime(timedelta(days=100), timedelta(days=30)),
            now - timedelta(days=99),
        )
        pair = pki.sign(
            pki.service_spec(
                self.name, self.space.name, pki.Lifetime(timedelta(days=90), timedelta(days=30))
            ),
            old,
            now,
        )
        ca = {
            "tls.crt": _text(old.certificate),
            "tls.key": _text(old.key),
            "next.crt": None,
            "next.key": None,
        }
        self.admin.patch(self.secret("ca"), {"data": ca})
        self.admin.patch(
            self.secret("serving"),
            {
                "data": {
                    "tls.crt": _text(pair.certificate),
                    "tls.key": _text(pair.key),
                    "ca.crt": ca["tls.crt"],
                }
            },
        )
        webhooks = [
            {"name": each["name"], "clientConfig": {"caBundle": ca["tls.crt"]}}
            for each in self.configuration["webhooks"]
        ]
        self.admin.patch(f"{CONFIGURATIONS}/{self.name}", {"webhooks": webhooks}, "strategic")
        self.processes.until(
            lambda: all(
                served(replica.port) == pki.first_der(pair.certificate) for replica in self.replicas
            ),
            "it to be served",
        )
        return old

    def names(self, address: str, port: int, name: str) -> str:
        """An EndpointSlice's path. It names one replica, which is not ready."""
        labels = {"kubernetes.io/service-name": self.name}
        endpoint = {"addresses": [address], "conditions": {"ready": False}}
        ports = [
            {"name": "https", "port": port, "protocol": "TCP"},
            {"name": "plain", "port": 1, "protocol": "TCP"},
        ]
        body = {
            "metadata": {"name": name, "labels": labels},
            "addressType": "IPv4",
            "endpoints": [endpoint],
            "ports": ports,
        }
        self.admin.create(self.space.path(*SLICES), body)
        return f"{self.space.path(*SLICES)}/{name}"

    def called(self) -> Space:
        """For pods of that namespace, of which none is admitted without: by whatever replica is there, over one address, as a Service's."""
        door, lines = free_port(), self.processes.folder / a_name("endpoints")
        lines.write_text("\n".join(f"127.0.0.1:{replica.port}" for replica in self.replicas))
        self.processes.start(
            a_name("door"), [sys.executable, "-I", RELAY, f"127.0.0.1:{door}", f"file:{lines}"]
        )
        self.processes.until(lambda: served(door) != b"", "a replica to answer there")
        client = {"url": f"https://127.0.0.1:{door}/mutate", "service": None}
        webhooks = [
            {"name": each["name"], "clientConfig": client, "failurePolicy": "Fail"}
            for each in self.configuration["webhooks"]
        ]
        self.admin.patch(f"{CONFIGURATIONS}/{self.name}", {"webhooks": webhooks}, "strategic")
        space = Space(self.reach, hook=self.name).account(ACCOUNT_ANNOTATIONS["cwii"])
        self.processes.until(
            lambda: bool(volumes(space.tried(plain()))), "the API server to call it"
        )
        return space

    def words(self, *more: str) -> list[str | Path]:
        secrets = ("--serving-secret", f"{self.name}-serving", "--ca-secret", f"{self.name}-ca")
        where = (
            "--namespace",
            self.space.name,
            "--service",
            self.name,
            *secrets,
            "--configuration",
            self.name,
        )
        return [
            PROGRAM,
            "renew",
            *where,
            "--kubeconfig",
            self.kubeconfig,
            "--settle=1s",
            "--patience=40s",
            *more,
        ]

    def begun(self, *more: str) -> subprocess.Popen[str]:
        return subprocess.Popen(self.words(*more), stderr=subprocess.PIPE, text=True)

    def renew(self, *more: str) -> Run:
        words = self.processes.folder / a_name("words")
        words.touch()
        done = subprocess.run(
            self.words("--termination-log", str(words), *more),
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            timeout=120,
        )
        assert "Traceback" not in done.stderr, done.stderr
        return Run(
            done.returncode,
            [json.loads(line) for line in done.stderr.splitlines() if line.startswith("{")],
            json.loads(words.read_text() or "{}"),
        )

    def replica(self, who: Account, lag: float) -> Replica:
        port, folder = free_port(), self.processes.folder / a_name("volume")
        folder.mkdir()
        kubelet = Kubelet(self.admin, self.secret("serving"), folder, lag)
        threading.Thread(target=kubelet.run, daemon=True).start()
        name = f"{self.name}-{port}"
        kubeconfig = self.reach.authority.kubeconfig(
            self.processes.folder / f"{name}.kubeconfig", self.reach.urls[0], who.token
        )
        pair = ("--tls-cert", folder / "tls.crt", "--tls-key", folder / "tls.key")
        self.processes.start(
            name,
            [PROGRAM, "cwii", "--addr", f"0.0.0.0:{port}", *pair],
            {"KUBECONFIG": str(kubeconfig)},
        )
        replica = Replica(name, port, kubelet)
        self.replicas.append(replica)
        self.names(own_address(), port, name)
        return replica


@contextmanager
def installed(reach: Reach, folder: Path, lags: tuple[float, ...] = ()) -> Generator[Installed]:
    """With a replica for each kubelet that is so late."""
    with Processes(folder) as processes:
        there = Installed(reach, processes)
        who = account(reach.admin, {"cwii"}) if lags else None
        try:
            for lag in lags:
                if who:
                    there.replica(who, lag)
            for replica in there.replicas:
                log = processes.log(replica.name)
                processes.until(
                    lambda: log.exists() and "listening" in log.read_text(),  # noqa: B023  # it is asked at once
                    "it to listen",
                )
            yield there
        finally:
            for replica in there.replicas:
                replica.kubelet.over.set()
            reach.admin.delete(f"{CONFIGURATIONS}/{there.name}")


def served(port: int) -> bytes:
    """What is shown there; nothing, where nobody shows anything."""
    try:
        return pki.first_der(ssl.get_server_certificate(("127.0.0.1", port)).encode())
    except OSError:
        return b""


def _text(content: bytes) -> str:
    return base64.b64encode(content).decode()
