"""How long one waits for cwiictl before it does anything."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

from ratio import Ratio, measure


def ratios() -> Iterator[Ratio]:
    nothing = ("python -c pass", lambda: _python("-c", "pass"))
    yield measure(
        ("cwiictl --help", lambda: _python("-m", "cwiictl", "--help")), nothing, goal="at most 5"
    )


def _python(*arguments: str) -> None:
    subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)
