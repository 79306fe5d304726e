"""What an administrator does who rotates the key of a cluster with a node: cwiictl where it reaches each API server, and what kubeadm's README says."""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.cluster.kube.client import Refused
from tests.cluster.kube.node import ADDRESSES
from tests.cluster.kube.pki import public_half, signing_key, write
from tests.cluster.traces import seen_within
from tests.federation.world import OUT, PROGRAM, Pods, World

LATER = Path(__file__).parent.parent / "cluster/later"
INCOMPLETE = 3
NAMES = {
    ".key": "sa.key",
    ".pub": "sa.pub",
    ".private": "sa.key",
    ".public": "sa.pub",
}  # of keys, as kubeadm has them


@dataclass(frozen=True)
class Rotating:
    world: World
    pods: Pods
    workloads: Mapping[tuple[str, str], tuple[str, ...]]

    # --- with cwiictl ---

    def rotate(self, stage: str, *more: str | Path, later: int = 0, code: int = 0) -> str:
        """In the node's network, as who is in a control plane node."""
        cluster, folder = self.pods.cluster, self.world.folder
        kubeconfig = cluster.reach.authority.kubeconfig(
            folder / "kubeconfig",
            cluster.servers[0].place.inside,
            cluster.reach.authority.client("admin", "system:masters"),
        )
        command = [
            *cluster.node.enter,
            str(PROGRAM),
            "rotate-keys",
            stage,
            *self.world.where,
            "--kubeconfig",
            str(kubeconfig),
            *map(str, more),
        ]
        done = subprocess.run(
            command,
            cwd=folder,
            env=self._around(later),
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout

    def _around(self, later: int) -> dict[str, str]:
        inside = {
            name: value.replace(self.world.sandbox.proxy, f"http://{self.pods.door}")
            for name, value in self.world.sandbox.environment().items()
        }
        direct = dict.fromkeys(("NO_PROXY", "no_proxy"), ",".join(ADDRESSES))
        return {
            **inside,
            **direct,
            **({"LATER": str(later), "PYTHONPATH": str(LATER)} if later else {}),
        }

    # --- by hand ---

    def bring(self, files: Iterator[Path]) -> None:
        """Both API servers have one folder here, and read it only when they start."""
        for file in files:
            shutil.copy(file, self.pods.cluster.folder / NAMES[file.suffix])

    def restart(self, number: int) -> None:
        cluster = self.pods.cluster
        cluster.servers[number].stop()
        cluster.servers[number].start(cluster.settings.flags)
        cluster.servers[number].wait()

    def handed(self, stage: str) -> Iterator[Path]:
        return (self.world.folder / OUT / "kubeadm/rotation" / stage).glob("sa.*")

    def made(self, old: str) -> Iterator[Path]:
        """A pair of the administrator's own, where `add` finds it as the one that comes after the old key."""
        folder = self.world.folder / OUT / f"after-{old[:12]}"
        folder.mkdir(mode=0o700)
        private = signing_key()
        yield write(folder / "serviceaccount-signer.private", private)
        yield write(folder / "serviceaccount-signer.public", public_half(private))

    def last(self) -> tuple[str, ...]:
        """What says the key that the cluster signs with, when that is no more the one of create-all."""
        pairs = sorted((self.world.folder / OUT).glob("after-*"))
        return (
            ("--public-key-file", str(pairs[-1] / "serviceaccount-signer.public")) if pairs else ()
        )

    def read_anew(self) -> None:
        """A cloud has just read the published keys, and will not soon do so again."""
        known = self._readings()
        assert seen_within(120, lambda: self._readings() > known)

    def _readings(self) -> int:
        return sum(seen.path.endswith("keys.json") for seen in self.world.sandbox.record)

    # --- what pods see of it ---

    def renewed(self) -> None:
        """A kubelet that is started again knows no token: it asks for new ones for all pods, in whose life this is any moment."""
        self.pods.cluster.node.restart("kubelet")
        moment = int(time.time())
        assert seen_within(120, lambda: self._issued_since(moment)), {
            who: self.lines(who, moment)[-2:] for who in self.workloads
        }

    def _issued_since(self, moment: int) -> bool:
        """Whoever tells of pods is the kubelet, which is on its way."""
        try:
            return all(
                all(line.get("issued", 0) >= moment for line in self._last(who, moment))
                for who in self.workloads
            )
        except Refused:
            return False

    def _last(self, who: tuple[str, str], since: float) -> list[dict[str, Any]]:
        """Of each cloud."""
        last = {line["cloud"]: line for line in self.lines(who, since)}
        return [last.get(cloud, {}) for cloud in self.workloads[who]]

    def lines(self, who: tuple[str, str], since: float = 0) -> list[dict[str, Any]]:
        return self.pods.since(*who, since)

    def refused(self, since: float = 0) -> list[str]:
        """By the clouds."""
        lines = ((who, line) for who in self.workloads for line in self.lines(who, since))
        return [f"{who}: {line}" for who, line in lines if line.get("answer") != 200]

    def kids(self) -> dict[tuple[str, str], set[tuple[str, str]]]:
        """By which keys' tokens a pod was somebody, in which cloud."""
        return {
            who: {
                (line["cloud"], line["kid"])
                for line in self.lines(who)
                if line.get("answer") == 200
            }
            for who in self.workloads
        }
