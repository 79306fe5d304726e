"""Writes ConfigMaps with Google credential configurations, before the pods that mount them.

This is the webhook's only write. An AdmissionReview can be forged, so the writes are limited:
to existing namespaces, not to system namespaces, and to a few ConfigMaps in each.
"""

from __future__ import annotations

import asyncio

import msgspec
from msgspec import Struct

from cwii_webhook.admission.cluster_view import (
    ClusterView,
    LookupFailed,
    LookupRefused,
    NotCached,
    namespace_ref,
)
from cwii_webhook.admission.injection import ConfigMap, PodRefused
from cwii_webhook.kube.access import ApiServer
from cwii_webhook.kube.client import Client
from cwii_webhook.kube.clock import Clock, TimedOut, with_timeout
from cwii_webhook.kube.errors import BadAccess, StatusError, Unreachable

FIELD_MANAGER = "cwii"
WRITE_TIMEOUT = 3.0  # seconds
SYSTEM_NAMESPACES = frozenset({"kube-system", "kube-public", "kube-node-lease"})
MAX_CONFIG_MAPS_PER_NAMESPACE = 20
WRITE_TTL = 60.0  # seconds after a write in which the same content is not written again
MAX_CONCURRENT_WRITES = 4
CONFLICT = 409


class ConfigMapData(Struct):
    data: dict[str, str] | None = None


_decode_config_map = msgspec.json.Decoder(ConfigMapData).decode


class CompletedWrite(Struct, frozen=True):
    """The content of the last write, and the time at which it must be written again."""

    config_map: ConfigMap
    expires_at: float


class ConfigMapState:
    """The last write of one ConfigMap. The lock makes concurrent reviews share one write."""

    def __init__(self) -> None:
        self.lock = asyncio.Lock()
        self.last_write: CompletedWrite | None = None


class NamespaceState(Struct, frozen=True):
    """The ConfigMaps of one namespace. The UID changes if the namespace is created again."""

    uid: str
    server: ApiServer
    config_maps: dict[str, ConfigMapState]


class ConfigMapWriter:
    """Writes ConfigMaps with server-side apply, within limits."""

    def __init__(self, client: Client, clock: Clock, webhook_namespace: str = "") -> None:
        self._client = client
        self._clock = clock
        # A forged review must not write next to the webhook's own objects.
        self._excluded_namespaces = SYSTEM_NAMESPACES | {webhook_namespace}
        self._namespaces: dict[str, NamespaceState] = {}
        self._write_slots = asyncio.Semaphore(MAX_CONCURRENT_WRITES)

    def __len__(self) -> int:
        """Number of namespaces with state in memory."""
        return len(self._namespaces)

    async def write(self, config_map: ConfigMap, view: ClusterView) -> None:
        """Writes the ConfigMap, unless the same content was written in the last minute.

        The name is registered before the write, so that the limit holds for concurrent writes.
        """
        states = self._allowed_states(config_map, view)
        state = states.setdefault(config_map.name, ConfigMapState())
        async with state.lock:
            if self._is_current(state.last_write, config_map):
                return
            try:
                async with self._write_slots:
                    await with_timeout(self._clock, WRITE_TIMEOUT, self._apply(config_map))
            except (StatusError, Unreachable, BadAccess, TimedOut) as e:
                if state.last_write is None:
                    states.pop(config_map.name, None)
                is_permanent = isinstance(e, StatusError) and not e.is_transient
                problem = (
                    f"the ConfigMap {config_map.namespace}/{config_map.name} could not be written:"
                    f" {str(e) or 'the API server has not answered'}"
                )
                raise (LookupRefused if is_permanent else LookupFailed)(problem) from e
            state.last_write = CompletedWrite(config_map, self._clock.now() + WRITE_TTL)

    async def _apply(self, config_map: ConfigMap) -> None:
        """Applies the ConfigMap. A conflict is no error if the content is already the same."""
        try:
            await self._client.apply(
                f"{_path(config_map)}?fieldManager={FIELD_MANAGER}", _encode(config_map)
            )
        except StatusError as e:
            if (
                e.status != CONFLICT
                or _decode_config_map(await self._client.get(_path(config_map))).data
                != config_map.data
            ):
                raise

    def _is_current(self, last_write: CompletedWrite | None, config_map: ConfigMap) -> bool:
        return (
            last_write is not None
            and last_write.config_map == config_map
            and self._clock.now() < last_write.expires_at
        )

    def _allowed_states(
        self, config_map: ConfigMap, view: ClusterView
    ) -> dict[str, ConfigMapState]:
        """Returns the states of the namespace's ConfigMaps. Raises PodRefused at a limit."""
        namespace = view.get(namespace_ref(config_map.namespace))
        if config_map.namespace in self._excluded_namespaces or namespace is None:
            raise PodRefused(
                f"no credentials are written into namespace {config_map.namespace}:"
                " set cwii.dev/gcp-delivery to annotation",
                403,
            )
        states = self._namespace_state(config_map.namespace, namespace.uid, view).config_maps
        if config_map.name not in states and len(states) >= MAX_CONFIG_MAPS_PER_NAMESPACE:
            raise PodRefused(
                f"namespace {config_map.namespace} has {MAX_CONFIG_MAPS_PER_NAMESPACE}"
                " ConfigMaps of credentials already: set cwii.dev/gcp-delivery to annotation",
                403,
            )
        return states

    def _namespace_state(self, namespace: str, uid: str, view: ClusterView) -> NamespaceState:
        state, server = self._namespaces.get(namespace), self._client.server
        if state is None or (state.uid, state.server) != (uid, server):
            # Drops deleted namespaces, so that the memory of a long-running process is bounded.
            self._namespaces = {
                name: old for name, old in self._namespaces.items() if _namespace_exists(name, view)
            }
            state = self._namespaces[namespace] = NamespaceState(uid, server, {})
        return state


def _namespace_exists(namespace: str, view: ClusterView) -> bool:
    try:
        return view.get(namespace_ref(namespace)) is not None
    except NotCached:
        return False


def _path(config_map: ConfigMap) -> str:
    return f"/api/v1/namespaces/{config_map.namespace}/configmaps/{config_map.name}"


def _encode(config_map: ConfigMap) -> bytes:
    metadata = {
        "name": config_map.name,
        "namespace": config_map.namespace,
        "labels": config_map.labels,
    }
    return msgspec.json.encode(
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": config_map.data}
    )
