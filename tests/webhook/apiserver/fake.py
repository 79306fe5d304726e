"""A fake API server with paged lists, watches, bookmarks, WatchList, and error responses.

Tests use it where no real API server is available, and to cause rare events of a real one.
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
    """Configurable behavior, which a test can change at any time."""

    # "no": 422 for sendInitialEvents. "ignored": no bookmark ends the initial events.
    # "broken": etcd does not support it.
    watch_list: str = "yes"
    accepted_tokens: set[str] = field(default_factory=lambda: {"first"})
    # Verb to the Retry-After values of the next requests. Each of them fails with 429.
    retry_after: dict[str, list[int]] = field(default_factory=dict[str, list[int]])
    denied_verbs: set[tuple[str, str]] = field(  # pairs of verb and plural
        default_factory=set[tuple[str, str]]
    )
    # Plural to the only name that the Role's resourceNames allows.
    allowed_names: dict[str, str] = field(default_factory=dict[str, str])
    served_resources: dict[str, list[str]] = field(
        default_factory=lambda: {root: list(plurals) for root, plurals in SERVED_RESOURCES.items()}
    )
    version: tuple[str, str] = ("1", "34")
    conflicts: dict[str, Object] | None = None  # name to the object of another field manager
    release_reads: asyncio.Event | None = None  # GETs of single objects wait for this event


class FakeApiServer:
    """An API server with its state in memory. Use it only in its own event loop."""

    def __init__(self) -> None:
        self.store = Store()
        self.behavior = Behavior()
        self.requests: list[Request] = []
        self._watchers: dict[asyncio.Queue[StoreEvent | None], str] = {}
        self.store.listeners.append(self._notify_watchers)

    def count_requests(self, verb: str, *, token: str = "") -> Counter[str]:
        """Counts requests by plural, for one token or for all clients except the admin."""
        paths = (
            parse_path(request)
            for request in self.requests
            if (request.token == token if token else request.token != ADMIN)
        )
        return Counter(path.plural for path in paths if path.verb == verb)

    def send_bookmark(self) -> None:
        self._notify_watchers(StoreEvent(self.store.version, "", "BOOKMARK", {}))

    def end_watches(self) -> None:
        """Ends all watches, as an API server does after timeoutSeconds."""
        for queue in self._watchers:
            queue.put_nowait(None)

    def _notify_watchers(self, event: StoreEvent) -> None:
        for queue, collection in self._watchers.items():
            if event.collection in {"", collection}:
                queue.put_nowait(event)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                request = await http.read_request(reader, writer)
                self.requests.append(request)
                await self._answer(request, writer)
                await writer.drain()
        except (OSError, EOFError, asyncio.CancelledError):
            pass  # the client closed the connection, or the test is over
        finally:
            writer.transport.abort()

    async def _answer(self, request: Request, writer: asyncio.StreamWriter) -> None:
        path = parse_path(request)
        error = self._find_error(request, path)
        if error:
            http.send_response(writer, error)
        elif path.verb == "watch":
            await self._watch(path, request, writer)
        else:
            http.send_response(writer, await self._handle(path, request))

    def _find_error(self, request: Request, path: ResourcePath) -> Response | None:
        if request.token == ADMIN:
            return None
        if request.token not in self.behavior.accepted_tokens and not request.user:
            return make_status(401, "Unauthorized")
        if (path.verb, path.plural) in self.behavior.denied_verbs:
            return make_status(403, f"{path.plural} is forbidden: User cannot {path.verb} resource")
        if seconds := self.behavior.retry_after.get(path.verb):
            retry_after = seconds.pop(0)
            return make_status(
                429, "too many requests, please try again later", {"Retry-After": str(retry_after)}
            )
        if (
            path.plural
            and request.path != ACCESS_REVIEW_PATH
            and path.plural not in self.behavior.served_resources.get(path.root, [])
        ):
            return make_status(404, "the server could not find the requested resource")
        return None

    async def _handle(self, path: ResourcePath, request: Request) -> Response:
        if request.path == ACCESS_REVIEW_PATH:
            return self._review_access(request)
        if request.path == "/version":
            major, minor = self.behavior.version
            return Response(200, {"major": major, "minor": minor})
        if not path.plural:
            return self._discover(path)
        if request.method == "GET" and path.name:
            return await self._get(path, request)
        return self._list(path, request) if request.method == "GET" else self._write(path, request)

    def _review_access(self, request: Request) -> Response:
        review = json.loads(request.body)
        attributes = review["spec"]["resourceAttributes"]
        allowed = (attributes["verb"], attributes["resource"]) not in self.behavior.denied_verbs
        allowed_name = self.behavior.allowed_names.get(attributes["resource"])
        allowed = allowed and allowed_name in {None, attributes.get("name")}
        return Response(201, {**review, "status": {"allowed": allowed}})

    def _discover(self, path: ResourcePath) -> Response:
        plurals = self.behavior.served_resources.get(path.root)
        if plurals is None:
            return make_status(404, "the server could not find the requested resource")
        return Response(
            200,
            {
                "kind": "APIResourceList",
                "groupVersion": path.root.split("/", 2)[-1],
                "resources": [{"name": plural} for plural in plurals],
            },
        )

    async def _get(self, path: ResourcePath, request: Request) -> Response:
        if self.behavior.release_reads and request.token != ADMIN:
            await self.behavior.release_reads.wait()
        item = self.store.get(path.collection, path.namespace, path.name)
        return (
            Response(200, encode_object(item, request))
            if item
            else make_status(404, f'{path.plural} "{path.name}" not found')
        )

    def _list(self, path: ResourcePath, request: Request) -> Response:
        version, begin = self.store.version, 0
        if continue_token := request.query.get("continue"):
            version, begin = (int(part) for part in continue_token.split("."))
        objects = [
            item
            for item in self.store.list_objects(path.collection)
            if path.matches(item, request.query.get("fieldSelector", ""))
        ]
        end = begin + int(request.query.get("limit", "0") or len(objects))
        metadata = {
            "resourceVersion": str(version),
            **({"continue": f"{version}.{end}"} if end < len(objects) else {}),
        }
        return Response(
            200,
            {
                "kind": "PartialObjectMetadataList",
                "metadata": metadata,
                "items": [encode_object(item, request) for item in objects[begin:end]],
            },
        )

    def _write(self, path: ResourcePath, request: Request) -> Response:
        if (
            self.behavior.conflicts
            and request.method == "PATCH"
            and request.token != ADMIN
            and path.name in self.behavior.conflicts
        ):
            self.store.put(path.collection, self.behavior.conflicts[path.name])
            return make_status(409, "Apply failed with 1 conflict: conflict with another manager")
        if request.method == "DELETE":
            deleted = self.store.delete(path.collection, path.namespace, path.name)
            return Response(200, deleted) if deleted else make_status(404, "not found")
        return Response(200, self.store.put(path.collection, json.loads(request.body)))

    async def _watch(
        self, path: ResourcePath, request: Request, writer: asyncio.StreamWriter
    ) -> None:
        sends_initial_events = request.query.get("sendInitialEvents") == "true"
        if sends_initial_events and self.behavior.watch_list == "no":
            http.send_response(
                writer,
                make_status(
                    422,
                    "sendInitialEvents is forbidden for watch"
                    " unless the WatchList feature gate is enabled",
                ),
            )
            return
        queue: asyncio.Queue[StoreEvent | None] = asyncio.Queue()
        http.begin_stream(writer)
        try:
            if sends_initial_events:
                self._send_initial_events(path, request, writer)
            else:
                self._send_changes(path, request, writer)
            self._watchers[queue] = path.collection
            while event := await queue.get():
                if event.type == "BOOKMARK" or path.matches(
                    event.object, request.query.get("fieldSelector", "")
                ):
                    http.send_chunk(writer, encode_event(event, request))
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
        self, path: ResourcePath, request: Request, writer: asyncio.StreamWriter
    ) -> None:
        for event in self.store.since(path.collection, int(request.query["resourceVersion"])):
            if path.matches(event.object, request.query.get("fieldSelector", "")):
                http.send_chunk(writer, encode_event(event, request))

    def _send_initial_events(
        self, path: ResourcePath, request: Request, writer: asyncio.StreamWriter
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
        # A real API server sends initial events in no defined order.
        for item in reversed(self.store.list_objects(path.collection)):
            if path.matches(item, request.query.get("fieldSelector", "")):
                http.send_chunk(writer, {"type": "ADDED", "object": encode_object(item, request)})
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
        bookmark: Object = {
            "metadata": {
                "resourceVersion": str(event.version),
                **({"annotations": event.object} if event.object else {}),
            }
        }
        return {"type": "BOOKMARK", "object": encode_object(bookmark, request)}
    return {"type": event.type, "object": encode_object(event.object, request)}


def encode_object(item: Object, request: Request) -> Object:
    """Returns only the metadata if the request accepts PartialObjectMetadata."""
    if "as=PartialObjectMetadata" not in request.headers.get("accept", ""):
        return item
    return {
        "kind": "PartialObjectMetadata",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": item["metadata"],
    }
