"""Where the running sandbox is: a file that only this user can read, for as long as `sandbox start` runs."""

from __future__ import annotations

import contextlib
import json
import os
import stat
import tempfile
from collections.abc import Generator, Mapping
from pathlib import Path
from typing import cast

from cwiictl.errors import BadInput


@contextlib.contextmanager
def told(variables: Mapping[str, str]) -> Generator[None]:
    file = _folder() / "sandbox.json"
    if _alive(file):
        raise BadInput(
            "a sandbox is running already",
            remedy='stop it with Ctrl-C where it runs, or use it: eval "$(cwiictl sandbox env)"',
        )
    file.unlink(missing_ok=True)
    with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as out:
        json.dump({"pid": os.getpid(), "variables": dict(variables)}, out)
    try:
        yield
    finally:
        file.unlink(missing_ok=True)


def running() -> dict[str, str]:
    """What the running sandbox sets."""
    file = _folder() / "sandbox.json"
    if not _alive(file):
        raise BadInput(
            "no sandbox is running", remedy="start one in another terminal: cwiictl sandbox start"
        )
    return cast("dict[str, str]", _read(file)["variables"])


def _folder() -> Path:
    """Ours alone, or none: in a shared temp folder anybody could have made it before us."""
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    folder = (
        Path(runtime) / "cwiictl"
        if runtime
        else Path(tempfile.gettempdir()) / f"cwiictl-{os.getuid()}"
    )
    folder.mkdir(mode=0o700, exist_ok=True)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o077:
        raise BadInput(
            f"{folder} is not this user's alone",
            remedy="remove it, or name a private folder in XDG_RUNTIME_DIR",
        )
    return folder


def _alive(file: Path) -> bool:
    try:
        os.kill(int(cast("int", _read(file)["pid"])), 0)
    except (OSError, ValueError, KeyError):
        return False
    return True


def _read(file: Path) -> dict[str, object]:
    return cast("dict[str, object]", json.loads(file.read_text(encoding="utf-8")))
