"""How a cloud reads an issuer's documents: over real https, through the sandbox's own door, and never more than it needs."""

from __future__ import annotations

import http.client
import ssl
from dataclasses import dataclass
from urllib.parse import urlsplit

LARGEST = 256 * 1024
TRIES = 4  # a cloud asks again when an issuer fails for a moment


@dataclass(frozen=True)
class Fetcher:
    address: str
    port: int
    context: ssl.SSLContext

    def __call__(self, url: str) -> bytes:
        """The body at `url`; OSError when the host cannot be reached, ValueError when its answer is no document."""
        parts = urlsplit(url)
        if parts.scheme != "https" or not parts.hostname:
            raise ValueError("not an https address")
        status, body = 0, b""
        for _ in range(TRIES):
            status, body = self._get(
                parts.hostname,
                parts.port or 443,
                f"{parts.path or '/'}{'?' + parts.query if parts.query else ''}",
            )
            if status < 500 and status != 429:
                break
        if status != 200:
            raise ValueError(f"answered {status}")
        if len(body) > LARGEST:
            raise ValueError("too large")
        return body

    def reach(self, host: str, port: int = 443) -> None:
        """OSError unless something speaks TLS there with a certificate for this name."""
        connection = self._connection(host, port)
        try:
            connection.connect()
        finally:
            connection.close()

    def _get(self, host: str, port: int, path: str) -> tuple[int, bytes]:
        connection = self._connection(host, port)
        try:
            connection.request("GET", path, headers={"Accept": "application/json"})
            answer = connection.getresponse()
            return answer.status, answer.read(LARGEST + 1)
        except http.client.HTTPException as error:
            raise OSError(str(error)) from error
        finally:
            connection.close()

    def _connection(self, host: str, port: int) -> http.client.HTTPSConnection:
        connection = http.client.HTTPSConnection(
            self.address, self.port, timeout=15, context=self.context
        )
        connection.set_tunnel(host, port)
        return connection
