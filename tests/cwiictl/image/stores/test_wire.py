"""Who we are is said to the registry alone; what is busy is asked again."""

from __future__ import annotations

import http.server
import json
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager

import pytest

from cwiictl.errors import Denied, Failed
from cwiictl.image.reference import reference
from cwiictl.image.stores.credentials import Credentials
from cwiictl.image.stores.registry import Registry
from cwiictl.image.stores.wire import Answer, Wire, told
from tests.cwiictl.image.parts import made

ME = Credentials("me", "word")
Reply = tuple[int, dict[str, str], bytes]
Seen = list[tuple[str, str, str]]  # method, path, and what was said of us


def always(code: int, body: bytes = b"", **headers: str) -> Callable[[str, str, str], Reply]:
    def reply(_method: str, _path: str, _who: str) -> Reply:
        return code, {name.replace("_", "-"): value for name, value in headers.items()}, body

    return reply


@contextmanager
def serving(reply: Callable[[str, str, str], Reply]) -> Generator[tuple[str, Seen]]:
    seen: Seen = []

    class Door(http.server.BaseHTTPRequestHandler):
        def _answer(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            who = self.headers.get("Authorization") or ""
            seen.append((self.command, self.path, who))
            code, headers, body = reply(self.command, self.path, who)
            self.send_response(code)
            for name, value in {**headers, "Content-Length": str(len(body))}.items():
                self.send_header(name, value)
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

        do_GET = do_HEAD = do_POST = do_PUT = _answer  # noqa: N815  # the library's names

        def log_message(self, format: str, *words: object) -> None:  # noqa: A002  # the library's name
            """Nothing to say."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Door) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"127.0.0.1:{server.server_port}", seen
        server.shutdown()


def wire(address: str, who: Credentials | None = ME) -> Wire:
    return Wire(reference(f"{address}/webhook", "1", plain=True), who, plain=True)


def test_who_takes_an_upload_for_a_registry_is_not_told_who_we_are() -> None:
    """Registries send blobs to storage that is not theirs, at an address that is allowance enough."""
    with serving(always(201)) as (storage, stored):

        def registry(method: str, _path: str, who: str) -> Reply:
            if not who:
                return 401, {"WWW-Authenticate": 'Basic realm="here"'}, b""
            if method == "POST":
                return 202, {"Location": f"http://{storage}/upload?allowed=yes"}, b""
            return (404, {}, b"") if method == "HEAD" else (201, {}, b"")

        with serving(registry) as (address, seen):
            Registry(wire(address)).put(made().image)

    assert {who for _, _, who in stored} == {""}
    assert len(stored) == sum(len(each.blobs) for each in made().image.manifests)
    assert {who for _, _, who in seen} == {"", ME.basic}


def test_a_redirect_is_not_followed() -> None:
    with (
        serving(always(200, b"elsewhere")) as (other, visited),
        serving(always(307, Location=f"http://{other}/")) as (address, _),
    ):
        assert wire(address).ask("GET", "/v2/").code == 307

    assert not visited


def test_what_is_busy_is_asked_again_and_in_the_end_told() -> None:
    answers = iter([503, 429, 200])

    def reply(method: str, path: str, who: str) -> Reply:
        return always(next(answers), Retry_After="0")(method, path, who)

    with serving(reply) as (address, seen):
        assert wire(address).ask("GET", "/v2/").good
    assert len(seen) == 3

    with (
        serving(always(503, Retry_After="0")) as (address, seen),
        pytest.raises(Failed, match="does not speak as registries do"),
    ):
        Registry(wire(address)).check()
    assert len(seen) == 4


def test_a_token_for_renewal_is_exchanged_and_never_sent_to_the_registry() -> None:
    def both(_method: str, path: str, who: str) -> Reply:
        if path.startswith("/token"):
            return 200, {}, json.dumps({"access_token": "short"}).encode()
        if who != "Bearer short":
            return (
                401,
                {"WWW-Authenticate": f'Bearer realm="http://{reached[0]}/token",service="here"'},
                b"",
            )
        return 200, {}, b""

    reached: list[str] = []
    with serving(both) as (address, seen):
        reached.append(address)
        assert wire(address, Credentials("<token>", "long")).ask("GET", "/v2/").good

    assert seen == [("GET", "/v2/", ""), ("POST", "/token", ""), ("GET", "/v2/", "Bearer short")]


@pytest.mark.parametrize(
    "host", ["tokens.example.org", "127.0.0.1@tokens.example.org", "127.0.0.1.example.org"]
)
def test_a_registry_on_loopback_does_not_have_our_password_sent_elsewhere_in_clear(
    host: str,
) -> None:
    asks = always(401, WWW_Authenticate=f'Bearer realm="http://{host}/token",service="here"')

    with (
        serving(asks) as (address, _),
        pytest.raises(Denied, match=f"without encryption, at http://{host}/token"),
    ):
        wire(address).ask("GET", "/v2/")


def test_who_is_refused_is_told_in_the_registry_s_words() -> None:
    denied = json.dumps({"errors": [{"code": "DENIED", "message": "not \x1b[31myours"}]}).encode()
    with (
        serving(always(403, denied)) as (address, _),
        pytest.raises(Denied, match=r"does not let us look in webhook: not \[31myours") as error,
    ):
        wire(address).ask("GET", "/v2/")

    assert "as somebody who may push there" in error.value.remedy


@pytest.mark.parametrize(
    ("refused", "code", "remedy"),
    [
        ("POST", 404, "make the repository"),
        ("manifests", 400, "choose another"),
        ("manifests", 405, "choose another"),
        ("manifests", 429, "run again"),
        ("POST", 500, "run again"),
    ],
)
def test_a_refusal_says_what_would_change_it_and_a_failure_to_run_again(
    refused: str, code: int, remedy: str
) -> None:
    def reply(method: str, path: str, _who: str) -> Reply:
        if method == "POST":
            return (
                (code, {"Retry-After": "0"}, b"")
                if refused == method
                else (202, {"Location": "/upload"}, b"")
            )
        if method == "HEAD":
            return 404, {}, b""
        return (code, {"Retry-After": "0"}, b"") if refused in path else (201, {}, b"")

    with serving(reply) as (address, _), pytest.raises(Failed) as error:
        Registry(wire(address)).put(made().image)

    assert remedy in error.value.remedy


@pytest.mark.parametrize(
    "body", [b"", b"[]", b'"x"', b'{"errors": "x"}', b'{"errors": [1]}', b"\xff"]
)
def test_an_answer_that_says_nothing_is_told_by_its_number(body: bytes) -> None:
    assert told(Answer(418, {}, body)) == "it answers 418"
