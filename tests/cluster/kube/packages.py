"""What a node and a browser need from the system: Debian's packages, installed where that is allowed, and one that is only looked into."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from tests.cluster.kube.build import Say, cache, turn
from tests.cluster.kube.missing import Missing

PLUGINS = Path("/usr/lib/cni")
_PROGRAMS = {
    "runc": "runc",
    "iptables": "iptables",
    "conntrack": "conntrack",
    "ip": "iproute2",
    "mount": "mount",
    "unshare": "util-linux",
}
_BROWSER = {"chromium": "chromium", "chromedriver": "chromium-driver"}


def check_root() -> None:
    if os.geteuid():
        raise Missing(
            "a node needs root, for namespaces, mounts and containers: run it as root, or do without `node` to have the API server alone"
        )


def install(tell: Say) -> None:
    """runc, the CNI plugins and what kube-proxy calls."""
    _provide(
        "a node",
        lambda: (
            _lacking(_PROGRAMS)
            + ([] if (PLUGINS / "bridge").exists() else ["containernetworking-plugins"])
        ),
        tell,
    )


def browser(tell: Say) -> None:
    """Chromium, and what drives it."""
    _provide("a browser", lambda: _lacking(_BROWSER), tell)


def _provide(what: str, lacking: Callable[[], list[str]], tell: Say) -> None:
    if not (packages := lacking()):
        return
    if not shutil.which("apt-get"):
        raise Missing(
            f"{what} needs {', '.join(packages)}, and there is no apt-get here: install what your system calls so"
        )
    with turn(
        cache() / "packages.turn", lambda: tell("somebody else installs packages: waiting for that")
    ):
        if packages := lacking():
            tell(f"installing {', '.join(packages)} with apt-get")
            _apt("install", "-y", "-q", "--no-install-recommends", *packages)


def busybox(tell: Say) -> bytes:
    """A static shell for images. Its package is unpacked beside the other programs: installed, it would push another one out."""
    if os.access("/bin/busybox", os.X_OK) and _static(Path("/bin/busybox")):
        return Path("/bin/busybox").read_bytes()
    kept = cache() / "busybox"
    with turn(
        cache() / "packages.turn", lambda: tell("somebody else gets busybox: waiting for that")
    ):
        if not kept.exists():
            tell("getting Debian's busybox-static")
            _unpack(kept)
    return kept.read_bytes()


def _lacking(programs: Mapping[str, str]) -> list[str]:
    return [
        package
        for program, package in programs.items()
        if not shutil.which(program, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")
    ]


def _static(program: Path) -> bool:
    return b"ld-linux" not in program.read_bytes()


def _unpack(kept: Path) -> None:
    with tempfile.TemporaryDirectory(dir=kept.parent) as temporary:
        _apt("download", "busybox-static", folder=temporary)
        package = next(Path(temporary).glob("*.deb"))
        subprocess.run(["dpkg-deb", "-x", str(package), temporary], check=True)
        (found,) = Path(temporary).rglob("bin/busybox")
        found.rename(kept)


def _apt(*arguments: str, folder: str = "/") -> None:
    """The lists of packages are fetched only when what there is of them does not do."""
    environment: Mapping[str, str] = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    command = ["apt-get", *arguments]
    if (
        subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, check=False
        ).returncode
        == 0
    ):
        return
    subprocess.run(["apt-get", "update", "-q"], env=environment, capture_output=True, check=False)
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        last = " / ".join(done.stderr.strip().splitlines()[-3:])
        raise Missing(
            f"`{' '.join(command)}` failed: {last}; see that Debian's packages can be reached, or install them by hand"
        )
