"""What is no request, too much or too slow: answered, ended, and never held."""

from __future__ import annotations

import asyncio
import random

import pytest
from cwii_webhook.server.connections import MIB, Limits, Stage
from cwii_webhook.server.messages import HttpRequest, HttpResponse

from tests.webhook.server.connection import (
    CHUNKED,
    Client,
    Clock,
    Ground,
    chunked,
    echo,
    memory,
    post,
    serving,
    told,
    until,
)

# Strangers.


async def refused(client: Client, status: int) -> None:
    """Told why, heard out, and left."""
    answer = await client.answer()
    assert (answer.status, answer.closes) == (status, True), answer
    await client.close()


def test_a_body_that_says_it_is_too_large_is_not_read() -> None:
    async def story() -> None:
        async with serving() as ground:
            assert (await (await ground.connect()).ask(b"x" * (8 * MIB))).status == 200
            client = await ground.connect()
            client.say(
                b"POST /a HTTP/1.1\r\nhost: w\r\nexpect: 100-continue\r\ncontent-length: %d\r\n\r\n"
                % (8 * MIB + 1)
            )
            await refused(client, 413)
            client = await ground.connect()
            client.say(
                b"POST /a HTTP/1.1\r\nhost: w\r\ncontent-length: 99999999999999999999999999\r\n\r\n"
            )
            assert (await client.answer()).status in {400, 413}

    told(story)


def test_who_sends_too_much_all_the_same_can_read_the_answer() -> None:
    async def story() -> None:
        async with serving() as ground:
            client = await ground.connect()
            client.say(post(b"x" * (9 * MIB)))
            await refused(client, 413)
            await until(lambda: ground.room.held == 0)

    told(story)


def test_a_chunked_body_cannot_be_too_large_either() -> None:
    async def story() -> None:
        async with serving(limits=Limits(body=100_000)) as ground:
            client = await ground.connect()
            client.say(CHUNKED, b"\r\n", chunked(*[b"x" * 10_000] * 11))
            await refused(client, 413)

    told(story)


def test_small_pieces_weigh_no_more_than_large_ones() -> None:
    async def story() -> None:
        async with serving() as ground:
            client = await ground.connect()
            before = memory()
            client.say(CHUNKED, b"\r\n")
            for _ in range(64):
                client.say(b"2\r\nxx\r\n" * 10_000)
                await client.writer.drain()
            await until(lambda: ground.room.held == 64 * 20_000)
            assert memory() - before < 40 * MIB
            client.say(b"0\r\n\r\n")
            assert (await client.answer()).body.endswith(b" 1280000")

    told(story)


@pytest.mark.parametrize(
    ("said", "status"),
    [
        (b"GET /" + b"a" * 70_000, 431),
        (b"GET / HTTP/1.1\r\n" + b"a: b\r\n" * 20_000, 431),
        (b"GET / HTTP/1.1\r\na: " + b"b" * 200_000, 431),
        (b"GET / HTTP/1.1\r\n" + b"a" * 200_000, 431),
        (CHUNKED + b"\r\n1;" + b"a" * 200_000, 431),
        (CHUNKED + b"\r\n1\r\nx\r\n0\r\na: " + b"b" * 200_000, 431),
        (b"\r\n" * 100_000, 431),
        (b"nonsense\r\n\r\n", 400),
        (b"\x16\x03\x01\x02\x00\x01", 400),
        (b"POST / HTTP/1.1\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab", 400),
        (
            b"POST / HTTP/1.1\r\ncontent-length: 4\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
            400,
        ),
        (CHUNKED + b"\r\nzz\r\n", 400),
        (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400),
    ],
)
def test_what_is_no_request_is_told_so(said: bytes, status: int) -> None:
    async def story() -> None:
        async with serving() as ground:
            client = await ground.connect()
            client.say(said)
            await refused(client, status)
            await until(lambda: ground.room.held == 0)

    told(story)


