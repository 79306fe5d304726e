"""The commands of a static pod's README.txt, run as they stand: kubeadm's own code puts the webhook into its manifest, and takes it out again."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from cwiictl.actions.authorities import Source
from cwiictl.actions.beside import Beside
from cwiictl.actions.cluster import Installation
from cwiictl.actions.sidecar_files import written
from tests.cluster.conftest import BUILDING, skipped_where_missing
from tests.cluster.installers import modules
from tests.cluster.kube.recipe import KUBERNETES
from tests.cwiictl.install.installed import IMAGE
from tests.webhook.certificates.hypershift import rsa_authority

pytestmark = [pytest.mark.soak, pytest.mark.timeout(BUILDING)]  # kubeadm may have to be built

# What it writes of a node's own, is the same in each of its commands.
KUBEADM = """#!/bin/sh -e
[ "$1 $2 $3" = "upgrade node --patches" ]
exec {program} init phase control-plane apiserver --dry-run --kubernetes-version v{version} --apiserver-advertise-address 192.0.2.1 --patches "$4"
"""


class Node:
    """Its /etc, and those of the commands that are not the node's own."""

    def __init__(self, folder: Path, program: Path) -> None:
        self.etc, self.given = folder / "etc/kubernetes", folder / "given"
        self.etc.mkdir(parents=True)
        self._bin = folder / "bin"
        self._bin.mkdir()
        self._put("kubeadm", KUBEADM.format(program=program, version=KUBERNETES))
        self._put("kubectl", '#!/bin/sh -e\n[ -f "$3" ]\n')

    def _put(self, name: str, text: str) -> None:
        (self._bin / name).write_text(text)
        (self._bin / name).chmod(0o755)

    def run(self, commands: list[str]) -> None:
        script = "\n".join(commands).replace("/etc/kubernetes", str(self.etc))
        environment = {
            **os.environ,
            "PATH": f"{self._bin}:{os.environ['PATH']}",
            "KUBEADM_INIT_DRYRUN_DIR": str(self.etc),
        }
        done = subprocess.run(
            ["sh", "-eu"],
            input=script,
            cwd=self.given / "static-pod",
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr

    @property
    def pod(self) -> dict[str, Any]:
        return yaml.safe_load((self.etc / "kube-apiserver.yaml").read_text())["spec"]


@pytest.fixture
def node(tmp_path: Path) -> Node:
    with skipped_where_missing():
        node = Node(tmp_path, modules.kubeadm())
    pair, authority = rsa_authority(), tmp_path / "ca.crt"
    authority.write_bytes(pair.certificate)
    authority.with_suffix(".key").write_bytes(pair.key)
    order = Installation(output=node.given, sets=(f"image={IMAGE}",))
    told = written(
        Beside(
            order,
            root=Source(authority),
            client=Source(authority),
            static=True,
            namespace="kube-system",
        ),
        dry=False,
    )
    assert not told.failures
    return node


def commands(node: Node) -> tuple[list[str], list[str]]:
    """How it is put there, and how it is taken out."""
    there, _, gone = (
        (node.given / "static-pod/README.txt").read_text().partition("To take it out again")
    )
    first, second = (
        [line.strip() for line in text.splitlines() if line.startswith("  ")]
        for text in (there, gone)
    )
    return first, second


def test_the_commands_of_its_readme_put_it_there_and_take_it_out_again(node: Node) -> None:
    there, gone = commands(node)
    (node.etc / "patches").mkdir()
    node.run(["kubeadm upgrade node --patches /etc/kubernetes/patches"])
    before = node.pod

    node.run(there)

    server, webhook = node.pod["containers"]
    assert [server] == before["containers"]
    (volume,) = [each for each in node.pod["volumes"] if each not in before["volumes"]]
    assert {each["name"] for each in webhook["volumeMounts"]} == {volume["name"]}
    files = node.etc / Path(volume["hostPath"]["path"]).relative_to("/etc/kubernetes")
    assert {file.name: file.stat().st_mode & 0o777 for file in files.iterdir()} == dict.fromkeys(
        ("ca.crt", "kubeconfig", "tls.crt", "tls.key"), 0o600
    )
    assert files.stat().st_mode & 0o777 == 0o700

    node.run(gone)

    assert node.pod == before
    assert not files.exists()
    assert list((node.etc / "patches").iterdir()) == []
