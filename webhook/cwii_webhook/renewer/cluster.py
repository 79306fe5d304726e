"""Reads and writes the objects of a renewal. A write applies only to the version that was read."""

from __future__ import annotations

from datetime import datetime
from typing import Final
from urllib.parse import quote

import msgspec
from msgspec import Struct

from cwii_webhook.kube.client import Client
from cwii_webhook.kube.clock import Clock
from cwii_webhook.kube.errors import StatusError
from cwii_webhook.kube.objects import Metadata
from cwii_webhook.renewer.replicas import parse_addresses, probe_replicas
from cwii_webhook.renewer.settings import Settings
from cwii_webhook.renewer.state import (
    SECRET,
    WEBHOOK_CONFIGURATION,
    ClusterState,
    HeldSecret,
    RenewalBlocked,
    WebhookConfiguration,
    Write,
)

FIELD_MANAGER = "cwii-webhook-renewer"
NOT_FOUND, FORBIDDEN = 404, 403
MAX_EVENT_CHARACTERS = 1024  # events.k8s.io accepts no more


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


_decode_secret: Final = msgspec.json.Decoder(Secret).decode
_decode_configuration: Final = msgspec.json.Decoder(Configuration).decode


class RenewerCluster:
    """The cluster of a renewal, accessed through the Kubernetes API."""

    def __init__(self, client: Client, clock: Clock, settings: Settings) -> None:
        self._client, self._clock, self._settings = client, clock, settings

    async def read_state(self) -> ClusterState:
        """Reads the configurations first, then the serving Secret, then the authority.

        The order makes concurrent renewers safe. If another renewer has written with a newer
        authority, this renewer has outdated versions of the objects that the other one wrote. The
        API server rejects its writes to them.
        """
        names = dict.fromkeys(self._settings.configurations)
        configurations = [(name, await self._read_configuration(name)) for name in names]
        serving = await self._read_secret(self._settings.serving_secret)
        authority = await self._read_secret(self._settings.ca_secret)
        slices = await self._get(
            self._slices_path(), "EndpointSlices of the Service " + self._settings.service
        )
        server_name = f"{self._settings.service}.{self._settings.namespace}.svc"
        return ClusterState(
            authority,
            serving,
            tuple(configuration for _, configuration in configurations if configuration),
            tuple(name for name, configuration in configurations if not configuration),
            await probe_replicas(parse_addresses(slices), server_name, self._clock),
        )

    async def write(self, write: Write) -> None:
        """Patches one object. The API server rejects the patch if the object has changed."""
        if write.kind == SECRET:
            path, changes = self._secret_path(write.name), {"data": dict(write.content)}
        else:
            webhooks = [
                {"name": name, "clientConfig": {"caBundle": pem}}
                for name, pem in write.content.items()
            ]
            path, changes = _configuration_path(write.name), {"webhooks": webhooks}
        body = msgspec.json.encode(
            {"metadata": {"resourceVersion": write.resource_version}, **changes}
        )
        try:
            await self._client.merge(f"{path}?fieldManager={FIELD_MANAGER}", body)
        except StatusError as e:
            raise _explain_forbidden(e, "patch", f"the {write.kind} {write.name}") from e

    async def create_event(
        self, secret: HeldSecret, event_type: str, reason: str, message: str, at: datetime
    ) -> None:
        """Creates an event about the Secret."""
        namespace = self._settings.namespace
        time = f"{at:%Y-%m-%dT%H:%M:%SZ}"
        event = {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"generateName": f"{secret.name}.", "namespace": namespace},
            "involvedObject": {
                "apiVersion": "v1",
                "kind": SECRET,
                "namespace": namespace,
                "name": secret.name,
                "uid": secret.uid,
            },
            "type": event_type,
            "reason": reason,
            "message": message[:MAX_EVENT_CHARACTERS],
            "firstTimestamp": time,
            "lastTimestamp": time,
            "count": 1,
            "source": {"component": FIELD_MANAGER},
            "reportingComponent": FIELD_MANAGER,
        }
        await self._client.post(f"{self._namespace_path()}/events", msgspec.json.encode(event))

    async def _read_configuration(self, name: str) -> WebhookConfiguration | None:
        try:
            body = await self._get(_configuration_path(name), f"the {WEBHOOK_CONFIGURATION} {name}")
        except StatusError as e:
            if e.status == NOT_FOUND:
                return None
            raise
        configuration = _decode_configuration(body)
        return WebhookConfiguration(
            name,
            configuration.metadata.resource_version,
            {each.name: each.client_config.ca_bundle for each in configuration.webhooks or []},
        )

    async def _read_secret(self, name: str) -> HeldSecret:
        try:
            body = await self._get(self._secret_path(name), f"the {SECRET} {name}")
        except StatusError as e:
            if e.status == NOT_FOUND:
                raise RenewalBlocked(
                    f"there is no {SECRET} {self._settings.namespace}/{name}: "
                    "make it, empty; it is filled here"
                ) from e
            raise
        secret = _decode_secret(body)
        return HeldSecret(
            name, secret.metadata.resource_version, secret.data or {}, secret.metadata.uid
        )

    async def _get(self, path: str, description: str) -> bytes:
        try:
            return await self._client.get(path)
        except StatusError as e:
            raise _explain_forbidden(e, "read", description) from e

    def _namespace_path(self) -> str:
        return f"/api/v1/namespaces/{quote(self._settings.namespace, safe='')}"

    def _secret_path(self, name: str) -> str:
        return f"{self._namespace_path()}/secrets/{quote(name, safe='')}"

    def _slices_path(self) -> str:
        selector = quote(f"kubernetes.io/service-name={self._settings.service}", safe="")
        namespace = quote(self._settings.namespace, safe="")
        return (
            f"/apis/discovery.k8s.io/v1/namespaces/{namespace}/endpointslices"
            f"?labelSelector={selector}"
        )


def _configuration_path(name: str) -> str:
    return (
        "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/"
        f"{quote(name, safe='')}"
    )


def _explain_forbidden(error: StatusError, verb: str, description: str) -> Exception:
    """Turns a 403 into RenewalBlocked, because only a person can grant the permission."""
    if error.status == FORBIDDEN:
        return RenewalBlocked(
            f"the renewer may not {verb} {description} ({error}): "
            "give its ServiceAccount that right"
        )
    return error
