"""One connection: HTTP/1.1 as it should be, and as nobody should speak it."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable

import pytest
from cwii_webhook.server.connections import MIB, Stage
from cwii_webhook.server.messages import HttpRequest, HttpResponse
from cwii_webhook.server.messages import text_response as telling

from tests.webhook.server.connection import (
    CHUNKED,
    Clock,
    chunked,
    echo,
    memory,
    post,
    serving,
    told,
    until,
)

# What an API server does.


def test_one_connection_carries_many_requests() -> None:
    async def story() -> None:
        async with serving() as ground:
            client = await ground.connect()
            for size in (0, 1, 7000, 100_000, 3):
                answer = await client.ask(b"x" * size, "/mutate?timeout=10s")
                assert (answer.status, answer.body) == (
                    200,
                    b"POST /mutate application/json %d" % size,
                )
                assert answer.headers["content-type"] == "application/json"
                assert not answer.closes
            assert ground.number("cwii_http_request_duration_seconds_count") == 5
            assert ground.room.held == 0

    told(story)


def test_header_names_are_known_however_they_are_written() -> None:
    async def story() -> None:
        async with serving() as ground:
            client = await ground.connect()
            client.say(
                b"POST /a HTTP/1.1\r\nhOST: w\r\nCoNtEnT-tYpE: text/x\r\nCONTENT-LENGTH: 2\r\n\r\nhi"
            )
            assert (await client.answer()).body == b"POST /a text/x 2"

    told(story)


def test_a_request_may_come_byte_by_byte() -> None:
    async def story() -> None:
        async with serving() as ground:
            client = await ground.connect()
            for byte in post(b"abc", "/long/path"):
                client.say(bytes([byte]))
                await asyncio.sleep(0)
            assert (await client.answer()).body == b"POST /long/path application/json 3"

    told(story)


def test_a_chunked_body_is_one_body() -> None:
    def whole(asked: HttpRequest) -> HttpResponse:
        return HttpResponse(200, asked.body)

    async def story() -> None:
        async with serving(whole) as ground:
            client = await ground.connect()
            client.say(CHUNKED, b"\r\n", chunked(b"ab", b"c", b"d" * 70_000))
            assert (await client.answer()).body == b"abc" + b"d" * 70_000
            assert (await client.ask(b"again")).body == b"again"

    told(story)


def test_who_asks_first_is_told_to_go_on() -> None:
    async def story() -> None:
        async with serving() as ground:
            client = await ground.connect()
            client.say(
                b"POST /mutate HTTP/1.1\r\nhost: w\r\nexpect: 100-continue\r\ncontent-length: 2\r\n\r\n"
            )
            assert (await client.answer()).status == 100
            client.say(b"{}")
            assert (await client.answer()).body == b"POST /mutate  2"
            client.say(
                b"POST /mutate HTTP/1.1\r\nhost: w\r\nexpect: miracles\r\ncontent-length: 2\r\n\r\n"
            )
            assert (await client.answer()).status == 417

    told(story)


def test_a_request_to_go_on_waits_for_the_answers_before_it() -> None:
    async def story() -> None:
        go = asyncio.Event()

        async def later() -> HttpResponse:
            await go.wait()
            return HttpResponse(200, b"first")

        async with serving(
            lambda asked: later() if asked.path == b"/later" else echo(asked)
        ) as ground:
            client = await ground.connect()
            client.say(
                post(path="/later"),
                b"POST /b HTTP/1.1\r\nhost: w\r\nexpect: 100-continue\r\ncontent-length: 2\r\n\r\n",
            )
            await until(lambda: ground.room.count(Stage.BUSY) == 1)
            go.set()
            assert (await client.answer()).body == b"first"
            assert (await client.answer()).status == 100
            client.say(b"{}")
            assert (await client.answer()).body == b"POST /b  2"

    told(story)


def test_a_head_is_answered_without_a_body() -> None:
    async def story() -> None:
        async with serving() as ground:
            client = await ground.connect()
            client.say(b"HEAD /a HTTP/1.1\r\nhost: w\r\n\r\n", post(path="/b"))
            assert (await client.answer("HEAD")).headers["content-length"] == "10"
            assert (await client.answer()).body == b"POST /b application/json 2"

    told(story)


@pytest.mark.parametrize(
    "head", [b"POST /a HTTP/1.0\r\n", b"POST /a HTTP/1.1\r\nconnection: close\r\n"]
)
def test_who_wants_no_more_gets_an_answer_and_the_end(head: bytes) -> None:
    async def story() -> None:
        async with serving() as ground:
            client = await ground.connect()
            client.say(head, b"content-length: 2\r\n\r\n{}")
            answer = await client.answer()
            assert (answer.status, answer.closes) == (200, True)
            assert await client.ended() == b""

    told(story)


def test_an_upgrade_is_not_taken_up() -> None:
    async def story() -> None:
        async with serving() as ground:
            client = await ground.connect()
            client.say(b"GET /a HTTP/1.1\r\nhost: w\r\nconnection: upgrade\r\nupgrade: h2c\r\n\r\n")
            answer = await client.answer()
            assert (answer.status, answer.closes) == (200, True)
            assert await client.ended() == b""

    told(story)


# Order, and what waits.


def test_pipelined_requests_are_answered_in_order_however_long_each_takes() -> None:
    async def story() -> None:
        turns = random.Random(1)

        async def slow(path: bytes) -> HttpResponse:
            for _ in range(turns.randrange(4)):
                await asyncio.sleep(0)
            return HttpResponse(200, path)

        def either(asked: HttpRequest) -> HttpResponse | Awaitable[HttpResponse]:
            return slow(asked.path) if turns.random() < 0.5 else HttpResponse(200, asked.path)

        async with serving(either) as ground:
            client = await ground.connect()
            client.say(*(post(b"x" * turns.randrange(2000), f"/{number}") for number in range(500)))
            assert [(await client.answer()).body for _ in range(500)] == [
                b"/%d" % number for number in range(500)
            ]
            assert ground.room.held == 0

    told(story)


def test_little_is_taken_in_while_an_answer_has_to_wait() -> None:
    async def story() -> None:
        go = asyncio.Event()
        seen: list[bytes] = []

        async def waits(asked: HttpRequest) -> HttpResponse:
            seen.append(asked.path)
            await go.wait()
            return HttpResponse(200, b"x")

        async with serving(waits) as ground:
            client = await ground.connect()
            client.say(post(b"y" * 1000) * 2000)
            await until(lambda: ground.room.count(Stage.BUSY) == 1)
            for _ in range(100):
                await asyncio.sleep(0.001)
            assert len(seen) == 1
            assert ground.room.held <= 32 << 10
            go.set()
            for _ in range(2000):
                assert (await client.answer()).status == 200

    told(story)


def test_who_does_not_read_is_not_written_to() -> None:
    async def story() -> None:
        asked_for = 0

        def much(_: HttpRequest) -> HttpResponse:
            nonlocal asked_for
            asked_for += 1
            return HttpResponse(200, b"z" * 100_000)

        clock = Clock()
        async with serving(much, clock=clock) as ground:
            client = await ground.connect()
            client.writer.transport.set_write_buffer_limits(high=1 << 30)
            before = memory()
            client.say(post(b"") * 20_000)  # 2 GB of answers
            client.reader._transport.pause_reading()  # type: ignore[attr-defined]
            await until(lambda: ground.room.count(Stage.STUCK) == 1)
            for _ in range(100):
                await asyncio.sleep(0.001)
            assert asked_for < 2000
            assert memory() - before < 100 * MIB
            clock.time += 31
            ground.room.sweep()
            await until(lambda: len(ground.room) == 0)

    told(story)


def test_who_reads_again_gets_the_rest() -> None:
    async def story() -> None:
        async with serving(lambda _: HttpResponse(200, b"z" * 100_000)) as ground:
            client = await ground.connect()
            client.say(post(b"") * 300)
            await until(lambda: ground.room.count(Stage.STUCK) == 1)
            for _ in range(300):
                assert len((await client.answer()).body) == 100_000
            assert (await client.ask()).status == 200

    told(story)


def test_an_answer_that_nobody_waits_for_is_not_made() -> None:
    async def story() -> None:
        ended = asyncio.Event()

        async def forever() -> HttpResponse:
            try:
                await asyncio.Event().wait()
            finally:
                ended.set()
            return HttpResponse()

        async with serving(lambda _: forever()) as ground:
            client = await ground.connect()
            client.say(post(b"x" * 100))
            await until(lambda: ground.room.count(Stage.BUSY) == 1)
            await client.close()
            await ended.wait()
            await until(lambda: len(ground.room) == 0)
            assert ground.room.held == 0

    told(story)


# What goes wrong in us.


def test_a_handler_that_fails_is_a_500_and_a_line_in_the_log() -> None:
    def fails(asked: HttpRequest) -> HttpResponse:
        raise KeyError(asked.path)

    async def also_fails() -> HttpResponse:
        raise KeyError("later")

    async def story() -> None:
        async with serving(
            lambda asked: also_fails() if asked.path == b"/later" else fails(asked)
        ) as ground:
            client = await ground.connect()
            for path in ("/now", "/later", "/now"):
                answer = await client.ask(b"secret", path)
                assert (answer.status, answer.closes) == (500, False)
                assert b"KeyError" not in answer.body
            lines = ground.lines()
            assert [(line["level"], line["path"]) for line in lines] == [
                ("error", "/now"),
                ("error", "/later"),
                ("error", "/now"),
            ]
            assert "KeyError: 'later'" in str(lines[1]["error"])
            assert "secret" not in str(lines)

    told(story)


def test_a_503_says_to_come_again_on_another_connection() -> None:
    async def story() -> None:
        async with serving(lambda _: telling(503, "not synced yet")) as ground:
            client = await ground.connect()
            answer = await client.ask()
            assert (answer.status, answer.headers["retry-after"], answer.closes) == (503, "1", True)
            assert await client.ended() == b""

    told(story)
