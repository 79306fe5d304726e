"""Tests the server as a process: readiness, shutdown, and workers."""

from __future__ import annotations

import asyncio
import signal
import time
from pathlib import Path

import msgspec
import pytest
from cwii_webhook.server.connections import Limits
from cwii_webhook.server.lifecycle import DrainTimes

from tests.webhook.certificates.authority import Authority
from tests.webhook.server.local_server import Client, Response, build_post, run_async
from tests.webhook.server.process import ServerProcess, start_server, wait_until


@pytest.fixture(scope="module")
def authority() -> Authority:
    return Authority()


def test_server_is_ready_when_it_has_a_certificate(authority: Authority, tmp_path: Path) -> None:
    with start_server(tmp_path) as server:
        assert server.get("/healthz") == (200, "ok\n")
        status, reasons = server.get("/readyz")
        assert (status, reasons.startswith("certificate: ")) == (503, True)
        authority.files(tmp_path)
        wait_until(server.is_ready)
        assert server.metric_value("cwii_ready") == 1
        assert server.metric_value("cwii_certificate_expiry_timestamp_seconds") > 0
        assert server.get("/nothing")[0] == 404


class Caller:
    """Sends requests as an API server does.

    It keeps its connection until the server closes it. If a server closes the port, the caller
    connects to the next one.
    """

    def __init__(self, authority: Authority, ports: list[int]) -> None:
        self.context = authority.trusted()
        self.ports = ports
        self.client: Client | None = None
        self.request_count = 0

    async def post(self, path: str) -> Response:
        if self.client is None:
            self.client = await self._connect()
        response = await self.client.post(b"x" * 5000, path)
        self.request_count += 1
        if response.closes_connection:
            await self.client.close()
            self.client = None
        return response

    async def _connect(self) -> Client:
        for port in self.ports:
            try:
                return Client(*await asyncio.open_connection("127.0.0.1", port, ssl=self.context))
            # A reset instead of a refusal: the server closed the port after the kernel had accepted
            # the connection. No request has been sent yet.
            except (ConnectionRefusedError, ConnectionResetError):
                continue
        raise AssertionError("no server listens")

    async def close(self) -> None:
        if self.client:
            await self.client.close()


@pytest.mark.parametrize("workers", [1, 2])
def test_sigterm_under_load_fails_no_request(
    authority: Authority, tmp_path: Path, workers: int
) -> None:
    authority.files(tmp_path)

    async def scenario(stopping: ServerProcess, staying: ServerProcess) -> None:
        callers = [Caller(authority, [stopping.port, staying.port]) for _ in range(8)]
        is_done = False

        async def send_requests(number: int, caller: Caller) -> None:
            while not is_done:
                assert (await caller.post("/slow" if number == 0 else "/mutate")).status == 200
                await asyncio.sleep(0.005 * number)

        tasks = [
            asyncio.ensure_future(send_requests(number, caller))
            for number, caller in enumerate(callers)
        ]
        while min(caller.request_count for caller in callers[1:]) < 10:
            await asyncio.sleep(0.01)
        stopping.process.send_signal(signal.SIGTERM)
        while stopping.process.poll() is None:
            await asyncio.sleep(0.01)
        before = [caller.request_count for caller in callers]
        while any(
            caller.request_count == count for caller, count in zip(callers, before, strict=True)
        ) and not any(task.done() for task in tasks):
            await asyncio.sleep(0.01)
        is_done = True
        await asyncio.gather(*tasks)
        for caller in callers:
            await caller.close()

    with (
        start_server(tmp_path, workers, shutdown_delay=0.5) as stopping,
        start_server(tmp_path) as staying,
    ):
        wait_until(stopping.is_ready)
        wait_until(staying.is_ready)
        run_async(lambda: scenario(stopping, staying))
        assert stopping.process.wait() == 0
        assert stopping.process.stderr is not None
        output = stopping.process.stderr.read().splitlines()
        assert [line for line in output if not line.startswith("{")] == []
        lines = [msgspec.json.decode(line, type=dict[str, object]) for line in output]
        assert [line["cut_off"] for line in lines if line["what"] == "drained"] == [0] * workers


