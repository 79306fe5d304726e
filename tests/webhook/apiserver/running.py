"""An API server to test against, reached as a user reaches it. What only a double can do is asked of its `double`."""

from __future__ import annotations

import asyncio
import http.client
import json
import ssl
import tempfile
import threading
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from cwii_webhook.admission.cluster_view import ObjectRef
from cwii_webhook.kube.resources import Kind

from tests.webhook.apiserver.certificates import Authority, Signed
from tests.webhook.apiserver.fake import ADMIN, Double
from tests.webhook.apiserver.network import Wire

_Done = TypeVar("_Done")

CONFIG_MAPS = Kind("", "v1", "ConfigMap", "configmaps")

_TEMPLATE = {
    "metadata": {"labels": {"app": "a"}},
    "spec": {"containers": [{"name": "c", "image": "i"}]},
}
_RUN = {"spec": {"selector": {"matchLabels": {"app": "a"}}, "template": _TEMPLATE}}
SPECS: dict[str, dict[str, Any]] = {
    "ReplicaSet": _RUN,
    "Deployment": _RUN,
    "DaemonSet": _RUN,
}  # without which a real one takes none


@dataclass(frozen=True)
class Owner:
    api_version: str
    kind: str
    name: str


class Hands:
    """What a user of the cluster does, over HTTP."""

    def __init__(self, port: int, trust: ssl.SSLContext, token: str) -> None:
        self._port, self._trust, self._token = port, trust, token

    def put(
        self,
        kind: Kind,
        namespace: str,
        name: str,
        annotations: Mapping[str, str] | None = None,
        owner: Owner | None = None,
    ) -> None:
        """Makes it, or gives it these annotations and no others."""
        metadata: dict[str, Any] = {"name": name, "annotations": dict(annotations or {})}
        if kind.namespaced:
            metadata["namespace"] = namespace
        if owner:
            metadata["ownerReferences"] = [
                {
                    "apiVersion": owner.api_version,
                    "kind": owner.kind,
                    "name": owner.name,
                    "uid": "u",
                    "controller": True,
                }
            ]
        whole = {
            "apiVersion": kind.api.split("/", 2)[2],
            "kind": kind.kind,
            "metadata": metadata,
            **SPECS.get(kind.kind, {}),
        }
        self._ask("PATCH", f"{_path(kind, namespace, name)}?fieldManager=tests&force=true", whole)

    def fill(self, namespace: str, name: str, data: Mapping[str, str]) -> None:
        """A ConfigMap, with these data and no others."""
        path = _path(CONFIG_MAPS, namespace, name)
        whole = {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": name, "namespace": namespace},
            "data": dict(data),
        }
        self._ask("PATCH", f"{path}?fieldManager=tests&force=true", whole)

    def drop(self, kind: Kind, namespace: str, name: str) -> None:
        self._ask("DELETE", _path(kind, namespace, name), None)

    def _ask(self, method: str, path: str, content: object) -> None:
        connection = http.client.HTTPSConnection(
            "127.0.0.1", self._port, context=self._trust, timeout=10
        )
        try:
            connection.request(
                method,
                path,
                json.dumps(content),
                {
                    "Authorization": f"Bearer {self._token}",
                    "Content-Type": "application/apply-patch+yaml",
                },
            )
            answer = connection.getresponse()
            told = answer.read()
            assert answer.status in {200, 201}, told
        finally:
            connection.close()


@dataclass(frozen=True)
class Ground:
    hands: Hands  # past the wire
    wire: Wire
    authority: Authority
    double: Double
    loop: asyncio.AbstractEventLoop
    server: asyncio.Server

    @property
    def url(self) -> str:
        return f"https://127.0.0.1:{self.wire.port}"

    @property
    def ca(self) -> bytes:
        return self.authority.pem

    def do(self, what: Callable[[], _Done]) -> _Done:
        """In the loop of the double and its wire, which is another thread's."""

        async def done() -> _Done:
            return what()

        return asyncio.run_coroutine_threadsafe(done(), self.loop).result(10)

    async def breath(self) -> None:
        """Time for what would come over a socket, if it came."""
        await asyncio.sleep(0.05)

    async def reopen(self) -> None:
        """The outage is over."""
        await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(self.wire.open(), self.loop))


@contextmanager
def an_apiserver() -> Generator[Ground]:
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="apiserver")
    thread.start()
    try:
        ground = asyncio.run_coroutine_threadsafe(_ground(loop), loop).result(10)
        yield ground
        asyncio.run_coroutine_threadsafe(_end(ground), loop).result(10)
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


async def _ground(loop: asyncio.AbstractEventLoop) -> Ground:
    authority, double = Authority(), Double()
    context = _server_context(authority, authority.server("127.0.0.1", "api.example.org"))
    server = await asyncio.start_server(double.serve, "127.0.0.1", 0, ssl=context)
    port: int = server.sockets[0].getsockname()[1]
    wire = Wire(port)
    await wire.open()
    trust = ssl.create_default_context(cadata=authority.pem.decode())
    return Ground(Hands(port, trust, ADMIN), wire, authority, double, loop, server)


async def _end(ground: Ground) -> None:
    ground.wire.close()
    ground.server.close()
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)


def _server_context(authority: Authority, signed: Signed) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_verify_locations(cadata=authority.pem.decode())
    context.verify_mode = ssl.CERT_OPTIONAL
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "both.pem")
        file.write_bytes(signed.key + signed.certificate)
        context.load_cert_chain(file)
    return context


def _path(kind: Kind, namespace: str, name: str) -> str:
    path = kind.one(ObjectRef(kind.group, kind.kind, namespace, name))
    assert path
    return path
