"""A program that says who we are (client.authentication.k8s.io), as clouds' kubeconfigs have it. Asked again when what it said has expired."""

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
from cwii_webhook.kube.access import Server
from cwii_webhook.kube.clock import Clock, TimedOut, within
from cwii_webhook.kube.errors import BadAccess
from cwii_webhook.kube.identity import Credential

PATIENCE = 60.0  # seconds
EARLY = 30.0  # seconds before it expires
VERSIONS: Final = ("client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1")


class Variable(Struct):
    name: str
    value: str = ""


class Exec(Struct, rename="camel"):
    command: str
    api_version: str = ""
    args: list[str] | None = None
    env: list[Variable] | None = None
    interactive_mode: str = "Never"
    provide_cluster_info: bool = False
    install_hint: str = ""


class ExecStatus(Struct, rename="camel"):
    token: str = ""
    expiration_timestamp: datetime | None = None
    client_certificate_data: str = ""
    client_key_data: str = ""


class ExecCredential(Struct, rename="camel"):
    api_version: str = ""
    status: ExecStatus | None = None


class Plugin:
    def __init__(
        self,
        ask: Exec,
        server: Server,
        folder: Path,
        clock: Clock,
        today: Callable[[], float] = time.time,
    ) -> None:
        if ask.api_version not in VERSIONS:
            raise BadAccess(
                f"the plugin {ask.command} speaks {ask.api_version or 'no version'}",
                remedy=f"use one that speaks {VERSIONS[0]}",
            )
        if ask.interactive_mode == "Always":
            raise BadAccess(
                f"the plugin {ask.command} wants to talk with a person, and there is none",
                remedy="use a user that needs nobody",
            )
        self._ask, self._server, self._clock, self._today = ask, server, clock, today
        # A command with a slash is beside the kubeconfig, one without is on the PATH: so it is for kubectl.
        self._command = str(folder / ask.command) if "/" in ask.command else ask.command
        self._shown: Credential | None = None
        self._expires: float | None = None
        self._turn = asyncio.Lock()

    async def shown(self) -> Credential:
        async with self._turn:  # of many who ask at once, one starts it
            if self._shown is None or (
                self._expires is not None and self._today() >= self._expires - EARLY
            ):
                self._take(await self._run())
            return self._shown or Credential()

    def refused(self) -> None:
        self._shown = None

    def _take(self, output: bytes) -> None:
        try:
            said = msgspec.json.decode(output, type=ExecCredential)
        except msgspec.DecodeError as e:
            raise BadAccess(
                f"the plugin {self._ask.command} did not print an ExecCredential ({e})"
            ) from None
        if said.api_version != self._ask.api_version or said.status is None:
            raise BadAccess(
                f"the plugin {self._ask.command} printed {said.api_version or 'no version'}",
                remedy=f"the kubeconfig asks for {self._ask.api_version}",
            )
        status = said.status
        if not status.token and not (status.client_certificate_data and status.client_key_data):
            raise BadAccess(
                f"the plugin {self._ask.command} gave neither a token nor a client certificate"
            )
        pair = (
            KeyPair(status.client_certificate_data.encode(), status.client_key_data.encode())
            if status.client_key_data
            else None
        )
        self._shown = Credential(status.token, pair)
        self._expires = (
            status.expiration_timestamp.timestamp() if status.expiration_timestamp else None
        )

    async def _run(self) -> bytes:
        pipe, nothing = asyncio.subprocess.PIPE, asyncio.subprocess.DEVNULL
        try:
            process = await asyncio.create_subprocess_exec(
                self._command,
                *self._ask.args or [],
                stdin=nothing,
                stdout=pipe,
                stderr=pipe,
                env=self._environment(),
            )
        except OSError as e:
            raise BadAccess(
                f"the plugin {self._command} cannot be started ({e.strerror})",
                remedy=self._ask.install_hint,
            ) from None
        try:
            output, told = await within(self._clock, PATIENCE, process.communicate())
        except TimedOut:
            raise BadAccess(
                f"the plugin {self._ask.command} has not answered for {PATIENCE:.0f} seconds"
            ) from None
        finally:
            if process.returncode is None:
                process.kill()
        if process.returncode:
            raise BadAccess(
                f"the plugin {self._ask.command} ended with {process.returncode}: {_last_line(told)}",
                remedy=self._ask.install_hint,
            )
        return output

    def _environment(self) -> dict[str, str]:
        added = {variable.name: variable.value for variable in self._ask.env or []}
        return {
            **os.environ,
            **added,
            "KUBERNETES_EXEC_INFO": msgspec.json.encode(self._info()).decode(),
        }

    def _info(self) -> object:
        spec: dict[str, object] = {"interactive": False}
        if self._ask.provide_cluster_info:
            spec["cluster"] = _cluster(self._server)
        return {"apiVersion": self._ask.api_version, "kind": "ExecCredential", "spec": spec}


def _cluster(server: Server) -> dict[str, object]:
    ca = server.ca.read_bytes() if isinstance(server.ca, Path) else server.ca
    told: dict[str, object] = {
        "server": f"{'https' if server.tls else 'http'}://{server.authority}{server.prefix}"
    }
    if ca:
        told["certificate-authority-data"] = base64.b64encode(ca).decode()
    if server.name:
        told["tls-server-name"] = server.name
    if not server.verify:
        told["insecure-skip-tls-verify"] = True
    return told


def _last_line(told: bytes) -> str:
    lines = told.decode(errors="replace").strip().splitlines()
    return lines[-1][:300] if lines else "it said nothing"
