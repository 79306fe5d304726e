"""Bytes that are nearly reviews: recorded pods, cut, spliced and bent. Of one seed they are the same ones, in the same order.

`python -m tests.webhook.admission.fuzz SECONDS SEED` goes on for as long as it is told, and shows the first body that is answered wrongly.
"""

from __future__ import annotations

import itertools
import random
import re
import resource
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

from cwii_webhook.admission.cluster_view import ObjectMetadata, ObjectRef
from cwii_webhook.server.messages import HttpResponse

from tests.webhook.harness import (
    LINES,
    OWNS,
    ROUTES,
    SENSIBLE,
    Counter,
    review,
    well_formed,
    written,
)
from tests.webhook.recorded_answers import recordings

CPU = 1.0  # seconds that one body may take, where a plain one takes a ten-thousandth of it
MEMORY = 256 << 20  # bytes that all of them together may cost

_VALUE = re.compile(rb'"(?:[^"\\]|\\.)*"(?!\s*:)|-?\d[\d.eE+-]*|true|false|null')
_MEMBER = re.compile(rb'"(?:[^"\\]|\\.)*"\s*:\s*(?:"(?:[^"\\]|\\.)*"|\d+|true|false|null)')
_LONG, _DEEP = 100_000, 20_000
NASTY = (
    *(
        b"null",
        b"true",
        b"{}",
        b"[]",
        b"[null]",
        b'""',
        b'"x"',
        b"0",
        b"-0",
        b"0.5",
        b"1e400",
        b"-1e-400",
        b"NaN",
        b"Infinity",
    ),
    *(str(1 << bits).encode() for bits in (31, 32, 53, 63, 64, 4096)),
    *(
        b'"%s"' % text
        for text in (
            rb"\ud800",
            rb"\udc00\ud800",
            rb"\u0000",
            rb"\u2028",
            b"\xff\xfe",
            b"\xed\xa0\x80",
            rb"$(X)",
            rb"..\/..",
            b"\xf0\x9f\x98\x80",
        )
    ),
    b'"' + b"a" * _LONG + b'"',
    b"9" * _LONG,
    b"[" * _DEEP + b"]" * _DEEP,
    b'{"a":' * _DEEP + b"1" + b"}" * _DEEP,
    b"[" * _DEEP,
)

Bend = Callable[[bytes, random.Random], bytes]


class Everybody:
    """A picture in which there is whoever is asked for, and every ServiceAccount asks for all that there is."""

    def __init__(self, dialect: str) -> None:
        self._said = ObjectMetadata(SENSIBLE[dialect])

    def get(self, ref: ObjectRef) -> ObjectMetadata | None:
        return self._said if ref.kind == "ServiceAccount" else ObjectMetadata(uid="u")


def counters() -> list[Counter]:
    return [Counter(route, Everybody(LINES[shape][0])) for shape, route in ROUTES.items()]


def bodies(seed: int) -> Iterator[bytes]:
    chance = random.Random(seed)
    corpus = [
        _asked(recording.pod, chance)
        for dialect in SENSIBLE
        for recording in recordings(dialect)[::5]
    ]
    while True:
        body = chance.choice(corpus)
        for bend in chance.choices(BENDS, k=chance.choice((1, 1, 2, 5))):
            body = bend(body, chance)
        yield body


def _asked(pod: dict[str, Any], chance: random.Random) -> bytes:
    if chance.random() < 0.5:
        return written(pod, OWNS[0])
    return (
        review(pod)
        if chance.random() < 0.6
        else review(pod, subResource="ephemeralcontainers", operation="UPDATE", oldObject=pod)
    )


def _byte(body: bytes, chance: random.Random) -> bytes:
    at = chance.randrange(len(body) + 1)
    return (
        body[:at]
        + bytes(chance.choices(range(256), k=chance.randrange(3)))
        + body[at + chance.randrange(3) :]
    )


def _cut(body: bytes, chance: random.Random) -> bytes:
    return body[: chance.randrange(len(body) + 1)]


def _repeated(body: bytes, chance: random.Random) -> bytes:
    start, end = sorted(chance.choices(range(len(body) + 1), k=2))
    return body[:end] + body[start:end] * chance.randrange(3) + body[end:]


def _value(body: bytes, chance: random.Random) -> bytes:
    """Well-formed mostly, and something else than it was."""
    found = list(itertools.islice(_VALUE.finditer(body), 2000))
    if not found:
        return body + chance.choice(NASTY)
    one = chance.choice(found)
    return body[: one.start()] + chance.choice(NASTY) + body[one.end() :]


def _twice(body: bytes, chance: random.Random) -> bytes:
    """A member stands in another place too: there may be two of one key."""
    found = list(itertools.islice(_MEMBER.finditer(body), 2000))
    if not found:
        return body
    one, other = chance.choice(found), chance.choice(found)
    return body[: one.start()] + other[0] + b"," + body[one.start() :]


BENDS: tuple[Bend, ...] = (_byte, _cut, _repeated, _value, _value, _value, _twice, _twice)


def judged(counter: Counter, body: bytes) -> int:
    """The status of a right answer; a wrong one, a late one or none is an error."""
    reply = _soon(counter, body)
    well_formed(body, reply)
    again = _soon(counter, body)
    assert (again.status, again.body) == (reply.status, reply.body), "the second answer differs"
    return reply.status


def _soon(counter: Counter, body: bytes) -> HttpResponse:
    before = time.thread_time()
    reply = counter(body)
    assert time.thread_time() - before < CPU, "it took too long"
    return reply


def memory() -> int:
    """The most that was ever used."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


if __name__ == "__main__":
    until, every = time.monotonic() + float(sys.argv[1]), counters()
    for number, body in enumerate(bodies(int(sys.argv[2]))):
        try:
            judged(every[number % len(every)], body)
        except Exception:
            print(number, list(ROUTES)[number % len(every)], body[:4000])
            raise
        if time.monotonic() > until:
            print(f"{number + 1} bodies, {memory() >> 20} MiB")
            break
