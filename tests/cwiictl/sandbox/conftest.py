"""A fresh sandbox for each test, and somebody who visits it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import TypeVar

import pytest

from cwiictl.sandbox import Sandbox, Settings
from tests.cwiictl.sandbox.visitor import Visitor

Enter = Callable[..., Visitor]
V = TypeVar("V")


def entering(kind: Callable[[Sandbox], V]) -> Iterator[Callable[..., V]]:
    """Somebody of a kind in a sandbox with these settings."""
    with ExitStack() as stack:

        def start(**settings: object) -> V:
            return kind(stack.enter_context(Sandbox(Settings(**settings))))  # pyright: ignore[reportArgumentType] - each test gives what Settings takes

        yield start


@pytest.fixture
def enter() -> Iterator[Enter]:
    yield from entering(Visitor)


@pytest.fixture
def visitor(enter: Enter) -> Visitor:
    return enter()


@pytest.fixture(autouse=True)
def nobodys_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """boto3 must not look at who runs the tests."""
    for name in (
        "AWS_PROFILE",
        "AWS_REGION",
        "AWS_DEFAULT_REGION",
        "HTTPS_PROXY",
        "https_proxy",
        "NO_PROXY",
        "no_proxy",
    ):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/dev/null")
