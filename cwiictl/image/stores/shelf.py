"""What was fetched before, by its hash. What does not have it is as good as missing, so nothing on the shelf is ever believed or mended."""

from __future__ import annotations

import contextlib
import hashlib
import os
from pathlib import Path

from cwiictl import files
from cwiictl.errors import Problem


class Shelf:
    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def get(self, sha256: str) -> bytes | None:
        try:
            data = (self.folder / sha256).read_bytes()
        except OSError:
            return None
        return data if hashlib.sha256(data).hexdigest() == sha256 else None

    def put(self, data: bytes) -> bytes:
        """As it was given. Where nothing can be kept, it is fetched again."""
        with contextlib.suppress(Problem):
            files.write(self.folder, {hashlib.sha256(data).hexdigest(): data})
        return data


def shelf() -> Shelf:
    above = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Shelf(Path(above) / "cwiictl" / "image")
