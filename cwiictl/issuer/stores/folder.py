"""The issuer's documents as files, for whoever serves them from a host of their own."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Mapping
from pathlib import Path

from cwiictl import files, oidc
from cwiictl.engine.resource import Mark
from cwiictl.errors import NotYet
from cwiictl.issuer.documents import DocumentState, KeySetState

ROTATION = ".rotation"  # behind a key set's name


class _Files:
    bulk, patience = False, 1.0

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def drop(self, _name: str, /) -> None:
        """Files on this disk are their owner's to delete."""

    def owned(self, _cluster: str, /) -> Mapping[str, Mark]:
        return {}

    def _there(self, names: Collection[str]) -> dict[str, bytes]:
        return {
            name: files.read(self.folder / name, "the issuer's document")
            for name in names
            if (self.folder / name).exists()
        }

    def _write(self, name: str, text: bytes) -> None:
        files.write(self.folder, {name: files.Public(text)})


class FolderDocuments(_Files):
    kind = "local/document"

    def get(self, names: Collection[str], /) -> Mapping[str, DocumentState]:
        return {name: DocumentState.read(text) for name, text in self._there(names).items()}

    def put(self, name: str, want: DocumentState, _have: DocumentState | None, /) -> DocumentState:
        self._write(name, oidc.dump(want.body))
        return want


class FolderKeySets(_Files):
    """What the user serves already is the beginning of what is to be served: else their next upload would lose others' keys."""

    kind = "local/key-set"

    def __init__(self, folder: Path, served: Callable[[], bytes | None]) -> None:
        super().__init__(folder)
        self.served = served

    def get(self, names: Collection[str], /) -> Mapping[str, KeySetState]:
        return {name: self._read(name, text) for name, text in self._there(names).items()}

    def put(self, name: str, want: KeySetState, have: KeySetState | None, /) -> KeySetState:
        seen = self.get([name]).get(name)
        if (seen.version if seen else "") != (have.version if have else ""):
            raise NotYet(f"somebody else has written {self.kind}/{name}")
        text = None if have else self.served()
        self._write(name, want.merged(KeySetState.read(text, "the user's host") if text else have))
        self._say(name, want.word(have))
        return want

    def _read(self, name: str, text: bytes) -> KeySetState:
        word = files.found(self.folder / f"{name}{ROTATION}").decode(errors="replace").strip()
        where = f"{self.kind}/{name}"
        return KeySetState.read(
            text, where, seen=hashlib.sha256(text + word.encode()).hexdigest()
        ).saying(word, where)

    def _say(self, name: str, word: str) -> None:
        """A file has no metadata: it lies beside, and nobody needs to serve it."""
        if word:
            self._write(f"{name}{ROTATION}", f"{word}\n".encode())
        else:
            (self.folder / f"{name}{ROTATION}").unlink(missing_ok=True)
