"""Packages come from whoever has the right bytes."""

from __future__ import annotations

import hashlib
import http.server
import threading
import urllib.request
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest

from cwiictl.errors import BadInput, Failed
from cwiictl.image.lock import Package
from cwiictl.image.stores.mirrors import Mirrors, configured
from cwiictl.sandbox import Sandbox

PACKAGE = Package("libc6", "2.41", "pool/libc6.deb", hashlib.sha256(b"right").hexdigest())
SNAPSHOT = "20261118T000000Z"


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *words: object) -> None:  # noqa: A002  # the library's name
        """Nothing to say."""


@contextmanager
def serving(folder: Path) -> Generator[str]:
    with http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), partial(Quiet, directory=folder)
    ) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture
def mirror(tmp_path: Path) -> Iterator[str]:
    """Three of them: one that has nothing, one with other bytes, one with the right ones."""
    for name, data in (("other", b"wrong"), ("last", b"right")):
        (tmp_path / name / "pool").mkdir(parents=True)
        (tmp_path / name / "pool" / "libc6.deb").write_bytes(data)
    with serving(tmp_path) as url:
        yield url


def test_the_first_that_has_these_bytes_is_believed(mirror: str) -> None:
    assert (
        Mirrors([f"{mirror}/none", f"{mirror}/other", f"{mirror}/last/"], SNAPSHOT).get(PACKAGE)
        == b"right"
    )


def test_what_nobody_has_is_told_with_each_reason_and_the_snapshot_that_has_it(mirror: str) -> None:
    with pytest.raises(Failed) as told:
        Mirrors([f"{mirror}/none", f"{mirror}/other"], SNAPSHOT).get(PACKAGE)

    assert (
        str(told.value)
        == f"libc6 2.41 cannot be had: {mirror}/none: answers 404; {mirror}/other: has other bytes under this name"
    )
    assert SNAPSHOT in told.value.remedy


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_proxy_that_lets_nothing_through_is_named_without_its_password(
    monkeypatch: pytest.MonkeyPatch, scheme: str
) -> None:
    """As the sandbox's door is one."""
    with Sandbox() as sandbox:
        door = sandbox.proxy.removeprefix("http://")
        monkeypatch.setenv(f"{scheme}_proxy", f"http://somebody:secret@{door}")
        monkeypatch.setattr(
            urllib.request, "_opener", None
        )  # made once in a process, with the proxies of then

        with pytest.raises(Failed) as told:
            Mirrors([f"{scheme}://debian.example.org"], SNAPSHOT).get(PACKAGE)

    assert "403" in told.value.problem
    assert f"see what the proxy {door} lets through" in told.value.remedy
    assert "secret" not in f"{told.value.problem} {told.value.remedy}"


def test_a_mirror_is_an_address_and_there_must_be_one() -> None:
    with pytest.raises(BadInput, match="--mirror ftp://x is no address"):
        Mirrors(["ftp://x"], SNAPSHOT)
    with pytest.raises(BadInput, match="no mirror of Debian is known"):
        Mirrors([], SNAPSHOT).get(PACKAGE)


def test_apt_is_read_in_both_its_forms(tmp_path: Path) -> None:
    (tmp_path / "sources.list.d").mkdir()
    (tmp_path / "sources.list").write_text(
        "# deb http://comment.test/debian trixie main\ndeb [arch=amd64] http://old.test/debian trixie main contrib\ndeb-src http://src.test/debian x main\n"
    )
    (tmp_path / "sources.list.d" / "debian.sources").write_text(
        "Types: deb deb-src\n# a comment\nURIs: http://new.test/debian https://second.test/debian\nSuites: trixie\nComponents: main\n\n"
        "Types: deb\nURIs: http://off.test/debian\nSuites: trixie\nComponents: main\nEnabled: no\n\n"
        "Types: deb\nURIs: http://other.test/\nSuites: x\nComponents: extra\n"
    )

    assert configured(tmp_path) == [
        "http://old.test/debian",
        "http://new.test/debian",
        "https://second.test/debian",
    ]


def test_without_apt_no_mirror_is_known(tmp_path: Path) -> None:
    assert configured(tmp_path / "none") == []
