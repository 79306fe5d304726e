"""Generates bodies that are nearly reviews, by mutating reviews of recorded pods.

A seed determines the bodies and their order. To fuzz for some time, run
`python -m tests.webhook.admission.fuzz SECONDS SEED`. It prints the first body with a wrong answer.
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
    ACCOUNT_ANNOTATIONS,
    COMMAND_LINES,
    GENERATED_FIELDS,
    ROUTES,
    InProcessWebhook,
    check_response,
    make_api_server_review,
    make_review,
)
from tests.webhook.recorded_answers import load_recordings

MAX_CPU = 1.0  # seconds for one body; a plain review takes a ten-thousandth of it
MAX_MEMORY = 256 << 20  # bytes for all bodies together

_VALUE = re.compile(rb'"(?:[^"\\]|\\.)*"(?!\s*:)|-?\d[\d.eE+-]*|true|false|null')
_MEMBER = re.compile(rb'"(?:[^"\\]|\\.)*"\s*:\s*(?:"(?:[^"\\]|\\.)*"|\d+|true|false|null)')
_LENGTH, _DEPTH = 100_000, 20_000
ODD_VALUES = (
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
    b'"' + b"a" * _LENGTH + b'"',
    b"9" * _LENGTH,
    b"[" * _DEPTH + b"]" * _DEPTH,
    b'{"a":' * _DEPTH + b"1" + b"}" * _DEPTH,
    b"[" * _DEPTH,
)

Mutation = Callable[[bytes, random.Random], bytes]


class CompleteView:
    """A view in which every object exists, and each ServiceAccount requests an injection."""

    def __init__(self, dialect: str) -> None:
        self._account = ObjectMetadata(ACCOUNT_ANNOTATIONS[dialect])

    def get(self, ref: ObjectRef) -> ObjectMetadata | None:
        return self._account if ref.kind == "ServiceAccount" else ObjectMetadata(uid="u")


def make_webhooks() -> list[InProcessWebhook]:
    return [
        InProcessWebhook(route, CompleteView(COMMAND_LINES[variant][0]))
        for variant, route in ROUTES.items()
    ]


def generate_bodies(seed: int) -> Iterator[bytes]:
    rng = random.Random(seed)
    corpus = [
        _make_review(recording.pod, rng)
        for dialect in ACCOUNT_ANNOTATIONS
        for recording in load_recordings(dialect)[::5]
    ]
    while True:
        body = rng.choice(corpus)
        for mutate in rng.choices(MUTATIONS, k=rng.choice((1, 1, 2, 5))):
            body = mutate(body, rng)
        yield body


def _make_review(pod: dict[str, Any], rng: random.Random) -> bytes:
    if rng.random() < 0.5:
        return make_api_server_review(pod, GENERATED_FIELDS[0])
    return (
        make_review(pod)
        if rng.random() < 0.6
        else make_review(pod, subResource="ephemeralcontainers", operation="UPDATE", oldObject=pod)
    )


def _replace_bytes(body: bytes, rng: random.Random) -> bytes:
    at = rng.randrange(len(body) + 1)
    return (
        body[:at]
        + bytes(rng.choices(range(256), k=rng.randrange(3)))
        + body[at + rng.randrange(3) :]
    )


def _truncate(body: bytes, rng: random.Random) -> bytes:
    return body[: rng.randrange(len(body) + 1)]


def _repeat_slice(body: bytes, rng: random.Random) -> bytes:
    start, end = sorted(rng.choices(range(len(body) + 1), k=2))
    return body[:end] + body[start:end] * rng.randrange(3) + body[end:]


def _replace_value(body: bytes, rng: random.Random) -> bytes:
    """Replaces a JSON value with an odd one. The body mostly stays valid JSON."""
    values = list(itertools.islice(_VALUE.finditer(body), 2000))
    if not values:
        return body + rng.choice(ODD_VALUES)
    value = rng.choice(values)
    return body[: value.start()] + rng.choice(ODD_VALUES) + body[value.end() :]


def _copy_member(body: bytes, rng: random.Random) -> bytes:
    """Copies a member of an object to another place, where its key may exist already."""
    members = list(itertools.islice(_MEMBER.finditer(body), 2000))
    if not members:
        return body
    target, source = rng.choice(members), rng.choice(members)
    return body[: target.start()] + source[0] + b"," + body[target.start() :]


MUTATIONS: tuple[Mutation, ...] = (
    _replace_bytes,
    _truncate,
    _repeat_slice,
    _replace_value,
    _replace_value,
    _replace_value,
    _copy_member,
    _copy_member,
)


def check_body(webhook: InProcessWebhook, body: bytes) -> int:
    """Sends the body twice, and checks both responses and their CPU time. Returns the status."""
    first = _send(webhook, body)
    check_response(body, first)
    second = _send(webhook, body)
    assert (second.status, second.body) == (first.status, first.body), "the second answer differs"
    return first.status


def _send(webhook: InProcessWebhook, body: bytes) -> HttpResponse:
    before = time.thread_time()
    response = webhook(body)
    assert time.thread_time() - before < MAX_CPU, "it took too long"
    return response


def peak_memory() -> int:
    """Returns the peak resident memory of this process in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


if __name__ == "__main__":
    deadline, webhooks = time.monotonic() + float(sys.argv[1]), make_webhooks()
    for number, body in enumerate(generate_bodies(int(sys.argv[2]))):
        try:
            check_body(webhooks[number % len(webhooks)], body)
        except Exception:
            print(number, list(ROUTES)[number % len(webhooks)], body[:4000])
            raise
        if time.monotonic() > deadline:
            print(f"{number + 1} bodies, {peak_memory() >> 20} MiB")
            break
