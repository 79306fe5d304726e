"""Tests one connection: HTTP/1.1, the order of responses, and errors of the handler."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable

import pytest
from cwii_webhook.server.connections import MIB, Stage
from cwii_webhook.server.messages import HttpRequest, HttpResponse, text_response

from tests.webhook.server.local_server import (
    CHUNKED_HEAD,
    FakeClock,
    build_post,
    echo,
    encode_chunks,
    resident_bytes,
    run_async,
    run_server,
    wait_until,
)

# Requests as an API server sends them.


def test_one_connection_carries_many_requests() -> None:
    async def scenario() -> None:
        async with run_server() as server:
            client = await server.connect()
            for size in (0, 1, 7000, 100_000, 3):
                response = await client.post(b"x" * size, "/mutate?timeout=10s")
                assert (response.status, response.body) == (
                    200,
                    b"POST /mutate application/json %d" % size,
                )
                assert response.headers["content-type"] == "application/json"
                assert not response.closes_connection
            assert server.metric_value("cwii_http_request_duration_seconds_count") == 5
            assert server.connections.buffered_bytes == 0

    run_async(scenario)


def test_header_names_are_case_insensitive() -> None:
    async def scenario() -> None:
        async with run_server() as server:
            client = await server.connect()
            client.send(
                b"POST /a HTTP/1.1\r\nhOST: w\r\n",
                b"CoNtEnT-tYpE: text/x\r\nCONTENT-LENGTH: 2\r\n\r\nhi",
            )
            assert (await client.read_response()).body == b"POST /a text/x 2"

    run_async(scenario)


def test_a_request_can_arrive_byte_by_byte() -> None:
    async def scenario() -> None:
        async with run_server() as server:
            client = await server.connect()
            for byte in build_post(b"abc", "/long/path"):
                client.send(bytes([byte]))
                await asyncio.sleep(0)
            assert (await client.read_response()).body == b"POST /long/path application/json 3"

    run_async(scenario)


def test_chunks_are_joined_to_one_body() -> None:
    def respond_with_body(request: HttpRequest) -> HttpResponse:
        return HttpResponse(200, request.body)

    async def scenario() -> None:
        async with run_server(respond_with_body) as server:
            client = await server.connect()
            client.send(CHUNKED_HEAD, b"\r\n", encode_chunks(b"ab", b"c", b"d" * 70_000))
            assert (await client.read_response()).body == b"abc" + b"d" * 70_000
            assert (await client.post(b"again")).body == b"again"

    run_async(scenario)


def test_expect_100_continue_gets_status_100() -> None:
    async def scenario() -> None:
        async with run_server() as server:
            client = await server.connect()
            client.send(
                b"POST /mutate HTTP/1.1\r\nhost: w\r\n",
                b"expect: 100-continue\r\ncontent-length: 2\r\n\r\n",
            )
            assert (await client.read_response()).status == 100
            client.send(b"{}")
            assert (await client.read_response()).body == b"POST /mutate  2"
            client.send(
                b"POST /mutate HTTP/1.1\r\nhost: w\r\nexpect: miracles\r\ncontent-length: 2\r\n\r\n"
            )
            assert (await client.read_response()).status == 417

    run_async(scenario)


def test_status_100_waits_for_earlier_responses() -> None:
    async def scenario() -> None:
        release = asyncio.Event()

        async def respond_later() -> HttpResponse:
            await release.wait()
            return HttpResponse(200, b"first")

        async with run_server(
            lambda request: respond_later() if request.path == b"/later" else echo(request)
        ) as server:
            client = await server.connect()
            client.send(
                build_post(path="/later"),
                b"POST /b HTTP/1.1\r\nhost: w\r\nexpect: 100-continue\r\ncontent-length: 2\r\n\r\n",
            )
            await wait_until(lambda: server.connections.count(Stage.RESPONDING) == 1)
            release.set()
            assert (await client.read_response()).body == b"first"
            assert (await client.read_response()).status == 100
            client.send(b"{}")
            assert (await client.read_response()).body == b"POST /b  2"

    run_async(scenario)


def test_head_response_has_no_body() -> None:
    async def scenario() -> None:
        async with run_server() as server:
            client = await server.connect()
            client.send(b"HEAD /a HTTP/1.1\r\nhost: w\r\n\r\n", build_post(path="/b"))
            assert (await client.read_response("HEAD")).headers["content-length"] == "10"
            assert (await client.read_response()).body == b"POST /b application/json 2"

    run_async(scenario)


@pytest.mark.parametrize(
    "head", [b"POST /a HTTP/1.0\r\n", b"POST /a HTTP/1.1\r\nconnection: close\r\n"]
)
def test_connection_closes_after_the_response_if_the_client_requests_it(head: bytes) -> None:
    async def scenario() -> None:
        async with run_server() as server:
            client = await server.connect()
            client.send(head, b"content-length: 2\r\n\r\n{}")
            response = await client.read_response()
            assert (response.status, response.closes_connection) == (200, True)
            assert await client.read_to_end() == b""

    run_async(scenario)


def test_upgrade_request_gets_a_plain_response() -> None:
    async def scenario() -> None:
        async with run_server() as server:
            client = await server.connect()
            client.send(
                b"GET /a HTTP/1.1\r\nhost: w\r\nconnection: upgrade\r\nupgrade: h2c\r\n\r\n"
            )
            response = await client.read_response()
            assert (response.status, response.closes_connection) == (200, True)
            assert await client.read_to_end() == b""

    run_async(scenario)


# Order of responses, and pending requests.


def test_pipelined_requests_get_responses_in_order_with_any_delays() -> None:
    async def scenario() -> None:
        rng = random.Random(1)

        async def slow(path: bytes) -> HttpResponse:
            for _ in range(rng.randrange(4)):
                await asyncio.sleep(0)
            return HttpResponse(200, path)

        def respond(request: HttpRequest) -> HttpResponse | Awaitable[HttpResponse]:
            return slow(request.path) if rng.random() < 0.5 else HttpResponse(200, request.path)

        async with run_server(respond) as server:
            client = await server.connect()
            client.send(
                *(build_post(b"x" * rng.randrange(2000), f"/{number}") for number in range(500))
            )
            assert [(await client.read_response()).body for _ in range(500)] == [
                b"/%d" % number for number in range(500)
            ]
            assert server.connections.buffered_bytes == 0

    run_async(scenario)


def test_input_is_limited_while_a_response_is_pending() -> None:
    async def scenario() -> None:
        release = asyncio.Event()
        paths: list[bytes] = []

        async def respond_after_release(request: HttpRequest) -> HttpResponse:
            paths.append(request.path)
            await release.wait()
            return HttpResponse(200, b"x")

        async with run_server(respond_after_release) as server:
            client = await server.connect()
            client.send(build_post(b"y" * 1000) * 2000)
            await wait_until(lambda: server.connections.count(Stage.RESPONDING) == 1)
            for _ in range(100):
                await asyncio.sleep(0.001)
            assert len(paths) == 1
            assert server.connections.buffered_bytes <= 32 << 10
            release.set()
            for _ in range(2000):
                assert (await client.read_response()).status == 200

    run_async(scenario)


def test_no_response_is_written_to_a_client_that_does_not_read() -> None:
    async def scenario() -> None:
        call_count = 0

        def respond_with_100_kb(_: HttpRequest) -> HttpResponse:
            nonlocal call_count
            call_count += 1
            return HttpResponse(200, b"z" * 100_000)

        clock = FakeClock()
        async with run_server(respond_with_100_kb, clock=clock) as server:
            client = await server.connect()
            client.writer.transport.set_write_buffer_limits(high=1 << 30)
            before = resident_bytes()
            client.send(build_post(b"") * 20_000)  # 2 GB of answers
            client.reader._transport.pause_reading()  # type: ignore[attr-defined]
            await wait_until(lambda: server.connections.count(Stage.WRITE_BLOCKED) == 1)
            for _ in range(100):
                await asyncio.sleep(0.001)
            assert call_count < 2000
            assert resident_bytes() - before < 100 * MIB
            clock.time += 31
            server.connections.enforce_timeouts()
            await wait_until(lambda: len(server.connections) == 0)

    run_async(scenario)


def test_client_that_resumes_reading_gets_all_responses() -> None:
    async def scenario() -> None:
        async with run_server(lambda _: HttpResponse(200, b"z" * 100_000)) as server:
            client = await server.connect()
            client.send(build_post(b"") * 300)
            await wait_until(lambda: server.connections.count(Stage.WRITE_BLOCKED) == 1)
            for _ in range(300):
                assert len((await client.read_response()).body) == 100_000
            assert (await client.post()).status == 200

    run_async(scenario)


def test_handler_is_cancelled_when_the_client_disconnects() -> None:
    async def scenario() -> None:
        was_cancelled = asyncio.Event()

        async def never_respond() -> HttpResponse:
            try:
                await asyncio.Event().wait()
            finally:
                was_cancelled.set()
            return HttpResponse()

        async with run_server(lambda _: never_respond()) as server:
            client = await server.connect()
            client.send(build_post(b"x" * 100))
            await wait_until(lambda: server.connections.count(Stage.RESPONDING) == 1)
            await client.close()
            await was_cancelled.wait()
            await wait_until(lambda: len(server.connections) == 0)
            assert server.connections.buffered_bytes == 0

    run_async(scenario)


# Errors of the handler.


def test_failing_handler_gives_status_500_and_a_log_line() -> None:
    def fail(request: HttpRequest) -> HttpResponse:
        raise KeyError(request.path)

    async def fail_later() -> HttpResponse:
        raise KeyError("later")

    async def scenario() -> None:
        async with run_server(
            lambda request: fail_later() if request.path == b"/later" else fail(request)
        ) as server:
            client = await server.connect()
            for path in ("/now", "/later", "/now"):
                response = await client.post(b"secret", path)
                assert (response.status, response.closes_connection) == (500, False)
                assert b"KeyError" not in response.body
            lines = server.log_lines()
            assert [(line["level"], line["path"]) for line in lines] == [
                ("error", "/now"),
                ("error", "/later"),
                ("error", "/now"),
            ]
            assert "KeyError: 'later'" in str(lines[1]["error"])
            assert "secret" not in str(lines)

    run_async(scenario)


def test_status_503_has_retry_after_and_closes_the_connection() -> None:
    async def scenario() -> None:
        async with run_server(lambda _: text_response(503, "not synced yet")) as server:
            client = await server.connect()
            response = await client.post()
            assert (
                response.status,
                response.headers["retry-after"],
                response.closes_connection,
            ) == (
                503,
                "1",
                True,
            )
            assert await client.read_to_end() == b""

    run_async(scenario)
