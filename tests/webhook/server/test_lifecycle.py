"""The whole server as a process: it is ready when it can be, and when it goes nobody loses an answer."""

from __future__ import annotations

import asyncio
import signal
import time
from pathlib import Path

import msgspec
import pytest
from cwii_webhook.server.connections import Limits
from cwii_webhook.server.lifecycle import Drain

from tests.webhook.certificates.authority import Authority
from tests.webhook.server.connection import Answer, Client, post, told
from tests.webhook.server.process import Started, started, until


@pytest.fixture(scope="module")
def authority() -> Authority:
    return Authority()


def test_it_is_ready_once_it_has_a_certificate(authority: Authority, tmp_path: Path) -> None:
    with started(tmp_path) as server:
        assert server.get("/healthz") == (200, "ok\n")
        status, reasons = server.get("/readyz")
        assert (status, reasons.startswith("certificate: ")) == (503, True)
        authority.files(tmp_path)
        until(server.ready)
        assert server.number("cwii_ready") == 1
        assert server.number("cwii_certificate_expiry_timestamp_seconds") > 0
        assert server.get("/nothing")[0] == 404


class Caller:
    """As an API server: it keeps its connection, opens another when it was told to, and goes to the next replica when nobody listens."""

    def __init__(self, authority: Authority, ports: list[int]) -> None:
        self.context = authority.trusted()
        self.ports = ports
        self.client: Client | None = None
        self.asked = 0

    async def ask(self, path: str) -> Answer:
        if self.client is None:
            self.client = await self._connected()
        answer = await self.client.ask(b"x" * 5000, path)
        self.asked += 1
        if answer.closes:
            await self.client.close()
            self.client = None
        return answer

    async def _connected(self) -> Client:
        for port in self.ports:
            try:
                return Client(*await asyncio.open_connection("127.0.0.1", port, ssl=self.context))
            except ConnectionRefusedError:
                continue
        raise AssertionError("nobody listens")

    async def end(self) -> None:
        if self.client:
            await self.client.close()


@pytest.mark.parametrize("workers", [1, 2])
def test_sigterm_under_load_fails_no_request(
    authority: Authority, tmp_path: Path, workers: int
) -> None:
    authority.files(tmp_path)

    async def story(going: Started, staying: Started) -> None:
        callers = [Caller(authority, [going.port, staying.port]) for _ in range(8)]
        over = False

        async def keep_asking(number: int, caller: Caller) -> None:
            while not over:
                assert (await caller.ask("/slow" if number == 0 else "/mutate")).status == 200
                await asyncio.sleep(0.005 * number)

        load = [
            asyncio.ensure_future(keep_asking(number, caller))
            for number, caller in enumerate(callers)
        ]
        while min(caller.asked for caller in callers[1:]) < 10:
            await asyncio.sleep(0.01)
        going.process.send_signal(signal.SIGTERM)
        while going.process.poll() is None:
            await asyncio.sleep(0.01)
        before = [caller.asked for caller in callers]
        while any(
            caller.asked == then for caller, then in zip(callers, before, strict=True)
        ) and not any(task.done() for task in load):
            await asyncio.sleep(0.01)
        over = True
        await asyncio.gather(*load)
        for caller in callers:
            await caller.end()

    with started(tmp_path, workers, delay=0.5) as going, started(tmp_path) as staying:
        until(going.ready)
        until(staying.ready)
        told(lambda: story(going, staying))
        assert going.process.wait() == 0
        assert going.process.stderr is not None
        said = going.process.stderr.read().splitlines()
        assert [line for line in said if not line.startswith("{")] == []
        lines = [msgspec.json.decode(line, type=dict[str, object]) for line in said]
        assert [line["cut_off"] for line in lines if line["what"] == "drained"] == [0] * workers


def test_while_others_hear_of_it_it_serves_and_is_not_ready(
    authority: Authority, tmp_path: Path
) -> None:
    authority.files(tmp_path)

    async def story(server: Started) -> None:
        old = Caller(authority, [server.port])
        assert not (await old.ask("/mutate")).closes
        server.process.send_signal(signal.SIGTERM)
        while server.ready():
            await asyncio.sleep(0.01)
        assert "draining" in server.get("/readyz")[1]
        for caller in (old, Caller(authority, [server.port])):
            answer = await caller.ask("/mutate")
            assert (answer.status, answer.closes) == (200, False)
            await caller.end()

    with started(tmp_path, delay=600) as server:
        until(server.ready)
        told(lambda: story(server))
        server.process.send_signal(signal.SIGTERM)  # and a second one ends the waiting
        assert server.process.wait(60) == 0


def test_workers_are_ready_together_and_count_together(
    authority: Authority, tmp_path: Path
) -> None:
    authority.files(tmp_path)

    async def story(server: Started, requests: int, pids: set[bytes]) -> None:
        while requests or len(pids) < 2:
            client = Client(
                *await asyncio.open_connection("127.0.0.1", server.port, ssl=authority.trusted())
            )
            pids.add((await client.ask()).body)
            await client.close()
            requests -= requests > 0
            asked[0] += 1

    asked = [0]
    with started(tmp_path, workers=2) as server:
        until(server.ready)
        pids: set[bytes] = set()
        told(lambda: story(server, 20, pids))
        assert len(pids) == 2
        assert {server.number("cwii_http_request_duration_seconds_count") for _ in range(20)} == {
            asked[0]
        }


def test_a_worker_that_dies_is_replaced_and_what_it_counted_stays(
    authority: Authority, tmp_path: Path
) -> None:
    authority.files(tmp_path)

    async def kill(server: Started) -> None:
        client = Client(
            *await asyncio.open_connection("127.0.0.1", server.port, ssl=authority.trusted())
        )
        await client.ask()
        client.say(post(path="/die"))
        await client.ended()
        await client.close()

    with started(tmp_path, workers=2) as server:
        until(server.ready)
        before = server.number("cwii_http_request_duration_seconds_count")
        told(lambda: kill(server))
        assert server.process.stderr is not None
        assert "started again" in server.process.stderr.readline()
        until(server.ready)
        assert server.number("cwii_http_request_duration_seconds_count") == before + 1
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(60) == 0


def test_all_of_the_drain_is_less_than_what_a_kubelet_grants() -> None:
    drain, leaving = Drain(), Limits().leave_time
    assert drain.delay + drain.limit + leaving <= 30 - 2


@pytest.mark.parametrize("workers", [1, 2])
def test_who_is_told_to_end_at_any_moment_of_its_start_ends_well(
    tmp_path: Path, workers: int
) -> None:
    for moment in (0.0, 0.05, 0.2):
        with started(tmp_path, workers) as server:
            time.sleep(moment)
            server.process.send_signal(signal.SIGTERM)
            assert server.process.wait(60) == 0, (
                server.process.stderr and server.process.stderr.read()
            )


def test_workers_do_not_outlive_whoever_started_them(authority: Authority, tmp_path: Path) -> None:
    authority.files(tmp_path)
    with started(tmp_path, workers=2) as server:
        until(server.ready)
        server.process.kill()
        assert server.process.stderr is not None
        assert (
            server.process.stderr.read().count('"drained"') == 2
        )  # the pipe ends when the last of them does
