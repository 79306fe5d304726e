"""A wheel, looked into: its files, as they lie where Python finds them."""

from __future__ import annotations

import io
import zipfile
from fnmatch import fnmatchcase

from cwiictl.errors import Failed
from cwiictl.image.tree import File, Tree

# What its compiled modules were made of, what only an installer reads, and programs, which nobody runs where there is no shell.
_LEFT = (
    "*.pyx",
    "*.pxd",
    "*.pxi",
    "*.c",
    "*.h",
    "*.pyi",
    "*/RECORD",
    "*/top_level.txt",
    "*.data/scripts/*",
)


def unpack(wheel: bytes, name: str) -> Tree:
    try:
        with zipfile.ZipFile(io.BytesIO(wheel)) as archive:
            found = {
                info.filename: File(archive.read(info))
                for info in archive.infolist()
                if not info.is_dir()
            }
    except (zipfile.BadZipFile, NotImplementedError) as e:
        raise Failed(
            f"{name} is no wheel that can be read: {e}",
            remedy="pin another version of it with scripts/image lock",
        ) from e
    kept = {
        path: file
        for path, file in found.items()
        if not any(fnmatchcase(path, left) for left in _LEFT)
    }
    if moved := [path for path in kept if ".data/" in path]:
        raise Failed(
            f"{name} wants {moved[0]} outside of Python's folder, which is not done here",
            remedy="pin another version of it",
        )
    return kept
