"""Wheels, from the package index that pip is set to, with its own ways to reach it. The hash says which, so that a mirror is as good as any."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path

from cwiictl.errors import BadInput, Failed
from cwiictl.image.lock import Wheel

SECONDS = 600.0


def fetched(wheels: Sequence[Wheel], python: str, seconds: float = SECONDS) -> Mapping[str, bytes]:
    """By their hashes. For whichever machine they are: nothing of them is run."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        (folder / "wanted.txt").write_text(
            "".join(f"{each.name}=={each.version} --hash=sha256:{each.sha256}\n" for each in wheels)
        )
        command = [
            *_pip(),
            "download",
            "-q",
            "--disable-pip-version-check",
            "--no-deps",
            "--only-binary",
            ":all:",
            "--require-hashes",
        ]
        command += [word for platform in _platforms(wheels) for word in ("--platform", platform)]
        command += [
            "--implementation",
            "cp",
            "--python-version",
            python,
            "-d",
            str(folder),
            "-r",
            str(folder / "wanted.txt"),
        ]
        done = _done(command, seconds)
        got = {
            hashlib.sha256(data).hexdigest(): data
            for file in folder.glob("*.whl")
            for data in [file.read_bytes()]
        }
    if lacking := [each.file for each in wheels if each.sha256 not in got]:
        told = [
            line for line in done.stderr.splitlines() if line.startswith("ERROR")
        ] or done.stderr.splitlines()
        raise Failed(
            f"{', '.join(lacking)} cannot be had, pip says: {' / '.join(told[-3:])}",
            remedy="see that pip can reach its package index",
        )
    return got


def _done(command: Sequence[str], seconds: float) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=seconds)
    except subprocess.TimeoutExpired as e:
        raise Failed(
            f"pip has not fetched the wheels in {seconds:g} seconds",
            remedy="see that pip can reach its package index, and run again",
        ) from e


def _pip() -> list[str]:
    """Ours, the system's, or one that uv lends."""
    if find_spec("pip"):
        return [sys.executable, "-m", "pip"]
    if found := shutil.which("pip3") or shutil.which("pip"):
        return [found]
    if found := shutil.which("uv") or shutil.which("uv", path=str(Path(sys.executable).parent)):
        return [found, "tool", "run", "-q", "pip"]
    raise BadInput(
        "wheels are fetched with pip or uv, and neither is on the PATH",
        remedy="install one of them",
    )


def _platforms(wheels: Sequence[Wheel]) -> list[str]:
    """Their own: a wheel's name ends with those that it runs on."""
    return sorted(
        {
            platform
            for each in wheels
            for platform in each.file.removesuffix(".whl").rpartition("-")[2].split(".")
        }
    )
