"""How a cluster's programs are got. What is really built here is the smallest of them."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.cluster.kube import recipe
from tests.cluster.kube.build import built, cache, programs
from tests.cluster.kube.missing import Missing
from tests.cluster.kube.recipe import Part

PAUSE = Part("pause", (), ("pause",))


@pytest.fixture
def told() -> list[str]:
    return []


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return {"XDG_CACHE_HOME": str(tmp_path / "cache")}


def needs_go() -> None:
    if not shutil.which("go") and not os.environ.get("CI"):
        pytest.skip("Go is not on the PATH: install it to see its programs built")


def test_of_two_at_once_one_builds_and_both_have_it(
    environment: dict[str, str], told: list[str]
) -> None:
    needs_go()
    assert not built(PAUSE, environment=environment)

    with ThreadPoolExecutor(2) as pool:
        one, two = (
            pool.submit(programs, PAUSE, environment=environment, tell=told.append)
            for _ in range(2)
        )

    assert one.result() == two.result()
    assert one.result()["pause"].stat().st_mode & stat.S_IXUSR
    assert [line.split()[0] for line in sorted(told)] == ["building", "built", "somebody"]
    assert built(PAUSE, environment=environment)


def test_what_was_built_is_found_without_a_word(
    environment: dict[str, str], told: list[str]
) -> None:
    folder = cache(environment) / PAUSE.key
    folder.mkdir(parents=True)

    assert programs(PAUSE, environment=environment, tell=told.append) == {"pause": folder / "pause"}
    assert not told


def test_what_cannot_be_built_is_said_and_leaves_nothing(
    environment: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    needs_go()
    monkeypatch.setenv("GOPROXY", "off")
    monkeypatch.setenv("GOMODCACHE", str(tmp_path / "modules"))

    with pytest.raises(
        Missing, match=r"`go mod download` says: .*; see that the Go module proxy can be reached"
    ):
        programs(recipe.SERVER, environment=environment, tell=print)

    assert [path.suffix for path in cache(environment).iterdir()] == [".turn"]


def test_without_go_it_says_what_to_install(
    environment: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(Missing, match=r"install Go 1\.26 or newer, or set KUBEBUILDER_ASSETS"):
        programs(PAUSE, environment=environment, tell=print)


def test_programs_that_are_given_are_taken_as_they_are(tmp_path: Path) -> None:
    for name in recipe.SERVER.programs:
        (tmp_path / name).touch(0o755)
    given = {"KUBEBUILDER_ASSETS": str(tmp_path)}

    assert programs(recipe.SERVER, environment=given) == {
        name: tmp_path / name for name in recipe.SERVER.programs
    }
    with pytest.raises(Missing, match="which has no kube-controller-manager and no kube-scheduler"):
        programs(recipe.NODE, environment=given)


def test_the_pause_program_ends_when_it_is_told_to(environment: dict[str, str]) -> None:
    needs_go()
    program = programs(PAUSE, environment=environment, tell=print)["pause"]

    with subprocess.Popen([program]) as pause:
        with pytest.raises(subprocess.TimeoutExpired):
            pause.wait(0.3)
        pause.terminate()

        assert pause.wait(10) == 0
