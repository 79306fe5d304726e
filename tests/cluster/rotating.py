"""A cluster of two API servers, or of one, whose key is rotated: each has its files as kubeadm has them, and is started again as kubeadm's README says."""

from __future__ import annotations

import shutil
import signal
import subprocess
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from cwiictl.errors import BadInput
from cwiictl.sandbox import Sandbox, Settings
from cwiictl.sandbox.addresses import judge
from tests.cluster.conftest import started
from tests.cluster.kube.cluster import Cluster
from tests.cluster.kube.cluster import Settings as ClusterSettings
from tests.cluster.kube.missing import Missing
from tests.cluster.objects import ACCOUNTS, named
from tests.examples import two_requests
from tests.journeys.azure.ground import AzureGround
from tests.journeys.ground import ISSUER, NAME, Done, Ground, a_key, private_pem, public_pem
from tests.journeys.turns import PAIR

HOST = "id.example.org"
LATER = Path(__file__).parent / "later"
SLICES = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices"
OLD, NEXT = a_key(0), a_key(1)
FLAGS = ("--bind-address=0.0.0.0", "--api-audiences=https://kubernetes.default.svc")


def own_address() -> str:
    """No endpoint of a Service may be a loopback address, and the sandbox lets private ones be reached."""
    done = subprocess.run(["hostname", "-I"], capture_output=True, text=True, check=False)
    return reachable(ip for ip in done.stdout.split() if ":" not in ip)


def reachable(addresses: Iterable[str]) -> str:
    """The first of them that the sandbox lets be reached."""
    for ip in addresses:
        with suppress(BadInput):
            judge(ip)
            return ip
    raise Missing(
        "this machine has no private address but its loopback, and no endpoint of a Service may be one"
    )


