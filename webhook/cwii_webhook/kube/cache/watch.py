"""The watch of one kind: it reads all objects, then follows what changes, for ever, and keeps their shelf."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final
from urllib.parse import urlencode

import msgspec

from cwii_webhook.admission.cluster_view import ObjectMetadata
from cwii_webhook.kube.cache.store import ResourceCache, Things
from cwii_webhook.kube.client import JSON, METADATA, METADATA_LIST, Client, refusal
from cwii_webhook.kube.clock import Backoff, Clock, TimedOut, within
from cwii_webhook.kube.connection import Connection
from cwii_webhook.kube.errors import BadAccess, Refused, Unreachable
from cwii_webhook.kube.objects import (
    INITIAL_EVENTS_END,
    Event,
    Item,
    MetadataReader,
    event_of,
    item_of,
    page_of,
    resources_of,
)
from cwii_webhook.kube.resources import Kind

BOOKMARK = 60.0  # seconds between an API server's bookmarks
SILENT = 2 * BOOKMARK
INITIAL = 10.0  # seconds without a word before its initial events have ended: it does not know how to send them
PAGE = 500
LONGEST_LINE = 16 << 20  # bytes; an object has at most 1.5 million
SHORT = 1.0  # seconds: a watch that ends sooner is not asked for again at once
LASTS = (290.0, 590.0)  # seconds that we ask a watch to last
ABSENT_AGAIN = (
    60.0,
    120.0,
)  # seconds until a kind that the cluster does not have is looked for again

Tell = Callable[[str], None]


class Gone(Exception):
    """The version that we know is so old that the API server cannot tell what came after it."""


class Absent(Exception):
    """The cluster does not have this kind."""


class Lines:
    """Chunks → whole lines."""

    def __init__(self) -> None:
        self._rest = b""

    def of(self, chunk: bytes) -> list[bytes]:
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        if len(self._rest) > LONGEST_LINE:
            raise Unreachable(f"a watch sent a line longer than {LONGEST_LINE} bytes")
        return [line for line in lines if line]


class Watch:
    def __init__(
        self, api: Client, shelf: ResourceCache, strip: MetadataReader, clock: Clock, tell: Tell
    ) -> None:
        self.trouble = ""  # why it does not go on; told, and cleared as soon as it does
        self._api, self._shelf, self._strip, self._clock = api, shelf, strip, clock
        self._tell, self._backoff = tell, Backoff(clock)
        self._version = ""  # as of when we know the objects; empty: not at all, or too old
        self._server = api.server  # whose version that is
        self._streams = True  # the server has WatchList
        self._initial: Things | None = None  # what WatchList has sent of the present objects

    @property
    def kind(self) -> Kind:
        return self._shelf.kind

    @property
    def synced(self) -> bool:
        return self._shelf.synced

    async def run(self) -> None:
        while True:
            await self._clock.sleep(await self._turn())

    async def _turn(self) -> float:
        """Reads or follows until that ends; gives the seconds to wait before the next."""
        began = self._clock.now()
        if self._server != self._api.server:
            self._server, self._version, self._streams = self._api.server, "", True
        try:
            await (self._follow() if self._version and self._shelf.age < SILENT else self._begin())
        except Gone:
            self._version = ""
            return self._backoff.failed()
        except Absent:
            self._shelf.replace({}, self._server, absent=True)
            self._better()
            return self._clock.jitter(*ABSENT_AGAIN)
        except (Refused, Unreachable, BadAccess) as e:
            self._worse(str(e))
            return self._backoff.failed(e.after if isinstance(e, Refused) else None)
        except msgspec.DecodeError as e:
            self._version = ""
            self._worse(f"what the API server sent is not what was asked for ({e})")
            return self._backoff.failed()
        return 0.0 if self._clock.now() - began > SHORT else self._backoff.failed()

    def _worse(self, trouble: str) -> None:
        if trouble != self.trouble:
            self._tell(f"the watch of {self.kind.resource}: {trouble}")
        self.trouble = trouble

    def _better(self) -> None:
        """Something came that was asked for."""
        self._shelf.hear()
        self._backoff.well()
        if self.trouble:
            self._tell(f"the watch of {self.kind.resource} goes on")
        self.trouble = ""

    async def _begin(self) -> None:
        """All objects anew: what is known already is believed until they are all here."""
        self._version = ""
        if self.kind.optional:
            await self._look_for_kind()
        if not self._streams:
            await self._list()
            return
        try:
            await self._stream_all()
        except Refused as e:
            if self._version or e.status in _NOT_OF_STREAMING:
                raise self._told(e) from None
        except TimedOut:
            pass
        else:
            return
        self._streams = False
        await self._list()

    async def _look_for_kind(self) -> None:
        """Whether it exists is asked of the group: who may not list it is told 403 even where there is none."""
        try:
            found = resources_of(await self._api.get(self.kind.api)).resources
        except Refused as e:
            raise (Absent if e.status == 404 else e) from None
        if all(each.name != self.kind.plural for each in found):
            raise Absent

    def _told(self, e: Refused) -> Exception:
        if e.status == 410:
            return Gone()
        return Absent() if e.status == 404 and self.kind.optional else e

    async def _list(self) -> None:
        """Page by page: one answer with everything would be held whole, there and here."""
        found: Things = {}
        rest = ""
        while True:
            target = f"{self.kind.path}?{urlencode({'limit': PAGE, **self.kind.choice, **({'continue': rest} if rest else {})})}"
            try:
                page = page_of(
                    await self._api.get(target, JSON if self.kind.only else METADATA_LIST)
                )
            except Refused as e:
                raise self._told(e) from None
            for item in page.items or []:
                found[self._strip.key(item.metadata)] = self._seen(item)
            rest = page.metadata.rest
            if not rest:
                break
        self._shelf.replace(found, self._server)
        self._version = page.metadata.version
        self._better()

    async def _stream_all(self) -> None:
        """Present objects and then changes, in one stream: no page is made up there or taken apart here."""
        self._initial = {}
        try:
            await self._read({"sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan"})
        finally:
            self._initial = None

    async def _follow(self) -> None:
        try:
            await self._read({"resourceVersion": self._version})
        except Refused as e:
            raise self._told(e) from None

    async def _read(self, query: dict[str, str]) -> None:
        lasts = str(int(self._clock.jitter(*LASTS)))
        target = f"{self.kind.path}?{urlencode({'watch': '1', 'allowWatchBookmarks': 'true', 'timeoutSeconds': lasts, **self.kind.choice, **query})}"
        lines = Lines()
        async with self._api.stream(target, JSON if self.kind.only else METADATA) as stream:
            while chunk := await self._chunk(stream):
                for line in lines.of(chunk):
                    self._take(event_of(line))
        if self._initial is not None:
            raise TimedOut  # the stream ended before the present objects did

    async def _chunk(self, stream: Connection) -> bytes:
        """A connection that was lost without a word is silent; so is one through which bookmarks no longer come."""
        if self._initial is not None:
            return await within(self._clock, INITIAL, stream.chunk())
        try:
            return await within(self._clock, SILENT, stream.chunk())
        except TimedOut:
            raise Unreachable(f"nothing was heard for {SILENT:.0f} seconds") from None

    def _take(self, event: Event) -> None:
        if event.type == "ERROR":
            refused = refusal(0, bytes(event.object))
            raise Gone if refused.status == 410 else refused
        item = item_of(event.object)
        if event.type == "BOOKMARK":
            self._mark(item)
        elif self._initial is not None:  # not in the order of their versions
            if event.type == "DELETED":
                self._initial.pop(self._strip.key(item.metadata), None)
            else:
                self._initial[self._strip.key(item.metadata)] = self._seen(item)
        else:
            self._change(event.type, item)

    def _seen(self, item: Item) -> ObjectMetadata:
        return self._strip.whole(item) if self.kind.only else self._strip.seen(item.metadata)

    def _mark(self, item: Item) -> None:
        metadata = item.metadata
        if self._initial is not None:
            if (metadata.annotations or {}).get(INITIAL_EVENTS_END) != "true":
                return
            self._shelf.replace(self._initial, self._server)
            self._initial = None
        self._version = metadata.resource_version
        self._better()

    def _change(self, what: str, item: Item) -> None:
        key = self._strip.key(item.metadata)
        if what == "DELETED":
            self._shelf.drop(key)
        elif what in _CHANGES:
            self._shelf.put(key, self._seen(item))
        self._version = item.metadata.resource_version
        self._better()


_NOT_OF_STREAMING: Final = frozenset(
    {401, 403, 404, 410, 429, 503, 504}
)  # what a list would be answered too
_CHANGES: Final = frozenset({"ADDED", "MODIFIED"})
