"""What is pinned for the image is what is pinned for all, and nothing in it is a shell."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import msgspec
import pytest

from cwiictl import files
from cwiictl.actions.image import LOCK
from cwiictl.image.lock import Lock, read

ROOT = Path(__file__).parents[3]
PINNED = read(files.template(LOCK).encode())
REQUIREMENTS = (ROOT / "requirements.lock").read_text()
MACHINES = sorted(PINNED.machines)
NEVER = {
    "bash",
    "dash",
    "busybox",
    "busybox-static",
    "coreutils",
    "dpkg",
    "apt",
    "libc-bin",
    "util-linux",
    "perl-base",
    "python3-pip",
}


def test_it_is_for_both_kinds_of_machines_and_names_no_address() -> None:
    assert MACHINES == ["amd64", "arm64"]
    assert "://" not in files.template(LOCK)


def test_a_snapshot_is_named_as_archives_do() -> None:
    assert re.fullmatch(r"\d{8}T\d{6}Z", PINNED.snapshot)
    assert PINNED.seconds > 1_700_000_000


def test_a_date_is_a_snapshots_name_and_a_time() -> None:
    lock = Lock("2026-11-18T01:02:03Z", "trixie", "3.13", {})

    assert (lock.snapshot, lock.seconds) == ("20261118T010203Z", 1_794_963_723)


@pytest.mark.parametrize(
    "change",
    [{"date": "2026-11-18"}, {"date": "yesterday"}, {"sha256": "0" * 63}, {"sha256": "G" * 64}],
)
def test_what_no_date_and_no_hash_can_be_is_refused(change: dict[str, str]) -> None:
    said = {"date": "2026-11-18T00:00:00Z", "sha256": "0" * 64, **change}
    package = {"name": "a", "version": "1", "path": "a.deb", "sha256": said["sha256"]}
    text = json.dumps(
        {
            "date": said["date"],
            "suite": "trixie",
            "python": "3.13",
            "machines": {"amd64": {"packages": [package], "wheels": []}},
        }
    )

    with pytest.raises(msgspec.ValidationError, match="matching regex"):
        read(text.encode())


def test_nothing_of_it_can_be_changed() -> None:
    machine = PINNED.machines["amd64"]

    for each in (PINNED, machine, machine.packages[0], machine.wheels[0]):
        with pytest.raises(AttributeError):
            setattr(each, each.__struct_fields__[0], "another")


@pytest.mark.parametrize("machine", MACHINES)
def test_its_packages_are_that_machines_and_none_is_a_shell_or_installs_anything(
    machine: str,
) -> None:
    packages = PINNED.machines[machine].packages

    assert all(each.path.endswith((f"_{machine}.deb", "_all.deb")) for each in packages)
    assert {each.name for each in packages}.isdisjoint(NEVER)
    assert {each.name for each in packages} == {
        each.name for each in PINNED.machines["amd64"].packages
    }


@pytest.mark.parametrize("machine", MACHINES)
def test_its_wheels_are_those_of_requirements_lock(machine: str) -> None:
    for wheel in PINNED.machines[machine].wheels:
        block = re.search(
            rf"^{wheel.name}=={re.escape(wheel.version)}\b(?:.*\\\n)*.*", REQUIREMENTS, re.MULTILINE
        )
        assert block, f"{wheel.name} {wheel.version}: run scripts/image lock"
        assert wheel.sha256 in block[0]


def test_whatever_the_webhook_imports_is_in_it() -> None:
    """Nothing can be installed into an image, so each of its extras is there."""
    project = tomllib.loads((ROOT / "webhook" / "pyproject.toml").read_text())["project"]
    required = [
        *project["dependencies"],
        *(each for extra in project["optional-dependencies"].values() for each in extra),
    ]

    assert {re.split(r"[^\w-]", each)[0] for each in required} <= {
        wheel.name for wheel in PINNED.machines["arm64"].wheels
    }
