"""One browser for all tests of a process."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import ExitStack
from pathlib import Path

import pytest

from cwiictl import files
from cwiictl.picture.map import Map
from cwiictl.picture.page import page
from tests.cluster.conftest import skipped_where_missing
from tests.cluster.kube import packages
from tests.picture.browser import Browser, browser

Write = Callable[[Map], Path]


@pytest.fixture(scope="session")
def chromium() -> Generator[Browser]:
    with ExitStack() as stack:
        with skipped_where_missing():
            packages.browser(print)
        yield stack.enter_context(browser())


@pytest.fixture
def written(tmp_path: Path) -> Write:
    def write(drawn: Map) -> Path:
        path = tmp_path / "trust.html"
        path.write_bytes(
            page(drawn, files.template("picture/page.css"), files.template("picture/page.js"))
        )
        return path

    return write
