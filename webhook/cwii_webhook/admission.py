"""From a review's bytes to its answer's: the route by its path, the decision, and what is told of it.

Nearly always everything is known, and the answer is there at once. What the picture lacks is read, and then it is decided anew.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Protocol

from cwii_webhook.admit import Decision, Route, admit
from cwii_webhook.cluster.errors import Hopeless, Undecided
from cwii_webhook.diary import Diary
from cwii_webhook.exchange import JSON, Asked, Handler, Reply, told
from cwii_webhook.injection import ConfigMap, Refused
from cwii_webhook.picture import Picture, Ref, Unknown
from cwii_webhook.pieces import sent
from cwii_webhook.review import Request, Response, Review, Status, Unreadable, answer, decode

TOGETHER, EACH = 4096, 256  # characters of warnings
PATIENCE = 4.0  # seconds that one review may take: an API server waits for five


class Sight(Picture, Protocol):
    """The picture for one review. After `look` it can say of that object; or it raises Undecided or Hopeless."""

    async def look(self, ref: Ref, /) -> None: ...


class Delivery(Protocol):
    """What must exist before the answer. Raises Refused where it may not, and Undecided or Hopeless where it could not be made."""

    async def make(self, thing: ConfigMap, picture: Picture, /) -> None: ...


class Admission:
    def __init__(self, routes: Mapping[bytes, Route], sight: Callable[[], Sight], delivery: Delivery, diary: Diary, others: Handler) -> None:
        self.routes = routes
        self.names = frozenset[str]()  # of API servers, one of which a client's certificate has to bear; none, if all may ask
        self._sight = sight
        self._delivery = delivery
        self._diary = diary
        self._others = others  # who answers what is no review: health is asked for here too
        self.lacks = "it has not begun to look at the cluster"  # why nothing can be decided yet

    def __call__(self, asked: Asked) -> Reply | Awaitable[Reply]:
        route = self.routes.get(asked.path)
        if route is None:
            return self._others(asked)
        if refusal := self._refused(asked):
            return refusal
        try:
            review = decode(asked.body)
        except Unreadable as e:
            self._diary.unreadable(route.dialect)
            return told(400, f"this is no review of a pod: {e}")
        if self.lacks:
            return self._undecided(route, review.request, Undecided(self.lacks))
        return self._decide(route, review, self._sight())

    def _refused(self, asked: Asked) -> Reply | None:
        if self.names and self.names.isdisjoint(asked.peers):
            return told(403, "only API servers may ask this, and the client certificate bears the name of none")
        if asked.method != b"POST":
            return told(405, "reviews are posted")
        if asked.type != JSON and asked.type.partition(b";")[0].strip() != JSON:
            return told(415, "a review is application/json")
        return None

    def _decide(self, route: Route, review: Review, sight: Sight) -> Reply | Awaitable[Reply]:
        try:
            decision = admit(route, review.request, sight)
        except Unknown as e:
            return self._later(route, review, sight, e.ref)
        if decision.before and not review.request.dry_run:
            return self._delivered(route, review, sight, decision)
        return self._said(route, review, decision)

    async def _later(self, route: Route, review: Review, sight: Sight, missing: Ref) -> Reply:
        try:
            await sight.look(missing)
        except (Undecided, Hopeless) as e:
            return self._undecided(route, review.request, e)
        reply = self._decide(route, review, sight)
        return reply if isinstance(reply, Reply) else await reply

    async def _delivered(self, route: Route, review: Review, sight: Sight, decision: Decision) -> Reply:
        try:
            for thing in decision.before:
                await self._delivery.make(thing, sight)
        except Unknown as e:
            return await self._later(route, review, sight, e.ref)
        except (Undecided, Hopeless) as e:
            return self._undecided(route, review.request, e)
        except Refused as e:
            return self._said(route, review, Decision("refused", message=e.message, code=e.code))
        return self._said(route, review, decision)

    def _said(self, route: Route, review: Review, decision: Decision) -> Reply:
        self._diary.decided(route.dialect, review.request, decision)
        return Reply(200, answer(review, response(review.request.uid, decision)))

    def _undecided(self, route: Route, request: Request, why: Undecided | Hopeless) -> Reply:
        """The API server asks again where that may help; and in the end its failure policy decides."""
        self._diary.undecided(route.dialect, request, str(why))
        return told(503 if isinstance(why, Undecided) else 500, str(why))


def response(uid: str, decision: Decision) -> Response:
    warnings = bounded(decision.warnings) if decision.warnings else ()
    if decision.outcome == "refused":
        return Response(uid, False, Status(decision.message, decision.code), warnings=warnings)  # noqa: FBT003 - the wire's own order
    if not decision.pieces:
        return Response(uid, True, warnings=warnings)  # noqa: FBT003
    return Response(uid, True, None, "JSONPatch", sent(decision.pieces), warnings, decision.audit)  # noqa: FBT003


def bounded(warnings: Sequence[str]) -> tuple[str, ...]:
    """Once each. Beyond so much together the API server drops some and cuts the others: those that it would drop are counted."""
    every = tuple(dict.fromkeys(warnings))
    if sum(map(len, every)) <= TOGETHER:
        return every
    cut = [text if len(text) <= EACH else f"{text[: EACH - 3]}..." for text in every]
    if sum(map(len, cut)) <= TOGETHER:
        return tuple(cut)
    most = next(count for count in range(len(cut), -1, -1) if sum(map(len, cut[:count])) <= TOGETHER - EACH)
    return (*cut[:most], f"{len(cut) - most} more warnings: cwiictl explain shows them all")
