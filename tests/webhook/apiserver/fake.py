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
from tests.webhook.apiserver.http import Request, Response
from tests.webhook.apiserver.paths import ResourcePath, parse_path
from tests.webhook.apiserver.store import Object, Store, StoreEvent, VersionExpired

SERVED_RESOURCES = {
    "/api/v1": ["configmaps", "namespaces", "serviceaccounts"],
    "/apis/apps/v1": ["daemonsets", "deployments", "replicasets", "statefulsets"],
    "/apis/batch/v1": ["cronjobs", "jobs"],
}
ACCESS_REVIEW_PATH = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
INITIAL_EVENTS_END = "k8s.io/initial-events-end"
ADMIN = "the-admin"


@dataclass
class Behavior:
    """How it behaves; a test changes it while it runs."""

    watch_list: str = (
        "yes"  # no: refused with 422; ignored: no bookmark ends it; broken: etcd cannot do it
    )
    accepted_tokens: set[str] = field(default_factory=lambda: {"first"})
    retry_after: dict[str, list[int]] = field(
        default_factory=dict[str, list[int]]
    )  # verb → for how many requests it is too busy, and the seconds it says
    denied_verbs: set[tuple[str, str]] = field(
        default_factory=set[tuple[str, str]]
    )  # verb and plural
    allowed_names: dict[str, str] = field(
        default_factory=dict[str, str]
    )  # plural → the one name that a Role allows
    served_resources: dict[str, list[str]] = field(
        default_factory=lambda: {root: list(plurals) for root, plurals in SERVED_RESOURCES.items()}
    )
    version: tuple[str, str] = ("1", "34")
    conflicts: dict[str, Object] | None = None  # by name, what another manager holds there
    release_reads: asyncio.Event | None = None  # reads of single objects wait for it


