"""What cannot be meant is told before anything is fetched."""

from __future__ import annotations

from pathlib import Path
from typing import NoReturn

import pytest

from cwiictl.actions.image import Push, fetched, push, roots, save
from cwiictl.errors import BadInput, Failed, Problem
from cwiictl.image.lock import Lock, Machine
from cwiictl.image.stores.shelf import Shelf
from tests.cwiictl.image.parts import DATE, LOCK, PACKAGES
from tests.cwiictl.image.stores.test_mirrors import serving


def silent(line: str) -> NoReturn:
    raise AssertionError(f"it has begun: {line}")


@pytest.mark.parametrize(
    ("order", "told"),
    [
        (Push("webhook"), "webhook names no place in a registry"),
        (Push("registry.example.org/webhook", plain=True), "--plain-http would send passwords"),
        (
            Push("127.0.0.1:1/webhook", plain=True, key=Path("/nowhere/key.pem")),
            "the key /nowhere/key.pem cannot be read",
        ),
        (
            Push("127.0.0.1:1/webhook", plain=True),
            "127.0.0.1:1 cannot be reached: Connection refused",
        ),
    ],
)
def test_a_push_that_leads_nowhere_fetches_nothing(order: Push, told: str) -> None:
    with pytest.raises(Problem, match=told):
        push(order, [], silent)


def test_a_place_that_cannot_be_written_is_told_with_the_argument_that_names_it(
    tmp_path: Path,
) -> None:
    (tmp_path / "taken").mkdir()
    (tmp_path / "file").touch()

    with pytest.raises(BadInput, match="taken is to be written, and is no file") as told:
        save(tmp_path / "taken", [], silent)
    assert told.value.remedy == "move it away, or give another FILE"

    with pytest.raises(BadInput) as told:
        roots(tmp_path / "file", [], silent)
    assert told.value.remedy == "move it away, or give another DIR"


def test_what_has_arrived_is_kept_where_something_else_has_not(tmp_path: Path) -> None:
    lock = Lock(
        DATE,
        "trixie",
        "3.13",
        {name: Machine(machine.packages, ()) for name, machine in LOCK.machines.items()},
    )
    there, _ = [package for machine in lock.machines.values() for package in machine.packages]
    mirror, shelf = tmp_path / "mirror", Shelf(tmp_path / "shelf")
    (mirror / there.path).parent.mkdir(parents=True)
    (mirror / there.path).write_bytes(PACKAGES["amd64"])

    with serving(mirror) as url, pytest.raises(Failed, match="python 1 cannot be had"):
        fetched(lock, [url], shelf, lambda _: None)

    assert shelf.get(there.sha256) == PACKAGES["amd64"]


def test_a_mirror_that_is_none_is_told(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="--mirror nonsense is no address of a mirror"):
        save(tmp_path / "webhook.tar", ["nonsense"], silent)
    assert not list(tmp_path.iterdir())
