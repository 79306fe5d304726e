"""All service accounts of a project at once. The second name that is asked for is the sign that many will be."""

from __future__ import annotations

import threading
from typing import Any

from cwiictl.clouds.gcp import ids
from cwiictl.clouds.gcp.stores.wire import Iam

UNKNOWN = object()
PAGE = 100


class Crowd:
    """What was read so answers each name once: who asks again wants to know what is there now."""

    def __init__(self, iam: Iam, project: str) -> None:
        self.iam, self.project = iam, project
        self.lock = threading.Lock()
        self.asked: set[str] = set()
        self.made: set[str] = set()  # in this run: one of them that is not shown is not yet shown
        self.known: dict[str, Any] | None = None  # by id, as they were listed first

    def seen(self, account: str) -> Any:
        """None if there is none of the name; UNKNOWN if that has to be asked."""
        with self.lock:
            if account in self.asked:
                return UNKNOWN
            if self.asked and self.known is None:
                self.known = self._list()
            self.asked.add(account)
            return UNKNOWN if self.known is None else self.known.get(account)

    def all(self) -> list[Any]:
        """As they were listed first."""
        with self.lock:
            if self.known is None:
                self.known = self._list()
            return list(self.known.values())

    def everybody(self) -> list[Any]:
        """As they are now."""
        return list(self._list().values())

    def learn(self, account: str, _seen: Any) -> None:
        with self.lock:
            self.asked.add(account)
            self.made.add(account)

    def forget(self, account: str) -> None:
        with self.lock:
            self.asked.add(account)
            self.made.discard(account)

    def _list(self) -> dict[str, Any]:
        pages = self.iam.call(
            "list_service_accounts", {"name": f"projects/{self.project}", "page_size": PAGE}
        )
        return {ids.account(seen.email) or str(seen.email): seen for seen in pages}
