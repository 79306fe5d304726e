"""Installers that are Go modules: what is built of them, and what is only read."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import tempfile
from collections.abc import Iterable
from pathlib import Path

from tests.cluster.kube.build import cache, kept, programs
from tests.cluster.kube.missing import Missing
from tests.cluster.kube.recipe import Module, Part

KUBEADM = Part("kubeadm", ("kubeadm",), ())
KIND, CLUSTER_API = ("sigs.k8s.io/kind", "v0.32.0"), ("sigs.k8s.io/cluster-api", "v1.13.6")
_SOURCE = Path(__file__).with_name("kind.go")


def kubeadm() -> Path:
    return programs(KUBEADM)["kubeadm"]


def kind() -> Path:
    """Its reading of a cluster's configuration, and what it makes of it."""
    _, version = KIND
    key = hashlib.sha256(f"{_SOURCE.read_text()} {version}".encode()).hexdigest()[:12]
    return kept(cache() / f"kind-{version}-{key}", ["kind-config"], _kind) / "kind-config"


def source(module: tuple[str, str]) -> Path:
    """A module's folder in Go's own cache, which is read only."""
    with tempfile.TemporaryDirectory() as nowhere:
        done = subprocess.run(("go", "mod", "download", "-json", "@".join(module)), cwd=nowhere, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Missing(f"{module[0]} cannot be had from the Go module proxy: {done.stderr.strip() or done.stdout.strip()}")
    return Path(json.loads(done.stdout)["Dir"])


def _kind(work: Path, out: Path) -> Iterable[Module]:
    copy = work / "copy"
    shutil.copytree(source(KIND), copy, copy_function=shutil.copyfile)
    for folder in (copy, *(path for path in copy.rglob("*") if path.is_dir())):
        folder.chmod(0o755)
    (copy / "pkg/cluster/check").mkdir()
    shutil.copyfile(_SOURCE, copy / "pkg/cluster/check/main.go")
    yield Module("build", {}, (("go", "build", "-C", str(copy), "-trimpath", "-buildvcs=false", "-o", str(out / "kind-config"), "./pkg/cluster/check"),))
