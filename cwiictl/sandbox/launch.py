"""One command inside the sandbox: a process group of its own, which gets the terminal, hears what we hear, and can be ended as a whole."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Generator, Mapping, Sequence
from types import FrameType, TracebackType

from cwiictl.errors import BadInput

_FORWARDED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)


class Launch:
    """`with Launch(…) as launch`: what is sent to us while it runs goes to the command, from the first moment on."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        self._command = list(command)
        self._environment = dict(environment)
        self._early: list[int] = []
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Launch:
        self._before = {number: signal.signal(number, self._forward) for number in _FORWARDED}
        try:
            self._process = subprocess.Popen(self._command, env=self._environment, process_group=0)
        except OSError as error:
            self._restore()
            raise BadInput(
                f"the command {self._command[0]} cannot be started: {error.strerror}",
                remedy="name a program that is on the PATH, after --",
            ) from error
        for number in self._early:
            self._send(number)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._restore()

    @property
    def _group(self) -> int:
        return self._process.pid if self._process else 0

    def end(self) -> None:
        """At once, and with everything that it started."""
        self._send(signal.SIGKILL)

    def wait(self) -> int:
        """Its exit code, as a shell would tell it."""
        with _terminal(self._group):
            status = self._finished()
        return (
            os.waitstatus_to_exitcode(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status)
        )

    def _forward(self, number: int, frame: FrameType | None) -> None:
        del frame
        if self._process:
            self._send(number)
        else:
            self._early.append(number)

    def _send(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError):
            if self._group:
                os.killpg(self._group, number)

    def _restore(self) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _finished(self) -> int:
        while True:
            _, status = os.waitpid(self._group, os.WUNTRACED)
            if not os.WIFSTOPPED(status):
                if self._process:
                    self._process.returncode = 0  # reaped here: Popen must not look for it
                return status
            self._stop_too()

    def _stop_too(self) -> None:
        """Ctrl-Z stops the command; the shell that waits for us must see us stop as well."""
        _give_terminal(os.getpgrp())
        os.kill(os.getpid(), signal.SIGSTOP)
        _give_terminal(self._group)
        self._send(signal.SIGCONT)


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
