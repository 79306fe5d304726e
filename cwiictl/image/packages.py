"""A package of Debian, looked into: its files, and what it says of itself."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Mapping
from dataclasses import dataclass

from cwiictl.errors import Failed
from cwiictl.image import tree
from cwiictl.image.tree import File, Tree

_MAGIC = b"!<arch>\n"
_HEADER = 60


@dataclass(frozen=True)
class Unpacked:
    control: str  # its fields, as dpkg keeps them
    tree: Tree


def unpack(package: bytes, name: str) -> Unpacked:
    parts = _parts(package)
    try:
        control = dict(tree.read(_tar(parts["control.tar"])))["control"]
        files = dict(tree.read(_tar(parts["data.tar"])))
    except (KeyError, tarfile.TarError) as e:
        raise Failed(
            f"{name} is no package of Debian that can be read here: {e}",
            remedy="pin another version of it with scripts/image lock",
        ) from e
    return Unpacked(control.data.decode() if isinstance(control, File) else "", files)


def _parts(package: bytes) -> Mapping[str, bytes]:
    """An ar archive: names and sizes in text, and each part begins at an even place."""
    found: dict[str, bytes] = {}
    at = len(_MAGIC) if package.startswith(_MAGIC) else len(package)
    while header := package[at : at + _HEADER]:
        name, size = header[:16].decode("ascii", "replace").strip().rstrip("/"), int(header[48:58])
        at += _HEADER
        found[name.rpartition(".")[0] if name.count(".") > 1 else name] = package[at : at + size]
        at += size + size % 2
    return found


def _tar(data: bytes) -> tarfile.TarFile:
    return tarfile.open(fileobj=io.BytesIO(data), mode="r:*")
