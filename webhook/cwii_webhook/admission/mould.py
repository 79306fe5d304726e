"""What reviews of pods of one workload have in common, which is all but what an API server writes anew into each: its uid, the time, and the end of the name
of the volume with the API server's token. Only where it writes these itself may a letter differ: whatever else a pod says, it says in the mould.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from msgspec import Struct

BEGIN = b'{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{"uid":"'
END = len(BEGIN) + 36
UID = slice(len(BEGIN), END)
PLAIN = b"0123456789abcdefghijklmnopqrstuvwxyzTZ:-"  # letters of all that is a pod's own: none that means something to JSON
WIDE = (
    4096  # bytes in which the time is looked for: what stands before it says which workload it is
)
LONG = (
    64 << 10
)  # bytes of a review that is looked at here: of a longer one, reading it is not the most of it
PLACES, LOOKS = 64, 256  # of one thing: where it may be, and where it is looked for


class Own(Struct, frozen=True):
    """A thing that each pod has for itself: what stands before it, how many letters it has, and what stands behind it."""

    before: bytes
    length: int
    behind: tuple[bytes, ...]


TIME = Own(
    b'"apiVersion":"v1","time":"', len("2026-01-01T00:00:00Z"), (b'","fieldsType":"FieldsV1"',)
)
TOKEN = b'","readOnly":true,"mountPath":"/var/run/secrets/kubernetes.io/serviceaccount"'
VOLUME = Own(b'{"name":"kube-api-access-', 5, (b'","projected":', TOKEN))

Head = tuple[int, bytes]


def head(body: bytes) -> Head | None:
    """By which those of one mould are found. None where no API server has written it: whoever else asks is answered all the same, and every time anew."""
    if len(body) > LONG or not body.startswith(BEGIN) or body[UID].translate(None, PLAIN):
        return None
    end = body.find(TIME.before, END, END + WIDE)
    return len(body), body[END : end if end >= 0 else END + WIDE]


class Mould(Struct, frozen=True, gc=False):
    """What is the same in all, and where each thing is that is not: the same again wherever it stands in one review."""

    fixed: tuple[tuple[slice, bytes], ...]
    own: tuple[tuple[slice, ...], ...]

    @property
    def weight(self) -> int:
        return sum([128 + len(text) for _, text in self.fixed])

    def fits(self, body: bytes) -> bool:
        """A body that has its head."""
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

    def own_of(self, body: bytes) -> list[bytes]:
        return [body[places[0]] for places in self.own]


def mould(body: bytes) -> Mould | None:
    """Of a body that has a head. None of one that says its own names so often that no pod would."""
    own = [tuple(islice(_places(body, each), PLACES + 1)) for each in (TIME, VOLUME)]
    if max(map(len, own)) > PLACES:
        return None
    gaps = sorted((UID, *[place for places in own for place in places]), key=_start)
    return Mould(tuple(_between(body, gaps)), tuple(filter(None, own)))


def _places(body: bytes, own: Own) -> Iterator[slice]:
    """All where the first of its kind stands again."""
    at, begins, text = body.find(own.before), len(own.before), b""
    for _ in range(LOOKS):
        if at < 0:
            return
        place = slice(at + begins, at + begins + own.length)
        found = body[place]
        if (
            (found == text or not text)
            and not found.translate(None, PLAIN)
            and body.startswith(own.behind, place.stop)
        ):
            text = found
            yield place
        at = body.find(own.before, place.stop)


def _between(body: bytes, gaps: Sequence[slice]) -> Iterator[tuple[slice, bytes]]:
    begin = 0
    for gap in (*gaps, slice(len(body), len(body))):
        place = slice(begin, gap.start)
        yield place, body[place]
        begin = gap.stop


def _start(place: slice) -> int:
    return place.start
