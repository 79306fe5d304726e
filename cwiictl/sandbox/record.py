"""What came through the door, in order: no token, no query and no body is ever kept."""

from __future__ import annotations

import json
import threading
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TextIO

from cwiictl.errors import BadInput


@dataclass(frozen=True)
class Seen:
    method: str
    host: str
    path: str
    action: str
    status: int
    mutating: bool
    permissions: tuple[str, ...] = ()  # what the caller must be allowed, in IAM's words


class Record:
    def __init__(self, file: Path | None = None) -> None:
        self._lock = threading.Lock()
        self._seen: list[Seen] = []
        self._file: TextIO | None = _opened(file) if file else None

    @property
    def seen(self) -> list[Seen]:
        with self._lock:
            return list(self._seen)

    def add(self, seen: Seen) -> None:
        with self._lock:
            self._seen.append(seen)
            if self._file:
                self._file.write(json.dumps(asdict(seen)) + "\n")
                self._file.flush()

    def clear(self) -> None:
        with self._lock:
            self._seen.clear()

    def close(self) -> None:
        with self._lock:
            if self._file:
                self._file.close()
                self._file = None


def _opened(file: Path) -> TextIO:
    try:
        return file.open("w", encoding="utf-8")
    except OSError as error:
        raise BadInput(
            f"{file} cannot be written: {error.strerror}",
            remedy="name a file in a folder that exists and is yours with --record",
        ) from error
