"""The policies of projects: documents that everybody writes, read and written as version 3, which alone shows conditions, and under their etags."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any

from cwiictl.clouds.gcp.resources.grant import Condition, Grant
from cwiictl.clouds.gcp.stores.errors import told
from cwiictl.clouds.gcp.stores.wire import Rest

VERSION = 3

Document = Mapping[str, Any]


class Ledger:
    """One of our threads at a time is at the policy of a project: of two that read the same, one would write in vain."""

    def __init__(self, rest: Rest, projects: str) -> None:
        self.rest, self.projects = rest, projects
        self.lock = threading.Lock()
        self.locks: dict[str, threading.Lock] = defaultdict(threading.Lock)
        self.kept: dict[str, Document] = {}

    def read(self, project: str) -> Document:
        """As it is now."""
        with self._one(project):
            return self._read(project)

    def change(
        self, project: str, alter: Callable[[frozenset[Grant]], Collection[Grant]]
    ) -> Document:
        """Over what was seen last: whoever came in between makes the write fail, and the next try begins with what is there by then."""
        with self._one(project):
            have = self.kept.get(project) or self._read(project)
            before = frozenset(grants(have))
            after = frozenset(alter(before))
            return (
                have
                if after == before
                else self._write(
                    project,
                    have,
                    rebound(have.get("bindings") or (), before - after, after - before),
                )
            )

    def _one(self, project: str) -> threading.Lock:
        with self.lock:
            return self.locks[project]

    def _read(self, project: str) -> Document:
        with told("cloudresourcemanager"):
            self.kept[project] = self.rest.post(
                f"{self.projects}/{project}:getIamPolicy",
                {"options": {"requestedPolicyVersion": VERSION}},
            )
        return self.kept[project]

    def _write(self, project: str, have: Document, bindings: list[dict[str, Any]]) -> Document:
        self.kept.pop(project)  # whatever the answer will be, or if none comes
        with told("cloudresourcemanager"):
            wish = {"policy": {**have, "version": VERSION, "bindings": bindings}}
            self.kept[project] = self.rest.post(f"{self.projects}/{project}:setIamPolicy", wish)
        return self.kept[project]


def grants(policy: Document) -> Iterator[Grant]:
    for binding in policy.get("bindings") or ():
        for member in binding.get("members") or ():
            yield Grant(str(binding["role"]), str(member), condition(binding))


def condition(binding: Mapping[str, Any]) -> Condition | None:
    told = binding.get("condition")
    return (
        Condition(
            str(told.get("title", "")),
            str(told.get("expression", "")),
            str(told.get("description", "")),
        )
        if told
        else None
    )


def rebound(
    bindings: Iterable[Mapping[str, Any]], less: Collection[Grant], more: Iterable[Grant]
) -> list[dict[str, Any]]:
    """Nothing else in it changes, not even its order."""
    after: list[dict[str, Any]] = []
    for binding in bindings:
        role, when = str(binding["role"]), condition(binding)
        if members := [
            member
            for member in binding.get("members") or ()
            if Grant(role, str(member), when) not in less
        ]:
            after.append({**binding, "members": members})
    for grant in sorted(more, key=repr):
        fitting: list[dict[str, Any]] = [
            each
            for each in after
            if each["role"] == grant.role and condition(each) == grant.condition
        ]
        if not fitting:
            fitting = [
                {
                    "role": grant.role,
                    "members": list[str](),
                    **({"condition": _written(grant.condition)} if grant.condition else {}),
                }
            ]
            after += fitting
        fitting[0]["members"].append(grant.member)
    return after


def _written(when: Condition) -> dict[str, str]:
    told = {"title": when.title, "description": when.description, "expression": when.expression}
    return {key: text for key, text in told.items() if text}
