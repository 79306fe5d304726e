"""A wheel, looked into: its files, as they lie where Python finds them."""

from __future__ import annotations

import io
import zipfile
from fnmatch import fnmatchcase

from cwiictl.errors import Failed
from cwiictl.image.tree import File, Tree

# What its compiled modules were made of, and what only an installer reads.
_LEFT = ("*.pyx", "*.pxd", "*.pxi", "*.c", "*.h", "*.pyi", "*/RECORD", "*/top_level.txt")


def unpack(wheel: bytes, name: str) -> Tree:
    try:
        with zipfile.ZipFile(io.BytesIO(wheel)) as archive:
            found = {info.filename: File(archive.read(info)) for info in archive.infolist() if not info.is_dir()}
    except (zipfile.BadZipFile, NotImplementedError) as e:
        raise Failed(f"{name} is no wheel that can be read: {e}", remedy="pin another version of it with scripts/image lock") from e
    if moved := [path for path in found if ".data/" in path]:
        raise Failed(f"{name} wants {moved[0]} outside of Python's folder, which is not done here", remedy="pin another version of it")
    return {path: file for path, file in found.items() if not any(fnmatchcase(path, left) for left in _LEFT)}
