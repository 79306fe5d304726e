"""Files as they are in an image: values, by path, and the archive that is made of them. The same files are always the same bytes."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TypeAlias


@dataclass(frozen=True)
class File:
    data: bytes
    mode: int = 0o644


@dataclass(frozen=True)
class Link:
    """To what its text says, seen from where it is."""

    to: str


@dataclass(frozen=True)
class Folder:
    """Only those that are more than the place of something: empty ones, or of another mode."""

    mode: int = 0o755


Tree: TypeAlias = Mapping[str, File | Link | Folder]


def read(archive: tarfile.TarFile) -> Iterator[tuple[str, File | Link | Folder]]:
    """Whose owner, time and extra rights count for nothing: in an image all is root's, and nothing makes anybody root."""
    for member in archive:
        path = str(PurePosixPath("/", member.name))[1:]
        if member.isdir():
            continue
        if member.issym():
            yield path, Link(member.linkname)
        elif member.isreg() or member.islnk():
            file = archive.extractfile(member)
            yield path, File(file.read() if file else b"", _mode(member.mode))


def archived(tree: Tree, seconds: int) -> bytes:
    """A tar. Everything has the same time, in seconds since 1970."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for path, node in sorted({**{place: Folder() for place in _places(tree)}, **tree}.items()):
            entry = tarfile.TarInfo(path)
            entry.mtime = seconds
            match node:
                case File(data, mode):
                    entry.size, entry.mode = len(data), mode
                    tar.addfile(entry, io.BytesIO(data))
                case Link(to):
                    entry.type, entry.linkname, entry.mode = tarfile.SYMTYPE, to, 0o777
                    tar.addfile(entry)
                case Folder(mode):
                    entry.type, entry.mode = tarfile.DIRTYPE, mode
                    tar.addfile(entry)
    return out.getvalue()


def _places(paths: Iterable[str]) -> set[str]:
    return {
        str(place) for path in paths for place in PurePosixPath(path).parents if str(place) != "."
    }


def _mode(given: int) -> int:
    return 0o755 if given & 0o100 else 0o644
