"""The cluster as a renewer has it: what is read, and what is written, by their paths. A write is for what was read, and for nothing newer."""

from __future__ import annotations

from datetime import datetime
from typing import Final
from urllib.parse import quote

import msgspec
from msgspec import Struct

from cwii_webhook.admission.cluster_view import LookupRefused
from cwii_webhook.kube.client import Client
from cwii_webhook.kube.clock import Clock
from cwii_webhook.kube.errors import StatusError
from cwii_webhook.kube.objects import Metadata
from cwii_webhook.renewer.replicas import addresses, shown
from cwii_webhook.renewer.settings import Settings
from cwii_webhook.renewer.state import (
    HELD,
    HOOKS,
    ClusterState,
    HeldSecret,
    WebhookConfiguration,
    Write,
)

MANAGER = "cwii-webhook-renewer"
GONE, FORBIDDEN = 404, 403


class Secret(Struct):
    metadata: Metadata
    data: dict[str, bytes] | None = None


class ClientConfig(Struct, rename="camel"):
    ca_bundle: bytes = b""


class Webhook(Struct, rename="camel"):
    name: str
    client_config: ClientConfig


class Configuration(Struct):
    metadata: Metadata
    webhooks: list[Webhook] | None = None


_secret: Final = msgspec.json.Decoder(Secret).decode
_configuration: Final = msgspec.json.Decoder(Configuration).decode


class RenewerCluster:
    def __init__(self, api: Client, clock: Clock, told: Settings) -> None:
        self._api, self._clock, self._told = api, clock, told

    async def found(self) -> ClusterState:
        """In this order: whoever writes by an older sight of an authority than another has written by, has an older Secret or configuration too."""
        hooks = [
            (name, await self._hooks(name)) for name in dict.fromkeys(self._told.configurations)
        ]
        serving = await self._held(self._told.serving_secret)
        authority = await self._held(self._told.ca_secret)
        places = addresses(
            await self._get(self._slices(), "EndpointSlices of the Service " + self._told.service)
        )
        replicas = await shown(
            places, f"{self._told.service}.{self._told.namespace}.svc", self._clock
        )
        absent = tuple(name for name, each in hooks if not each)
        return ClusterState(
            authority, serving, tuple(each for _, each in hooks if each), absent, replicas
        )

    async def write(self, write: Write) -> None:
        if write.kind == HELD:
            target, changed = self._secret(write.name), {"data": dict(write.content)}
        else:
            webhooks = [
                {"name": name, "clientConfig": {"caBundle": pem}}
                for name, pem in write.content.items()
            ]
            target, changed = _configured(write.name), {"webhooks": webhooks}
        body = msgspec.json.encode({"metadata": {"resourceVersion": write.version}, **changed})
        try:
            await self._api.merge(f"{target}?fieldManager={MANAGER}", body)
        except StatusError as e:
            raise _right(e, "patch", f"the {write.kind} {write.name}") from e

    async def tell(
        self, held: HeldSecret, kind: str, reason: str, message: str, at: datetime
    ) -> None:
        """An event, where whoever looks at the Secret sees it."""
        time = f"{at:%Y-%m-%dT%H:%M:%SZ}"
        about = {
            "apiVersion": "v1",
            "kind": HELD,
            "namespace": self._told.namespace,
            "name": held.name,
            "uid": held.uid,
        }
        meta = {"generateName": f"{held.name}.", "namespace": self._told.namespace}
        told = {
            "type": kind,
            "reason": reason,
            "message": message[:1024],
            "firstTimestamp": time,
            "lastTimestamp": time,
            "count": 1,
        }
        source = {"source": {"component": MANAGER}, "reportingComponent": MANAGER}
        event = {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": meta,
            "involvedObject": about,
            **told,
            **source,
        }
        await self._api.post(f"{self._home()}/events", msgspec.json.encode(event))

    async def _hooks(self, name: str) -> WebhookConfiguration | None:
        try:
            found = _configuration(await self._get(_configured(name), f"the {HOOKS} {name}"))
        except StatusError as e:
            if e.status == GONE:
                return None
            raise
        return WebhookConfiguration(
            name,
            found.metadata.resource_version,
            {each.name: each.client_config.ca_bundle for each in found.webhooks or []},
        )

    async def _held(self, name: str) -> HeldSecret:
        try:
            found = _secret(await self._get(self._secret(name), f"the {HELD} {name}"))
        except StatusError as e:
            if e.status == GONE:
                raise LookupRefused(
                    f"there is no {HELD} {self._told.namespace}/{name}: make it, empty; it is filled here"
                ) from e
            raise
        return HeldSecret(
            name, found.metadata.resource_version, found.data or {}, found.metadata.uid
        )

    async def _get(self, target: str, what: str) -> bytes:
        try:
            return await self._api.get(target)
        except StatusError as e:
            raise _right(e, "read", what) from e

    def _home(self) -> str:
        return f"/api/v1/namespaces/{quote(self._told.namespace, safe='')}"

    def _secret(self, name: str) -> str:
        return f"{self._home()}/secrets/{quote(name, safe='')}"

    def _slices(self) -> str:
        chosen = quote(f"kubernetes.io/service-name={self._told.service}", safe="")
        return f"/apis/discovery.k8s.io/v1/namespaces/{quote(self._told.namespace, safe='')}/endpointslices?labelSelector={chosen}"


def _configured(name: str) -> str:
    return f"/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/{quote(name, safe='')}"


def _right(refused: StatusError, verb: str, what: str) -> Exception:
    if refused.status == FORBIDDEN:
        return LookupRefused(
            f"the renewer may not {verb} {what} ({refused}): give its ServiceAccount that right"
        )
    return refused
