"""What is known to be right, in files beside the tests."""

from __future__ import annotations

import os
from pathlib import Path

GOLDEN = Path(__file__).parent / "golden"


def compared(name: str, found: dict[str, bytes], among: Path = GOLDEN) -> None:
    """With the golden files of this name, no more and no fewer; or these become the golden ones."""
    root = among / name
    known = {path.relative_to(root).as_posix(): path for path in root.rglob("*") if path.is_file()}
    if os.environ.get("GOLDEN") == "renew":
        for path in known.values():
            path.unlink()
        for path, content in found.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_bytes(content)
        return
    assert sorted(found) == sorted(known)
    for path, content in found.items():
        assert content.decode() == known[path].read_text(encoding="utf-8"), path
