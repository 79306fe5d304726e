"""Tests that arbitrary bodies get valid responses in little time and memory."""

from __future__ import annotations

import fcntl
import os
import platform
import re
import subprocess
import sys
import time
from collections import Counter
from itertools import islice
from pathlib import Path

import pytest

from tests.webhook.admission.fuzz import (
    MAX_MEMORY,
    check_body,
    generate_bodies,
    make_webhooks,
    peak_memory,
)


def count_statuses(seed: int, *, min_bodies: int, seconds: float) -> Counter[int]:
    """Checks at least `min_bodies` bodies. Returns how often each status occurred."""
    webhooks, statuses = make_webhooks(), Counter[int]()
    deadline, memory_before = time.monotonic() + seconds, peak_memory()
    for number, body in enumerate(generate_bodies(seed)):
        if number >= min_bodies and time.monotonic() > deadline:
            break
        statuses[check_body(webhooks[number % len(webhooks)], body)] += 1
    assert peak_memory() - memory_before < MAX_MEMORY
    return statuses


def test_seed_determines_the_bodies() -> None:
    assert list(islice(generate_bodies(3), 50)) == list(islice(generate_bodies(3), 50))


def test_hundreds_of_mutated_reviews_get_valid_responses() -> None:
    assert count_statuses(seed=1, min_bodies=400, seconds=0).keys() == {200, 400}


@pytest.mark.soak
def test_mutated_reviews_get_valid_responses_for_half_a_minute() -> None:
    assert count_statuses(seed=2, min_bodies=1000, seconds=30).keys() == {200, 400}


ATHERIS = "atheris==3.0.0"
INSTALL_DIR = Path(__file__).parents[3] / ".tools" / "atheris"


@pytest.fixture
def atheris() -> Path:
    """Installs atheris on first use. A file lock makes concurrent test workers install it once."""
    INSTALL_DIR.parent.mkdir(exist_ok=True)
    with (INSTALL_DIR.parent / "atheris.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (INSTALL_DIR / "done").exists() or (INSTALL_DIR / "done").read_text() != ATHERIS:
            uv = Path(sys.executable).parent / "uv"
            subprocess.run(
                [
                    uv,
                    "pip",
                    "install",
                    "--quiet",
                    "--python",
                    sys.executable,
                    "--target",
                    INSTALL_DIR,
                    ATHERIS,
                ],
                check=True,
                timeout=240,
            )
            (INSTALL_DIR / "done").write_text(ATHERIS)
    return INSTALL_DIR


@pytest.mark.soak
@pytest.mark.skipif(
    (sys.platform, platform.machine()) != ("linux", "x86_64"),
    reason="there is no atheris for this machine",
)
def test_bodies_from_atheris_get_valid_responses_for_half_a_minute(
    atheris: Path, tmp_path: Path
) -> None:
    """Starts a process, because atheris must instrument the webhook before its import."""
    fuzzer = subprocess.run(
        [sys.executable, "-m", "tests.webhook.admission.guided_fuzz", str(tmp_path), "30"],
        env=os.environ | {"PYTHONPATH": str(atheris)},
        cwd=Path(__file__).parents[3],
        capture_output=True,
        text=True,
        errors="replace",
        timeout=240,
        check=False,
    )

    assert fuzzer.returncode == 0, fuzzer.stdout[-4000:] + fuzzer.stderr[-4000:]
    assert int(re.findall(r"number_of_executed_units: (\d+)", fuzzer.stderr)[0]) > 1000