@dataclass
class Rotating:
    cluster: Cluster
    ground: Ground
    address: str
    how: Sequence[str] = ()
    others: list[Rotating] = field(
        default_factory=list["Rotating"]
    )  # the same cluster, whose keys are published elsewhere

    # --- what an administrator does ---

    def pki(self, number: int) -> Path:
        return self.cluster.folder / f"pki-{number}"

    def prepare(self) -> None:
        for number, server in enumerate(self.cluster.servers):
            self.pki(number).mkdir()
            (self.pki(number) / "sa.key").write_bytes(private_pem(OLD))
            (self.pki(number) / "sa.pub").write_bytes(public_pem(OLD))
            self.restart(number)
            self.cluster.admin.create(SLICES, self._slice(number, server.place.port))
        self.cluster.admin.create(ACCOUNTS, named("default"))

    def beside(
        self, name: str, kind: type[Ground], how: Sequence[str], requests: Mapping[str, str]
    ) -> Rotating:
        """Trusted elsewhere too, under another name, and to be followed by the same key."""
        folder = self.ground.folder.parent / name
        folder.mkdir()
        named: Any = type(
            kind.__name__,
            (kind,),
            {"where": tuple(name if word == NAME else word for word in kind.where)},
        )
        ground: Ground = named(self.ground.sandbox, folder)
        ground.requests(requests)
        ground.keys()
        ground.write(f"{PAIR}.private", private_pem(NEXT)).chmod(0o600)
        other = replace(self, ground=ground, how=how, others=[])
        ground.create_all(*how)
        other.serve()
        assert ground.create_all(*how).code == 0
        return other

    def serve(self) -> None:
        """As who has a host of their own does it."""
        if "--issuer-url" in self.how:
            shutil.copytree(
                self.ground.folder / "out/issuer",
                self.ground.sandbox.settings.serve[HOST],
                dirs_exist_ok=True,
            )

    def bring(self, stage: str, number: int) -> None:
        """As kubeadm's README of the stage says, on one control plane node."""
        for file in (self.ground.folder / "out/kubeadm/rotation" / stage).glob("sa.*"):
            shutil.copy(file, self.pki(number))
        self.restart(number)

    def restart(self, number: int, *issuers: str, flags: Sequence[str] = ()) -> None:
        """The first of these signs."""
        pki, server = self.pki(number), self.cluster.servers[number]
        told = [f"--service-account-issuer={issuer}" for issuer in issuers or (ISSUER,)]
        server.stop()
        server.start(
            [
                *FLAGS,
                *flags,
                *told,
                f"--service-account-key-file={pki}/sa.pub",
                f"--service-account-signing-key-file={pki}/sa.key",
            ]
        )
        server.wait()

    def token(self, number: int, **spec: Any) -> str:
        body = {
            "spec": {
                "audiences": ["https://kubernetes.default.svc"],
                "expirationSeconds": 7200,
                **spec,
            }
        }
        return self.cluster.admins[number].create(f"{ACCOUNTS}/default/token", body)["status"][
            "token"
        ]

    def takes(self, number: int, token: str) -> bool:
        review = self.cluster.admins[number].create(
            "/apis/authentication.k8s.io/v1/tokenreviews", {"spec": {"token": token}}
        )
        return bool(review["status"].get("authenticated"))

    # --- what cwiictl does ---

    def rotate(self, stage: str, *more: str, later: int = 0) -> Done:
        return self.cwiictl(*self.command(stage, *more), later=later)

    def cwiictl(self, *command: str, later: int = 0) -> Done:
        if not later:
            return self.ground.cwiictl(*command)
        with self.ground.started(*command, LATER=str(later), PYTHONPATH=str(LATER)) as process:
            out, err = process.communicate(timeout=120)
        assert "Traceback" not in err, err
        return Done(process.returncode, out, err)

    def reached(self, stage: str, *more: str, later: int = 0) -> None:
        """Killed after whatever it writes, and run again, it has nothing to do in the end."""
        if "--issuer-url" in self.how:
            self._unserved(stage, *more, later=later)
        else:
            self._killed(
                stage, *more, **({"LATER": str(later), "PYTHONPATH": str(LATER)} if later else {})
            )
        self.ground.fresh()
        done = self.rotate(stage, *more, later=later)

        assert (done.code, done.but("as wanted")) == (0, {}), done.out
        assert self.ground.mutating() == []

    def _unserved(self, stage: str, *more: str, later: int) -> None:
        """There is no write to a cloud. What is published or taken away is not so before the host shows it."""
        done = self.rotate(stage, *more, later=later)
        assert done.code == (3 if stage in {"add", "unpublish"} else 0), done.out
        if stage == "unpublish":
            assert "still shows the key" in done.out
            early = self.rotate("forget", later=later)
            assert (early.code, "still shows the key" in early.out) == (3, True), early.out
        self.serve()

    def _killed(self, stage: str, *more: str, **variables: str) -> None:
        """After each write, in one run after the other: in Azure it takes two more to lend what the one needs."""
        for _ in range(3 if isinstance(self.ground, AzureGround) else 1):
            assert (
                self.ground.killed(1, *self.command(stage, *more), **variables) == -signal.SIGKILL
            )

    def command(self, stage: str, *more: str) -> tuple[str, ...]:
        out = (
            "--output-dir",
            "out",
            "--bits",
            "2048",
            "--kubeconfig",
            str(self.cluster.kubeconfig),
        )
        return (
            "rotate-keys",
            stage,
            *self.ground.where,
            *self.how,
            *out,
            "--installer",
            "kubeadm",
            "--installer",
            "openshift",
            "-o",
            "json",
            *more,
        )

    def _slice(self, number: int, port: int) -> dict[str, Any]:
        """As the API servers make it themselves, where they may."""
        about = {
            "name": f"kubernetes-{number}",
            "labels": {"kubernetes.io/service-name": "kubernetes"},
        }
        endpoint = {"addresses": [self.address], "conditions": {"ready": True}}
        return {
            "metadata": about,
            "addressType": "IPv4",
            "endpoints": [endpoint],
            "ports": [{"name": "https", "port": port, "protocol": "TCP"}],
        }


@contextmanager
def rotating(folder: Path, servers: int = 2) -> Generator[Rotating]:
    address = own_address()
    (folder / "served").mkdir()
    settings = ClusterSettings(servers=servers, flags=FLAGS, signing_key=private_pem(OLD))
    with (
        started(settings) as cluster,
        Sandbox(Settings(serve={HOST: folder / "served"}, deploy=0.2, let=(address,))) as sandbox,
    ):
        work = folder / "work"
        work.mkdir()
        ground = Ground(sandbox, work)
        ground.requests(two_requests())
        ground.keys()
        ground.write(f"{PAIR}.private", private_pem(NEXT)).chmod(0o600)
        found = Rotating(cluster, ground, address)
        found.prepare()
        yield found
