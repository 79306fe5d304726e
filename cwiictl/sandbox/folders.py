"""A user's own host, served from a folder: read anew for each request, and nothing outside of it."""

from __future__ import annotations

import hashlib
import mimetypes
from pathlib import Path
from urllib.parse import unquote

from .exchange import Request, Response, text
from .faults import Fault


class Folder:
    """One issuer's host. It answers to GET and HEAD, as any web server with files would."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def knows(self, host: str) -> bool:
        del host
        return True

    def action(self, request: Request) -> tuple[str, bool]:
        return f"web:{request.method.capitalize()}", False

    def permissions(self, request: Request) -> tuple[str, ...]:
        del request
        return ()

    def fault(self, request: Request, fault: Fault) -> Response:
        del request
        return text(429 if fault is Fault.THROTTLED else 503, "Try again later.")

    def expired(self, request: Request) -> Response | None:
        del request
        return None

    def reset(self) -> None:
        """The files are the user's."""

    def handle(self, request: Request) -> Response:
        if request.method not in {"GET", "HEAD"}:
            return text(405, "Only GET and HEAD.").but([("Allow", "GET, HEAD")])
        file = self._find(unquote(request.path))
        if file is None:
            return text(404, "Not found.")
        body = file.read_bytes()
        headers = (
            ("Content-Type", _type(file)),
            ("ETag", f'"{hashlib.sha256(body).hexdigest()[:32]}"'),
        )
        return Response(200, headers, body)

    def _find(self, path: str) -> Path | None:
        if "\0" in path:
            return None
        file = (self._root / path.lstrip("/")).resolve()
        return file if file.is_file() and file.is_relative_to(self._root.resolve()) else None


def _type(file: Path) -> str:
    """Key sets and discovery documents often have names without a suffix."""
    guess, _ = mimetypes.guess_type(file.name)
    return guess or "application/json"
