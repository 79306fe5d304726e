"""Many at once: who gives way, and what all together may hold."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
from pathlib import Path

import pytest
from cwii_webhook.server.connections import Limits, Stage
from cwii_webhook.server.messages import HttpResponse
from cwii_webhook.server.tls import Certificates, Terms

from tests.webhook.certificates.authority import Authority
from tests.webhook.server.connection import post, serving, told, until


def test_the_longest_idle_gives_way() -> None:
    async def story() -> None:
        async with serving(limits=Limits(connections=3)) as ground:
            first, second, third = [await ground.connect() for _ in range(3)]
            for client in (second, third, first):
                await client.ask()
            assert (await (await ground.connect()).ask()).status == 200
            assert await second.ended() == b""
            assert (await first.ask()).status == 200
            assert (await third.ask()).status == 200
            assert len(ground.room) == 3

    told(story)


def test_whose_reply_is_being_made_stays() -> None:
    async def story() -> None:
        go = asyncio.Event()

        async def later() -> HttpResponse:
            await go.wait()
            return HttpResponse(200, b"at last")

        async with serving(lambda _: later(), limits=Limits(connections=2)) as ground:
            busy = await ground.connect()
            busy.say(post())
            await until(lambda: ground.room.count(Stage.BUSY) == 1)
            half = await ground.connect()
            half.say(post()[:20])
            await until(lambda: ground.room.count(Stage.HEAD) == 1)
            await ground.connect()
            assert await half.ended() == b""
            go.set()
            assert (await busy.answer()).body == b"at last"

    told(story)


def test_a_thousand_silent_strangers_keep_nobody_out(tmp_path: Path) -> None:
    """Half of them stop in the middle of their handshake."""
    authority = Authority()
    certificates = Certificates(authority.files(tmp_path), Terms())
    certificates.refresh()

    async def story() -> None:
        async with serving(limits=Limits(connections=100), certificates=certificates) as ground:
            with contextlib.ExitStack() as stack:
                for number in range(1000):
                    stranger = stack.enter_context(
                        socket.create_connection(("127.0.0.1", ground.port))
                    )
                    if number % 2:
                        stranger.sendall(b"\x16\x03\x01\x00\xf4\x01")
                    if number % 100 == 0:
                        assert (
                            await (await ground.connect(authority.trusted())).ask()
                        ).status == 200
                    await asyncio.sleep(0)
                assert (await (await ground.connect(authority.trusted())).ask()).status == 200
                assert len(ground.room) <= 100
            await until(lambda: ground.room.count(Stage.ARRIVING) == 0)

    told(story)


def test_a_thousand_connections_are_served(tmp_path: Path) -> None:
    authority = Authority()
    certificates = Certificates(authority.files(tmp_path), Terms())
    certificates.refresh()
    trusted = authority.trusted()

    async def story() -> None:
        async with serving(
            limits=Limits(connections=300, handshake=60), certificates=certificates
        ) as ground:
            for _ in range(4):
                clients = await asyncio.gather(*(ground.connect(trusted) for _ in range(250)))
                assert {(await client.ask()).status for client in clients} == {200}
            assert len(ground.room) <= 300

    told(story)


def test_whoever_has_been_sending_for_longest_gives_way() -> None:
    async def story() -> None:
        async with serving(limits=Limits(held=100_000)) as ground:
            slow = await ground.connect()
            slow.say(post(b"x" * 90_000)[:-1])
            await until(lambda: ground.room.held == 89_999)
            quick = await ground.connect()
            assert (await quick.ask(b"y" * 50_000)).status == 200
            answer = await slow.answer()
            assert (answer.status, answer.headers["retry-after"], answer.closes) == (503, "1", True)
            assert ground.room.held == 0
            assert (await quick.ask(b"y" * 50_000)).status == 200

    told(story)


def test_what_cannot_be_held_at_all_is_refused() -> None:
    async def story() -> None:
        go = asyncio.Event()

        async def later() -> HttpResponse:
            await go.wait()
            return HttpResponse(200, b"at last")

        async with serving(lambda _: later(), limits=Limits(held=100_000)) as ground:
            busy = await ground.connect()
            busy.say(post(b"x" * 90_000))
            await until(lambda: ground.room.count(Stage.BUSY) == 1)
            late = await ground.connect()
            late.say(post(b"y" * 50_000))
            assert (await late.answer()).status == 503
            assert ground.room.held == 90_000
            go.set()
            assert (await busy.answer()).body == b"at last"
            assert ground.room.held == 0

    told(story)


def test_a_peer_that_vanished_is_forgotten(tmp_path: Path) -> None:
    authority = Authority()
    certificates = Certificates(authority.files(tmp_path), Terms())
    certificates.refresh()

    async def story() -> None:
        time = [0.0]
        async with serving(certificates=certificates, clock=lambda: time[0]) as ground:
            client = await ground.connect(authority.trusted())
            await client.ask()
            client.writer.transport.pause_reading()  # type: ignore[attr-defined]  # it hears nothing any more, not even the end
            time[0] += 121
            ground.room.sweep()
            assert ground.room.count(Stage.LEAVING) == len(ground.room)
            time[0] += 6
            ground.room.sweep()
            await until(lambda: len(ground.room) == 0)

    told(story)


def test_plain_words_at_the_door_with_tls_are_no_conversation(tmp_path: Path) -> None:
    authority = Authority()
    certificates = Certificates(authority.files(tmp_path), Terms())
    certificates.refresh()

    async def story() -> None:
        async with serving(certificates=certificates) as ground:
            client = await ground.connect()
            client.say(post())
            assert b"HTTP" not in await client.ended()
            await until(lambda: len(ground.room) == 0)
            assert ground.number("cwii_tls_handshakes_failed_total") == 1
            with pytest.raises(ssl.SSLError):
                await ground.connect(ssl.create_default_context())
            assert ground.lines() == []

    told(story)
