"""Installers that are Go modules: what is built of them, and what is only read."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

from tests.cluster.kube.build import cache, kept, programs
from tests.cluster.kube.missing import Missing
from tests.cluster.kube.recipe import Module, Part

Pinned = tuple[str, str]

KUBEADM = Part("kubeadm", ("kubeadm",), ())
KIND = ("sigs.k8s.io/kind", "v0.32.0")
CLUSTER_API = ("sigs.k8s.io/cluster-api", "v1.13.6")
KOPS = ("k8s.io/kops", "v1.36.1")
OPENSHIFT = ("github.com/openshift/api", "v0.0.0-20260813212709-d4bb0b443cb8")
TALOS, TALOS_BEFORE = (
    ("github.com/siderolabs/talos/pkg/machinery", version) for version in ("v1.14.1", "v1.12.6")
)
# Releases of these two have a + in their names, which no module's version may have: these are commits that other modules have asked for.
K0S = ("github.com/k0sproject/k0s", "v1.27.2-0.20230504131248-94378e521a29")
K3S = ("github.com/k3s-io/k3s", "v1.25.5-0.20221115215439-0dc63334c0db")

_HERE = Path(__file__).parent
# Not what Talos names, but the nearest that a mirror without its newest dependencies has, too.
_NEAREST = {
    "github.com/cosi-project/runtime": "v1.16.2",
    "github.com/jsimonetti/rtnetlink/v2": "v2.2.0",
}
_BUILT = ("-trimpath", "-buildvcs=false", "-o")


def kubeadm() -> Path:
    return programs(KUBEADM)["kubeadm"]


def kind() -> Path:
    """Its reading of a cluster's configuration, and what it makes of it."""
    return _asking(
        "kind", KIND, lambda work, program: _inside(KIND, "pkg/cluster/check", work, program)
    )


def k3s() -> Path:
    """Its reading of its configuration, and the words that it makes of it."""
    return _asking("k3s", K3S, lambda work, program: _inside(K3S, "pkg/check", work, program))


def talos() -> Path:
    """What talosctl does to a machine's configuration, and a node to validate it."""
    return _asking("talos", TALOS, _talos)


def source(module: Pinned) -> Path:
    """A module's folder in Go's own cache, which is read only."""
    with tempfile.TemporaryDirectory() as nowhere:
        done = subprocess.run(
            ("go", "mod", "download", "-json", "@".join(module)),
            cwd=nowhere,
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode:
        raise Missing(
            f"{module[0]} cannot be had from the Go module proxy: {done.stderr.strip() or done.stdout.strip()}"
        )
    return Path(json.loads(done.stdout)["Dir"])


def _asking(name: str, module: Pinned, made: Callable[[Path, Path], Module]) -> Path:
    """A program of a few lines, which asks an installer's own code. A word changed here makes it anew."""
    key = hashlib.sha256(_main(name).encode() + Path(__file__).read_bytes()).hexdigest()[:12]
    program = f"{name}-config"

    def modules(work: Path, out: Path) -> Iterable[Module]:
        yield made(work, out / program)

    return kept(cache() / f"{name}-{module[1]}-{key}", [program], modules) / program


def _main(name: str) -> str:
    return (_HERE / f"{name}.go").read_text()


def _inside(module: Pinned, package: str, work: Path, program: Path) -> Module:
    """In a copy of the installer: for what is internal there, and for what only a main module may replace."""
    copy = work / "copy"
    shutil.copytree(source(module), copy, copy_function=shutil.copyfile)
    for folder in (copy, *(path for path in copy.rglob("*") if path.is_dir())):
        folder.chmod(0o755)
    (copy / package).mkdir()
    (copy / package / "main.go").write_text(_main(program.name.removesuffix("-config")))
    return Module(
        "build", {}, (("go", "build", "-C", str(copy), *_BUILT, str(program), f"./{package}"),)
    )


def _talos(_work: Path, program: Path) -> Module:
    replaced = "".join(
        f"replace {name} => {name} {version}\n" for name, version in _NEAREST.items()
    )
    go_mod = f"module talos\n\nrequire {' '.join(TALOS)}\n\n{replaced}"
    return Module(
        "build",
        {"go.mod": go_mod, "main.go": _main("talos")},
        (("go", "get", "."), ("go", "build", *_BUILT, str(program), ".")),
    )
