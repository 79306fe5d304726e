"""Azurite, the field's own emulator of Azure's storage: fetched once by npm into .tools, as its lock says, and started on a free port."""

from __future__ import annotations

import base64
import contextlib
import fcntl
import filecmp
import re
import shutil
import subprocess
import threading
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path

from cwiictl.sandbox.ca import Authority

WANTED = Path(__file__).parent / "azurite"
TOOLS = Path(__file__).parents[4] / ".tools"
HOME = TOOLS / "azurite"
LOCK = "package-lock.json"
KEY = base64.b64encode(b"emulated" * 8).decode()


@dataclass(frozen=True)
class Emulator:
    port: int
    account: str
    authority: Path

    @property
    def url(self) -> str:
        return f"https://127.0.0.1:{self.port}/{self.account}"


def install() -> None:
    """Whoever comes second waits, and then finds nothing to do."""
    TOOLS.mkdir(exist_ok=True)
    with (TOOLS / "azurite.turn").open("w") as turn:
        fcntl.flock(turn, fcntl.LOCK_EX)
        done = HOME / "done"
        if done.exists() and filecmp.cmp(done, WANTED / LOCK, shallow=False):
            return
        shutil.rmtree(HOME, ignore_errors=True)
        shutil.copytree(WANTED, HOME)
        asked = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
        subprocess.run(asked, cwd=HOME, check=True, timeout=280)
        shutil.copy(WANTED / LOCK, done)


@contextlib.contextmanager
def running(folder: Path, account: str) -> Generator[Emulator]:
    authority = Authority()
    (folder / "chain.pem").write_bytes(authority._chain("127.0.0.1"))  # pyright: ignore[reportPrivateUsage] - the double is looked into from here alone
    (folder / "ca.pem").write_bytes(authority.pem)
    program = ["node", str(HOME / "node_modules/azurite/dist/src/blob/main.js")]
    secure = ["--oauth", "basic", "--cert", "chain.pem", "--key", "chain.pem"]
    options = [
        "--inMemoryPersistence",
        "--blobPort",
        "0",
        "--skipApiVersionCheck",
        "--disableTelemetry",
        "--silent",
    ]
    environment = {"PATH": _path(), "AZURITE_ACCOUNTS": f"{account}:{KEY}"}
    with subprocess.Popen(
        [*program, *options, *secure],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        try:
            yield Emulator(_port(process), account, folder / "ca.pem")
        finally:
            process.terminate()


def _path() -> str:
    node = shutil.which("node")
    assert node is not None
    return str(Path(node).parent)


def _port(process: subprocess.Popen[str]) -> int:
    """It tells where it listens; all that it says later is thrown away, so that it never waits for a reader."""
    assert process.stdout is not None
    told = ""
    for line in process.stdout:
        told += line
        if found := re.search(r"successfully listens on \S+:(\d+)", line):
            threading.Thread(target=process.stdout.read, daemon=True).start()
            return int(found[1])
    raise AssertionError(f"Azurite did not start:\n{told}")
