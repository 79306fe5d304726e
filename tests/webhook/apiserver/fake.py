"""A small API server that speaks the real one's protocol over TLS: lists in pages, watches, bookmarks, WatchList, and its refusals.

It stands in for the real one where that is not to be had, and does on request what a real one does once a month.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from tests.webhook.apiserver import http
from tests.webhook.apiserver.http import Answer, Request
from tests.webhook.apiserver.paths import Place, place_of
from tests.webhook.apiserver.store import Expired, Happened, Object, Store

SERVED = {
    "/api/v1": ["configmaps", "namespaces", "serviceaccounts"],
    "/apis/apps/v1": ["daemonsets", "deployments", "replicasets", "statefulsets"],
    "/apis/batch/v1": ["cronjobs", "jobs"],
}
REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
INITIAL_EVENTS_END = "k8s.io/initial-events-end"
ADMIN = "the-admin"


@dataclass
class Ways:
    """How it behaves; a test changes it while it runs."""

    watch_list: str = (
        "yes"  # no: refused with 422; ignored: no bookmark ends it; broken: etcd cannot do it
    )
    tokens: set[str] = field(default_factory=lambda: {"first"})
    busy: dict[str, list[int]] = field(
        default_factory=dict[str, list[int]]
    )  # verb → for how many requests it is too busy, and the seconds it says
    denied: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])  # verb and plural
    named: dict[str, str] = field(
        default_factory=dict[str, str]
    )  # plural → the one name that a Role allows
    served: dict[str, list[str]] = field(
        default_factory=lambda: {root: list(plurals) for root, plurals in SERVED.items()}
    )
    version: tuple[str, str] = ("1", "34")
    conflicts: dict[str, Object] | None = None  # by name, what another manager holds there
    held: asyncio.Event | None = None  # reads of single objects wait for it


class Double:
    """Everything here happens in one loop; see `running`."""

    def __init__(self) -> None:
        self.store = Store()
        self.ways = Ways()
        self.requests: list[Request] = []
        self._watchers: dict[asyncio.Queue[Happened | None], str] = {}
        self.store.listeners.append(self._spread)

    def count(self, verb: str, *, by: str = "") -> Counter[str]:
        """How often each kind was asked for so, by whoever showed that token; else what tests' own hands did is not counted."""
        places = (place_of(r) for r in self.requests if (r.token == by if by else r.token != ADMIN))
        return Counter(place.plural for place in places if place.verb == verb)

    def bookmark(self) -> None:
        self._spread(Happened(self.store.version, "", "BOOKMARK", {}))

    def end_watches(self) -> None:
        """As when their time is over."""
        for queue in self._watchers:
            queue.put_nowait(None)

    def _spread(self, what: Happened) -> None:
        for queue, path in self._watchers.items():
            if what.path in {"", path}:
                queue.put_nowait(what)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                request = await http.read(reader, writer)
                self.requests.append(request)
                await self._answer(request, writer)
                await writer.drain()
        except (OSError, EOFError, asyncio.CancelledError):
            pass  # they hung up, or the test is over
        finally:
            writer.transport.abort()

    async def _answer(self, request: Request, writer: asyncio.StreamWriter) -> None:
        place = place_of(request)
        refused = self._refused(request, place)
        if refused:
            http.send(writer, refused)
        elif place.verb == "watch":
            await self._watch(place, request, writer)
        else:
            http.send(writer, await self._plain(place, request))

    def _refused(self, request: Request, place: Place) -> Answer | None:
        if request.token == ADMIN:
            return None
        if request.token not in self.ways.tokens and not request.user:
            return status(401, "Unauthorized")
        if (place.verb, place.plural) in self.ways.denied:
            return status(403, f"{place.plural} is forbidden: User cannot {place.verb} resource")
        if seconds := self.ways.busy.get(place.verb):
            after = seconds.pop(0)
            return status(
                429, "too many requests, please try again later", {"Retry-After": str(after)}
            )
        if (
            place.plural
            and request.path != REVIEWS
            and place.plural not in self.ways.served.get(place.root, [])
        ):
            return status(404, "the server could not find the requested resource")
        return None

    async def _plain(self, place: Place, request: Request) -> Answer:
        if request.path == REVIEWS:
            return self._review(request)
        if request.path == "/version":
            major, minor = self.ways.version
            return Answer(200, {"major": major, "minor": minor})
        if not place.plural:
            return self._discovered(place)
        if request.method == "GET" and place.name:
            return await self._one(place, request)
        return (
            self._page(place, request) if request.method == "GET" else self._written(place, request)
        )

    def _review(self, request: Request) -> Answer:
        asked = json.loads(request.body)
        attributes = asked["spec"]["resourceAttributes"]
        allowed = (attributes["verb"], attributes["resource"]) not in self.ways.denied
        only = self.ways.named.get(attributes["resource"])
        allowed = allowed and only in {None, attributes.get("name")}
        return Answer(201, {**asked, "status": {"allowed": allowed}})

    def _discovered(self, place: Place) -> Answer:
        plurals = self.ways.served.get(place.root)
        if plurals is None:
            return status(404, "the server could not find the requested resource")
        return Answer(
            200,
            {
                "kind": "APIResourceList",
                "groupVersion": place.root.split("/", 2)[-1],
                "resources": [{"name": p} for p in plurals],
            },
        )

    async def _one(self, place: Place, request: Request) -> Answer:
        if self.ways.held and request.token != ADMIN:
            await self.ways.held.wait()
        found = self.store.get(place.path, place.namespace, place.name)
        return (
            Answer(200, shown(found, request))
            if found
            else status(404, f'{place.plural} "{place.name}" not found')
        )

    def _page(self, place: Place, request: Request) -> Answer:
        version, begin = self.store.version, 0
        if rest := request.query.get("continue"):
            version, begin = (int(part) for part in rest.split("."))
        things = [
            thing
            for thing in self.store.all(place.path)
            if place.has(thing, request.query.get("fieldSelector", ""))
        ]
        end = begin + int(request.query.get("limit", "0") or len(things))
        metadata = {
            "resourceVersion": str(version),
            **({"continue": f"{version}.{end}"} if end < len(things) else {}),
        }
        return Answer(
            200,
            {
                "kind": "PartialObjectMetadataList",
                "metadata": metadata,
                "items": [shown(each, request) for each in things[begin:end]],
            },
        )

    def _written(self, place: Place, request: Request) -> Answer:
        if (
            self.ways.conflicts
            and request.method == "PATCH"
            and request.token != ADMIN
            and place.name in self.ways.conflicts
        ):
            self.store.put(place.path, self.ways.conflicts[place.name])
            return status(409, "Apply failed with 1 conflict: conflict with another manager")
        if request.method == "DELETE":
            gone = self.store.drop(place.path, place.namespace, place.name)
            return Answer(200, gone) if gone else status(404, "not found")
        return Answer(200, self.store.put(place.path, json.loads(request.body)))

    async def _watch(self, place: Place, request: Request, writer: asyncio.StreamWriter) -> None:
        initial = request.query.get("sendInitialEvents") == "true"
        if initial and self.ways.watch_list == "no":
            http.send(
                writer,
                status(
                    422,
                    "sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled",
                ),
            )
            return
        queue: asyncio.Queue[Happened | None] = asyncio.Queue()
        http.begin_stream(writer)
        try:
            self._send_present(place, request, writer) if initial else self._send_past(
                place, request, writer
            )
            self._watchers[queue] = place.path
            while what := await queue.get():
                if what.type == "BOOKMARK" or place.has(
                    what.object, request.query.get("fieldSelector", "")
                ):
                    http.send_chunk(writer, told(what, request))
                    await writer.drain()
        except Expired:
            http.send_chunk(
                writer,
                {
                    "type": "ERROR",
                    "object": status(410, "too old resource version", reason="Expired").content,
                },
            )
        finally:
            self._watchers.pop(queue, None)
        http.end_stream(writer)

    def _send_past(self, place: Place, request: Request, writer: asyncio.StreamWriter) -> None:
        for what in self.store.since(place.path, int(request.query["resourceVersion"])):
            if place.has(what.object, request.query.get("fieldSelector", "")):
                http.send_chunk(writer, told(what, request))

    def _send_present(self, place: Place, request: Request, writer: asyncio.StreamWriter) -> None:
        if self.ways.watch_list == "broken":
            http.send_chunk(
                writer,
                {
                    "type": "ERROR",
                    "object": status(500, "RequestWatchProgress is disabled").content,
                },
            )
            return
        for thing in reversed(self.store.all(place.path)):  # in no order that means anything
            if place.has(thing, request.query.get("fieldSelector", "")):
                http.send_chunk(writer, {"type": "ADDED", "object": shown(thing, request)})
        if self.ways.watch_list == "yes":
            http.send_chunk(
                writer,
                told(
                    Happened(self.store.version, "", "BOOKMARK", {INITIAL_EVENTS_END: "true"}),
                    request,
                ),
            )


def status(
    code: int, message: str, headers: dict[str, str] | None = None, *, reason: str = ""
) -> Answer:
    return Answer(
        code,
        {
            "kind": "Status",
            "apiVersion": "v1",
            "status": "Failure",
            "code": code,
            "reason": reason,
            "message": message,
        },
        headers or {},
    )


def told(what: Happened, request: Request) -> dict[str, Any]:
    if what.type == "BOOKMARK":
        marked: Object = {
            "metadata": {
                "resourceVersion": str(what.version),
                **({"annotations": what.object} if what.object else {}),
            }
        }
        return {"type": "BOOKMARK", "object": shown(marked, request)}
    return {"type": what.type, "object": shown(what.object, request)}


def shown(thing: Object, request: Request) -> Object:
    """Metadata only, for those who ask for that."""
    if "as=PartialObjectMetadata" not in request.headers.get("accept", ""):
        return thing
    return {
        "kind": "PartialObjectMetadata",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": thing["metadata"],
    }
