"""Tests that a stalled process ends by itself, and that a working one continues."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Generator
from pathlib import Path

import pytest

from tests.webhook.apiserver.running import RunningApiServer
from tests.webhook.webhook_process import (
    EKS,
    POD,
    RunningWebhook,
    run_shop_apiserver,
    run_webhook,
    tls_flags,
    write_program,
)

ARGUMENTS = (*EKS, "--shutdown-delay=0s")
# The tests start the whole program as a process, because the watchdog ends its own process.
# SIGUSR1 shortens the times of the watchdog and runs the given code. The tests send it only when
# the program serves, because a busy machine may need long to start it.
ON_SIGUSR1 = """import os, re, signal, threading, time
from cwii_webhook.server import watchdog

def on_signal(*_):
    {}

signal.signal(signal.SIGUSR1, on_signal)
"""
STALL = "watchdog.MAX_MISSED_TICKS = 3; time.sleep(300)"
HOLD_GIL = """watchdog.MAX_MISSED_TICKS, watchdog.GIL_TIMEOUT = 3, 6.0
    threading.Timer(4.5, lambda: re.match("(a+)+b", "a" * 64)).start()"""
FILL_STDERR = """os.set_blocking(2, False)
    try:
        while True:
            os.write(2, b" " * 4096)
    except BlockingIOError:
        os.set_blocking(2, True)
    """
KEEP_WORKING = "watchdog.MAX_MISSED_TICKS = 3"
EXHAUST_THREADS = "watchdog.MAX_MISSED_TICKS = 3; threading.stack_size(1 << 50)"


@pytest.fixture
def apiserver() -> Generator[RunningApiServer]:
    with run_shop_apiserver() as ground:
        yield ground


def assert_serves(webhook: RunningWebhook) -> None:
    webhook.wait_until_ready()
    assert "patch" in webhook.review("/mutate", POD)


def run_until_exit(apiserver: RunningApiServer, folder: Path, code: str) -> tuple[Path, str]:
    """Run the code in a serving program until the program ends. Return its path and its log."""
    path = write_program(folder, ON_SIGUSR1.format(code))
    with run_webhook(
        apiserver, folder, *ARGUMENTS, *tls_flags(folder), program=path, exit_code=1
    ) as webhook:
        assert_serves(webhook)
        webhook.process.send_signal(signal.SIGUSR1)
        return path, webhook.process.communicate(timeout=60)[1]


def test_stalled_process_ends_and_logs_its_stack(
    apiserver: RunningApiServer, tmp_path: Path
) -> None:
    path, output = run_until_exit(apiserver, tmp_path, STALL)

    last = json.loads(output.splitlines()[-1])
    assert (last["level"], last["what"]) == (
        "error",
        "this hangs, and ends so that it is started again",
    )
    assert last["at"][0] == f"{path}:6 on_signal"


def test_process_that_holds_the_gil_ends_and_logs_its_stack(
    apiserver: RunningApiServer, tmp_path: Path
) -> None:
    path, output = run_until_exit(apiserver, tmp_path, HOLD_GIL)

    assert "Timeout" in output
    assert f'"{path}", line 7 in <lambda>' in output


@pytest.mark.parametrize("code", [STALL, HOLD_GIL], ids=["stalls", "holds-gil"])
def test_stalled_process_ends_when_its_log_pipe_is_full(
    apiserver: RunningApiServer, tmp_path: Path, code: str
) -> None:
    path = write_program(tmp_path, ON_SIGUSR1.format(FILL_STDERR + code))
    with run_webhook(
        apiserver, tmp_path, *ARGUMENTS, *tls_flags(tmp_path), program=path, exit_code=1
    ) as webhook:
        assert_serves(webhook)
        webhook.process.send_signal(signal.SIGUSR1)
        assert webhook.process.wait(60) == 1


def test_process_continues_after_a_long_sigstop(
    apiserver: RunningApiServer, tmp_path: Path
) -> None:
    with run_webhook(
        apiserver,
        tmp_path,
        *ARGUMENTS,
        *tls_flags(tmp_path),
        program=write_program(tmp_path, ON_SIGUSR1.format(KEEP_WORKING)),
    ) as webhook:
        assert_serves(webhook)
        webhook.process.send_signal(signal.SIGUSR1)
        time.sleep(1.5)
        for _ in range(2):
            webhook.process.send_signal(signal.SIGSTOP)
            time.sleep(5)
            webhook.process.send_signal(signal.SIGCONT)
            time.sleep(2)
            assert_serves(webhook)


def test_process_continues_when_no_more_threads_can_start(
    apiserver: RunningApiServer, tmp_path: Path
) -> None:
    with run_webhook(
        apiserver,
        tmp_path,
        *ARGUMENTS,
        *tls_flags(tmp_path),
        program=write_program(tmp_path, ON_SIGUSR1.format(EXHAUST_THREADS)),
    ) as webhook:
        assert_serves(webhook)
        webhook.process.send_signal(signal.SIGUSR1)
        time.sleep(5)
        assert_serves(webhook)
        assert webhook.process.poll() is None


def test_process_serves_and_warns_when_the_watchdog_thread_cannot_start(
    apiserver: RunningApiServer, tmp_path: Path
) -> None:
    path = write_program(tmp_path, "import threading\nthreading.stack_size(1 << 50)\n")
    with run_webhook(
        apiserver, tmp_path, *ARGUMENTS, *tls_flags(tmp_path), program=path
    ) as webhook:
        assert_serves(webhook)
        webhook.process.send_signal(signal.SIGTERM)
        assert webhook.process.stderr is not None
        output = webhook.process.stderr.read()

    assert "nobody would see it if this hung: no thread can be started" in output


def test_process_that_stalls_at_its_start_ends(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "kubeconfig")  # no process writes to it, so the program stalls
    path = write_program(
        tmp_path, "from cwii_webhook.server import watchdog\nwatchdog.MAX_MISSED_TICKS = 8\n"
    )
    command = [str(path), *EKS, "--sidecar", *tls_flags(tmp_path)]
    process = subprocess.run(
        command,
        env={**os.environ, "KUBECONFIG": str(tmp_path / "kubeconfig")},
        stderr=subprocess.PIPE,
        text=True,
        timeout=60,
        check=False,
    )

    assert process.returncode == 1, process.stderr
    assert any(
        "kubeconfig.py" in frame for frame in json.loads(process.stderr.splitlines()[-1])["at"]
    )


def test_only_the_stalled_worker_is_restarted(apiserver: RunningApiServer, tmp_path: Path) -> None:
    path = write_program(tmp_path, ON_SIGUSR1.format(STALL))
    with run_webhook(
        apiserver, tmp_path, *ARGUMENTS, *tls_flags(tmp_path), "--workers=2", program=path
    ) as webhook:
        assert_serves(webhook)
        before = wait_for_children(webhook, 2)
        os.kill(before[0], signal.SIGUSR1)
        assert webhook.process.stderr is not None
        lines = (json.loads(line) for line in webhook.process.stderr)
        restart = next(
            line for line in lines if line["what"] == "a worker ended, and is started again"
        )
        assert restart["code"] == 1
        assert set(before) & set(wait_for_children(webhook, 2)) == {before[1]}
        assert_serves(webhook)


def wait_for_children(webhook: RunningWebhook, count: int) -> list[int]:
    """Wait until the process has this number of children, and return their IDs."""
    file = Path(f"/proc/{webhook.process.pid}/task/{webhook.process.pid}/children")
    deadline = time.monotonic() + 60
    while len(pids := [int(pid) for pid in file.read_text().split()]) != count:
        assert time.monotonic() < deadline, pids
        time.sleep(0.05)
    return pids
