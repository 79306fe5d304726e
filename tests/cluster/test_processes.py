"""Programs that end with whoever has started them, whatever becomes of that."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cluster.kube.processes import APART, Broken, Processes
from tests.cluster.traces import processes_in, seen_within

OWNER = """
import sys, time
from pathlib import Path
from tests.cluster.kube.processes import Processes
folder = Path(sys.argv[1])
with Processes(folder, sys.argv[3:]) as processes:
    processes.remove(folder)
    processes.start("parent", ["sh", "-c", sys.argv[2]])
    print("started", flush=True)
    time.sleep(1000)
"""


def daemon(folder: Path) -> str:
    """A script that starts another one, which then has no parent any more."""
    return f"setsid sh -c 'sleep 1000; : {folder}' & exec tail -f {folder}/parent.log"


root = pytest.mark.skipif(
    os.geteuid() != 0 and not os.environ.get("CI"), reason="namespaces need root"
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "programs").mkdir()
    return tmp_path / "programs"


@pytest.fixture
def processes(folder: Path) -> Iterator[Processes]:
    with Processes(folder) as processes:
        yield processes


def test_what_ends_of_itself_is_told_with_its_last_words(processes: Processes) -> None:
    processes.start("api", ["sh", "-c", "echo one; echo no such key >&2; exit 3"])

    with pytest.raises(Broken, match="api has ended: one / no such key"):
        processes.until(lambda: False, "it to be ready")


def test_what_never_comes_is_waited_for_no_longer_than_said(processes: Processes) -> None:
    with pytest.raises(Broken, match="waited 0 s for rain"):
        processes.until(lambda: False, "rain", seconds=0.2)


def test_what_cannot_be_started_is_said(processes: Processes) -> None:
    with pytest.raises(Broken, match=r"`/nowhere/program` failed: .*No such file"):
        processes.run("/nowhere/program")


def test_what_hears_no_request_to_end_is_killed(processes: Processes, folder: Path) -> None:
    processes.start(
        "deaf", ["sh", "-c", f"trap '' TERM; echo ready; while :; do sleep 0.1; done; : {folder}"]
    )
    processes.until(lambda: "ready" in processes.log("deaf").read_text(), "it to listen")

    processes.stop("deaf")

    assert seen_within(
        5, lambda: not processes_in(folder)
    )  # a child that it was just about to make goes by itself


def test_it_runs_again_with_the_same_words(processes: Processes) -> None:
    processes.start("echo", ["sh", "-c", "echo once; exec sleep 1000"])
    processes.until(lambda: processes.log("echo").read_text() == "once\n", "its first words")

    processes.restart("echo")

    processes.until(lambda: processes.log("echo").read_text() == "once\nonce\n", "its words again")


@root
def test_nothing_is_left_when_the_owner_is_killed_not_even_what_daemons_have_started(
    folder: Path,
) -> None:
    environment = {**os.environ, "PYTHONPATH": os.getcwd()}  # noqa: PTH109
    command = [sys.executable, "-c", OWNER, str(folder), daemon(folder), *APART]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as owner:
        assert owner.stdout
        assert owner.stdout.readline() == "started\n"
        assert seen_within(
            10, lambda: any(line.startswith("sh -c sleep 1000") for line in processes_in(folder))
        )
        owner.kill()

    assert seen_within(20, lambda: not folder.exists())
    assert not processes_in(folder)


@root
def test_nothing_is_left_when_the_keeper_is_killed(folder: Path) -> None:
    with Processes(folder, APART) as processes:
        processes.start("parent", ["sh", "-c", daemon(folder)])
        assert seen_within(
            10, lambda: any(line.startswith("sh -c sleep 1000") for line in processes_in(folder))
        )

        os.kill(processes.first, 9)

        assert seen_within(10, lambda: not processes_in(folder))
        with pytest.raises(Broken, match="its keeper has ended"):
            processes.start("more", ["true"])
