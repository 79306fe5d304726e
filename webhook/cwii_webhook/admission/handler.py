"""From a review's bytes to its answer's: the route by its path, the decision, and what is told of it.

Nearly always everything is known, and the answer is there at once: that of a twin, or a new one. What the picture lacks is read, and then it is decided anew.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Protocol

from msgspec import Struct

from cwii_webhook.admission.admit import Decision, Route, admit
from cwii_webhook.admission.cluster_view import (
    ClusterView,
    LookupFailed,
    LookupRefused,
    NotCached,
    ObjectRef,
)
from cwii_webhook.admission.decision_log import DecisionLog
from cwii_webhook.admission.injection import ConfigMap, PodRefused
from cwii_webhook.admission.mould import UID, Head, head
from cwii_webhook.admission.pieces import sent
from cwii_webhook.admission.review import (
    InvalidReview,
    Request,
    Response,
    Review,
    Status,
    decode_review,
    encode_response,
)
from cwii_webhook.admission.twins import Twins, Witness, lasting
from cwii_webhook.server.messages import JSON, Handler, HttpRequest, HttpResponse, text_response

TOGETHER, EACH = 4096, 256  # characters of warnings
PATIENCE = 4.0  # seconds that one review may take: an API server waits for five


class RequestView(ClusterView, Protocol):
    """The picture for one review. After `look` it can say of that object; or it raises Undecided or Hopeless."""

    async def look_up(self, ref: ObjectRef, /) -> None: ...


class PrerequisiteWriter(Protocol):
    """What must exist before the answer. Raises Refused where it may not, and Undecided or Hopeless where it could not be made."""

    async def write(self, thing: ConfigMap, picture: ClusterView, /) -> None: ...


class Lane(Struct, frozen=True):
    """A route, and what was answered on it lately."""

    route: Route
    twins: Twins


class Case(Struct, frozen=True):
    """A review that is decided anew."""

    lane: Lane
    review: Review
    sight: RequestView
    body: bytes
    head: Head | None

    @property
    def dialect(self) -> str:
        return self.lane.route.dialect


class AdmissionHandler:
    def __init__(
        self,
        routes: Mapping[bytes, Route],
        sight: Callable[[], RequestView],
        delivery: PrerequisiteWriter,
        diary: DecisionLog,
        others: Handler,
    ) -> None:
        self.serve(routes)
        self.names = frozenset[
            str
        ]()  # of API servers, one of which a client's certificate has to bear; none, if all may ask
        self._sight = sight
        self._delivery = delivery
        self._diary = diary
        self._others = others  # who answers what is no review: health is asked for here too
        self.lacks = "it has not begun to look at the cluster"  # why nothing can be decided yet

    def serve(self, routes: Mapping[bytes, Route]) -> None:
        """From now on; what was answered before is forgotten."""
        twins = {id(route): Twins(route) for route in routes.values()}
        self._lanes = {path: Lane(route, twins[id(route)]) for path, route in routes.items()}

    def __call__(self, asked: HttpRequest) -> HttpResponse | Awaitable[HttpResponse]:
        lane = self._lanes.get(asked.path)
        if lane is None:
            return self._others(asked)
        if refusal := self._refused(asked):
            return refusal
        body, sight = asked.body, None if self.lacks else self._sight()
        alike = head(body)
        if sight and alike and (known := lane.twins.known(alike, body, sight)):
            uid = body[UID]
            self._diary.again(known.told, uid)
            return HttpResponse(200, b"%b%b%b" % (known.begin, uid, known.end))
        try:
            review = decode_review(body)
        except InvalidReview as e:
            self._diary.count_invalid(lane.route.dialect)
            return text_response(400, f"this is no review of a pod: {e}")
        if sight is None:
            return self._undecided(lane.route.dialect, review.request, LookupFailed(self.lacks))
        return self._decide(Case(lane, review, sight, body, alike))

    def _refused(self, asked: HttpRequest) -> HttpResponse | None:
        if self.names and self.names.isdisjoint(asked.peer_names):
            return text_response(
                403,
                "only API servers may ask this, and the client certificate bears the name of none",
            )
        if asked.method != b"POST":
            return text_response(405, "reviews are posted")
        if asked.content_type != JSON and asked.content_type.partition(b";")[0].strip() != JSON:
            return text_response(415, "a review is application/json")
        return None

    def _decide(self, case: Case) -> HttpResponse | Awaitable[HttpResponse]:
        witness = Witness(case.sight)
        try:
            decision = admit(case.lane.route, case.review.request, witness)
        except NotCached as e:
            return self._later(case, e.ref)
        if decision.prerequisites and not case.review.request.dry_run:
            return self._delivered(case, decision)
        reply = self._said(case, decision)
        self._keep(case, decision, witness, reply.body)
        return reply

    def _keep(self, case: Case, decision: Decision, witness: Witness, said: bytes) -> None:
        """For those who come after it."""
        if case.head is None or not witness.sure or not case.lane.twins.met(case.head):
            return
        told = self._diary.lasting(case.dialect, case.review.request, decision)
        if told and (known := lasting(case.body, decision, witness.heard, said, told)):
            case.lane.twins.keep(case.head, known)

    async def _later(self, case: Case, missing: ObjectRef) -> HttpResponse:
        try:
            await case.sight.look_up(missing)
        except (LookupFailed, LookupRefused) as e:
            return self._undecided(case.dialect, case.review.request, e)
        reply = self._decide(case)
        return reply if isinstance(reply, HttpResponse) else await reply

    async def _delivered(self, case: Case, decision: Decision) -> HttpResponse:
        try:
            for thing in decision.prerequisites:
                await self._delivery.write(thing, case.sight)
        except NotCached as e:
            return await self._later(case, e.ref)
        except (LookupFailed, LookupRefused) as e:
            return self._undecided(case.dialect, case.review.request, e)
        except PodRefused as e:
            return self._said(case, Decision("refused", message=e.message, code=e.code))
        return self._said(case, decision)

    def _said(self, case: Case, decision: Decision) -> HttpResponse:
        self._diary.log_decision(case.dialect, case.review.request, decision)
        return HttpResponse(
            200, encode_response(case.review, response(case.review.request.uid, decision))
        )

    def _undecided(
        self, dialect: str, request: Request, why: LookupFailed | LookupRefused
    ) -> HttpResponse:
        """The API server asks again where that may help; and in the end its failure policy decides."""
        self._diary.log_undecided(dialect, request, str(why))
        return text_response(503 if isinstance(why, LookupFailed) else 500, str(why))


def response(uid: str, decision: Decision) -> Response:
    warnings = bounded_warnings(decision.warnings) if decision.warnings else ()
    if decision.outcome == "refused":
        return Response(uid, False, Status(decision.message, decision.code), warnings=warnings)  # noqa: FBT003 - the wire's own order
    if not decision.pieces:
        return Response(uid, True, warnings=warnings)  # noqa: FBT003
    return Response(uid, True, None, "JSONPatch", sent(decision.pieces), warnings, decision.audit)  # noqa: FBT003


def bounded_warnings(warnings: Sequence[str]) -> tuple[str, ...]:
    """Once each. Beyond so much together the API server drops some and cuts the others: those that it would drop are counted."""
    every = tuple(dict.fromkeys(warnings))
    if sum(map(len, every)) <= TOGETHER:
        return every
    cut = [text if len(text) <= EACH else f"{text[: EACH - 3]}..." for text in every]
    if sum(map(len, cut)) <= TOGETHER:
        return tuple(cut)
    most = next(
        count for count in range(len(cut), -1, -1) if sum(map(len, cut[:count])) <= TOGETHER - EACH
    )
    return (*cut[:most], f"{len(cut) - most} more warnings: cwiictl explain shows them all")
