"""That program, as a process of its own."""

from __future__ import annotations

import contextlib
import http.client
import subprocess
import sys
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass
from pathlib import Path

PATIENCE = 200.0


@dataclass
class Started:
    process: subprocess.Popen[str]
    port: int
    plain: int

    def get(self, path: str) -> tuple[int, str]:
        connection = http.client.HTTPConnection("127.0.0.1", self.plain, timeout=PATIENCE)
        try:
            connection.request("GET", path, headers={"connection": "close"})
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        finally:
            connection.close()

    def ready(self) -> bool:
        return self.get("/readyz")[0] == 200

    def number(self, name: str) -> float:
        return next(
            (
                float(line.rpartition(" ")[2])
                for line in self.get("/metrics")[1].splitlines()
                if line.startswith(name + " ")
            ),
            0.0,
        )


@contextlib.contextmanager
def started(folder: Path, workers: int = 1, delay: float = 0.0) -> Generator[Started]:
    command = [
        sys.executable,
        "-W",
        "error",
        str(Path(__file__).with_name("program.py")),
        str(folder),
        str(workers),
        str(delay),
    ]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            ports = process.stdout.readline().split()
            yield Started(process, int(ports[0]), int(ports[1]))
        finally:
            process.kill()


def until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, "it never came true"
        time.sleep(0.01)
