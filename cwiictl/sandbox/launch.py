"""One command inside the sandbox: a process group of its own, which gets the terminal, hears what we hear, and can be ended as a whole."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Generator, Mapping, Sequence
from types import FrameType

from cwiictl.errors import BadInput

_FORWARDED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)


class Launch:
    def __init__(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        try:
            self._process = subprocess.Popen(list(command), env=dict(environment), process_group=0)
        except OSError as error:
            raise BadInput(f"{command[0]} cannot be started: {error.strerror}", remedy="name a program that is on the PATH, after --") from error

    def end(self) -> None:
        """At once, and with everything that it started."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)

    def wait(self) -> int:
        """Its exit code, as a shell would tell it."""
        with _terminal(self._process.pid), self._forwarding():
            status = self._finished()
        return os.waitstatus_to_exitcode(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status)

    def _finished(self) -> int:
        while True:
            _, status = os.waitpid(self._process.pid, os.WUNTRACED)
            if not os.WIFSTOPPED(status):
                self._process.returncode = 0  # reaped here: Popen must not look for it
                return status
            self._stop_too()

    def _stop_too(self) -> None:
        """Ctrl-Z stops the command; the shell that waits for us must see us stop as well."""
        _give_terminal(os.getpgrp())
        os.kill(os.getpid(), signal.SIGSTOP)
        _give_terminal(self._process.pid)
        os.killpg(self._process.pid, signal.SIGCONT)

    @contextlib.contextmanager
    def _forwarding(self) -> Generator[None]:
        def forward(number: int, frame: FrameType | None) -> None:
            del frame
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, number)

        before = {number: signal.signal(number, forward) for number in _FORWARDED}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


@contextlib.contextmanager
def _terminal(group: int) -> Generator[None]:
    _give_terminal(group)
    try:
        yield
    finally:
        _give_terminal(os.getpgrp())


def _give_terminal(group: int) -> None:
    """Whose Ctrl-C it is. Where there is no terminal, or it is not ours to give, nothing happens."""
    if not sys.stdin or sys.stdin.closed or not sys.stdin.isatty():
        return
    ignored = signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    try:
        with contextlib.suppress(OSError):
            os.tcsetpgrp(sys.stdin.fileno(), group)
    finally:
        signal.signal(signal.SIGTTOU, ignored)
