"""The clouds, laid side by side: what is the same in each has the same file, the same word, and the same place in its file."""

from __future__ import annotations

import ast
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

from cwiictl.clouds import ALL

FILES = {
    "__init__",
    "spec",
    "section",
    "plan",
    "telling",
    "clearance",
    "permissions",
    "resources/__init__",
    "resources/document",
    "stores/__init__",
    "stores/session",
    "stores/errors",
    "stores/permissions",
}
WORDS: dict[str, tuple[str, ...]] = {
    "plan": ("judged", "brings", "host", "standing", "trusted", "trusting", "identities", "walk"),
    "telling": ("bindings",),
    "clearance": ("permitted", "leaving"),
    "spec": ("KIND", "PLACING", "ISSUING", "IDENTITIES", "Spec", "Ask", "ask"),
    "section": ("WISHES", "Section", "ask_of"),
    "permissions": ("READ", "WRITE", "DROP", "COMMANDS", "Grant", "making", "least"),
    "resources/document": ("JWKS",),
    "stores/__init__": ("Stores",),
    "stores/errors": ("status", "absent", "denied", "gone", "told", "answered"),
}
ANYWHERE = {"stores/session": {"Clients", "connect", "stores"}}
ASKED = (
    "account",
    "caller",
    "close",
    "permissions",
    "documents",
    "key_sets",
    "issuers",
    "known_issuers",
)


def folder(cloud: str) -> Path:
    found = find_spec(f"cwiictl.clouds.{cloud}")
    assert found is not None
    assert found.origin is not None
    return Path(found.origin).parent


def words(path: Path) -> list[str]:
    """What a module says, in its order."""
    found: list[str] = []
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        match node:
            case ast.FunctionDef() | ast.ClassDef():
                found.append(node.name)
            case ast.Assign():
                found += [target.id for target in node.targets if isinstance(target, ast.Name)]
            case ast.AnnAssign(target=ast.Name() as target):
                found.append(target.id)
            case _:
                pass
    return found


@pytest.mark.parametrize("cloud", ALL)
def test_each_has_the_same_files(cloud: str) -> None:
    assert {path for path in FILES if not (folder(cloud) / f"{path}.py").exists()} == set()


@pytest.mark.parametrize("path", WORDS)
@pytest.mark.parametrize("cloud", ALL)
def test_each_says_the_same_words_in_the_same_order(cloud: str, path: str) -> None:
    assert [word for word in words(folder(cloud) / f"{path}.py") if word in WORDS[path]] == list(
        WORDS[path]
    )


@pytest.mark.parametrize("path", ANYWHERE)
@pytest.mark.parametrize("cloud", ALL)
def test_each_is_connected_to_in_the_same_words(cloud: str, path: str) -> None:
    assert ANYWHERE[path] - set(words(folder(cloud) / f"{path}.py")) == set()


@pytest.mark.parametrize("cloud", ALL)
def test_the_stores_of_each_are_asked_for_the_same_first(cloud: str) -> None:
    module = ast.parse((folder(cloud) / "stores/__init__.py").read_text(encoding="utf-8"))
    (stores,) = (
        node for node in module.body if isinstance(node, ast.ClassDef) and node.name == "Stores"
    )
    fields = [
        node.target.id
        for node in stores.body
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
    ]

    assert set(ASKED) - set(fields) == set()


def test_each_package_shows_the_same_words() -> None:
    shown = {cloud: ast.literal_eval(_all(folder(cloud) / "__init__.py")) for cloud in ALL}

    assert len({tuple(each) for each in shown.values()}) == 1


def _all(path: Path) -> ast.expr:
    found = (
        node
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.Assign)
    )
    return next(
        node.value
        for node in found
        if isinstance(node.targets[0], ast.Name) and node.targets[0].id == "__all__"
    )


@pytest.mark.parametrize("cloud", ALL)
def test_no_file_is_called_as_what_the_cloud_exports(cloud: str) -> None:
    """Who loads a file has the package give that out from then on, and not what is in it."""
    exported = set(import_module(f"cwiictl.clouds.{cloud}").__all__)

    assert exported & {path.stem for path in folder(cloud).glob("*.py")} == set()
