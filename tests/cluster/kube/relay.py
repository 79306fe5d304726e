"""A program that carries connections between two networks: `python relay.py LISTEN CONNECT`.

LISTEN is fd:NUMBER, a socket that listens already, or ADDRESS:PORT here. CONNECT is ADDRESS:PORT here, or ns:NUMBER:ADDRESS:PORT in the network whose
namespace that open file is.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import os
import socket
import sys

_NETWORK = 0x40000000  # CLONE_NEWNET; os.setns came with Python 3.12


def _listener(where: str) -> socket.socket:
    kind, _, rest = where.partition(":")
    if kind == "fd":
        return socket.socket(fileno=int(rest))
    return socket.create_server((kind, int(rest)), backlog=512)


def _entered(where: str) -> tuple[str, int]:
    if where.startswith("ns:"):
        _, file, where = where.split(":", 2)
        if ctypes.CDLL(None, use_errno=True).setns(int(file), _NETWORK):
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    host, _, port = where.partition(":")
    return host, int(port)


async def _carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while data := await reader.read(1 << 16):
            writer.write(data)
            await writer.drain()
        writer.write_eof()


async def serve(listener: socket.socket, host: str, port: int) -> None:
    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError), contextlib.closing(writer):
            there, back = await asyncio.open_connection(host, port)
            with contextlib.closing(back):
                await asyncio.gather(_carry(reader, back), _carry(there, writer))

    async with await asyncio.start_server(connected, sock=listener) as server:
        await server.serve_forever()


if __name__ == "__main__":
    listening = _listener(sys.argv[1])  # before we go where the others are
    asyncio.run(serve(listening, *_entered(sys.argv[2])))
