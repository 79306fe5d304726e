"""Locks: there are none, and tools that look for them are told so."""

from __future__ import annotations

from .call import Routes
from .pages import listed
from .state import State


class Locks:
    def __init__(self, state: State) -> None:
        self._state = state

    @property
    def routes(self) -> Routes:
        return {("GET", "microsoft.authorization/locks"): lambda call: listed(call, [])}
