"""Namespaces: with one goes all that is in it, whoever has put it there."""

from __future__ import annotations

from cwiictl.errors import Conflict, NotYet, few
from cwiictl.kubernetes.contents import Item, strangers, worth_a_look
from cwiictl.kubernetes.kinds import Kind, Kinds
from cwiictl.kubernetes.state import owner
from cwiictl.kubernetes.stores.errors import told
from cwiictl.kubernetes.stores.store import Objects
from cwiictl.kubernetes.stores.wire import METADATA, Wire

PATIENCE = 300.0  # seconds: pods in it may take their time to end
LOOK = 2.0  # seconds between two looks at them


class Namespaces(Objects):
    def __init__(self, wire: Wire, of: Kind, kinds: Kinds, place: str = "") -> None:
        super().__init__(wire, of, PATIENCE, place)
        self.kinds = kinds

    @told()
    def inspect(self, name: str, /) -> None:
        live = self._read(name)
        mark = owner(live) if live else None
        if mark is None:
            return
        looked = {kind.title: kind for kind in worth_a_look(self.kinds)}
        items = [
            Item(kind, each)
            for kind in looked.values()
            for each in self.wire.list(kind.path(name), form=METADATA)
        ]
        if found := strangers(items, looked, mark.cluster):
            raise Conflict(
                f"{self._address(name)} holds what is not ours: {few(found, 1)}",
                remedy="move it elsewhere or delete it, and run again: it would go with it",
            )

    @told()
    def drop(self, name: str, /) -> None:
        """Looked at once more: somebody may have put something in since. Deleted with pods in it, it would wait for half of the time that they may take."""
        self.inspect(name)
        if any(True for _ in self.wire.list(self.kinds["Pod"].path(name), form=METADATA)):
            raise NotYet(
                f"{self._address(name)} has pods that come to their end",
                remedy="run again when they have",
                after=LOOK,
            )
        super().drop(name)
