"""A piece of network before an API server, real or double, that can be cut, reset, frozen without a word, or closed."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct


class FlakyNetwork:
    """Lives in the loop of whoever opens it."""

    def __init__(self, port: int) -> None:
        self.port = 0
        self._target_port = port
        self._tunnels: set[_Tunnel] = set()
        self._server: asyncio.Server | None = None

    async def open(self) -> None:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    def close(self) -> None:
        """Nobody can connect, and who was connected is not any more: an outage."""
        if self._server:
            self._server.close()
        self._server = None
        self.cut()

    def cut(self) -> None:
        for line in list(self._tunnels):
            line.close()

    def reset(self) -> None:
        for line in list(self._tunnels):
            line.reset()

    def freeze(self) -> None:
        """What is open stays open, and nothing comes through: as when a router forgets. New connections are as good as ever."""
        for line in list(self._tunnels):
            line.is_frozen = True

    @property
    def open_connections(self) -> int:
        return sum(not line.is_frozen for line in self._tunnels)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self._target_port)
        line = _Tunnel(writer, far_writer)
        self._tunnels.add(line)
        pumps = {
            asyncio.ensure_future(line.pump(reader, far_writer)),
            asyncio.ensure_future(line.pump(far_reader, writer)),
        }
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
        for pump in pumps:
            pump.cancel()
        line.close()
        self._tunnels.discard(line)


class _Tunnel:
    def __init__(self, near: asyncio.StreamWriter, far: asyncio.StreamWriter) -> None:
        self.is_frozen = False
        self._near, self._far = near, far

    async def pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while data := await reader.read(65536):
                if not self.is_frozen:
                    writer.write(data)
                    await writer.drain()

    def close(self) -> None:
        self._near.close()
        self._far.transport.abort()

    def reset(self) -> None:
        near: socket.socket = self._near.get_extra_info("socket")
        near.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._near.transport.abort()
        self._far.transport.abort()
