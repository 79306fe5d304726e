"""The real webhook beside a real API server: its account and rights, its certificate and its command line, and who has it called."""

from __future__ import annotations

import http.client
import ssl
import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from cwii_webhook.dialects.registry import ALL
from cwii_webhook.kube.resources import NAMESPACES, OWNERS, SERVICE_ACCOUNTS

from tests.cluster.kube.client import Client, Object
from tests.cluster.kube.cluster import free_port
from tests.cluster.kube.pki import Authority, write
from tests.cluster.kube.processes import Processes
from tests.cluster.kube.reach import Reach
from tests.cluster.space import a_name

Line = tuple[str, ...]  # a dialect, and what its users would write behind it

SYSTEM = "kube-system"
_PROGRAM = Path(sys.executable).with_name("cwii-webhook")
_KINDS = {(kind.group, kind.kind): kind for kind in (SERVICE_ACCOUNTS, NAMESPACES, *OWNERS)}


@dataclass(frozen=True)
class Account:
    """Who the webhook is to the API server: it may read what its dialects ask for, and nothing else."""

    name: str
    token: str

    @property
    def user(self) -> str:
        return f"system:serviceaccount:{SYSTEM}:{self.name}"


def account(admin: Client, dialects: set[str], *, delivers: bool = False) -> Account:
    """With `delivers` it may write ConfigMaps too."""
    name = a_name("webhook")
    kinds = [
        _KINDS[key]
        for key in sorted(
            frozenset[tuple[str, str]]().union(*(ALL[dialect].kinds for dialect in dialects))
        )
    ]
    rules: list[Object] = [
        {"apiGroups": [kind.group], "resources": [kind.plural], "verbs": ["get", "list", "watch"]}
        for kind in kinds
    ]
    if delivers:
        rules.append(
            {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "create", "patch"]}
        )
    admin.create(f"/api/v1/namespaces/{SYSTEM}/serviceaccounts", {"metadata": {"name": name}})
    rbac = "/apis/rbac.authorization.k8s.io/v1"
    admin.create(f"{rbac}/clusterroles", {"metadata": {"name": name}, "rules": rules})
    subject = {"kind": "ServiceAccount", "name": name, "namespace": SYSTEM}
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name}
    admin.create(
        f"{rbac}/clusterrolebindings",
        {"metadata": {"name": name}, "roleRef": role, "subjects": [subject]},
    )
    told = admin.create(
        f"/api/v1/namespaces/{SYSTEM}/serviceaccounts/{name}/token",
        {"spec": {"expirationSeconds": 7200}},
    )
    return Account(name, told["status"]["token"])


class Certificate:
    """In files, as a kubelet puts a Secret into a volume: a new one is there whole, in one moment."""

    def __init__(self, authority: Authority, folder: Path, host: str) -> None:
        self.folder = folder
        self._authority = authority
        self._hosts = ["127.0.0.1", *([host] if host else ())]
        self._count = 0
        folder.mkdir()
        self.renew()
        for name in ("tls.crt", "tls.key"):
            (folder / name).symlink_to(Path("..data") / name)

    def renew(self) -> None:
        pair = self._authority.server("webhook", self._hosts)
        self._count += 1
        data = self.folder / f"..{self._count}"
        data.mkdir()
        write(data / "tls.crt", pair.certificate)
        write(data / "tls.key", pair.key)
        new = self.folder / "..new"
        new.symlink_to(data.name)
        new.rename(self.folder / "..data")


def serving(dialect: str, port: int, certificate: Path) -> Line:
    """The words with which its users say where it listens, and which certificate it shows."""
    pair = (f"--tls-cert={certificate}/tls.crt", f"--tls-key={certificate}/tls.key")
    there = (f"--port={port}", f"--webhook-cert-dir={certificate}")
    table: Mapping[str, Line] = {
        "cwii": ("--addr", f"127.0.0.1:{port}", *pair),
        "eks": ("--in-cluster=false", f"--port={port}", "--metrics-port=0", *pair),
        "azwi": (
            *there,
            "--health-addr=127.0.0.1:0",
            "--metrics-addr=127.0.0.1:0",
            "--disable-cert-rotation",
        ),
        "gcpwif": (
            *there,
            "--health-probe-bind-address=127.0.0.1:0",
            "--metrics-bind-address=127.0.0.1:0",
        ),
    }
    return table[dialect]


