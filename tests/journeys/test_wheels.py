"""What is released works alone: built, installed into an empty environment, run from another folder.

Nothing of this tree but the wheels is seen there; the versions of everything else are those of requirements.lock.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
UV = Path(sysconfig.get_path("scripts")) / "uv"
FIND_TEMPLATES = "import importlib.resources as r; print(r.files('cwiictl') / 'templates')"


def demo_commands(templates: Path) -> list[str]:
    """The demo's commands, which scripts/demo reads from the same file."""
    lines = (templates / "demo" / "commands").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def run(*command: str | Path, cwd: Path, environment: dict[str, str] | None = None) -> str:
    done = subprocess.run(
        command, cwd=cwd, env=environment, capture_output=True, text=True, check=False, timeout=240
    )
    assert done.returncode == 0, (
        f"{command} exited {done.returncode}:\n{done.stdout}\n{done.stderr}"
    )
    return done.stdout


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Each sdist is built from the tree, and each wheel from its sdist: so the sdists are whole, too."""
    out = tmp_path_factory.mktemp("dist")
    run(
        UV,
        "build",
        "--all-packages",
        "--no-build-isolation",
        "--python",
        sys.executable,
        "--out-dir",
        out,
        cwd=ROOT,
    )
    return out


@pytest.fixture(scope="module")
def installed(dist: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of programs of an environment that holds our wheels and what they need."""
    venv = tmp_path_factory.mktemp("empty") / "venv"
    python = venv / "bin" / "python"
    wheels = [f"{_one(dist, 'cwiictl-*.whl')}[aws,sandbox]", str(_one(dist, "cwii_webhook-*.whl"))]
    run(UV, "venv", "--python", sys.executable, venv, cwd=dist)
    run(
        UV,
        "pip",
        "install",
        "--python",
        python,
        "--constraints",
        ROOT / "requirements.lock",
        *wheels,
        cwd=dist,
    )
    return python.parent


@pytest.fixture
def environment(installed: Path, tmp_path: Path) -> dict[str, str]:
    """No variable of the caller's is there, so no PYTHONPATH either."""
    home = tmp_path / "home"
    home.mkdir()
    return {"PATH": f"{installed}{os.pathsep}{os.defpath}", "HOME": str(home), "LC_ALL": "C.UTF-8"}


def test_the_distributions_hold_what_they_should_and_no_more(dist: Path) -> None:
    wheel = zipfile.ZipFile(_one(dist, "cwiictl-*.whl")).namelist()
    templates = [
        f"cwiictl/templates/{file.relative_to(ROOT / 'templates').as_posix()}"
        for file in (ROOT / "templates").rglob("*")
        if file.is_file()
    ]

    assert templates
    assert set(templates) <= set(wheel)
    assert "cwiictl/py.typed" in wheel
    assert "cwii_webhook/py.typed" in zipfile.ZipFile(_one(dist, "cwii_webhook-*.whl")).namelist()
    assert _strangers(wheel, ["cwiictl"]) == []
    assert (
        _strangers(
            _sdist(dist, "cwiictl-*.tar.gz"),
            ["cwiictl", "templates", "README.md", "LICENSE", "pyproject.toml"],
        )
        == []
    )
    assert (
        _strangers(
            _sdist(dist, "cwii_webhook-*.tar.gz"),
            ["cwii_webhook", "README.md", "LICENSE", "pyproject.toml"],
        )
        == []
    )


def test_it_runs_from_another_folder(environment: dict[str, str], tmp_path: Path) -> None:
    assert "0.1.0" in run(
        Path(_programs(environment)) / "cwiictl", "--version", cwd=tmp_path, environment=environment
    )
    assert "create-all" in run(
        Path(_programs(environment)) / "cwiictl", "--help", cwd=tmp_path, environment=environment
    )


def test_it_finds_its_templates(environment: dict[str, str], tmp_path: Path) -> None:
    names = [
        file.relative_to(ROOT / "templates").as_posix()
        for file in (ROOT / "templates").rglob("*")
        if file.is_file()
    ]
    read = "import sys; from cwiictl import files; print(sum(bool(files.template(name)) for name in sys.argv[1:]))"

    assert run(
        Path(_programs(environment)) / "python",
        "-c",
        read,
        *names,
        cwd=tmp_path,
        environment=environment,
    ).strip() == str(len(names))


def test_the_demo_runs(environment: dict[str, str], tmp_path: Path) -> None:
    python = Path(_programs(environment)) / "python"
    templates = Path(
        run(python, "-c", FIND_TEMPLATES, cwd=tmp_path, environment=environment).strip()
    )
    work = tmp_path / "work"
    shutil.copytree(templates / "demo" / "credentials-requests", work / "requests")
    shutil.copy(templates / "demo" / "shop.yaml", work)
    story = "\n".join(["set -eu", *demo_commands(templates)])

    told = run(
        python.with_name("cwiictl"),
        "sandbox",
        "run",
        "--",
        "sh",
        "-c",
        story,
        cwd=work,
        environment=environment,
    )

    assert ROOT not in templates.parents
    assert "out/manifests/" in told


def _one(folder: Path, pattern: str) -> Path:
    (file,) = folder.glob(pattern)
    return file


def _programs(environment: dict[str, str]) -> str:
    return environment["PATH"].partition(os.pathsep)[0]


def _sdist(dist: Path, pattern: str) -> list[str]:
    """The names inside, without the folder that all of them are in."""
    with tarfile.open(_one(dist, pattern)) as archive:
        links = [member.name for member in archive if not member.isfile()]
        assert links == []
        return [member.name.partition("/")[2] for member in archive]


def _strangers(names: Sequence[str], known: Sequence[str]) -> list[str]:
    """What is there beside the known, and what every distribution has."""
    return [
        name
        for name in names
        if name.partition("/")[0] not in {*known, "PKG-INFO", ".gitignore"}
        and ".dist-info/" not in name
    ]
