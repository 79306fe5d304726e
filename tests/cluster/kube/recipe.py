"""How each program of a cluster is made from the Go module proxy. What is made is kept under a hash of this file: a word changed here makes it anew."""

from __future__ import annotations

import hashlib
import platform
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

KUBERNETES = "1.36.3"
ETCD = "3.6.7"
CONTAINERD = "2.4.2"
GO = (1, 26)
PAUSE = Path(__file__).parent / "pause" / "main.go"

_GO_MOD = f"go {GO[0]}.{GO[1]}.0\n"
_LINK = ("-trimpath", "-buildvcs=false", "-mod=mod")
_SMALL = "-s -w"
# Without these it calls itself v0.0.0, and clients take it for an old one.
_VERSION = " ".join(
    f"-X k8s.io/component-base/version.{name}={value}"
    for name, value in {
        "gitVersion": f"v{KUBERNETES}",
        "gitMajor": "1",
        "gitMinor": KUBERNETES.split(".")[1],
    }.items()
)
_ETCD_MAIN = """package main

import (
\t"os"

\t"go.etcd.io/etcd/server/v3/etcdmain"
)

func main() { etcdmain.Main(os.Args) }
"""


@dataclass(frozen=True)
class Part:
    """Programs that are made together, and kept together."""

    name: str
    kubernetes: tuple[str, ...]
    others: tuple[str, ...]

    @property
    def programs(self) -> tuple[str, ...]:
        return (*self.kubernetes, *self.others)

    @property
    def key(self) -> str:
        made_by = (
            Path(__file__).read_bytes(),
            PAUSE.read_bytes(),
            platform.machine().encode(),
            platform.system().encode(),
        )
        return f"{self.name}-{KUBERNETES}-{hashlib.sha256(b' '.join(made_by)).hexdigest()[:12]}"


SERVER = Part("server", ("kube-apiserver",), ("etcd",))
NODE = Part(
    "node",
    ("kube-controller-manager", "kube-scheduler", "kubelet", "kube-proxy"),
    ("containerd", "containerd-shim-runc-v2", "ctr", "pause"),
)


@dataclass(frozen=True)
class Module:
    """A Go module of a few lines: what it holds, and the commands that build from it, run in it one after the other."""

    name: str
    files: dict[str, str]
    commands: tuple[tuple[str, ...], ...]


def modules(part: Part, out: Path, upstream: str) -> Iterable[Module]:
    """`upstream` is the go.mod of k8s.io/kubernetes."""
    if part.kubernetes:
        yield _kubernetes(part.kubernetes, out, upstream)
    if "etcd" in part.others:
        yield _etcd(out)
    if "containerd" in part.others:
        yield _containerd(out)
    if "pause" in part.others:
        yield Module(
            "pause",
            {"go.mod": f"module pause\n\n{_GO_MOD}", "main.go": PAUSE.read_text()},
            (_build(out / "pause", "."),),
        )


def _build(program: Path, package: str, link: str = _SMALL) -> tuple[str, ...]:
    return ("go", "build", *_LINK, "-ldflags", link, "-o", str(program), package)


def _kubernetes(programs: tuple[str, ...], out: Path, upstream: str) -> Module:
    """It points at folders of its own for its staging modules; the same ones are published as v0.MINOR.PATCH."""
    staging = re.findall(r"^\s*(k8s\.io/[a-z-]+) => \./staging", upstream, re.MULTILINE)
    replaced = "".join(
        f"\t{name} => {name} v0.{KUBERNETES.removeprefix('1.')}\n" for name in staging
    )
    needed = "".join(f'\t_ "k8s.io/kubernetes/cmd/{program}"\n' for program in programs)
    return Module(
        "kubernetes",
        {
            "go.mod": f"module cluster\n\n{_GO_MOD}\ngodebug default=go{GO[0]}.{GO[1]}\n\nrequire k8s.io/kubernetes v{KUBERNETES}\n\nreplace (\n{replaced})\n",
            "tools.go": f"//go:build tools\n\npackage cluster\n\nimport (\n{needed})\n",
        },
        (
            ("go", "mod", "tidy"),
            *(
                _build(out / program, f"k8s.io/kubernetes/cmd/{program}", f"{_SMALL} {_VERSION}")
                for program in programs
            ),
        ),
    )


def _etcd(out: Path) -> Module:
    go_mod = f"module etcd\n\n{_GO_MOD}\nrequire go.etcd.io/etcd/server/v3 v{ETCD}\n"
    return Module(
        "etcd",
        {"go.mod": go_mod, "main.go": _ETCD_MAIN},
        (("go", "mod", "tidy"), _build(out / "etcd", ".")),
    )


def _containerd(out: Path) -> Module:
    """Where its go.mod has no replacements, a program can be installed as it was released."""
    names = ("containerd", "containerd-shim-runc-v2", "ctr")
    asked = tuple(f"github.com/containerd/containerd/v2/cmd/{name}@v{CONTAINERD}" for name in names)
    return Module(
        "containerd",
        {},
        (("env", f"GOBIN={out}", "go", "install", "-trimpath", "-ldflags", _SMALL, *asked),),
    )
