"""The webhook's image as users have it, for a node."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
IMAGE = "localhost/cwii-webhook:0.1.0"


def cwiictl(tree: Path, *words: str | Path, umask: int = 0o022, **environ: str) -> str:
    """As if it were installed from this tree, with whatever else is in the environment."""
    paths = {"PYTHONPATH": f"{tree}{os.pathsep}{tree / 'webhook'}"}
    command = [sys.executable, "-m", "cwiictl", "image", *words]
    done = subprocess.run(
        command,
        cwd=tree,
        env={**os.environ, **paths, **environ},
        capture_output=True,
        text=True,
        check=False,
        umask=umask,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def saved(folder: Path) -> Path:
    cwiictl(ROOT, "save", folder / "webhook.tar")
    return folder / "webhook.tar"
