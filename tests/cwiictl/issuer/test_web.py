"""An issuer that cannot be read says who can mend that."""

from __future__ import annotations

import threading
from socketserver import StreamRequestHandler, TCPServer
from typing import Any, cast

import pytest

from cwiictl.errors import NotYet
from cwiictl.issuer.documents import IssuerState
from cwiictl.issuer.stores.web import Web

NOWHERE = "https://127.0.0.1:1"  # nobody listens there


@pytest.mark.parametrize(
    ("wanted", "told"), [("open the bucket", "open the bucket"), ("", "ask the host")]
)
def test_what_only_the_owner_of_its_place_can_do_is_said_before_what_we_suppose(
    wanted: str, told: str
) -> None:
    with pytest.raises(NotYet, match="cannot be reached") as raised:
        Web(0.0, "ask the host").put(NOWHERE, IssuerState(url=NOWHERE, remedy=wanted), None)

    assert raised.value.remedy == told


class _Proxy(StreamRequestHandler):
    """Says of every host what its server was told to say."""

    def handle(self) -> None:
        self.rfile.readline()
        self.wfile.write(f"HTTP/1.1 {cast('Any', self.server).says}\r\n\r\n".encode())


@pytest.mark.parametrize(
    ("says", "told"),
    [
        ("502 Bad Gateway", None),
        ("503  ", None),
        ("504 Gateway Timeout", None),
        ("403 Forbidden", "403 Forbidden"),
    ],
)
def test_what_a_proxy_cannot_reach_is_not_there_and_what_it_forbids_is_not_readable(
    monkeypatch: pytest.MonkeyPatch, says: str, told: str | None
) -> None:
    with TCPServer(("127.0.0.1", 0), _Proxy) as proxy:
        cast("Any", proxy).says = says
        threading.Thread(target=proxy.handle_request, daemon=True).start()
        monkeypatch.setenv("https_proxy", f"http://127.0.0.1:{proxy.server_address[1]}")

        found = Web().get(["https://issuer.example.org"])

    assert told in found["https://issuer.example.org"].readable if told else found == {}
