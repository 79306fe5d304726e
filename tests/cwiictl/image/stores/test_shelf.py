"""What was fetched before is taken only if it still has its hash."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from cwiictl.image.stores import installed
from cwiictl.image.stores.shelf import Shelf, shelf

NAME = hashlib.sha256(b"data").hexdigest()


def test_what_was_put_is_there_until_somebody_changes_it(tmp_path: Path) -> None:
    kept = Shelf(tmp_path / "image")
    assert kept.get(NAME) is None

    kept.put(b"data")
    assert kept.get(NAME) == b"data"

    (tmp_path / "image" / NAME).write_bytes(b"other")
    assert kept.get(NAME) is None


def test_where_nothing_can_be_kept_nothing_is(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    Shelf(tmp_path / "file").put(b"data")

    assert Shelf(tmp_path / "file").get(NAME) is None


def test_it_is_where_caches_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))

    assert shelf().folder == tmp_path / "cwiictl" / "image"


def test_the_installed_webhook_comes_without_what_a_run_left_and_with_its_name() -> None:
    package = installed.package()

    assert {
        "cwii_webhook/__main__.py",
        "cwii_webhook/py.typed",
        "cwii_webhook/dialects/cwii/aws.py",
    } <= set(package)
    assert not [path for path in package if path.endswith((".pyc", ".so")) or "__pycache__" in path]
    assert [path for path in package if path.endswith("METADATA")] == [
        f"cwii_webhook-{installed.version()}.dist-info/METADATA"
    ]
