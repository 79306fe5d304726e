"""Whatever bytes come, they are answered: with 400, or as an API server can read it; soon, and without eating memory."""

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

from tests.webhook.admission.fuzz import MEMORY, bodies, counters, judged, memory


def answered(seed: int, *, least: int, seconds: float) -> Counter[int]:
    """Statuses, and how often each came."""
    every, found, until, before = counters(), Counter[int](), time.monotonic() + seconds, memory()
    for number, body in enumerate(bodies(seed)):
        if number >= least and time.monotonic() > until:
            break
        found[judged(every[number % len(every)], body)] += 1
    assert memory() - before < MEMORY
    return found


def test_one_seed_makes_the_same_bodies_again() -> None:
    assert list(islice(bodies(3), 50)) == list(islice(bodies(3), 50))


def test_a_few_hundred_bodies_that_are_nearly_reviews_are_all_answered() -> None:
    assert answered(seed=1, least=400, seconds=0).keys() == {200, 400}


@pytest.mark.soak
def test_half_a_minute_of_them_is() -> None:
    assert answered(seed=2, least=1000, seconds=30).keys() == {200, 400}


ATHERIS = "atheris==3.0.0"
HOME = Path(__file__).parents[2] / ".tools" / "atheris"


@pytest.fixture
def atheris() -> Path:
    """Fetched once. Whoever comes second waits, and finds it there."""
    HOME.parent.mkdir(exist_ok=True)
    with (HOME.parent / "atheris.turn").open("w") as turn:
        fcntl.flock(turn, fcntl.LOCK_EX)
        if not (HOME / "done").exists() or (HOME / "done").read_text() != ATHERIS:
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
                    HOME,
                    ATHERIS,
                ],
                check=True,
                timeout=240,
            )
            (HOME / "done").write_text(ATHERIS)
    return HOME


@pytest.mark.soak
@pytest.mark.skipif(
    (sys.platform, platform.machine()) != ("linux", "x86_64"),
    reason="there is no atheris for this machine",
)
def test_half_a_minute_of_those_that_atheris_finds_is(atheris: Path, tmp_path: Path) -> None:
    told = subprocess.run(
        [sys.executable, "-m", "tests.webhook.admission.guided_fuzz", str(tmp_path), "30"],
        env=os.environ | {"PYTHONPATH": str(atheris)},
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        errors="replace",
        timeout=240,
        check=False,
    )

    assert told.returncode == 0, told.stdout[-4000:] + told.stderr[-4000:]
    assert int(re.findall(r"number_of_executed_units: (\d+)", told.stderr)[0]) > 1000
