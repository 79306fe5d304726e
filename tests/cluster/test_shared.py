"""One cluster for several processes: started once, and gone with the last of them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cluster.kube.reach import Reach
from tests.cluster.kube.shared import shared
from tests.cluster.traces import processes_in, seen_within

HAVING = """
import sys
from pathlib import Path
from tests.cluster.kube.shared import shared
with shared(Path(sys.argv[1])) as reach:
    print(reach.folder, flush=True)
    input()
"""


def having(place: Path) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    return subprocess.Popen(
        [sys.executable, "-c", HAVING, str(place)],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def test_who_comes_later_finds_it_started(reach: Reach, place: Path) -> None:
    with shared(place) as again:
        assert (again.folder, again.urls) == (reach.folder, reach.urls)
        assert again.client("anybody").server == reach.urls[0]

    assert reach.admin.text("/readyz") == "ok"


@pytest.mark.soak
@pytest.mark.usefixtures("reach")
def test_it_outlives_whoever_started_it_and_ends_with_the_last_one_even_if_all_are_killed(
    tmp_path: Path,
) -> None:
    with having(tmp_path) as first, having(tmp_path) as second:
        assert first.stdout
        assert second.stdout
        folder = Path(first.stdout.readline().strip())
        assert folder == Path(second.stdout.readline().strip())

        first.kill()
        first.wait()
        assert not seen_within(1, lambda: not processes_in(folder))
        second.kill()

    assert seen_within(20, lambda: not folder.exists() and not processes_in(folder))
    with shared(tmp_path) as reach:
        assert reach.folder != folder
