"""Pods of one workload come one after the other, alike to the letter but for what an API server writes anew into each review of one: its uid, the time,
and the end of the name of the volume with the API server's token. What was answered to one of them is the answer to the next, while the cluster says the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from cwii_webhook.admit import Decision, Route
from cwii_webhook.diary import Lasting
from cwii_webhook.memo import Memo
from cwii_webhook.picture import Picture, Ref, Seen, Unknown
from cwii_webhook.review import encode
from cwii_webhook.source import Sourced

BEGIN = b'{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{"uid":"'
END = len(BEGIN) + 36
UID = slice(len(BEGIN), END)
TIME = b'"time":"'
# What stands before each thing that is a pod's own, and how many letters it has.
OWN = ((TIME, len("2026-01-01T00:00:00Z")), (b'"kube-api-access-', 5))
PLAIN = b"0123456789abcdefghijklmnopqrstuvwxyzTZ:-"  # letters of all of them: none that means something to JSON
HEAD = 4096  # letters in which the time is looked for: what stands before it says which workload it is
MET = 4096  # of which it is remembered that they came once

Heard = tuple[tuple[Ref, Seen | None], ...]
Head = tuple[int, bytes]


def head(body: bytes) -> Head | None:
    """By which twins are found. None where no API server has written it: whoever else asks is answered all the same, and every time anew."""
    if not body.startswith(BEGIN) or body[UID].translate(None, PLAIN):
        return None
    end = body.find(TIME, END, END + HEAD)
    return len(body), body[END : end if end >= 0 else END + HEAD]


class Mould(Struct, frozen=True, gc=False):
    """What is the same in all, and where each thing is that is not."""

    fixed: tuple[tuple[slice, bytes], ...]
    own: tuple[tuple[slice, ...], ...]

    def fits(self, body: bytes) -> bool:
        for place, text in self.fixed:
            if body[place] != text:
                return False
        for first, *others in self.own:
            text = body[first]
            if text.translate(None, PLAIN):
                return False
            for place in others:
                if body[place] != text:
                    return False
        return True


def mould(body: bytes) -> Mould:
    own = tuple([places for word, length in OWN if (places := tuple(_places(body, word, length)))])
    gaps = sorted((UID, *[place for places in own for place in places]), key=_start)
    return Mould(tuple(_between(body, gaps)), own)


def _places(body: bytes, word: bytes, length: int) -> Iterator[slice]:
    """All where the first of its kind stands again."""
    begin = body.find(word) + len(word)
    text = body[begin : begin + length]
    if begin < len(word) or text.translate(None, PLAIN):
        return
    whole = word + text + b'"'
    at = body.find(whole)
    while at >= 0:
        yield slice(at + len(word), at + len(whole) - 1)
        at = body.find(whole, at + len(whole))


def _between(body: bytes, gaps: Sequence[slice]) -> Iterator[tuple[slice, bytes]]:
    begin = 0
    for gap in (*gaps, slice(len(body), len(body))):
        place = slice(begin, gap.start)
        yield place, body[place]
        begin = gap.stop


def _start(place: slice) -> int:
    return place.start


class Witness:
    """A picture that remembers what it was asked."""

    def __init__(self, picture: Picture) -> None:
        self._picture = picture
        self._heard: dict[Ref, Seen | None] = {}

    @property
    def heard(self) -> Heard:
        return tuple(self._heard.items())

    def seen(self, ref: Ref) -> Seen | None:
        seen = self._heard[ref] = self._picture.seen(ref)
        return seen


class Known(Struct, frozen=True):
    """An answer, before and behind the uid; to whom it was given, and upon whose word."""

    mould: Mould
    heard: Heard
    begin: bytes
    end: bytes
    told: Lasting


class Twins:
    """Those of one route. What it heeds besides the cluster may change unseen: then each is decided anew."""

    def __init__(self, route: Route) -> None:
        self._settled = not any(isinstance(mutator, Sourced) and mutator.sources for mutator in route.mutators)
        self._known: Memo[Head, Known] = Memo()
        self._met: set[int] = set()

    def known(self, head: Head, body: bytes, picture: Picture) -> Known | None:
        known = self._known.get(head)
        if known is None or not known.mould.fits(body):
            return None
        try:
            for ref, seen in known.heard:
                found = picture.seen(ref)
                if found is not seen and found != seen:
                    return None
        except Unknown:
            return None
        return known

    def expected(self, head: Head) -> bool:
        """Whether there may be more like it, for there was one before: of many pods there is only the one."""
        if not self._settled:
            return False
        mark = hash(head)
        if mark in self._met:
            return True
        if len(self._met) >= MET:
            self._met.clear()
        self._met.add(mark)
        return False

    def keep(self, head: Head, known: Known, body: bytes) -> None:
        self._known.keep(head, known, len(body) + len(known.end))


def lasting(body: bytes, decision: Decision, heard: Heard, answer: bytes, told: Lasting | None) -> Known | None:
    """None where anything of its own has come into what is said of it, or has to be made for it."""
    made = mould(body)
    said = encode((decision.ops, decision.warnings, decision.audit, decision.message))
    begin, uid, end = answer.partition(body[UID])
    if not told or not uid or decision.before or any(body[place] in said for place in (UID, *[places[0] for places in made.own])):
        return None
    return Known(made, heard, begin, end, told)
