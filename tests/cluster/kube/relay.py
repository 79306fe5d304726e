"""A program that carries connections between two networks: `python relay.py LISTEN CONNECT`.

LISTEN is fd:NUMBER, a socket that listens already, or ADDRESS:PORT here. CONNECT is ADDRESS:PORT here, or ns:NUMBER:ADDRESS:PORT in the network whose
namespace that open file is, or file:PATH of a file that lists ADDRESS:PORT, line by line: as a Service, it takes one after the other, and the next one
where nobody listens. SIGUSR2 cuts all connections. SIGUSR1 drops whatever else is sent through those that are open now, and nobody is told.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import itertools
import os
import signal
import socket
import sys
from collections.abc import Callable
from pathlib import Path

_NETWORK = 0x40000000  # CLONE_NEWNET; os.setns came with Python 3.12

Place = tuple[str, int]


def _listener(where: str) -> socket.socket:
    kind, _, rest = where.partition(":")
    if kind == "fd":
        return socket.socket(fileno=int(rest))
    return socket.create_server((kind, int(rest)), backlog=512)


def _places(where: str) -> Callable[[], list[Place]]:
    if where.startswith("file:"):
        return lambda: [
            _place(line) for line in Path(where.removeprefix("file:")).read_text().split()
        ]
    if where.startswith("ns:"):
        _, file, where = where.split(":", 2)
        if ctypes.CDLL(None, use_errno=True).setns(int(file), _NETWORK):
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return lambda: [_place(where)]


def _place(text: str) -> Place:
    host, _, port = text.partition(":")
    return host, int(port)


class Carried:
    """One connection, from end to end."""

    def __init__(self, near: asyncio.StreamWriter, far: asyncio.StreamWriter) -> None:
        self.ends = near, far
        self.dropped = False

    async def carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while data := await reader.read(1 << 16):
                if not self.dropped:
                    writer.write(data)
                    await writer.drain()
            if self.dropped:
                await asyncio.Event().wait()
            writer.write_eof()

    def cut(self) -> None:
        for end in self.ends:
            end.transport.abort()


class Relay:
    def __init__(self, places: Callable[[], list[Place]]) -> None:
        self._places = places
        self._turn = itertools.count()
        self._open: set[Carried] = set()

    async def serve(self, listener: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGUSR1, self._drop)
        loop.add_signal_handler(signal.SIGUSR2, self._cut)
        async with await asyncio.start_server(self._connected, sock=listener) as server:
            await server.serve_forever()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError), contextlib.closing(writer):
            there, back = await self._reached()
            carried = Carried(writer, back)
            self._open.add(carried)
            try:
                await asyncio.gather(carried.carry(reader, back), carried.carry(there, writer))
            finally:
                self._open.discard(carried)
                back.close()

    async def _reached(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        places = self._places()
        first = next(self._turn) % max(len(places), 1)
        for place in [*places[first:], *places[:first]]:
            with contextlib.suppress(OSError):
                return await asyncio.open_connection(*place)
        raise ConnectionRefusedError

    def _drop(self) -> None:
        for carried in self._open:
            carried.dropped = True

    def _cut(self) -> None:
        for carried in self._open:
            carried.cut()


if __name__ == "__main__":
    listening = _listener(sys.argv[1])  # before we go where the others are
    asyncio.run(Relay(_places(sys.argv[2])).serve(listening))
