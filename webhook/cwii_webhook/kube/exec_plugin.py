"""Gets credentials from an exec plugin (client.authentication.k8s.io)."""

from __future__ import annotations

import asyncio
import base64
import os
import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from cwii_webhook.certificates.pem import KeyPair
from cwii_webhook.kube.access import ApiServer
from cwii_webhook.kube.clock import Clock, TimedOut, with_timeout
from cwii_webhook.kube.errors import BadAccess
from cwii_webhook.kube.identity import Credential

TIMEOUT = 60.0  # seconds
EXPIRY_MARGIN = 30.0  # seconds before the expiry at which the plugin runs again
API_VERSIONS: Final = ("client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1")


class ExecEnvVar(Struct):
    name: str
    value: str = ""


class ExecConfig(Struct, rename="camel"):
    """The exec section of a kubeconfig user."""

    command: str
    api_version: str = ""
    args: list[str] | None = None
    env: list[ExecEnvVar] | None = None
    interactive_mode: str = "Never"
    provide_cluster_info: bool = False
    install_hint: str = ""


class ExecStatus(Struct, rename="camel"):
    """The credential in a plugin's output."""

    token: str = ""
    expiration_timestamp: datetime | None = None
    client_certificate_data: str = ""
    client_key_data: str = ""


class ExecCredential(Struct, rename="camel"):
    """Output of an exec plugin."""

    api_version: str = ""
    status: ExecStatus | None = None


class ExecPlugin:
    """Identity from an exec plugin, as the kubeconfigs of clouds use it.

    The plugin runs again when its credential has expired or the API server rejected it.
    """

    def __init__(
        self,
        config: ExecConfig,
        server: ApiServer,
        folder: Path,
        clock: Clock,
        wall_clock: Callable[[], float] = time.time,
    ) -> None:
        if config.api_version not in API_VERSIONS:
            raise BadAccess(
                f"the plugin {config.command} speaks {config.api_version or 'no version'}",
                remedy=f"use one that speaks {API_VERSIONS[0]}",
            )
        if config.interactive_mode == "Always":
            raise BadAccess(
                f"the plugin {config.command} wants to talk with a person, and there is none",
                remedy="use a user that needs nobody",
            )
        self._config, self._server, self._clock, self._wall_clock = (
            config,
            server,
            clock,
            wall_clock,
        )
        # As in kubectl: a path is relative to the kubeconfig, a bare name is found on the PATH.
        self._command = str(folder / config.command) if "/" in config.command else config.command
        self._credential: Credential | None = None
        self._expires_at: float | None = None
        self._lock = asyncio.Lock()

    async def credential(self) -> Credential:
        async with self._lock:  # concurrent callers share one run of the plugin
            if self._credential is None or (
                self._expires_at is not None
                and self._wall_clock() >= self._expires_at - EXPIRY_MARGIN
            ):
                self._parse(await self._run())
            return self._credential or Credential()

    def invalidate(self) -> None:
        self._credential = None

    def _parse(self, output: bytes) -> None:
        try:
            result = msgspec.json.decode(output, type=ExecCredential)
        except msgspec.DecodeError as e:
            raise BadAccess(
                f"the plugin {self._config.command} did not print an ExecCredential ({e})"
            ) from None
        if result.api_version != self._config.api_version or result.status is None:
            raise BadAccess(
                f"the plugin {self._config.command} printed {result.api_version or 'no version'}",
                remedy=f"the kubeconfig asks for {self._config.api_version}",
            )
        status = result.status
        if not status.token and not (status.client_certificate_data and status.client_key_data):
            raise BadAccess(
                f"the plugin {self._config.command} gave neither a token nor a client certificate"
            )
        key_pair = (
            KeyPair(status.client_certificate_data.encode(), status.client_key_data.encode())
            if status.client_key_data
            else None
        )
        self._credential = Credential(status.token, key_pair)
        self._expires_at = (
            status.expiration_timestamp.timestamp() if status.expiration_timestamp else None
        )

    async def _run(self) -> bytes:
        pipe, devnull = asyncio.subprocess.PIPE, asyncio.subprocess.DEVNULL
        try:
            process = await asyncio.create_subprocess_exec(
                self._command,
                *self._config.args or [],
                stdin=devnull,
                stdout=pipe,
                stderr=pipe,
                env=self._environment(),
            )
        except OSError as e:
            raise BadAccess(
                f"the plugin {self._command} cannot be started ({e.strerror})",
                remedy=self._config.install_hint,
            ) from None
        try:
            output, stderr = await with_timeout(self._clock, TIMEOUT, process.communicate())
        except TimedOut:
            raise BadAccess(
                f"the plugin {self._config.command} has not answered for {TIMEOUT:.0f} seconds"
            ) from None
        finally:
            if process.returncode is None:
                process.kill()
        if process.returncode:
            raise BadAccess(
                f"the plugin {self._config.command} ended with {process.returncode}:"
                f" {_last_line(stderr)}",
                remedy=self._config.install_hint,
            )
        return output

    def _environment(self) -> dict[str, str]:
        variables = {variable.name: variable.value for variable in self._config.env or []}
        return {
            **os.environ,
            **variables,
            "KUBERNETES_EXEC_INFO": msgspec.json.encode(self._exec_info()).decode(),
        }

    def _exec_info(self) -> object:
        spec: dict[str, object] = {"interactive": False}
        if self._config.provide_cluster_info:
            spec["cluster"] = _cluster_info(self._server)
        return {"apiVersion": self._config.api_version, "kind": "ExecCredential", "spec": spec}


def _cluster_info(server: ApiServer) -> dict[str, object]:
    ca = server.ca.read_bytes() if isinstance(server.ca, Path) else server.ca
    cluster: dict[str, object] = {
        "server": f"{'https' if server.tls else 'http'}://{server.authority}{server.prefix}"
    }
    if ca:
        cluster["certificate-authority-data"] = base64.b64encode(ca).decode()
    if server.tls_server_name:
        cluster["tls-server-name"] = server.tls_server_name
    if not server.verify:
        cluster["insecure-skip-tls-verify"] = True
    return cluster


def _last_line(stderr: bytes) -> str:
    lines = stderr.decode(errors="replace").strip().splitlines()
    return lines[-1][:300] if lines else "it said nothing"
