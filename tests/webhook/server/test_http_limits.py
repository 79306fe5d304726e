"""Tests the limits of one connection: invalid, too large and too slow requests."""

from __future__ import annotations

import asyncio
import random

import pytest
from cwii_webhook.server.connections import MIB, Limits, Stage
from cwii_webhook.server.messages import HttpRequest, HttpResponse

from tests.webhook.server.local_server import (
    CHUNKED_HEAD,
    Client,
    FakeClock,
    LocalServer,
    build_post,
    echo,
    encode_chunks,
    resident_bytes,
    run_async,
    run_server,
    wait_until,
)

# Invalid and too large requests.


async def assert_rejected(client: Client, status: int) -> None:
    """Read an error response that closes the connection."""
    response = await client.read_response()
    assert (response.status, response.closes_connection) == (status, True), response
    await client.close()


def test_too_large_content_length_is_rejected_before_the_body() -> None:
    async def scenario() -> None:
        async with run_server() as server:
            assert (await (await server.connect()).post(b"x" * (8 * MIB))).status == 200
            client = await server.connect()
            client.send(
                b"POST /a HTTP/1.1\r\nhost: w\r\nexpect: 100-continue\r\ncontent-length: %d\r\n\r\n"
                % (8 * MIB + 1)
            )
            await assert_rejected(client, 413)
            client = await server.connect()
            client.send(
                b"POST /a HTTP/1.1\r\nhost: w\r\ncontent-length: 99999999999999999999999999\r\n\r\n"
            )
            assert (await client.read_response()).status in {400, 413}

    run_async(scenario)


def test_client_that_sends_a_too_large_body_can_read_the_response() -> None:
    async def scenario() -> None:
        async with run_server() as server:
            client = await server.connect()
            client.send(build_post(b"x" * (9 * MIB)))
            await assert_rejected(client, 413)
            await wait_until(lambda: server.connections.buffered_bytes == 0)

    run_async(scenario)


def test_too_large_chunked_body_is_rejected() -> None:
    async def scenario() -> None:
        async with run_server(limits=Limits(max_body_bytes=100_000)) as server:
            client = await server.connect()
            client.send(CHUNKED_HEAD, b"\r\n", encode_chunks(*[b"x" * 10_000] * 11))
            await assert_rejected(client, 413)

    run_async(scenario)


def test_small_chunks_use_no_more_memory_than_large_ones() -> None:
    async def scenario() -> None:
        async with run_server() as server:
            client = await server.connect()
            before = resident_bytes()
            client.send(CHUNKED_HEAD, b"\r\n")
            for _ in range(64):
                client.send(b"2\r\nxx\r\n" * 10_000)
                await client.writer.drain()
            await wait_until(lambda: server.connections.buffered_bytes == 64 * 20_000)
            assert resident_bytes() - before < 40 * MIB
            client.send(b"0\r\n\r\n")
            assert (await client.read_response()).body.endswith(b" 1280000")

    run_async(scenario)


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (b"GET /" + b"a" * 70_000, 431),
        (b"GET / HTTP/1.1\r\n" + b"a: b\r\n" * 20_000, 431),
        (b"GET / HTTP/1.1\r\na: " + b"b" * 200_000, 431),
        (b"GET / HTTP/1.1\r\n" + b"a" * 200_000, 431),
        (CHUNKED_HEAD + b"\r\n1;" + b"a" * 200_000, 431),
        (CHUNKED_HEAD + b"\r\n1\r\nx\r\n0\r\na: " + b"b" * 200_000, 431),
        (b"\r\n" * 100_000, 431),
        (b"nonsense\r\n\r\n", 400),
        (b"\x16\x03\x01\x02\x00\x01", 400),
        (b"POST / HTTP/1.1\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab", 400),
        (
            b"POST / HTTP/1.1\r\ncontent-length: 4\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
            400,
        ),
        (CHUNKED_HEAD + b"\r\nzz\r\n", 400),
        (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400),
    ],
)
def test_invalid_request_gets_an_error_status(data: bytes, status: int) -> None:
    async def scenario() -> None:
        async with run_server() as server:
            client = await server.connect()
            client.send(data)
            await assert_rejected(client, status)
            await wait_until(lambda: server.connections.buffered_bytes == 0)

    run_async(scenario)


