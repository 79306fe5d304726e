"""Wheels, by whichever pip there is."""

from __future__ import annotations

from pathlib import Path

import pytest

from cwiictl.errors import Failed
from cwiictl.image.stores.indexes import fetched
from tests.cwiictl.image.parts import LOCK


def test_a_pip_that_does_not_end_is_given_up_and_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pip = tmp_path / "pip3"
    pip.write_text("#!/bin/sh\nexec sleep 60\n")
    pip.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")

    with pytest.raises(Failed, match=r"pip has not fetched the wheels in 0\.1 seconds") as told:
        fetched(LOCK.machines["amd64"].wheels, LOCK.python, 0.1)

    assert "run again" in told.value.remedy
