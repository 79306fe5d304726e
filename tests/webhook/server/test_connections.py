"""Tests the limits of all connections together: their number and their buffered bytes."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
from pathlib import Path

import pytest
from cwii_webhook.server.connections import Limits, Stage
from cwii_webhook.server.messages import HttpResponse
from cwii_webhook.server.tls import Certificates, TlsSettings

from tests.webhook.certificates.authority import Authority
from tests.webhook.server.local_server import build_post, run_async, run_server, wait_until


def test_connection_that_is_idle_for_longest_is_evicted() -> None:
    async def scenario() -> None:
        async with run_server(limits=Limits(max_connections=3)) as server:
            first, second, third = [await server.connect() for _ in range(3)]
            for client in (second, third, first):
                await client.post()
            assert (await (await server.connect()).post()).status == 200
            assert await second.read_to_end() == b""
            assert (await first.post()).status == 200
            assert (await third.post()).status == 200
            assert len(server.connections) == 3

    run_async(scenario)


def test_connection_with_a_pending_response_is_not_evicted() -> None:
    async def scenario() -> None:
        release = asyncio.Event()

        async def respond_later() -> HttpResponse:
            await release.wait()
            return HttpResponse(200, b"at last")

        async with run_server(
            lambda _: respond_later(), limits=Limits(max_connections=2)
        ) as server:
            pending = await server.connect()
            pending.send(build_post())
            await wait_until(lambda: server.connections.count(Stage.RESPONDING) == 1)
            incomplete = await server.connect()
            incomplete.send(build_post()[:20])
            await wait_until(lambda: server.connections.count(Stage.HEAD) == 1)
            await server.connect()
            assert await incomplete.read_to_end() == b""
            release.set()
            assert (await pending.read_response()).body == b"at last"

    run_async(scenario)


def test_a_thousand_silent_connections_do_not_block_clients(tmp_path: Path) -> None:
    """Half of the connections stop in the middle of the TLS handshake."""
    authority = Authority()
    certificates = Certificates(authority.files(tmp_path), TlsSettings())
    certificates.refresh()

    async def scenario() -> None:
        async with run_server(
            limits=Limits(max_connections=100), certificates=certificates
        ) as server:
            with contextlib.ExitStack() as stack:
                for number in range(1000):
                    silent_connection = stack.enter_context(
                        socket.create_connection(("127.0.0.1", server.port))
                    )
                    if number % 2:
                        silent_connection.sendall(b"\x16\x03\x01\x00\xf4\x01")
                    if number % 100 == 0:
                        assert (
                            await (await server.connect(authority.trusted())).post()
                        ).status == 200
                    await asyncio.sleep(0)
                assert (await (await server.connect(authority.trusted())).post()).status == 200
                assert len(server.connections) <= 100
            await wait_until(lambda: server.connections.count(Stage.HANDSHAKE) == 0)

    run_async(scenario)


def test_a_thousand_connections_are_served(tmp_path: Path) -> None:
    authority = Authority()
    certificates = Certificates(authority.files(tmp_path), TlsSettings())
    certificates.refresh()
    trusted = authority.trusted()

    async def scenario() -> None:
        async with run_server(
            limits=Limits(max_connections=300, handshake_timeout=60), certificates=certificates
        ) as server:
            for _ in range(4):
                clients = await asyncio.gather(*(server.connect(trusted) for _ in range(250)))
                assert {(await client.post()).status for client in clients} == {200}
            assert len(server.connections) <= 300

    run_async(scenario)


def test_slowest_sender_is_rejected_when_the_buffer_is_full() -> None:
    async def scenario() -> None:
        async with run_server(limits=Limits(max_buffered_bytes=100_000)) as server:
            slow = await server.connect()
            slow.send(build_post(b"x" * 90_000)[:-1])
            await wait_until(lambda: server.connections.buffered_bytes == 89_999)
            fast = await server.connect()
            assert (await fast.post(b"y" * 50_000)).status == 200
            response = await slow.read_response()
            assert (
                response.status,
                response.headers["retry-after"],
                response.closes_connection,
            ) == (
                503,
                "1",
                True,
            )
            assert server.connections.buffered_bytes == 0
            assert (await fast.post(b"y" * 50_000)).status == 200

    run_async(scenario)


def test_body_is_rejected_when_pending_requests_fill_the_buffer() -> None:
    async def scenario() -> None:
        release = asyncio.Event()

        async def respond_later() -> HttpResponse:
            await release.wait()
            return HttpResponse(200, b"at last")

        async with run_server(
            lambda _: respond_later(), limits=Limits(max_buffered_bytes=100_000)
        ) as server:
            pending = await server.connect()
            pending.send(build_post(b"x" * 90_000))
            await wait_until(lambda: server.connections.count(Stage.RESPONDING) == 1)
            rejected = await server.connect()
            rejected.send(build_post(b"y" * 50_000))
            assert (await rejected.read_response()).status == 503
            assert server.connections.buffered_bytes == 90_000
            release.set()
            assert (await pending.read_response()).body == b"at last"
            assert server.connections.buffered_bytes == 0

    run_async(scenario)


def test_vanished_client_is_removed(tmp_path: Path) -> None:
    authority = Authority()
    certificates = Certificates(authority.files(tmp_path), TlsSettings())
    certificates.refresh()

    async def scenario() -> None:
        now = [0.0]
        async with run_server(certificates=certificates, clock=lambda: now[0]) as server:
            client = await server.connect(authority.trusted())
            await client.post()
            client.writer.transport.pause_reading()  # type: ignore[attr-defined]  # the client reads nothing, not even the close
            now[0] += 121
            server.connections.enforce_timeouts()
            assert server.connections.count(Stage.CLOSING) == len(server.connections)
            now[0] += 6
            server.connections.enforce_timeouts()
            await wait_until(lambda: len(server.connections) == 0)

    run_async(scenario)


def test_plain_http_on_the_tls_port_gets_no_response(tmp_path: Path) -> None:
    authority = Authority()
    certificates = Certificates(authority.files(tmp_path), TlsSettings())
    certificates.refresh()

    async def scenario() -> None:
        async with run_server(certificates=certificates) as server:
            client = await server.connect()
            client.send(build_post())
            assert b"HTTP" not in await client.read_to_end()
            await wait_until(lambda: len(server.connections) == 0)
            assert server.metric_value("cwii_tls_handshakes_failed_total") == 1
            with pytest.raises(ssl.SSLError):
                await server.connect(ssl.create_default_context())
            assert server.log_lines() == []

    run_async(scenario)
