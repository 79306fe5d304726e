"""One cluster for several processes: the first that wants it starts it, and it ends with the last that has it, whatever becomes of them.

As a program it is what has the cluster: `python -m tests.cluster.kube.shared LEASH WHERE`. LEASH is a pipe with a name, which everybody holds open who
has the cluster, and nobody writes into: the kernel counts them. WHERE is the file that says the cluster's folder, as soon as it is ready.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from tests.cluster.kube.build import say, turn
from tests.cluster.kube.cluster import Cluster, Settings, ready_made
from tests.cluster.kube.processes import Broken
from tests.cluster.kube.reach import Reach

_PATIENCE = 120.0  # seconds until it is ready


@contextmanager
def shared(place: Path) -> Generator[Reach]:
    """By all who name the same place. Where there can be none, it raises Missing."""
    ready_made(node=False)
    place.mkdir(exist_ok=True)
    with turn(place / "turn", lambda: say("somebody else starts the cluster: waiting for it")):
        leash = _taken(place) or _started(place)
    try:
        yield Reach.told(Path((place / "where").read_text()))
    finally:
        os.close(leash)


def _taken(place: Path) -> int | None:
    """If the cluster is there: nobody can write into a pipe that nobody reads."""
    try:
        return os.open(place / "leash", os.O_WRONLY | os.O_NONBLOCK)
    except OSError:
        return None


def _started(place: Path) -> int:
    leash, where, log = place / "leash", place / "where", place / "log"
    for left in (leash, where):
        left.unlink(missing_ok=True)
    os.mkfifo(leash, 0o600)
    held = os.open(leash, os.O_RDWR)  # both, for nobody reads it yet
    out = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    command = [sys.executable, "-P", "-m", "tests.cluster.kube.shared", str(leash), str(where)]
    actions = [
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_DUP2, out, 1),
        (os.POSIX_SPAWN_DUP2, out, 2),
    ]
    pid = os.posix_spawn(command[0], command, os.environ, file_actions=actions, setsid=True)
    os.close(out)
    until = time.monotonic() + _PATIENCE
    while not where.exists():
        if os.waitpid(pid, os.WNOHANG)[0] or time.monotonic() > until:
            os.close(held)
            raise Broken(
                f"the shared cluster did not start: {' / '.join(log.read_text().splitlines()[-4:])}"
            )
        time.sleep(0.05)
    return held


def main(leash: str, where: Path) -> None:
    held = os.open(leash, os.O_RDONLY | os.O_NONBLOCK)
    with Cluster(Settings(servers=2)) as cluster:
        cluster.reach.tell()
        new = where.with_suffix(".new")
        new.write_text(str(cluster.folder))
        new.rename(where)
        while not _given_up(held, where.with_name("turn")):
            time.sleep(0.1)


def _given_up(leash: int, file: Path) -> bool:
    """For good: nobody can take it in the moment in which it ends."""
    if _is_held(leash):
        return False
    with turn(file, lambda: None):
        if _is_held(leash):
            return False
        os.close(leash)
    return True


def _is_held(leash: int) -> bool:
    try:
        return os.read(leash, 1) != b""
    except BlockingIOError:
        return True


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
