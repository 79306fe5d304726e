"""A page is read as a cloud reads it: for so long, and no longer, and with whatever clock its host has."""

from __future__ import annotations

import ssl
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from cwiictl.issuer.stores.pages import Pages
from cwiictl.sandbox.ca import Authority

QUICK = 0.5


class _Host(BaseHTTPRequestHandler):
    def date_time_string(self, timestamp: float | None = None) -> str:
        """Five minutes ago."""
        del timestamp
        return formatdate(time.time() - 300, usegmt=True)

    def do_GET(self) -> None:
        self.send_response(200)
        if self.path == "/cached":
            self.send_header("Age", "300")
        self.end_headers()
        with suppress(OSError):
            while self.path == "/trickle":
                self.wfile.write(b"x")
                time.sleep(QUICK / 10)
            if self.path == "/silent":
                time.sleep(QUICK * 3)
            self.wfile.write(b"{}")

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the library's name
        """Nobody reads it."""


@contextmanager
def hosted(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[str]:
    authority = Authority()
    (folder / "ca.pem").write_bytes(authority.pem)
    monkeypatch.setenv("SSL_CERT_FILE", str(folder / "ca.pem"))
    monkeypatch.setenv("no_proxy", "localhost")
    with HTTPServer(("127.0.0.1", 0), _Host) as server:
        context: ssl.SSLContext = authority.context("localhost")
        server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"https://localhost:{server.server_address[1]}"
        server.shutdown()


@pytest.mark.parametrize("path", ["/trickle", "/silent"])
def test_what_takes_too_long_is_given_up_however_it_dawdles(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    with hosted(tmp_path, monkeypatch) as url:
        begun = time.monotonic()

        page = Pages(QUICK).read(f"{url}{path}")

        assert (page.trouble, page.status if path == "/trickle" else 0) == (
            "slow",
            200 if path == "/trickle" else 0,
        )
        assert time.monotonic() - begun < QUICK * 4


@pytest.mark.parametrize(("path", "ahead"), [("/", 300), ("/cached", 0)])
def test_a_clock_is_compared_and_what_lay_in_a_cache_is_no_clock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str, ahead: int
) -> None:
    with hosted(tmp_path, monkeypatch) as url:
        page = Pages().read(f"{url}{path}")

    assert page.text == b"{}"
    assert page.ahead is not None
    assert abs(page.ahead - ahead) < 30


def test_a_host_that_only_we_reach_is_not_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with hosted(tmp_path, monkeypatch) as url:
        page = Pages().publicly(url)

    assert (page.trouble, page.why, page.status) == ("private", "127.0.0.1", 0)


@pytest.mark.parametrize(
    "url",
    [
        "https://[bad/x",
        "https://127.0.0.1/\N{LATIN SMALL LETTER E WITH ACUTE}",
        "https://a..b/x",
        f"https://{'a' * 64}.b/",
    ],
)
def test_what_can_be_no_address_is_the_trouble_of_its_page(
    monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    """Whoever publishes a document may say that the keys are there."""
    monkeypatch.setenv("no_proxy", "*")

    page = Pages(QUICK).read(url)

    assert page.trouble == "unreachable"
    assert page.why
    assert Pages(QUICK).publicly(url).trouble in {"unreachable", "private"}