def test_garbage_after_valid_requests_gets_status_400_after_their_responses() -> None:
    async def scenario() -> None:
        async def respond_later(request: HttpRequest) -> HttpResponse:
            await asyncio.sleep(0)
            return echo(request)

        async with run_server(respond_later) as server:
            client = await server.connect()
            client.send(build_post(path="/1"), build_post(path="/2"), b"\0\0\0\0")
            assert [(await client.read_response()).body.split()[1] for _ in range(2)] == [
                b"/1",
                b"/2",
            ]
            await assert_rejected(client, 400)

    run_async(scenario)


def test_ten_million_bytes_of_garbage_leak_no_memory() -> None:
    async def send_garbage(server: LocalServer, rng: random.Random) -> None:
        client = await server.connect()
        start = rng.choice(
            [b"", b"POST / HTTP/1.1\r\n", CHUNKED_HEAD + b"\r\n", build_post(b"")[:-2], b"GET /"]
        )
        client.send(start, rng.randbytes(10_000))
        await client.close()

    async def scenario() -> None:
        async with run_server() as server:
            rng = random.Random(7)
            await send_garbage(server, rng)
            before = resident_bytes()
            for _ in range(100):
                await asyncio.gather(*(send_garbage(server, rng) for _ in range(10)))
            await wait_until(lambda: len(server.connections) == 0)
            assert server.connections.buffered_bytes == 0
            assert resident_bytes() - before < 20 * MIB
            assert (await (await server.connect()).post()).status == 200
            assert server.log_lines() == []

    run_async(scenario)


# Timeouts, with a fake clock.


@pytest.mark.parametrize(
    ("data", "seconds", "status"),
    [
        (b"POST / HT", 11, 408),
        (b"POST / HTTP/1.1\r\ncontent-length: 10\r\n\r\n123", 31, 408),
        (CHUNKED_HEAD + b"\r\n3\r\nabc\r\n", 31, 408),
    ],
)
def test_incomplete_request_gets_status_408(data: bytes, seconds: float, status: int) -> None:
    async def scenario() -> None:
        clock = FakeClock()
        async with run_server(clock=clock) as server:
            client = await server.connect()
            client.send(data)
            await wait_until(lambda: server.connections.count(Stage.HEAD, Stage.BODY) == 1)
            clock.time = seconds - 2
            server.connections.enforce_timeouts()
            assert server.connections.count(Stage.HEAD, Stage.BODY) == 1
            clock.time = seconds
            server.connections.enforce_timeouts()
            assert (await client.read_response()).status == status
            assert server.connections.buffered_bytes == 0
            assert server.metric_value("cwii_http_unfinished_total") == 1
            clock.time += 6
            server.connections.enforce_timeouts()  # after close_timeout
            assert await client.read_to_end() == b""

    run_async(scenario)


def test_slow_bytes_do_not_extend_the_timeout() -> None:
    async def scenario() -> None:
        clock = FakeClock()
        async with run_server(clock=clock) as server:
            client = await server.connect()
            for byte in b"POST / HT":
                client.send(bytes([byte]))
                await wait_until(lambda: server.connections.count(Stage.HEAD) == 1)
                clock.time += 1
                server.connections.enforce_timeouts()
            clock.time += 2
            server.connections.enforce_timeouts()
            assert (await client.read_response()).status == 408

    run_async(scenario)


def test_idle_connection_outlives_the_idle_timeout_of_api_servers() -> None:
    async def scenario() -> None:
        clock = FakeClock()
        async with run_server(clock=clock) as server:
            client = await server.connect()
            await client.post()
            clock.time += 119
            server.connections.enforce_timeouts()
            assert (await client.post()).status == 200
            clock.time += 121
            server.connections.enforce_timeouts()
            assert await client.read_to_end() == b""

    run_async(scenario)


def test_handler_has_no_timeout() -> None:
    async def scenario() -> None:
        clock, release = FakeClock(), asyncio.Event()

        async def respond_later() -> HttpResponse:
            await release.wait()
            return HttpResponse(200, b"at last")

        async with run_server(lambda _: respond_later(), clock=clock) as server:
            client = await server.connect()
            client.send(build_post())
            await wait_until(lambda: server.connections.count(Stage.RESPONDING) == 1)
            clock.time += 1000
            server.connections.enforce_timeouts()
            release.set()
            assert (await client.read_response()).body == b"at last"

    run_async(scenario)
