"""A cluster of each installer whose administrator follows the README.txt of a rotation, and the key files that its kube-apiserver is started with then."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import yaml

from cwiictl import files
from cwiictl.installers import INSTALLERS
from cwiictl.model import Succession
from tests.cluster.installers import hands, talosctl
from tests.cluster.installers.command_lines import k3s_arguments
from tests.cluster.installers.hands import public, thing

ACCEPTED, SIGNS = "service-account-key-file", "service-account-signing-key-file"
RANCHER = "var/lib/rancher/{name}/server/tls/service.key"
FOLDERS = {
    "kubeadm": "root/etc/kubernetes/pki",
    "k0s": "root/var/lib/k0s/pki",
    "kind": "given/kind/pki",
}


class Machine:
    def __init__(self, name: str, folder: Path, private: str) -> None:
        self.name, self.folder, self.root, self.given = (
            name,
            folder,
            folder / "root",
            folder / "given",
        )
        self.root.mkdir()
        (folder / "bin").mkdir()
        for program in hands.NAMES:
            path = folder / "bin" / program
            path.write_text(
                f'#!/bin/sh\nexec {sys.executable} -m tests.cluster.installers.hands {program} "$@"\n'
            )
            path.chmod(0o755)
        _BEFORE[name](self, private)

    def follow(self, succession: Succession) -> None:
        """Each line as it stands there."""
        tree = INSTALLERS[self.name].succeeded(succession, files.template)
        files.write(self.given, tree)
        self.run(*commands(tree[f"{self.name}/rotation/{succession.stage}/README.txt"]))

    def run(self, *script: str) -> None:
        here = str(Path(__file__).parents[3])
        around = {
            **os.environ,
            "PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}",
            "ROOT": str(self.root),
            "PYTHONPATH": here,
        }
        subprocess.run(
            ["sh", "-eu", "-c", "\n".join(script)], cwd=self.given, env=around, check=True
        )

    @property
    def configuration(self) -> str:
        """Of a machine of Talos."""
        return (self.root / "talos.yaml").read_text()

    def flags(self) -> list[str]:
        return [f"--{flag}={path}" for flag, path in _STARTED[self.name](self)]

    def write(self, path: str, text: str) -> Path:
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file


def commands(readme: bytes) -> list[str]:
    return [
        line.removeprefix("    ")
        for line in readme.decode().splitlines()
        if line.startswith("    ")
    ]


Flags = Iterator[tuple[str, Path]]


def _pair(machine: Machine, private: str) -> None:
    place = FOLDERS[machine.name]
    machine.write(f"{place}/sa.key", private)
    machine.write(f"{place}/sa.pub", public(private))


def _of_pair(machine: Machine) -> Flags:
    place = machine.folder / FOLDERS[machine.name]
    yield ACCEPTED, place / "sa.pub"
    yield SIGNS, place / "sa.key"


def _one_key(machine: Machine, private: str) -> None:
    machine.write(f"root/{RANCHER.format(name=machine.name)}", private)
    machine.write(f"root/etc/rancher/{machine.name}/config.yaml", "")


def _of_configuration(machine: Machine) -> Flags:
    """What is given replaces its own."""
    told: dict[str, Path] = dict.fromkeys(
        (ACCEPTED, SIGNS), machine.root / RANCHER.format(name=machine.name)
    )
    given = k3s_arguments(machine.root / "etc/rancher" / machine.name / "config.yaml")
    told |= {
        flag: machine.root / path.lstrip("/")
        for flag, _, path in (argument.partition("=") for argument in given)
    }
    yield from told.items()


def _secret(machine: Machine, private: str) -> None:
    pair = {"tls.crt": public(private), "tls.key": private}
    body = {
        "kind": "Secret",
        "metadata": {"name": "NAME-sa"},
        "data": {key: base64.b64encode(text.encode()).decode() for key, text in pair.items()},
    }
    thing("secret", "NAME-sa", machine.root).write_text(json.dumps(body))


def _of_secret(machine: Machine) -> Flags:
    """Which each machine is made with."""
    data = json.loads(thing("secret", "NAME-sa", machine.root).read_text())["data"]
    yield ACCEPTED, machine.write("sa.pub", base64.b64decode(data["tls.crt"]).decode())
    yield SIGNS, machine.write("sa.key", base64.b64decode(data["tls.key"]).decode())


def _operator(machine: Machine, private: str) -> None:
    """It writes a public key as PKCS #1 names it."""
    about = {"name": "bound-sa-token-signing-certs", "namespace": "openshift-kube-apiserver"}
    accepted = {
        "kind": "ConfigMap",
        "metadata": about,
        "data": {"service-account-001.pub": public(private).replace("PUBLIC", "RSA PUBLIC")},
    }
    thing("configmap", about["name"], machine.root).write_text(json.dumps(accepted))
    data = {"service-account.key": base64.b64encode(private.encode()).decode()}
    thing("secret", "next-bound-service-account-signing-key", machine.root).write_text(
        json.dumps({"kind": "Secret", "data": data})
    )


def _of_operator(machine: Machine) -> Flags:
    """Each entry is a file."""
    accepted = json.loads(
        thing("configmap", "bound-sa-token-signing-certs", machine.root).read_text()
    )["data"]
    yield from (
        (ACCEPTED, machine.write(f"accepted/{key}", text)) for key, text in accepted.items()
    )
    signs = json.loads(
        thing("secret", "next-bound-service-account-signing-key", machine.root).read_text()
    )["data"]
    yield SIGNS, machine.write("signs.key", base64.b64decode(signs["service-account.key"]).decode())


def _documents(machine: Machine, private: str) -> None:
    key = {
        "apiVersion": "v1alpha1",
        "kind": "KubeServiceAccountConfig",
        "issuer": {"privateKey": private},
    }
    machine.write("root/talos.yaml", talosctl.generated("v1.14", yaml.safe_dump(key)))


def _of_documents(machine: Machine) -> Flags:
    told = talosctl.told(machine.configuration)
    yield ACCEPTED, machine.write("sa.pub", "".join(told.accepted))
    yield SIGNS, machine.write("sa.key", told.signs)


def _store(machine: Machine, private: str) -> None:
    machine.write("root/kops.json", json.dumps({"pairs": [private], "primary": 0}))


def _of_store(machine: Machine) -> Flags:
    store: dict[str, Any] = json.loads((machine.root / "kops.json").read_text())
    yield ACCEPTED, machine.write("service-account.pub", "".join(map(public, store["pairs"])))
    yield SIGNS, machine.write("service-account.key", store["pairs"][store["primary"]])


_BEFORE: dict[str, Callable[[Machine, str], None]] = {
    **dict.fromkeys(FOLDERS, _pair),
    **dict.fromkeys(("k3s", "rke2"), _one_key),
    "cluster-api": _secret,
    "openshift": _operator,
    "talos": _documents,
    "kops": _store,
}
_STARTED: dict[str, Callable[[Machine], Flags]] = {
    **dict.fromkeys(FOLDERS, _of_pair),
    **dict.fromkeys(("k3s", "rke2"), _of_configuration),
    "cluster-api": _of_secret,
    "openshift": _of_operator,
    "talos": _of_documents,
    "kops": _of_store,
}
