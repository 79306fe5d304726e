"""The tests' own floor: only the loopback can be reached."""

from __future__ import annotations

import socket

import pytest
from pytest_socket import SocketConnectBlockedError


def test_a_test_reaches_itself() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.create_connection(server.getsockname(), timeout=5) as client,
    ):
        assert client.getpeername() == server.getsockname()


def test_a_test_reaches_nobody_else() -> None:
    with socket.socket() as client, pytest.raises(SocketConnectBlockedError):
        client.connect(("blocked.invalid", 443))
