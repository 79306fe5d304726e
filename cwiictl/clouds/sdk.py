"""The SDK of a cloud, which may not be installed."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from cwiictl.errors import BadInput


@contextmanager
def loading(name: str, title: str) -> Generator[None]:
    """Where it is loaded, and only there: who does not use this cloud does not pay for it."""
    try:
        yield
    except ModuleNotFoundError as e:
        raise BadInput(
            f"the SDK of {title} is not installed: there is no module {e.name}", remedy=f"install cwiictl with its extra {name}, as in pip install '.[{name}]'"
        ) from e
