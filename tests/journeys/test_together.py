"""Two people at once: one of them is refused, and nobody's key is lost."""

from __future__ import annotations

import json

import pytest

from tests.journeys.conftest import Enter
from tests.journeys.ground import BUCKET, Done


@pytest.mark.parametrize("latency", [0.0, 0.05])
def test_of_two_first_runs_from_two_empty_folders_one_is_refused_and_one_key_is_published(
    enter: Enter, latency: float
) -> None:
    ground = enter(latency=latency)
    arguments = (
        "create-all",
        *ground.where,
        "--credentials-requests-dir",
        "requests",
        "--bits",
        "2048",
        "-o",
        "json",
    )
    with (
        ground.started(*arguments, "--output-dir", "one") as one,
        ground.started(*arguments, "--output-dir", "two") as two,
    ):
        ended = [Done(process.wait(100), *process.communicate()) for process in (one, two)]

    codes = sorted(done.code for done in ended)
    assert codes[0] == 0, [done.out for done in ended]
    assert codes[1] in {1, 2, 4}
    winner, loser = sorted(ended, key=lambda done: done.code)
    published = json.loads(ground.clouds()["buckets"][BUCKET]["objects"]["keys.json"]["body"])[
        "keys"
    ]
    keys = [
        thing["want"]["kid"]
        for thing in winner.data["things"]
        if thing["thing"] == "local/key/signing-key"
    ]
    assert [key["kid"] for key in published] == keys
    assert "--add-key" in loser.out + loser.err

    folder = "one" if winner is ended[0] else "two"
    assert ground.create_all("--output-dir", folder).code == 0
    assert ground.status("--output-dir", folder).code == 0
    other = ground.create_all("--output-dir", "two" if folder == "one" else "one")
    assert other.code == 2
