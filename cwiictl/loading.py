"""What of a cloud or a cluster is loaded by whom uses it, and not before: its plan, and its SDK, which may not be installed."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from cwiictl.errors import BadInput


@contextmanager
def loading(name: str, title: str) -> Generator[None]:
    """Where the SDK is loaded, and only there."""
    try:
        yield
    except ModuleNotFoundError as e:
        raise BadInput(
            f"the SDK of {title} is not installed: there is no module {e.name}",
            remedy=f"install cwiictl with its extra {name}, as in pip install '.[{name}]'",
        ) from e


def behind(package: str, *modules: str) -> Callable[[str], Any]:
    """A package's `__getattr__`: what it exports and has not in itself is in these modules of its own."""

    def find(name: str) -> Any:
        if name in sys.modules[package].__all__:
            for module in modules:
                if (found := getattr(import_module(f"{package}.{module}"), name, None)) is not None:
                    return found
        raise AttributeError(f"module {package!r} has no attribute {name!r}", name=name)

    return find
