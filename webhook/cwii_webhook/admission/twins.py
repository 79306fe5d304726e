"""Pods of one workload come one after the other, and are of one mould. What was answered to one of them is the answer to the next, while the cluster says
the same. Strangers who ask a lot can make us forget whom we knew, which costs time, and nothing else.
"""

from __future__ import annotations

from msgspec import Struct

from cwii_webhook.admission.admit import Decision, Route
from cwii_webhook.admission.cluster_view import ClusterView, NotCached, ObjectMetadata, ObjectRef
from cwii_webhook.admission.decision_log import Lasting
from cwii_webhook.admission.memo import Memo
from cwii_webhook.admission.mould import LONG, UID, Head, Mould, mould
from cwii_webhook.admission.review import encode
from cwii_webhook.dialects.common.external_config import HasExternalConfig

ROOM = 256  # answers
MET = 4096  # heads of which it is remembered that they came once
MISFITS = 4  # after which no more is kept of those of one head: a DaemonSet's pods have each their node in them

Heard = tuple[tuple[ObjectRef, ObjectMetadata | None], ...]


class Witness:
    """A picture that remembers what it was asked, and whether it could always say."""

    def __init__(self, picture: ClusterView) -> None:
        self._picture = picture
        self._heard: dict[ObjectRef, ObjectMetadata | None] = {}
        self.sure = True

    @property
    def heard(self) -> Heard:
        return tuple(self._heard.items())

    def get(self, ref: ObjectRef) -> ObjectMetadata | None:
        try:
            seen = self._heard[ref] = self._picture.get(ref)
        except NotCached:
            self.sure = False
            raise
        return seen


class Known(Struct, frozen=True):
    """An answer, before and behind the uid; to whom it was given, and upon whose word."""

    mould: Mould
    heard: Heard
    begin: bytes
    end: bytes
    told: Lasting

    @property
    def weight(self) -> int:
        voices = [
            len(key) + len(text)
            for _, seen in self.heard
            if seen
            for key, text in seen.annotations.items()
        ]
        return (
            self.mould.weight
            + len(self.end)
            + len(b"".join(self.told.form.parts))
            + 256 * len(self.heard)
            + sum(voices)
        )


class Twins:
    """Those of one route. What it heeds besides the cluster may change unseen: then each is decided anew."""

    def __init__(self, route: Route) -> None:
        self._settled = not any(
            isinstance(mutator, HasExternalConfig) and mutator.external_config
            for mutator in route.mutators
        )
        self._known: Memo[Head, Known] = Memo(ROOM, 2 * LONG)
        self._misfits: dict[int, int] = {}  # of heads that came before

    def known(self, head: Head, body: bytes, picture: ClusterView) -> Known | None:
        known = self._known.get(head)
        if known is None:
            return None
        if not known.mould.fits(body):
            self._misfits[hash(head)] = self._misfits.get(hash(head), 0) + 1
            return None
        return known if _still(known.heard, picture) else None

    def met(self, head: Head) -> bool:
        """Whether one like it came before, and so there may be more: of many pods there is only the one. From now on, one has come."""
        if not self._settled:
            return False
        mark = hash(head)
        if mark in self._misfits:
            return self._misfits[mark] <= MISFITS
        if len(self._misfits) >= MET:
            self._misfits.clear()
        self._misfits[mark] = 0
        return False

    def keep(self, head: Head, known: Known) -> None:
        self._known.keep(head, known, len(head[1]) + known.weight)


def _still(heard: Heard, picture: ClusterView) -> bool:
    """Whether all say what they said."""
    try:
        for ref, seen in heard:
            found = picture.get(ref)
            if found is not seen and found != seen:
                return False
    except NotCached:
        return False
    return True


def lasting(
    body: bytes, decision: Decision, heard: Heard, answer: bytes, told: Lasting
) -> Known | None:
    """None where anything of its own has come into what is said of it."""
    made = mould(body)
    begin, uid, end = answer.partition(body[UID])
    if made is None or not uid:
        return None
    said = encode((decision.ops, decision.warnings, decision.audit, decision.message))
    return (
        None
        if any(own in said for own in made.own_of(body))
        else Known(made, heard, begin, end, told)
    )
