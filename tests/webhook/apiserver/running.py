"""Runs the fake API server in a thread, behind a network that can fail."""

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
from cwii_webhook.kube.resources import ApiResource

from tests.webhook.apiserver.certificates import CertificateAuthority, SignedCertificate
from tests.webhook.apiserver.fake import ADMIN, FakeApiServer
from tests.webhook.apiserver.network import FlakyNetwork

_Result = TypeVar("_Result")

CONFIG_MAPS = ApiResource("", "v1", "ConfigMap", "configmaps")

_TEMPLATE = {
    "metadata": {"labels": {"app": "a"}},
    "spec": {"containers": [{"name": "c", "image": "i"}]},
}
_WORKLOAD_SPEC = {"spec": {"selector": {"matchLabels": {"app": "a"}}, "template": _TEMPLATE}}
SPECS: dict[str, dict[str, Any]] = {
    "ReplicaSet": _WORKLOAD_SPEC,
    "Deployment": _WORKLOAD_SPEC,
    "DaemonSet": _WORKLOAD_SPEC,
}  # fields that a real API server requires


@dataclass(frozen=True)
class Owner:
    """The controller in an owner reference."""

    api_version: str
    kind: str
    name: str


class ClusterUser:
    """A user who changes objects over HTTPS. The requests bypass the flaky network."""

    def __init__(self, port: int, trust: ssl.SSLContext, token: str) -> None:
        self._port, self._trust, self._token = port, trust, token

    def apply(
        self,
        resource: ApiResource,
        namespace: str,
        name: str,
        annotations: Mapping[str, str] | None = None,
        owner: Owner | None = None,
    ) -> None:
        """Creates or updates an object, so that it has exactly these annotations."""
        metadata: dict[str, Any] = {"name": name, "annotations": dict(annotations or {})}
        if resource.namespaced:
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
        manifest = {
            "apiVersion": resource.api_path.split("/", 2)[2],
            "kind": resource.kind,
            "metadata": metadata,
            **SPECS.get(resource.kind, {}),
        }
        self._request(
            "PATCH", f"{_path(resource, namespace, name)}?fieldManager=tests&force=true", manifest
        )

    def apply_config_map(self, namespace: str, name: str, data: Mapping[str, str]) -> None:
        """Creates or updates a ConfigMap, so that it has exactly this data."""
        path = _path(CONFIG_MAPS, namespace, name)
        manifest = {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": name, "namespace": namespace},
            "data": dict(data),
        }
        self._request("PATCH", f"{path}?fieldManager=tests&force=true", manifest)

    def delete(self, resource: ApiResource, namespace: str, name: str) -> None:
        self._request("DELETE", _path(resource, namespace, name), None)

    def _request(self, method: str, path: str, content: object) -> None:
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
            response = connection.getresponse()
            body = response.read()
            assert response.status in {200, 201}, body
        finally:
            connection.close()


@dataclass(frozen=True)
class RunningApiServer:
    """A running fake API server, and the objects that control it."""

    user: ClusterUser
    network: FlakyNetwork
    authority: CertificateAuthority
    fake: FakeApiServer
    loop: asyncio.AbstractEventLoop
    server: asyncio.Server

    @property
    def url(self) -> str:
        return f"https://127.0.0.1:{self.network.port}"

    @property
    def ca(self) -> bytes:
        return self.authority.pem

    def run_in_loop(self, function: Callable[[], _Result]) -> _Result:
        """Calls a function in the event loop of the server, which runs in another thread."""

        async def call() -> _Result:
            return function()

        return asyncio.run_coroutine_threadsafe(call(), self.loop).result(10)

    async def wait_for_network(self) -> None:
        """Waits long enough for a request to arrive, for tests that expect none."""
        await asyncio.sleep(0.05)

    async def reopen_network(self) -> None:
        """Ends the outage after `network.close`."""
        await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(self.network.open(), self.loop))


@contextmanager
def run_apiserver() -> Generator[RunningApiServer]:
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="apiserver")
    thread.start()
    try:
        apiserver = asyncio.run_coroutine_threadsafe(_start(loop), loop).result(10)
        yield apiserver
        asyncio.run_coroutine_threadsafe(_stop(apiserver), loop).result(10)
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


async def _start(loop: asyncio.AbstractEventLoop) -> RunningApiServer:
    authority, fake = CertificateAuthority(), FakeApiServer()
    context = _server_context(
        authority, authority.issue_server_certificate("127.0.0.1", "api.example.org")
    )
    server = await asyncio.start_server(fake.serve, "127.0.0.1", 0, ssl=context)
    port: int = server.sockets[0].getsockname()[1]
    network = FlakyNetwork(port)
    await network.open()
    trust = ssl.create_default_context(cadata=authority.pem.decode())
    return RunningApiServer(ClusterUser(port, trust, ADMIN), network, authority, fake, loop, server)


async def _stop(apiserver: RunningApiServer) -> None:
    apiserver.network.close()
    apiserver.server.close()
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)


def _server_context(authority: CertificateAuthority, signed: SignedCertificate) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_verify_locations(cadata=authority.pem.decode())
    context.verify_mode = ssl.CERT_OPTIONAL
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "both.pem")
        file.write_bytes(signed.key + signed.certificate)
        context.load_cert_chain(file)
    return context


def _path(resource: ApiResource, namespace: str, name: str) -> str:
    path = resource.object_path(ObjectRef(resource.group, resource.kind, namespace, name))
    assert path
    return path
