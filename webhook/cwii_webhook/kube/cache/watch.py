"""Watches one resource and keeps its cache up to date."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final
from urllib.parse import urlencode

import msgspec

from cwii_webhook.admission.cluster_view import ObjectMetadata
from cwii_webhook.kube.cache.store import Objects, ResourceCache
from cwii_webhook.kube.client import JSON, METADATA, METADATA_LIST, Client, parse_status_error
from cwii_webhook.kube.clock import Backoff, Clock, TimedOut, with_timeout
from cwii_webhook.kube.connection import Connection
from cwii_webhook.kube.errors import BadAccess, StatusError, Unreachable
from cwii_webhook.kube.objects import (
    INITIAL_EVENTS_END,
    Event,
    Item,
    MetadataReader,
    decode_event,
    decode_item,
    decode_page,
    decode_resource_list,
)
from cwii_webhook.kube.resources import ApiResource

BOOKMARK_INTERVAL = 60.0  # seconds; the API server sends a bookmark about every minute
SILENCE_TIMEOUT = 2 * BOOKMARK_INTERVAL
# Seconds without data before the end of the initial events. An API server that ignores
# sendInitialEvents never ends them.
INITIAL_EVENTS_TIMEOUT = 10.0
PAGE_SIZE = 500
MAX_LINE_BYTES = 16 << 20  # an object in etcd has at most 1.5 MB
MIN_WATCH_DURATION = 1.0  # seconds; a shorter watch is restarted with backoff
WATCH_DURATION = (290.0, 590.0)  # range in seconds for the query parameter timeoutSeconds
DISCOVERY_INTERVAL = (60.0, 120.0)  # range in seconds between checks for an absent resource

Report = Callable[[str], None]  # logs a message


class VersionExpired(Exception):
    """The API server no longer has the changes after our resource version (410 Gone)."""


class ResourceAbsent(Exception):
    """The cluster does not serve the resource."""


class LineSplitter:
    """Splits chunks of bytes into complete lines."""

    def __init__(self) -> None:
        self._remainder = b""

    def feed(self, chunk: bytes) -> list[bytes]:
        *lines, self._remainder = (self._remainder + chunk).split(b"\n")
        if len(self._remainder) > MAX_LINE_BYTES:
            raise Unreachable(f"a watch sent a line longer than {MAX_LINE_BYTES} bytes")
        return [line for line in lines if line]


class Watch:
    """A list and watch of one resource, which runs forever.

    It reads all objects with WatchList if the API server supports it, else with a paged list.
    """

    def __init__(
        self,
        client: Client,
        cache: ResourceCache,
        reader: MetadataReader,
        clock: Clock,
        report: Report,
    ) -> None:
        self.error = ""  # reason why the watch does not run; empty while it runs
        self._client, self._cache, self._reader, self._clock = client, cache, reader, clock
        self._report, self._backoff = report, Backoff(clock)
        self._resource_version = ""  # where to resume the watch; empty if all must be read again
        self._server = client.server  # the server that the version belongs to
        self._has_watch_list = True
        # Objects that WatchList has sent before the end of the initial events.
        self._initial_objects: Objects | None = None

    @property
    def resource(self) -> ApiResource:
        return self._cache.resource

    @property
    def is_synced(self) -> bool:
        return self._cache.is_synced

    async def run(self) -> None:
        while True:
            await self._clock.sleep(await self._run_once())

    async def _run_once(self) -> float:
        """Runs one list or watch to its end. Returns the seconds to wait before the next one."""
        started_at = self._clock.now()
        if self._server != self._client.server:
            self._server = self._client.server
            self._resource_version, self._has_watch_list = "", True
        try:
            if self._resource_version and self._cache.age < SILENCE_TIMEOUT:
                await self._watch_changes()
            else:
                await self._resync()
        except VersionExpired:
            self._resource_version = ""
            return self._backoff.next_delay()
        except ResourceAbsent:
            self._cache.replace({}, self._server, is_absent=True)
            self._record_success()
            return self._clock.jitter(*DISCOVERY_INTERVAL)
        except (StatusError, Unreachable, BadAccess) as e:
            self._record_failure(str(e))
            return self._backoff.next_delay(e.retry_after if isinstance(e, StatusError) else None)
        except msgspec.DecodeError as e:
            self._resource_version = ""
            self._record_failure(f"what the API server sent is not what was asked for ({e})")
            return self._backoff.next_delay()
        return (
            0.0
            if self._clock.now() - started_at > MIN_WATCH_DURATION
            else self._backoff.next_delay()
        )

    def _record_failure(self, error: str) -> None:
        if error != self.error:
            self._report(f"the watch of {self.resource.group_resource}: {error}")
        self.error = error

    def _record_success(self) -> None:
        """Marks the cache as current, because the API server sent valid data."""
        self._cache.touch()
        self._backoff.reset()
        if self.error:
            self._report(f"the watch of {self.resource.group_resource} goes on")
        self.error = ""

    async def _resync(self) -> None:
        """Reads all objects again. The old ones stay in the cache until the read is complete."""
        self._resource_version = ""
        if self.resource.optional:
            await self._check_resource_exists()
        if not self._has_watch_list:
            await self._list()
            return
        try:
            await self._watch_list()
        except StatusError as e:
            if self._resource_version or e.status in _ERRORS_UNRELATED_TO_WATCH_LIST:
                raise self._translate_error(e) from None
        except TimedOut:
            pass
        else:
            return
        self._has_watch_list = False
        await self._list()

    async def _check_resource_exists(self) -> None:
        """Looks for the resource in its API group.

        A list of a missing resource is no test: without permission, the answer is 403 as well.
        """
        try:
            resources = decode_resource_list(
                await self._client.get(self.resource.api_path)
            ).resources
        except StatusError as e:
            raise (ResourceAbsent if e.status == 404 else e) from None
        if all(resource.name != self.resource.plural for resource in resources):
            raise ResourceAbsent

    def _translate_error(self, e: StatusError) -> Exception:
        if e.status == 410:
            return VersionExpired()
        return ResourceAbsent() if e.status == 404 and self.resource.optional else e

    async def _list(self) -> None:
        """Reads all objects in pages, so that neither side holds one large response in memory."""
        objects: Objects = {}
        continue_token = ""
        accept = JSON if self.resource.single_object else METADATA_LIST
        while True:
            query = {"limit": str(PAGE_SIZE), **self.resource.selector}
            if continue_token:
                query["continue"] = continue_token
            try:
                page = decode_page(
                    await self._client.get(f"{self.resource.path}?{urlencode(query)}", accept)
                )
            except StatusError as e:
                raise self._translate_error(e) from None
            for item in page.items or []:
                objects[self._reader.key(item.metadata)] = self._read_metadata(item)
            continue_token = page.metadata.continue_token
            if not continue_token:
                break
        self._cache.replace(objects, self._server)
        self._resource_version = page.metadata.resource_version
        self._record_success()

    async def _watch_list(self) -> None:
        """Reads all objects and then their changes from one stream (WatchList)."""
        self._initial_objects = {}
        try:
            await self._read_stream(
                {"sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan"}
            )
        finally:
            self._initial_objects = None

    async def _watch_changes(self) -> None:
        try:
            await self._read_stream({"resourceVersion": self._resource_version})
        except StatusError as e:
            raise self._translate_error(e) from None

    async def _read_stream(self, query: dict[str, str]) -> None:
        parameters = {
            "watch": "1",
            "allowWatchBookmarks": "true",
            "timeoutSeconds": str(int(self._clock.jitter(*WATCH_DURATION))),
            **self.resource.selector,
            **query,
        }
        target = f"{self.resource.path}?{urlencode(parameters)}"
        accept = JSON if self.resource.single_object else METADATA
        lines = LineSplitter()
        async with self._client.stream(target, accept) as stream:
            while chunk := await self._read_chunk(stream):
                for line in lines.feed(chunk):
                    self._handle_event(decode_event(line))
        if self._initial_objects is not None:
            raise TimedOut  # the stream ended before the initial events did

    async def _read_chunk(self, stream: Connection) -> bytes:
        """Reads with a timeout, because a lost connection gives no error.

        Bookmarks arrive about every minute, so a longer silence means that the connection is dead.
        """
        if self._initial_objects is not None:
            return await with_timeout(self._clock, INITIAL_EVENTS_TIMEOUT, stream.read_chunk())
        try:
            return await with_timeout(self._clock, SILENCE_TIMEOUT, stream.read_chunk())
        except TimedOut:
            raise Unreachable(f"nothing was heard for {SILENCE_TIMEOUT:.0f} seconds") from None

    def _handle_event(self, event: Event) -> None:
        if event.type == "ERROR":
            error = parse_status_error(0, bytes(event.object))
            raise VersionExpired if error.status == 410 else error
        item = decode_item(event.object)
        if event.type == "BOOKMARK":
            self._handle_bookmark(item)
        # Initial events have no order, so they do not advance the resource version.
        elif self._initial_objects is not None:
            if event.type == "DELETED":
                self._initial_objects.pop(self._reader.key(item.metadata), None)
            else:
                self._initial_objects[self._reader.key(item.metadata)] = self._read_metadata(item)
        else:
            self._apply_change(event.type, item)

    def _read_metadata(self, item: Item) -> ObjectMetadata:
        return (
            self._reader.read_config_map(item)
            if self.resource.single_object
            else self._reader.read(item.metadata)
        )

    def _handle_bookmark(self, item: Item) -> None:
        metadata = item.metadata
        if self._initial_objects is not None:
            if (metadata.annotations or {}).get(INITIAL_EVENTS_END) != "true":
                return
            self._cache.replace(self._initial_objects, self._server)
            self._initial_objects = None
        self._resource_version = metadata.resource_version
        self._record_success()

    def _apply_change(self, event_type: str, item: Item) -> None:
        key = self._reader.key(item.metadata)
        if event_type == "DELETED":
            self._cache.delete(key)
        elif event_type in _CHANGE_EVENTS:
            self._cache.put(key, self._read_metadata(item))
        self._resource_version = item.metadata.resource_version
        self._record_success()


# Statuses that a plain list would get too, so that a fallback to it does not help.
_ERRORS_UNRELATED_TO_WATCH_LIST: Final = frozenset({401, 403, 404, 410, 429, 503, 504})
_CHANGE_EVENTS: Final = frozenset({"ADDED", "MODIFIED"})