def test_server_is_not_ready_but_serves_during_the_shutdown_delay(
    authority: Authority, tmp_path: Path
) -> None:
    authority.files(tmp_path)

    async def scenario(server: ServerProcess) -> None:
        existing = Caller(authority, [server.port])
        assert not (await existing.post("/mutate")).closes_connection
        server.process.send_signal(signal.SIGTERM)
        while server.is_ready():
            await asyncio.sleep(0.01)
        assert "draining" in server.get("/readyz")[1]
        for caller in (existing, Caller(authority, [server.port])):
            response = await caller.post("/mutate")
            assert (response.status, response.closes_connection) == (200, False)
            await caller.close()

    with start_server(tmp_path, shutdown_delay=600) as server:
        wait_until(server.is_ready)
        run_async(lambda: scenario(server))
        server.process.send_signal(signal.SIGTERM)  # a second signal ends the delay
        assert server.process.wait(60) == 0


def test_workers_share_readiness_and_metrics(authority: Authority, tmp_path: Path) -> None:
    authority.files(tmp_path)

    request_count = 0

    async def scenario(server: ServerProcess, requests: int, pids: set[bytes]) -> None:
        nonlocal request_count
        while requests or len(pids) < 2:
            client = Client(
                *await asyncio.open_connection("127.0.0.1", server.port, ssl=authority.trusted())
            )
            pids.add((await client.post()).body)
            await client.close()
            requests -= requests > 0
            request_count += 1

    with start_server(tmp_path, workers=2) as server:
        wait_until(server.is_ready)
        pids: set[bytes] = set()
        run_async(lambda: scenario(server, 20, pids))
        assert len(pids) == 2
        assert {
            server.metric_value("cwii_http_request_duration_seconds_count") for _ in range(20)
        } == {request_count}


def test_dead_worker_is_restarted_and_its_counters_stay(
    authority: Authority, tmp_path: Path
) -> None:
    authority.files(tmp_path)

    async def kill(server: ServerProcess) -> None:
        client = Client(
            *await asyncio.open_connection("127.0.0.1", server.port, ssl=authority.trusted())
        )
        await client.post()
        client.send(build_post(path="/die"))
        await client.read_to_end()
        await client.close()

    with start_server(tmp_path, workers=2) as server:
        wait_until(server.is_ready)
        before = server.metric_value("cwii_http_request_duration_seconds_count")
        run_async(lambda: kill(server))
        assert server.process.stderr is not None
        assert "started again" in server.process.stderr.readline()
        wait_until(server.is_ready)
        assert server.metric_value("cwii_http_request_duration_seconds_count") == before + 1
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(60) == 0


def test_shutdown_is_shorter_than_the_grace_period_of_the_kubelet() -> None:
    times, close_timeout = DrainTimes(), Limits().close_timeout
    assert times.shutdown_delay + times.timeout + close_timeout <= 30 - 2


@pytest.mark.parametrize("workers", [1, 2])
def test_sigterm_at_any_moment_of_the_start_gives_exit_code_0(tmp_path: Path, workers: int) -> None:
    for moment in (0.0, 0.05, 0.2):
        with start_server(tmp_path, workers) as server:
            time.sleep(moment)
            server.process.send_signal(signal.SIGTERM)
            assert server.process.wait(60) == 0, (
                server.process.stderr and server.process.stderr.read()
            )


def test_workers_end_when_their_supervisor_is_killed(authority: Authority, tmp_path: Path) -> None:
    authority.files(tmp_path)
    with start_server(tmp_path, workers=2) as server:
        wait_until(server.is_ready)
        server.process.kill()
        assert server.process.stderr is not None
        assert (
            server.process.stderr.read().count('"drained"') == 2
        )  # the pipe ends when the last worker ends
