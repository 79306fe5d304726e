"""A Kubernetes client for tests: objects by their paths, as plain data. It knows no kinds, and keeps nothing."""

from __future__ import annotations

import http.client
import json
import ssl
import tempfile
import weakref
from collections.abc import Mapping
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

from tests.cluster.kube.pki import Pair

Object = dict[str, Any]
_PATCHES = {
    "merge": "application/merge-patch+json",
    "strategic": "application/strategic-merge-patch+json",
    "json": "application/json-patch+json",
    "apply": "application/apply-patch+yaml",
}


class Refused(Exception):
    """The API server's no, in its own words."""

    def __init__(self, status: int, reason: str, message: str) -> None:
        super().__init__(f"{status} {reason}: {message}")
        self.status = status
        self.reason = reason
        self.message = message


class Client:
    """A path is what comes after the host: /api/v1/namespaces/default/pods/a. Any thread may use it: connections are used again, by one at a time."""

    def __init__(
        self, server: str, authority: bytes, pair: Pair | None = None, token: str = ""
    ) -> None:
        self.server = server
        self._token = token
        self._idle: list[http.client.HTTPSConnection] = []
        weakref.finalize(self, _close, self._idle)
        self._context = ssl.create_default_context(cadata=authority.decode())
        if pair:
            with (
                tempfile.NamedTemporaryFile() as file
            ):  # `ssl` takes certificates from files only; this one is 0600
                file.write(pair.key + pair.certificate)
                file.flush()
                self._context.load_cert_chain(file.name)

    def get(self, path: str) -> Object:
        return json.loads(self.text(path))

    def list(self, path: str) -> list[Object]:
        return self.get(path)["items"]

    def create(self, path: str, body: Mapping[str, Any]) -> Object:
        """`path` is the collection's."""
        return json.loads(self._call("POST", path, body))

    def put(self, path: str, body: Mapping[str, Any]) -> Object:
        return json.loads(self._call("PUT", path, body))

    def patch(self, path: str, body: Any, kind: str = "merge") -> Object:
        return json.loads(self._call("PATCH", path, body, _PATCHES[kind]))

    def delete(self, path: str) -> None:
        self._call("DELETE", path)

    def text(self, path: str) -> str:
        """What is no object: metrics, logs, readiness."""
        return self._call("GET", path).decode()

    def exists(self, path: str) -> bool:
        try:
            self.text(path)
        except Refused as refused:
            if refused.status == 404:
                return False
            raise
        return True

    def _call(
        self, method: str, path: str, body: Any = None, kind: str = "application/json"
    ) -> bytes:
        headers = {"Content-Type": kind} | (
            {"Authorization": f"Bearer {self._token}"} if self._token else {}
        )
        asked = (method, path, None if body is None else json.dumps(body), headers)
        status, content = self._asked(*asked)
        if status >= 400:
            raise _refused(status, content)
        return content

    def _asked(self, *request: Any) -> tuple[int, bytes]:
        while idle := self._taken():
            with suppress(ConnectionError, ssl.SSLError):  # it was closed while nobody used it
                return self._answer(idle, *request)
        host = urlsplit(self.server)
        return self._answer(
            http.client.HTTPSConnection(
                host.hostname or "", host.port, timeout=60, context=self._context
            ),
            *request,
        )

    def _taken(self) -> http.client.HTTPSConnection | None:
        with suppress(IndexError):
            return self._idle.pop()
        return None

    def _answer(self, connection: http.client.HTTPSConnection, *request: Any) -> tuple[int, bytes]:
        try:
            connection.request(*request)
            response = connection.getresponse()
            content = response.read()
        except BaseException:
            connection.close()
            raise
        self._idle.append(connection)
        return response.status, content


def _close(idle: list[http.client.HTTPSConnection]) -> None:
    while idle:
        idle.pop().close()


def _refused(status: int, content: bytes) -> Refused:
    try:
        told: Object = json.loads(content)
        return Refused(status, str(told.get("reason", "")), str(told.get("message", "")))
    except (ValueError, AttributeError):
        return Refused(status, "", content.decode(errors="replace").strip())
