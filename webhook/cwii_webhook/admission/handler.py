"""Answers admission requests over HTTP: decodes a review, decides, and encodes the response.

The answer is returned at once if the cache knows all objects. Otherwise the handler looks up what
is missing and decides again.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from cwii_webhook.admission.admit import Decision, Route, admit
from cwii_webhook.admission.cluster_view import (
    ClusterView,
    LookupFailed,
    LookupRefused,
    NotCached,
    ObjectRef,
)
from cwii_webhook.admission.decision_cache import (
    ComparedReview,
    DecisionCache,
    Entry,
    Reads,
    RecordingView,
    decode_compared,
)
from cwii_webhook.admission.decision_log import DecisionLog, summarize
from cwii_webhook.admission.injection import ConfigMap, PodRefused
from cwii_webhook.admission.review import (
    InvalidReview,
    Request,
    Response,
    Review,
    Status,
    decode_review,
    encode,
    encode_response,
)
from cwii_webhook.server.messages import (
    JSON,
    Handler,
    HttpRequest,
    HttpResponse,
    text_response,
)

# The API server drops warnings beyond this total, and cuts each to this length.
MAX_WARNING_CHARS, MAX_CHARS_PER_WARNING = 4096, 256
LOOKUP_TIMEOUT = 4.0  # seconds for all lookups of one review; the API server waits for five


class RequestView(ClusterView, Protocol):
    """The cluster view of one review.

    After `look_up`, `get` answers for that object. `look_up` raises LookupFailed or LookupRefused.
    """

    async def look_up(self, ref: ObjectRef, /) -> None: ...


class PrerequisiteWriter(Protocol):
    """Writes what must exist before the pod does.

    Raises PodRefused if the policy forbids it, and LookupFailed or LookupRefused if the write
    fails.
    """

    async def write(self, config_map: ConfigMap, view: ClusterView, /) -> None: ...


class CachedRoute(Struct, frozen=True):
    """A route and the cache of its decisions."""

    route: Route
    cache: DecisionCache


class PendingReview(Struct, frozen=True):
    """A review that is being decided. `compared` is None if the decision is not cached."""

    route: Route
    cache: DecisionCache
    review: Review
    compared: ComparedReview | None
    view: RequestView


class AdmissionHandler:
    """Handles reviews at the paths of its routes, and passes all other requests on."""

    def __init__(
        self,
        routes: Mapping[bytes, Route],
        make_view: Callable[[], RequestView],
        writer: PrerequisiteWriter,
        decision_log: DecisionLog,
        fallback: Handler,
    ) -> None:
        self.client_names = frozenset[str]()  # accepted names in client certificates; empty: any
        self.not_ready_reason = "it has not begun to look at the cluster"
        self.set_routes(routes)
        self._make_view = make_view
        self._writer = writer
        self._decision_log = decision_log
        self._fallback = fallback

    def set_routes(self, routes: Mapping[bytes, Route]) -> None:
        """Replaces the routes, and forgets all cached decisions."""
        caches = {id(route): DecisionCache(route) for route in routes.values()}
        self._routes = {
            path: CachedRoute(route, caches[id(route)]) for path, route in routes.items()
        }

    def __call__(self, request: HttpRequest) -> HttpResponse | Awaitable[HttpResponse]:
        cached = self._routes.get(request.path)
        if cached is None:
            return self._fallback(request)
        if error := self._http_error(request):
            return error
        route, cache, body = cached.route, cached.cache, request.body
        if self.not_ready_reason:
            return self._not_ready_response(route, body)
        view = self._make_view()
        compared = decode_compared(body) if cache.is_enabled else None
        if compared and (entry := cache.get(compared, view)):
            return self._respond(compared, entry)
        try:
            review = decode_review(body)
        except InvalidReview as e:
            return self._invalid_response(route, e)
        return self._decide(PendingReview(route, cache, review, compared, view))

    def _not_ready_response(self, route: Route, body: bytes) -> HttpResponse:
        try:
            request = decode_review(body).request
        except InvalidReview as e:
            return self._invalid_response(route, e)
        return self._undecided_response(route.dialect, request, LookupFailed(self.not_ready_reason))

    def _invalid_response(self, route: Route, error: InvalidReview) -> HttpResponse:
        self._decision_log.count_invalid(route.dialect)
        return text_response(400, f"this is no review of a pod: {error}")

    def _http_error(self, request: HttpRequest) -> HttpResponse | None:
        if self.client_names and self.client_names.isdisjoint(request.peer_names):
            text = (
                "only API servers may ask this, and the client certificate bears the name of none"
            )
            return text_response(403, text)
        if request.method != b"POST":
            return text_response(405, "reviews are posted")
        if request.content_type.partition(b";")[0].strip() != JSON:
            return text_response(415, "a review is application/json")
        return None

    def _decide(self, pending: PendingReview) -> HttpResponse | Awaitable[HttpResponse]:
        request, view = pending.review.request, RecordingView(pending.view)
        try:
            decision = admit(pending.route, request, view)
        except NotCached as e:
            return self._look_up(pending, e.ref)
        if decision.prerequisites and not request.dry_run:
            return self._write_prerequisites(pending, decision)
        entry = _make_entry(pending.route, decision, view.reads)
        if pending.compared and view.is_complete:
            pending.cache.put(pending.compared, decision, entry)
        return self._respond(pending.review, entry)

    async def _look_up(self, pending: PendingReview, missing: ObjectRef) -> HttpResponse:
        try:
            await pending.view.look_up(missing)
        except (LookupFailed, LookupRefused) as e:
            return self._undecided_response(pending.route.dialect, pending.review.request, e)
        response = self._decide(pending)
        return response if isinstance(response, HttpResponse) else await response

    async def _write_prerequisites(
        self, pending: PendingReview, decision: Decision
    ) -> HttpResponse:
        try:
            for config_map in decision.prerequisites:
                await self._writer.write(config_map, pending.view)
        except NotCached as e:
            return await self._look_up(pending, e.ref)
        except (LookupFailed, LookupRefused) as e:
            return self._undecided_response(pending.route.dialect, pending.review.request, e)
        except PodRefused as e:
            refused = Decision("refused", message=e.message, code=e.code)
            return self._respond(pending.review, _make_entry(pending.route, refused))
        return self._respond(pending.review, _make_entry(pending.route, decision))

    def _respond(self, review: Review | ComparedReview, entry: Entry) -> HttpResponse:
        self._decision_log.log_decision(review.request, entry.summary)
        response = replace(entry.response, uid=review.request.uid)
        return HttpResponse(200, encode_response(review.api_version, review.kind, response))

    def _undecided_response(
        self, dialect: str, request: Request, error: LookupFailed | LookupRefused
    ) -> HttpResponse:
        """The API server retries after a 503. In the end, its failurePolicy decides."""
        self._decision_log.log_undecided(dialect, request, str(error))
        return text_response(503 if isinstance(error, LookupFailed) else 500, str(error))


def _make_entry(route: Route, decision: Decision, reads: Reads = ()) -> Entry:
    return Entry(reads, build_response("", decision), summarize(route.dialect, decision))


def build_response(uid: str, decision: Decision) -> Response:
    warnings = bounded_warnings(decision.warnings) if decision.warnings else ()
    if decision.outcome == "refused":
        status = Status(decision.message, decision.code)
        return Response(uid, allowed=False, status=status, warnings=warnings)
    if not decision.ops:
        return Response(uid, allowed=True, warnings=warnings)
    return Response(
        uid,
        allowed=True,
        patch_type="JSONPatch",
        patch=encode(decision.ops),
        warnings=warnings,
        audit_annotations=decision.audit,
    )


def bounded_warnings(warnings: Sequence[str]) -> tuple[str, ...]:
    """Removes duplicates, and counts the warnings that the API server would drop."""
    unique = tuple(dict.fromkeys(warnings))
    if sum(map(len, unique)) <= MAX_WARNING_CHARS:
        return unique
    cut = [
        text if len(text) <= MAX_CHARS_PER_WARNING else f"{text[: MAX_CHARS_PER_WARNING - 3]}..."
        for text in unique
    ]
    if sum(map(len, cut)) <= MAX_WARNING_CHARS:
        return tuple(cut)
    room = MAX_WARNING_CHARS - MAX_CHARS_PER_WARNING  # for the last line
    kept = next(count for count in range(len(cut), -1, -1) if sum(map(len, cut[:count])) <= room)
    return (*cut[:kept], f"{len(cut) - kept} more warnings: cwiictl explain shows them all")