def test_garbage_after_good_requests_is_told_so_after_their_answers() -> None:
    async def story() -> None:
        async def later(asked: HttpRequest) -> HttpResponse:
            await asyncio.sleep(0)
            return echo(asked)

        async with serving(later) as ground:
            client = await ground.connect()
            client.say(post(path="/1"), post(path="/2"), b"\0\0\0\0")
            assert [(await client.answer()).body.split()[1] for _ in range(2)] == [b"/1", b"/2"]
            await refused(client, 400)

    told(story)


def test_ten_million_bytes_of_garbage_leave_nothing_behind() -> None:
    async def rubbish(ground: Ground, chance: random.Random) -> None:
        client = await ground.connect()
        start = chance.choice(
            [b"", b"POST / HTTP/1.1\r\n", CHUNKED + b"\r\n", post(b"")[:-2], b"GET /"]
        )
        client.say(start, chance.randbytes(10_000))
        await client.close()

    async def story() -> None:
        async with serving() as ground:
            chance = random.Random(7)
            await rubbish(ground, chance)
            before = memory()
            for _ in range(100):
                await asyncio.gather(*(rubbish(ground, chance) for _ in range(10)))
            await until(lambda: len(ground.room) == 0)
            assert ground.room.held == 0
            assert memory() - before < 20 * MIB
            assert (await (await ground.connect()).ask()).status == 200
            assert ground.lines() == []

    told(story)


# Time, which passes when the test says so.


@pytest.mark.parametrize(
    ("said", "seconds", "status"),
    [
        (b"POST / HT", 11, 408),
        (b"POST / HTTP/1.1\r\ncontent-length: 10\r\n\r\n123", 31, 408),
        (CHUNKED + b"\r\n3\r\nabc\r\n", 31, 408),
    ],
)
def test_who_does_not_finish_is_told_so(said: bytes, seconds: float, status: int) -> None:
    async def story() -> None:
        clock = Clock()
        async with serving(clock=clock) as ground:
            client = await ground.connect()
            client.say(said)
            await until(lambda: ground.room.count(Stage.HEAD, Stage.BODY) == 1)
            clock.time = seconds - 2
            ground.room.sweep()
            assert ground.room.count(Stage.HEAD, Stage.BODY) == 1
            clock.time = seconds
            ground.room.sweep()
            assert (await client.answer()).status == status
            assert ground.room.held == 0
            assert ground.number("cwii_http_unfinished_total") == 1
            clock.time += 6
            ground.room.sweep()  # it was heard out for long enough
            assert await client.ended() == b""

    told(story)


def test_bytes_that_drip_do_not_make_time_stand_still() -> None:
    async def story() -> None:
        clock = Clock()
        async with serving(clock=clock) as ground:
            client = await ground.connect()
            for byte in b"POST / HT":
                client.say(bytes([byte]))
                await until(lambda: ground.room.count(Stage.HEAD) == 1)
                clock.time += 1
                ground.room.sweep()
            clock.time += 2
            ground.room.sweep()
            assert (await client.answer()).status == 408

    told(story)


def test_an_idle_connection_outlives_the_api_server_s_patience() -> None:
    async def story() -> None:
        clock = Clock()
        async with serving(clock=clock) as ground:
            client = await ground.connect()
            await client.ask()
            clock.time += 119
            ground.room.sweep()
            assert (await client.ask()).status == 200
            clock.time += 121
            ground.room.sweep()
            assert await client.ended() == b""

    told(story)


def test_a_reply_takes_what_time_it_takes() -> None:
    async def story() -> None:
        clock, go = Clock(), asyncio.Event()

        async def later() -> HttpResponse:
            await go.wait()
            return HttpResponse(200, b"at last")

        async with serving(lambda _: later(), clock=clock) as ground:
            client = await ground.connect()
            client.say(post())
            await until(lambda: ground.room.count(Stage.BUSY) == 1)
            clock.time += 1000
            ground.room.sweep()
            go.set()
            assert (await client.answer()).body == b"at last"

    told(story)
