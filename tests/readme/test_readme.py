"""README.md says what the code does: its tables are the code's, and what it shows is run."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest

from cwiictl.cli import COMMANDS, cwiictl
from cwiictl.cli.image import image
from cwiictl.sandbox import Sandbox
from tests.readme.tables import README, TABLES, rendered

ROOT = Path(__file__).parents[2]
SHOWN = re.findall(r"^\$ (.*)$", README.read_text(), re.MULTILINE)


def test_its_tables_are_what_the_code_says():
    text = README.read_text()

    assert all(f"<!-- table: {name} -->" in text for name in TABLES)
    assert rendered(text) == text, "run scripts/fix"


def test_it_begins_with_exactly_two_commands():
    first = README.read_text().split("```")[1]

    assert [line.split()[0] for line in first.splitlines()[1:]] == [
        "./scripts/demo",
        "./scripts/test",
    ]


def test_what_it_shows_runs_as_shown(tmp_path: Path):
    shutil.copytree(ROOT / "templates/demo/credentials-requests", tmp_path / "requests")
    shutil.copy(ROOT / "templates/cluster.example.yaml", tmp_path / "cluster.yaml")
    shutil.copy(ROOT / "templates/demo/shop.yaml", tmp_path)
    assert len(SHOWN) > 5
    with Sandbox() as sandbox:
        environment = sandbox.environment()
        environment["PATH"] = os.pathsep.join(
            [str(Path(sys.executable).parent), environment["PATH"]]
        )
        for line in SHOWN:
            done = subprocess.run(
                shlex.split(line),
                cwd=tmp_path,
                env=environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                check=False,
            )
            assert done.returncode == 0, f"{line}\n{done.stdout}\n{done.stderr}"


def test_where_the_image_is_promised_to_be_the_same_everywhere_the_exception_is_told():
    exception = "only a Python that compresses with zlib-ng has the same files under another digest"
    told = [
        README.read_text(),
        (ROOT / "webhook/Containerfile").read_text().replace("\n#", ""),
        image.help or "",
    ]

    assert [exception in " ".join(text.split()) for text in told] == [True, True, True]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_with_an_example(name: str):
    command = cwiictl.get_command(click.Context(cwiictl), name)
    assert command
    commands = command.commands.values() if isinstance(command, click.Group) else [command]

    assert all(f"cwiictl {name}" in (each.help or "") for each in [command, *commands])
    assert all(
        option.help
        for each in commands
        for option in each.params
        if isinstance(option, click.Option)
    )