class FakeApiServer:
    """Everything here happens in one loop; see `running`."""

    def __init__(self) -> None:
        self.store = Store()
        self.behavior = Behavior()
        self.requests: list[Request] = []
        self._watchers: dict[asyncio.Queue[StoreEvent | None], str] = {}
        self.store.listeners.append(self._notify_watchers)

    def count_requests(self, verb: str, *, token: str = "") -> Counter[str]:
        """How often each kind was asked for so, by whoever showed that token; else what tests' own hands did is not counted."""
        places = (
            parse_path(r)
            for r in self.requests
            if (r.token == token if token else r.token != ADMIN)
        )
        return Counter(place.plural for place in places if place.verb == verb)

    def send_bookmark(self) -> None:
        self._notify_watchers(StoreEvent(self.store.version, "", "BOOKMARK", {}))

    def end_watches(self) -> None:
        """As when their time is over."""
        for queue in self._watchers:
            queue.put_nowait(None)

    def _notify_watchers(self, event: StoreEvent) -> None:
        for queue, path in self._watchers.items():
            if event.path in {"", path}:
                queue.put_nowait(event)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                request = await http.read_request(reader, writer)
                self.requests.append(request)
                await self._answer(request, writer)
                await writer.drain()
        except (OSError, EOFError, asyncio.CancelledError):
            pass  # they hung up, or the test is over
        finally:
            writer.transport.abort()

    async def _answer(self, request: Request, writer: asyncio.StreamWriter) -> None:
        place = parse_path(request)
        refused = self._find_error(request, place)
        if refused:
            http.send_response(writer, refused)
        elif place.verb == "watch":
            await self._watch(place, request, writer)
        else:
            http.send_response(writer, await self._handle(place, request))

    def _find_error(self, request: Request, place: ResourcePath) -> Response | None:
        if request.token == ADMIN:
            return None
        if request.token not in self.behavior.accepted_tokens and not request.user:
            return make_status(401, "Unauthorized")
        if (place.verb, place.plural) in self.behavior.denied_verbs:
            return make_status(
                403, f"{place.plural} is forbidden: User cannot {place.verb} resource"
            )
        if seconds := self.behavior.retry_after.get(place.verb):
            after = seconds.pop(0)
            return make_status(
                429, "too many requests, please try again later", {"Retry-After": str(after)}
            )
        if (
            place.plural
            and request.path != ACCESS_REVIEW_PATH
            and place.plural not in self.behavior.served_resources.get(place.root, [])
        ):
            return make_status(404, "the server could not find the requested resource")
        return None

    async def _handle(self, place: ResourcePath, request: Request) -> Response:
        if request.path == ACCESS_REVIEW_PATH:
            return self._review_access(request)
        if request.path == "/version":
            major, minor = self.behavior.version
            return Response(200, {"major": major, "minor": minor})
        if not place.plural:
            return self._discover(place)
        if request.method == "GET" and place.name:
            return await self._get(place, request)
        return (
            self._list(place, request) if request.method == "GET" else self._write(place, request)
        )

    def _review_access(self, request: Request) -> Response:
        review = json.loads(request.body)
        attributes = review["spec"]["resourceAttributes"]
        allowed = (attributes["verb"], attributes["resource"]) not in self.behavior.denied_verbs
        allowed_name = self.behavior.allowed_names.get(attributes["resource"])
        allowed = allowed and allowed_name in {None, attributes.get("name")}
        return Response(201, {**review, "status": {"allowed": allowed}})

    def _discover(self, place: ResourcePath) -> Response:
        plurals = self.behavior.served_resources.get(place.root)
        if plurals is None:
            return make_status(404, "the server could not find the requested resource")
        return Response(
            200,
            {
                "kind": "APIResourceList",
                "groupVersion": place.root.split("/", 2)[-1],
                "resources": [{"name": p} for p in plurals],
            },
        )

    async def _get(self, place: ResourcePath, request: Request) -> Response:
        if self.behavior.release_reads and request.token != ADMIN:
            await self.behavior.release_reads.wait()
        found = self.store.get(place.path, place.namespace, place.name)
        return (
            Response(200, encode_object(found, request))
            if found
            else make_status(404, f'{place.plural} "{place.name}" not found')
        )

    def _list(self, place: ResourcePath, request: Request) -> Response:
        version, begin = self.store.version, 0
        if rest := request.query.get("continue"):
            version, begin = (int(part) for part in rest.split("."))
        things = [
            thing
            for thing in self.store.all(place.path)
            if place.matches(thing, request.query.get("fieldSelector", ""))
        ]
        end = begin + int(request.query.get("limit", "0") or len(things))
        metadata = {
            "resourceVersion": str(version),
            **({"continue": f"{version}.{end}"} if end < len(things) else {}),
        }
        return Response(
            200,
            {
                "kind": "PartialObjectMetadataList",
                "metadata": metadata,
                "items": [encode_object(each, request) for each in things[begin:end]],
            },
        )

    def _write(self, place: ResourcePath, request: Request) -> Response:
        if (
            self.behavior.conflicts
            and request.method == "PATCH"
            and request.token != ADMIN
            and place.name in self.behavior.conflicts
        ):
            self.store.put(place.path, self.behavior.conflicts[place.name])
            return make_status(409, "Apply failed with 1 conflict: conflict with another manager")
        if request.method == "DELETE":
            gone = self.store.delete(place.path, place.namespace, place.name)
            return Response(200, gone) if gone else make_status(404, "not found")
        return Response(200, self.store.put(place.path, json.loads(request.body)))

    async def _watch(
        self, place: ResourcePath, request: Request, writer: asyncio.StreamWriter
    ) -> None:
        initial = request.query.get("sendInitialEvents") == "true"
        if initial and self.behavior.watch_list == "no":
            http.send_response(
                writer,
                make_status(
                    422,
                    "sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled",
                ),
            )
            return
        queue: asyncio.Queue[StoreEvent | None] = asyncio.Queue()
        http.begin_stream(writer)
        try:
            self._send_initial_events(place, request, writer) if initial else self._send_changes(
                place, request, writer
            )
            self._watchers[queue] = place.path
            while what := await queue.get():
                if what.type == "BOOKMARK" or place.matches(
                    what.object, request.query.get("fieldSelector", "")
                ):
                    http.send_chunk(writer, encode_event(what, request))
                    await writer.drain()
        except VersionExpired:
            http.send_chunk(
                writer,
                {
                    "type": "ERROR",
                    "object": make_status(
                        410, "too old resource version", reason="Expired"
                    ).content,
                },
            )
        finally:
            self._watchers.pop(queue, None)
        http.end_stream(writer)

    def _send_changes(
        self, place: ResourcePath, request: Request, writer: asyncio.StreamWriter
    ) -> None:
        for what in self.store.since(place.path, int(request.query["resourceVersion"])):
            if place.matches(what.object, request.query.get("fieldSelector", "")):
                http.send_chunk(writer, encode_event(what, request))

    def _send_initial_events(
        self, place: ResourcePath, request: Request, writer: asyncio.StreamWriter
    ) -> None:
        if self.behavior.watch_list == "broken":
            http.send_chunk(
                writer,
                {
                    "type": "ERROR",
                    "object": make_status(500, "RequestWatchProgress is disabled").content,
                },
            )
            return
        for thing in reversed(self.store.all(place.path)):  # in no order that means anything
            if place.matches(thing, request.query.get("fieldSelector", "")):
                http.send_chunk(writer, {"type": "ADDED", "object": encode_object(thing, request)})
        if self.behavior.watch_list == "yes":
            http.send_chunk(
                writer,
                encode_event(
                    StoreEvent(self.store.version, "", "BOOKMARK", {INITIAL_EVENTS_END: "true"}),
                    request,
                ),
            )


def make_status(
    code: int, message: str, headers: dict[str, str] | None = None, *, reason: str = ""
) -> Response:
    return Response(
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


def encode_event(event: StoreEvent, request: Request) -> dict[str, Any]:
    if event.type == "BOOKMARK":
        marked: Object = {
            "metadata": {
                "resourceVersion": str(event.version),
                **({"annotations": event.object} if event.object else {}),
            }
        }
        return {"type": "BOOKMARK", "object": encode_object(marked, request)}
    return {"type": event.type, "object": encode_object(event.object, request)}


def encode_object(item: Object, request: Request) -> Object:
    """Metadata only, for those who ask for that."""
    if "as=PartialObjectMetadata" not in request.headers.get("accept", ""):
        return item
    return {
        "kind": "PartialObjectMetadata",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": item["metadata"],
    }
