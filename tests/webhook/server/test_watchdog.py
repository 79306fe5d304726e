"""Who hangs ends by itself, whatever it hangs in and whoever reads its log; who works does not. No port has to be asked for that: another process may hold it.

SIGUSR1 shortens the times, and begins what is told: not before it serves, for a busy machine may take long to start it.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Generator
from pathlib import Path

import pytest

from tests.webhook.apiserver.running import Ground
from tests.webhook.webhook_process import (
    EKS,
    POD,
    RunningWebhook,
    run_shop_apiserver,
    run_webhook,
    tls_flags,
    write_program,
)

WORDS = (*EKS, "--shutdown-delay=0s")
TOLD = """import os, re, signal, threading, time
from cwii_webhook import pulse

def told(*_):
    {}

signal.signal(signal.SIGUSR1, told)
"""
HANGS = "pulse.HANGS = 3; time.sleep(300)"
HOLDS = """pulse.HANGS, pulse.HELD = 3, 6.0
    threading.Timer(4.5, lambda: re.match("(a+)+b", "a" * 64)).start()"""
FULL = """os.set_blocking(2, False)
    try:
        while True:
            os.write(2, b" " * 4096)
    except BlockingIOError:
        os.set_blocking(2, True)
    """
WORKS = "pulse.HANGS = 3"
NO_THREAD = "pulse.HANGS = 3; threading.stack_size(1 << 50)"


@pytest.fixture
def apiserver() -> Generator[Ground]:
    with run_shop_apiserver() as ground:
        yield ground


def decides(webhook: RunningWebhook) -> None:
    webhook.wait_until_ready()
    assert "patch" in webhook.review("/mutate", POD)


def ended(apiserver: Ground, folder: Path, does: str) -> tuple[Path, str]:
    """Who does that when it is told to, and its last words."""
    called = write_program(folder, TOLD.format(does))
    with run_webhook(
        apiserver, folder, *WORDS, *tls_flags(folder), program=called, exit_code=1
    ) as webhook:
        decides(webhook)
        webhook.process.send_signal(signal.SIGUSR1)
        return called, webhook.process.communicate(timeout=60)[1]


def test_one_that_hangs_ends_and_says_where(apiserver: Ground, tmp_path: Path) -> None:
    called, said = ended(apiserver, tmp_path, HANGS)

    last = json.loads(said.splitlines()[-1])
    assert (last["level"], last["what"]) == (
        "error",
        "this hangs, and ends so that it is started again",
    )
    assert last["at"][0] == f"{called}:6 told"


def test_it_ends_though_it_lets_no_other_thread_run_and_says_where(
    apiserver: Ground, tmp_path: Path
) -> None:
    called, said = ended(apiserver, tmp_path, HOLDS)

    assert "Timeout" in said
    assert f'"{called}", line 7 in <lambda>' in said


@pytest.mark.parametrize("hangs", [HANGS, HOLDS], ids=["hangs", "holds"])
def test_it_ends_though_nobody_reads_its_log(apiserver: Ground, tmp_path: Path, hangs: str) -> None:
    called = write_program(tmp_path, TOLD.format(FULL + hangs))
    with run_webhook(
        apiserver, tmp_path, *WORDS, *tls_flags(tmp_path), program=called, exit_code=1
    ) as webhook:
        decides(webhook)
        webhook.process.send_signal(signal.SIGUSR1)
        assert webhook.process.wait(60) == 1


def test_one_that_was_stopped_for_longer_goes_on(apiserver: Ground, tmp_path: Path) -> None:
    with run_webhook(
        apiserver,
        tmp_path,
        *WORDS,
        *tls_flags(tmp_path),
        program=write_program(tmp_path, TOLD.format(WORKS)),
    ) as webhook:
        decides(webhook)
        webhook.process.send_signal(signal.SIGUSR1)
        time.sleep(1.5)
        for _ in range(2):
            webhook.process.send_signal(signal.SIGSTOP)
            time.sleep(5)
            webhook.process.send_signal(signal.SIGCONT)
            time.sleep(2)
            decides(webhook)


def test_where_no_more_threads_can_be_started_it_goes_on(apiserver: Ground, tmp_path: Path) -> None:
    with run_webhook(
        apiserver,
        tmp_path,
        *WORDS,
        *tls_flags(tmp_path),
        program=write_program(tmp_path, TOLD.format(NO_THREAD)),
    ) as webhook:
        decides(webhook)
        webhook.process.send_signal(signal.SIGUSR1)
        time.sleep(5)
        decides(webhook)
        assert webhook.process.poll() is None


def test_where_no_thread_can_be_started_at_all_it_says_so_and_serves(
    apiserver: Ground, tmp_path: Path
) -> None:
    called = write_program(tmp_path, "import threading\nthreading.stack_size(1 << 50)\n")
    with run_webhook(apiserver, tmp_path, *WORDS, *tls_flags(tmp_path), program=called) as webhook:
        decides(webhook)
        webhook.process.send_signal(signal.SIGTERM)
        assert webhook.process.stderr is not None
        said = webhook.process.stderr.read()

    assert "nobody would see it if this hung: no thread can be started" in said


def test_one_that_hangs_at_its_start_ends(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "kubeconfig")  # which nobody writes
    called = write_program(tmp_path, "from cwii_webhook import pulse\npulse.HANGS = 8\n")
    words = [str(called), *EKS, "--sidecar", *tls_flags(tmp_path)]
    ended = subprocess.run(
        words,
        env={**os.environ, "KUBECONFIG": str(tmp_path / "kubeconfig")},
        stderr=subprocess.PIPE,
        text=True,
        timeout=60,
        check=False,
    )

    assert ended.returncode == 1, ended.stderr
    assert any(
        "kubeconfig.py" in place for place in json.loads(ended.stderr.splitlines()[-1])["at"]
    )


def test_of_several_workers_only_the_one_that_hangs_ends_and_is_started_again(
    apiserver: Ground, tmp_path: Path
) -> None:
    called = write_program(tmp_path, TOLD.format(HANGS))
    with run_webhook(
        apiserver, tmp_path, *WORDS, *tls_flags(tmp_path), "--workers=2", program=called
    ) as webhook:
        decides(webhook)
        before = children(webhook, 2)
        os.kill(before[0], signal.SIGUSR1)
        assert webhook.process.stderr is not None
        lines = (json.loads(line) for line in webhook.process.stderr)
        again = next(
            line for line in lines if line["what"] == "a worker ended, and is started again"
        )
        assert again["code"] == 1
        assert set(before) & set(children(webhook, 2)) == {before[1]}
        decides(webhook)


def children(webhook: RunningWebhook, count: int) -> list[int]:
    """Who was just forked may not be seen yet."""
    file = Path(f"/proc/{webhook.process.pid}/task/{webhook.process.pid}/children")
    until = time.monotonic() + 60
    while len(pids := [int(pid) for pid in file.read_text().split()]) != count:
        assert time.monotonic() < until, pids
        time.sleep(0.05)
    return pids
