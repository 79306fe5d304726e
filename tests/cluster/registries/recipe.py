"""Real registries: how they are made from the Go module proxy, and how one is started."""

from __future__ import annotations

import hashlib
import json
import socket
import subprocess
import time
from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.cluster.kube.build import cache, kept
from tests.cluster.kube.recipe import GO, Module

HERE = Path(__file__).parent
DISTRIBUTION, REFERRING = "distribution", "referring"
_MODULES = {
    DISTRIBUTION: ("github.com/distribution/distribution/v3", "3.1.2"),
    REFERRING: ("github.com/google/go-containerregistry", "0.22.1"),
}


def program(name: str) -> Path:
    """Built once, and kept under a hash of what it is built from."""
    source = (HERE / f"{name}.go").read_text()
    module, version = _MODULES[name]
    key = hashlib.sha256(f"{source} {module} {version} {GO}".encode()).hexdigest()[:12]

    def modules(_work: Path, out: Path) -> Iterable[Module]:
        go_mod = f"module {name}\n\ngo {GO[0]}.{GO[1]}.0\n\nrequire {module} v{version}\n"
        build = (
            "go",
            "build",
            "-trimpath",
            "-buildvcs=false",
            "-mod=mod",
            "-ldflags",
            "-s -w",
            "-o",
            str(out / name),
            ".",
        )
        yield Module(name, {"go.mod": go_mod, "main.go": source}, (("go", "mod", "tidy"), build))

    return kept(cache() / f"registry-{name}-{version}-{key}", [name], modules) / name


@contextmanager
def distribution(folder: Path, auth: Mapping[str, Any]) -> Generator[str]:
    """What it listens on. It reads YAML, and JSON is some."""
    address = _free()
    settings: dict[str, Any] = {
        "version": 0.1,
        "storage": {"inmemory": {}},
        "http": {"addr": address, "secret": "x"},
        "log": {"level": "warn"},
        **({"auth": auth} if auth else {}),
    }
    file = folder / "registry.json"
    file.write_text(json.dumps(settings))
    with _running([program(DISTRIBUTION), "serve", file], folder, address):
        yield address


@contextmanager
def referring(folder: Path) -> Generator[str]:
    address = _free()
    with _running([program(REFERRING), address], folder, address):
        yield address


def _free() -> str:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return f"127.0.0.1:{listening.getsockname()[1]}"


@contextmanager
def _running(command: list[str | Path], folder: Path, address: str) -> Generator[None]:
    with (
        (folder / "log").open("w") as log,
        subprocess.Popen(command, stdout=log, stderr=log) as process,
    ):
        try:
            _wait(address, process)
            yield
        finally:
            process.terminate()


def _wait(address: str, process: subprocess.Popen[bytes]) -> None:
    host, _, port = address.rpartition(":")
    for _ in range(200):
        assert process.poll() is None, "the registry has ended: see its log"
        try:
            with socket.create_connection((host, int(port)), 1):
                return
        except OSError:
            time.sleep(0.05)
    raise AssertionError("the registry does not listen")
