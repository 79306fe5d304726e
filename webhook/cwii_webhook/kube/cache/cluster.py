"""The cluster of one process: it connects, then runs the cache and the ConfigMap writer."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path

from msgspec import Struct

from cwii_webhook.admission.cluster_view import ClusterView, LookupFailed, ObjectMetadata, ObjectRef
from cwii_webhook.admission.injection import ConfigMap
from cwii_webhook.kube.access import Access, ApiServer
from cwii_webhook.kube.cache.config_maps import ConfigMapWriter
from cwii_webhook.kube.cache.informer import CacheSettings, Informer
from cwii_webhook.kube.cache.lookups import ReviewView
from cwii_webhook.kube.cache.watch import Report
from cwii_webhook.kube.client import Client
from cwii_webhook.kube.clock import Backoff, Clock
from cwii_webhook.kube.errors import BadAccess

POLL_INTERVAL = 5.0  # seconds between checks for a changed kubeconfig


class AccessSource(Struct, frozen=True):
    """Function that reads the access, and the kubeconfig that it reads, if any."""

    read: Callable[[], Access]
    file: Path | None = None


class ConnectedCluster:
    """Connection to the cluster, which follows changes of the kubeconfig.

    `access` is None if the caller could not read it. The cluster then retries until it can.
    """

    def __init__(
        self,
        source: AccessSource,
        access: Access | None,
        settings: CacheSettings,
        report: Report,
        clock: Clock,
    ) -> None:
        self._source, self._access, self._settings = source, access, settings
        self._report, self._clock = report, clock
        self._informer: Informer | None = None
        self._config_map_writer: ConfigMapWriter | None = None
        self._problem = "it has not begun to look at the cluster"

    async def run(self) -> None:
        """Runs until it is cancelled."""
        file_version = self._file_version()
        access = self._access or await self._wait_for_access()
        write_client = Client(access)
        self._informer = Informer(access, self._settings, self._report)
        self._config_map_writer = ConfigMapWriter(write_client, self._clock, access.namespace)
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(self._informer.run())
                tasks.create_task(self._follow_file(access, file_version))
        finally:
            await write_client.close()

    def not_ready_reasons(self) -> list[str]:
        return self._informer.not_ready_reasons() if self._informer else [self._problem]

    @property
    def version(self) -> tuple[int, int] | None:
        return self._informer.version if self._informer else None

    def ages(self) -> Mapping[str, float]:
        return self._informer.ages() if self._informer else {}

    def sizes(self) -> Mapping[str, int]:
        return self._informer.sizes() if self._informer else {}

    def errors(self) -> list[str]:
        return self._informer.errors() if self._informer else [self._problem]

    def view(self, seconds: float) -> ReviewView:
        if self._informer is None:
            raise LookupFailed(self._problem)
        return self._informer.view(self._clock.now() + seconds)

    def get_cached(self, ref: ObjectRef) -> ObjectMetadata | None:
        """Returns the object from the cache, regardless of its age."""
        return self._informer.get_cached(ref) if self._informer else None

    def get_server(self, ref: ObjectRef) -> ApiServer | None:
        return self._informer.get_server(ref) if self._informer else None

    async def write(self, config_map: ConfigMap, view: ClusterView) -> None:
        if self._config_map_writer is None:
            raise LookupFailed(self._problem)
        await self._config_map_writer.write(config_map, view)

    async def _wait_for_access(self) -> Access:
        backoff = Backoff(self._clock)
        while True:
            try:
                return self._source.read()
            except BadAccess as e:
                if str(e) != self._problem:
                    self._report(str(e))
                self._problem = str(e)
            await self._clock.sleep(backoff.next_delay())

    async def _follow_file(self, access: Access, version: object) -> None:
        """Applies a changed kubeconfig to new connections, without a restart."""
        while True:
            await self._clock.sleep(POLL_INTERVAL)
            if version == (version := self._file_version()):
                continue
            try:
                access.replace(self._source.read())
            except BadAccess as e:
                self._report(f"{e}; what it said before still holds")
            else:
                self._report(f"{self._source.file} is another, and is heeded")

    def _file_version(self) -> object:
        """Returns a value that changes when the file is replaced or written."""
        try:
            status = self._source.file.stat() if self._source.file else None
        except OSError:
            return None
        return status and (status.st_ino, status.st_size, status.st_mtime_ns)
