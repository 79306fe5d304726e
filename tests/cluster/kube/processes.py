"""Programs that run as long as we do, and not a moment longer: what a test or a script holds of a keeper."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

_KEEPER = Path(__file__).parent / "keeper.py"
# Processes, mounts and network of its own: whatever a node leaves behind is gone with the first process in there. With --kill-child that goes with us.
APART = ("unshare", "--pid", "--fork", "--kill-child", "--mount", "--mount-proc", "--net", "--ipc")


class Broken(Exception):
    """A program of the cluster ended, or never became ready: its name, and the last lines of its log."""


class Processes:
    """`with Processes(folder) as processes`: a log for each program lies in the folder."""

    def __init__(self, folder: Path, within: Sequence[str] = (), files: Sequence[int] = ()) -> None:
        """`files` are open ones that programs started here shall have, under the same numbers."""
        self.folder = folder
        self._within = within
        self._files = files
        self._turn = threading.Lock()
        self._started: dict[str, tuple[Sequence[str | Path], Mapping[str, str] | None]] = {}

    def __enter__(self) -> Processes:
        self._keeper = subprocess.Popen(
            [*self._within, sys.executable, "-I", str(_KEEPER)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            pass_fds=self._files,
            start_new_session=True,
            cwd="/",
        )
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):
            self._keeper.communicate(
                timeout=60
            )  # closes its input, which is its end, once all of its own have ended
        self._keeper.kill()
        self._keeper.wait()

    @property
    def first(self) -> int:
        """The process whose namespaces all programs have, as it is numbered here."""
        if not self._within:
            return self._keeper.pid
        children = (
            Path(f"/proc/{self._keeper.pid}/task/{self._keeper.pid}/children").read_text().split()
        )
        return int(children[0])

    def start(
        self, name: str, command: Sequence[str | Path], environment: Mapping[str, str] | None = None
    ) -> None:
        self._started[name] = (command, environment)
        self._ask(
            "start",
            name=name,
            command=[str(word) for word in command],
            log=str(self.log(name)),
            environment=dict(environment or {}),
        )

    def run(self, *command: str | Path, seconds: float = 60) -> None:
        """To its end, among the others."""
        name = f"run-{Path(command[0]).name}"
        self.start(name, command)
        self.wait(name, seconds)
        if self._ask("ended")[name]:
            raise Broken(f"`{' '.join(map(str, command))}` failed: {self.told(name)}")

    def stop(self, name: str) -> None:
        self._ask("stop", name=name)

    def restart(self, name: str) -> None:
        self.stop(name)
        self.again(name)

    def again(self, name: str) -> None:
        """With the same words as before."""
        self.start(name, *self._started[name])

    def kill(self, name: str) -> None:
        self._ask("stop", name=name, number=int(signal.SIGKILL))

    def signal(self, name: str, number: signal.Signals) -> None:
        self._ask("signal", name=name, number=int(number))

    def wait(self, name: str, seconds: float = 60) -> None:
        """Until it has ended of itself."""
        self.until(lambda: name in self._ask("ended"), f"{name} to end", seconds, but=name)

    def remove(self, folder: Path) -> None:
        """This one goes when all has ended, whatever becomes of us."""
        self._ask("remove", folder=str(folder))

    def until(
        self, true: Callable[[], bool], what: str, seconds: float = 60, but: str = ""
    ) -> None:
        """Wait, but for nothing that cannot come any more."""
        last = time.monotonic() + seconds
        while not true():
            gone = [
                name for name in self._ask("ended") if name != but and not name.startswith("run-")
            ]
            if gone:
                raise Broken(f"{gone[0]} has ended: {self.told(gone[0])}")
            if time.monotonic() > last:
                raise Broken(f"waited {seconds:.0f} s for {what}; see the logs in {self.folder}")
            time.sleep(0.05)

    def log(self, name: str) -> Path:
        return self.folder / f"{name}.log"

    def told(self, name: str) -> str:
        return (
            " / ".join(self.log(name).read_text(errors="replace").strip().splitlines()[-4:])
            or "it told nothing"
        )

    def _ask(self, do: str, **details: Any) -> dict[str, Any]:
        with self._turn:
            stdin, stdout = self._keeper.stdin, self._keeper.stdout
            assert stdin
            assert stdout
            with contextlib.suppress(BrokenPipeError):
                stdin.write(json.dumps({"do": do, **details}) + os.linesep)
                stdin.flush()
            answer: dict[str, Any] = json.loads(
                stdout.readline() or '{"error": "its keeper has ended"}'
            )
        if "error" in answer:
            raise Broken(f"{do} {details.get('name', '')}: {answer['error']}")
        return answer
