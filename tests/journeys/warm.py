"""A cwiictl that is warm: its modules are loaded once, and each command is a fork of that. What then runs is the program, with its own arguments,
environment, folder and files, and ends as it would; only the half second in which Python reads libraries is not spent again and again.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

PROGRAM = Path(sys.executable).parent / "cwiictl"
SECONDS = 120


def ran(
    arguments: Sequence[str], folder: Path, environment: Mapping[str, str]
) -> tuple[int, str, str]:
    """Exit code, output, errors."""
    here, there = socket.socketpair()
    with here, TemporaryFile() as out, TemporaryFile() as err:
        with there:
            socket.send_fds(_hearth(), [b"!"], [there.fileno(), out.fileno(), err.fileno()])
        here.sendall(
            json.dumps([[str(PROGRAM), *arguments], str(folder), dict(environment)]).encode()
        )
        here.shutdown(socket.SHUT_WR)
        return _code(here), _text(out), _text(err)


def _code(answer: socket.socket) -> int:
    """First comes who runs it, then how that ended."""
    answer.settimeout(SECONDS)
    lines = answer.makefile()
    process = int(next(lines))
    try:
        return int(next(lines))
    except TimeoutError:
        os.kill(process, signal.SIGKILL)
        raise


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode()


@cache
def _hearth() -> socket.socket:
    """One for each process that runs tests; it ends when that does."""
    here, there = socket.socketpair()
    with there:
        process = subprocess.Popen(
            [sys.executable, __file__, str(there.fileno())],
            pass_fds=[there.fileno()],
            start_new_session=True,
        )
    atexit.register(process.wait)
    atexit.register(here.close)  # which ends it
    return here


# --- the program that is started ---


def _serve(door: socket.socket) -> bool:
    """True in a fork of a fork, for whom all is prepared: it is to run the program."""
    while True:
        asked, descriptors, _, _ = socket.recv_fds(door, 1, 3)
        if not asked:
            return False
        if os.fork() == 0:
            door.close()
            return _watched(*descriptors)
        for each in descriptors:
            os.close(each)


def _watched(caller: int, out: int, err: int) -> bool:
    with socket.socket(fileno=caller) as answer:
        told = json.loads(answer.makefile().read())
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        process = os.fork()
        if process:
            answer.sendall(f"{process}\n".encode())
            answer.sendall(f"{os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])}\n".encode())
            return False
    _become(told, out, err)
    return True


def _become(told: tuple[list[str], str, dict[str, str]], out: int, err: int) -> None:
    arguments, folder, environment = told
    os.setsid()
    os.chdir(folder)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(out, 1)
    os.dup2(err, 2)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = arguments


class _End:
    """How the program ended. Then nothing is left to do but to take apart what all forks share, which is not done."""

    code: object = 1

    def run(self) -> None:
        from cwiictl.__main__ import main  # noqa: PLC0415 - what a run loads is loaded before it is told apart

        try:
            self.code = main()
        except SystemExit as e:
            self.code = e.code
            raise

    def at_last(self) -> None:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(self.code if isinstance(self.code, int) else int(self.code is not None))


def _loaded() -> None:
    """All that any command uses; and nothing of it is ever looked at again by the collector of garbage, which would copy it."""
    from cwiictl.cli import COMMANDS  # noqa: PLC0415 - what a run loads is loaded before it is told apart
    from cwiictl.clouds import ALL  # noqa: PLC0415 - what a run loads is loaded before it is told apart

    for place, _ in COMMANDS.values():
        import_module(place.partition(":")[0])
    for cloud in ALL:
        import_module(f"cwiictl.clouds.{cloud}.stores.session")
    from cwiictl.clouds.azure.stores.session import Clients  # noqa: PLC0415 - what a run loads is loaded before it is told apart

    Clients.settle()
    gc.collect()
    gc.freeze()


def _wait(door: socket.socket) -> None:
    end = _End()
    atexit.register(end.at_last)  # before all others, and so called after them
    _loaded()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # whoever watches is nobody's to wait for
    if _serve(door):
        end.run()
    else:
        end.code = 0


if __name__ == "__main__":
    sys.path.pop(0)  # this folder, that the program does not see
    _wait(socket.socket(fileno=int(sys.argv[1])))
