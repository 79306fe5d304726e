"""A TCP proxy in front of an API server that can simulate network failures."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct


class FlakyNetwork:
    """A TCP proxy that can close, reset or freeze connections. It runs in one event loop."""

    def __init__(self, port: int) -> None:
        self.port = 0
        self._target_port = port
        self._tunnels: set[_Tunnel] = set()
        self._server: asyncio.Server | None = None

    async def open(self) -> None:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    def close(self) -> None:
        """Simulates an outage: closes all connections and accepts no new ones."""
        if self._server:
            self._server.close()
        self._server = None
        self.cut()

    def cut(self) -> None:
        """Closes all connections."""
        for tunnel in list(self._tunnels):
            tunnel.close()

    def reset(self) -> None:
        for tunnel in list(self._tunnels):
            tunnel.reset()

    def freeze(self) -> None:
        """Drops all data of open connections without an error, as a router that lost its state.

        New connections work.
        """
        for tunnel in list(self._tunnels):
            tunnel.is_frozen = True

    @property
    def open_connections(self) -> int:
        return sum(not tunnel.is_frozen for tunnel in self._tunnels)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        server_reader, server_writer = await asyncio.open_connection("127.0.0.1", self._target_port)
        tunnel = _Tunnel(writer, server_writer)
        self._tunnels.add(tunnel)
        copies = {
            asyncio.ensure_future(tunnel.copy(reader, server_writer)),
            asyncio.ensure_future(tunnel.copy(server_reader, writer)),
        }
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.wait(copies, return_when=asyncio.FIRST_COMPLETED)
        for copy in copies:
            copy.cancel()
        tunnel.close()
        self._tunnels.discard(tunnel)


class _Tunnel:
    """A proxied connection."""

    def __init__(self, client: asyncio.StreamWriter, server: asyncio.StreamWriter) -> None:
        self.is_frozen = False
        self._client, self._server = client, server

    async def copy(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while data := await reader.read(65536):
                if not self.is_frozen:
                    writer.write(data)
                    await writer.drain()

    def close(self) -> None:
        self._client.close()
        self._server.transport.abort()

    def reset(self) -> None:
        client_socket: socket.socket = self._client.get_extra_info("socket")
        client_socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._client.transport.abort()
        self._server.transport.abort()
