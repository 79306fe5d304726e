"""The webhook as it is installed beside us, in a wheel or in a checkout: its own files, and nothing that a run has left among them."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import metadata, resources
from importlib.resources.abc import Traversable

from cwiictl.image.tree import File, Tree

PACKAGE = "cwii_webhook"
DISTRIBUTION = "cwii-webhook"


def version() -> str:
    return metadata.version(DISTRIBUTION)


def package() -> Tree:
    """With what scanners read of a distribution: its name and its version."""
    told = f"Metadata-Version: 2.1\nName: {DISTRIBUTION}\nVersion: {version()}\nLicense-Expression: Apache-2.0\n"
    return {
        **dict(_files(resources.files(PACKAGE), PACKAGE)),
        f"{PACKAGE}-{version()}.dist-info/METADATA": File(told.encode()),
    }


def _files(folder: Traversable, path: str) -> Iterator[tuple[str, File]]:
    for each in folder.iterdir():
        if each.is_dir():
            yield from _files(each, f"{path}/{each.name}")
        elif each.name.endswith(".py") or each.name == "py.typed":
            yield f"{path}/{each.name}", File(each.read_bytes())