@dataclass(frozen=True)
class Told:
    """What a process is started with."""

    lines: tuple[Line, ...]
    certificate: Certificate
    who: Account
    server: str
    environ: Mapping[str, str]


class Webhook:
    """One process. It keeps its port when it is started again."""

    def __init__(self, reach: Reach, processes: Processes, told: Told) -> None:
        self.reach, self.processes, self.told = reach, processes, told
        self.port = free_port()
        self.name = f"webhook-{self.port}"
        (first, *flags), *others = told.lines
        self.paths = {first: ALL[first].path} | {
            dialect: f"/{dialect}{ALL[dialect].path}" for dialect, *_ in others
        }
        kubeconfig = reach.authority.kubeconfig(
            processes.folder / f"{self.name}.kubeconfig", told.server, told.who.token
        )
        more = [word for line in others for word in ("+", *line)]
        self._words = [first, *serving(first, self.port, told.certificate.folder), *flags, *more]
        self._environ = {"KUBECONFIG": str(kubeconfig), **told.environ}
        self._trust = ssl.create_default_context(cadata=reach.authority.pem.decode())
        mine = reach.authority.write(f"{self.name}-anybody", reach.authority.client("anybody"))
        self._trust.load_cert_chain(mine.certificate, mine.key)  # shown where it is asked for

    def start(self) -> None:
        self.processes.start(self.name, [_PROGRAM, *self._words], self._environ)

    def url(self, dialect: str, port: int = 0) -> str:
        return f"https://127.0.0.1:{port or self.port}{self.paths[dialect]}"

    def connect(self) -> http.client.HTTPSConnection:
        return http.client.HTTPSConnection("127.0.0.1", self.port, timeout=60, context=self._trust)

    def text(self, path: str, body: bytes | None = None) -> tuple[int, str]:
        connection = self.connect()
        try:
            connection.request(
                "GET" if body is None else "POST", path, body, {"Content-Type": "application/json"}
            )
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        finally:
            connection.close()

    def ready(self) -> bool:
        return self.lacks() == "ok\n"

    def lacks(self) -> str:
        """Why it is not ready, in its own words."""
        with suppress(OSError):
            return self.text("/readyz")[1]
        return "nobody listens"

    def number(self, metric: str) -> float:
        lines = self.text("/metrics")[1].splitlines()
        return sum(
            float(line.rpartition(" ")[2])
            for line in lines
            if line.startswith((f"{metric} ", f"{metric}{{"))
        )

    def wait(self) -> None:
        self.processes.until(self.ready, f"{self.name} to be ready")


@contextmanager
def beside(
    reach: Reach,
    folder: Path,
    *lines: Line,
    server: str = "",
    delivers: bool = False,
    host: str = "",
    **environ: str,
) -> Generator[Webhook]:
    """All that one needs, and yet to be started. `server` is another way to the API server, and `host` another name that it is called by."""
    with Processes(folder) as processes:
        who = account(reach.admin, {dialect for dialect, *_ in lines}, delivers=delivers)
        certificate = Certificate(reach.authority, folder / "certificate", host)
        yield Webhook(
            reach, processes, Told(lines, certificate, who, server or reach.urls[0], environ)
        )


@contextmanager
def running(
    reach: Reach,
    folder: Path,
    *lines: Line,
    server: str = "",
    delivers: bool = False,
    host: str = "",
    **environ: str,
) -> Generator[Webhook]:
    with beside(
        reach, folder, *lines, server=server, delivers=delivers, host=host, **environ
    ) as webhook:
        webhook.start()
        webhook.wait()
        yield webhook
