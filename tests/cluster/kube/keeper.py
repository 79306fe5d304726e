"""A program that keeps other programs, and ends with whoever started it: `python keeper.py`, told what to do line by line.

Its standard input is a pipe that only its owner holds. When that closes, be it that the owner is done, was killed or crashed, all that was started here
ends, what was mounted below the folders given is unmounted, and the folders are removed. For a node it is the first process of its own namespaces:
what daemons have left behind ends with it, because the kernel sees to that.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import FrameType
from typing import Any

PATIENCE = 5.0


class Keeper:
    def __init__(self) -> None:
        self.running: dict[str, int] = {}
        self.codes: dict[int, int] = {}
        self.folders: list[Path] = []

    def reap(self, number: int = 0, frame: FrameType | None = None) -> None:
        """Ours, and as the first process of a namespace everybody's who has lost a parent."""
        del number, frame
        with contextlib.suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                self.codes[ended[0]] = os.waitstatus_to_exitcode(ended[1])

    def start(
        self, name: str, command: list[str], log: str, environment: dict[str, str]
    ) -> dict[str, Any]:
        out = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        actions = [
            (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_DUP2, out, 1),
            (os.POSIX_SPAWN_DUP2, out, 2),
        ]
        command = [
            "setpriv",
            "--pdeathsig",
            "KILL",
            "--",
            *command,
        ]  # should we be killed ourselves
        try:
            self.running[name] = os.posix_spawnp(
                command[0],
                command,
                {**os.environ, **environment},
                file_actions=actions,
                setsid=True,
                setsigdef=[signal.SIGPIPE],
                setsigmask=[],
            )
        finally:
            os.close(out)
        return {"pid": self.running[name]}

    def stop(self, name: str, number: int = signal.SIGTERM) -> dict[str, Any]:
        pid = self.running.pop(name)
        self._end([pid], number)
        return {"code": self.codes.get(pid)}

    def signal(self, name: str, number: int) -> dict[str, Any]:
        """And nothing else: see `ended` for what comes of it."""
        os.kill(self.running[name], number)
        return {}

    def ended(self) -> dict[str, Any]:
        """Those that have gone of themselves, and how."""
        return {name: self.codes[pid] for name, pid in self.running.items() if pid in self.codes}

    def remove(self, folder: str) -> dict[str, Any]:
        """At the end, not now."""
        self.folders.append(Path(folder))
        return {}

    def end(self) -> None:
        self._end(
            list(self.running.values()), signal.SIGKILL
        )  # nobody asks any more what they would have written
        if os.getpid() == 1:
            with contextlib.suppress(ProcessLookupError):
                os.kill(-1, signal.SIGKILL)
            time.sleep(0.1)
            self.reap()
        for folder in self.folders:
            vanish(folder)

    def _end(self, pids: list[int], number: int) -> None:
        for told, patience in ((number, PATIENCE), (signal.SIGKILL, PATIENCE)):
            for pid in pids:
                with contextlib.suppress(ProcessLookupError):
                    if pid not in self.codes:
                        os.kill(pid, told)
            until = time.monotonic() + patience
            while time.monotonic() < until and any(pid not in self.codes for pid in pids):
                time.sleep(0.01)


def vanish(folder: Path) -> None:
    """Mounts first, then from the deepest upwards. Folders of control groups hold files that nobody can remove, and go when they are empty of folders."""
    mounts = [
        line.split()[1].encode().decode("unicode_escape")
        for line in Path("/proc/self/mounts").read_text().splitlines()
    ]
    for mount in reversed([mount for mount in mounts if Path(mount).is_relative_to(folder)]):
        subprocess.run(["umount", "--lazy", mount], check=False, stderr=subprocess.DEVNULL)
    for above, folders, files in os.walk(folder, topdown=False):
        for name in files:
            with contextlib.suppress(OSError):
                Path(above, name).unlink()
        for name in folders:
            with contextlib.suppress(OSError):
                path = Path(above, name)
                path.unlink() if path.is_symlink() else path.rmdir()
    with contextlib.suppress(OSError):
        folder.rmdir()


def _leave(number: int, frame: FrameType | None) -> None:
    del number, frame
    raise SystemExit


def main() -> None:
    keeper = Keeper()
    signal.signal(signal.SIGCHLD, keeper.reap)
    signal.signal(signal.SIGTERM, _leave)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is our owner's to hear
    try:
        for line in sys.stdin:
            asked = json.loads(line)
            try:
                answer = getattr(keeper, asked.pop("do"))(**asked)
            except (OSError, KeyError) as error:
                answer = {"error": str(error)}
            sys.stdout.write(json.dumps(answer) + "\n")
            sys.stdout.flush()
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        keeper.end()


if __name__ == "__main__":
    main()
