"""Starts `program.py` as a separate process."""

from __future__ import annotations

import contextlib
import http.client
import subprocess
import sys
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass
from pathlib import Path

TIMEOUT = 200.0  # seconds


@dataclass
class ServerProcess:
    process: subprocess.Popen[str]
    port: int
    plain_port: int

    def get(self, path: str) -> tuple[int, str]:
        connection = http.client.HTTPConnection("127.0.0.1", self.plain_port, timeout=TIMEOUT)
        try:
            connection.request("GET", path, headers={"connection": "close"})
            response = connection.getresponse()
            return response.status, response.read().decode()
        finally:
            connection.close()

    def is_ready(self) -> bool:
        return self.get("/readyz")[0] == 200

    def metric_value(self, name: str) -> float:
        return next(
            (
                float(line.rpartition(" ")[2])
                for line in self.get("/metrics")[1].splitlines()
                if line.startswith(name + " ")
            ),
            0.0,
        )


@contextlib.contextmanager
def start_server(
    folder: Path, workers: int = 1, shutdown_delay: float = 0.0
) -> Generator[ServerProcess]:
    command = [
        sys.executable,
        "-W",
        "error",
        str(Path(__file__).with_name("program.py")),
        str(folder),
        str(workers),
        str(shutdown_delay),
    ]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            ports = process.stdout.readline().split()
            yield ServerProcess(process, int(ports[0]), int(ports[1]))
        finally:
            process.kill()


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + TIMEOUT
    while not condition():
        assert time.monotonic() < deadline, "it never came true"
        time.sleep(0.01)
