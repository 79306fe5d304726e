"""Both images that pods are made of here. They are made by a process of its own, which may fetch what is pinned; tests reach nothing but this machine."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from cwiictl.actions.image import save
from tests.federation import sdks

ROOT = Path(__file__).parents[2]


def made(folder: Path) -> tuple[Path, Path]:
    done = subprocess.run(
        [sys.executable, "-m", __name__, folder],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return folder / "webhook.tar", folder / "sdks.tar"


if __name__ == "__main__":
    save(Path(sys.argv[1]) / "webhook.tar", (), lambda _line: None)
    sdks.save(Path(sys.argv[1]) / "sdks.tar")
