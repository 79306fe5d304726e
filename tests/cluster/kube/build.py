"""The programs of a cluster: those that KUBEBUILDER_ASSETS names, those that were made before, or made now."""

from __future__ import annotations

import fcntl
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.cluster.kube import recipe
from tests.cluster.kube.missing import Missing
from tests.cluster.kube.recipe import Module, Part

Say = Callable[[str], None]
Modules = Callable[
    [Path, Path], Iterable[Module]
]  # of the folder where they are made, and the one for what is made


def say(line: str) -> None:
    print(
        f"scripts/cluster: {line}", file=sys.stderr, flush=True
    )  # by hand it is read, in a test it is kept with its failure


def programs(
    *parts: Part, environment: Mapping[str, str] = os.environ, tell: Say = say
) -> dict[str, Path]:
    """Where each one is. What is not there yet is built: minutes, once."""
    if given := environment.get("KUBEBUILDER_ASSETS"):
        return _given(Path(given), parts)
    return {
        name: folder / name
        for part in parts
        for folder in [_cached(part, environment, tell)]
        for name in part.programs
    }


def built(*parts: Part, environment: Mapping[str, str] = os.environ) -> bool:
    """Whether `programs` would return at once."""
    return bool(environment.get("KUBEBUILDER_ASSETS")) or all(
        (cache(environment) / part.key).is_dir() for part in parts
    )


def _given(folder: Path, parts: tuple[Part, ...]) -> dict[str, Path]:
    found = {name: folder.resolve() / name for part in parts for name in part.programs}
    if lacking := [name for name, path in found.items() if not os.access(path, os.X_OK)]:
        raise Missing(
            f"KUBEBUILDER_ASSETS names {folder}, which has no {' and no '.join(lacking)}: put it there, or unset it to have all built"
        )
    return found


def cache(environment: Mapping[str, str] = os.environ) -> Path:
    above = (
        environment.get("XDG_CACHE_HOME") or Path(environment.get("HOME") or Path.home()) / ".cache"
    )
    return Path(above) / "cwiictl-cluster"


def _cached(part: Part, environment: Mapping[str, str], tell: Say) -> Path:
    def modules(work: Path, out: Path) -> Iterable[Module]:
        return recipe.modules(part, out, _upstream(work) if part.kubernetes else "")

    return kept(cache(environment) / part.key, part.programs, modules, tell)


def kept(folder: Path, names: Sequence[str], modules: Modules, tell: Say = say) -> Path:
    """The folder of programs that are made once."""
    if folder.is_dir():
        return folder
    _check_go()
    with turn(
        folder.with_name(f"{folder.name}.turn"),
        lambda: tell(f"somebody else builds {', '.join(names)}: waiting for that"),
    ):
        if not folder.is_dir():
            _made(folder, names, modules, tell)
    return folder


@contextmanager
def turn(file: Path, waiting: Callable[[], None]) -> Generator[None]:
    """Of two that need the same thing, one makes it, and the other finds it made."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("w") as held:
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            waiting()
            fcntl.flock(held, fcntl.LOCK_EX)
        yield


def _check_go() -> None:
    wanted = ".".join(map(str, recipe.GO))
    if not shutil.which("go"):
        raise Missing(
            f"a cluster is built with Go, which is not on the PATH: install Go {wanted} or newer, or set KUBEBUILDER_ASSETS"
        )
    told = subprocess.run(["go", "version"], capture_output=True, text=True, check=True).stdout
    found = re.search(r"go(\d+)\.(\d+)", told)
    if found and tuple(map(int, found.groups())) < recipe.GO:
        raise Missing(
            f"a cluster is built with Go {wanted} or newer, and this is {found[0]}: install a newer one, or set KUBEBUILDER_ASSETS"
        )


def _made(folder: Path, names: Sequence[str], modules: Modules, tell: Say) -> None:
    """Whole or not at all: built beside its place, and then named."""
    tell(f"building {', '.join(names)} from the Go module proxy: some minutes, once")
    before = time.monotonic()
    for left in folder.parent.glob(
        f"making-{folder.name}-*"
    ):  # by one who was killed at it: it is our turn
        shutil.rmtree(left)
    with tempfile.TemporaryDirectory(
        prefix=f"making-{folder.name}-", dir=folder.parent
    ) as temporary:
        work, out = Path(temporary), Path(temporary) / "out"
        out.mkdir()
        for module in modules(work, out):
            _run_all(module, work / module.name)
        out.rename(folder)
    size = sum(file.stat().st_size for file in folder.iterdir()) >> 20
    tell(f"built in {time.monotonic() - before:.0f} s: {size} MiB in {folder}")


def _upstream(work: Path) -> str:
    told = json.loads(
        _go(("go", "mod", "download", "-json", f"k8s.io/kubernetes@v{recipe.KUBERNETES}"), work)
    )
    return Path(told["GoMod"]).read_text()


def _run_all(module: Module, folder: Path) -> None:
    folder.mkdir()
    for name, text in module.files.items():
        (folder / name).write_text(text)
    for command in module.commands:
        _go(command, folder)


def _go(command: tuple[str, ...], folder: Path) -> str:
    """Go's own settings are the user's: which proxy, and where it keeps what it has downloaded. Static programs run in any image."""
    environment = {
        **os.environ,
        "CGO_ENABLED": "0",
        "GOFLAGS": "",
        "GO111MODULE": "on",
        "GOWORK": "off",
    }
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        last = " / ".join(done.stderr.strip().splitlines()[-5:])
        raise Missing(
            f"the cluster's programs cannot be built, `{' '.join(command[:3])}` says: {last}; see that the Go module proxy can be reached"
        )
    return done.stdout
