"""Tags as AWS lists them, and as a mapping. A mark is a tag like others, but its own question."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Protocol

from botocore.exceptions import ClientError

from cwiictl import names
from cwiictl.clouds.aws.stores.errors import absent, told
from cwiictl.engine.resource import Mark
from cwiictl.errors import NotYet

SOON = 0.5  # seconds; for a try that got further than the last, and so is no reason to wait longer and longer


class Tagged(Protocol):
    @property
    def tags(self) -> Mapping[str, str]: ...
    @property
    def owner(self) -> Mark | None: ...


def read(tags: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    return {tag["Key"]: tag["Value"] for tag in tags}


def complete(thing: Tagged) -> dict[str, str]:
    return {**thing.tags, **(names.marked(thing.owner) if thing.owner else {})}


def listed(want: Tagged) -> list[Any]:
    return [{"Key": key, "Value": value} for key, value in sorted(complete(want).items())]


def retagged(want: Tagged, have: Tagged) -> tuple[list[Any], list[str]]:
    """The tags to set, and the keys to take away: those of a mark that is given up, or gives way to ours. Tags of others are theirs."""
    before, after = (
        complete(have) if have.owner is None or have.owner.whole else dict(have.tags),
        complete(want),
    )
    add = [
        {"Key": key, "Value": value}
        for key, value in sorted(after.items())
        if before.get(key) != value
    ]
    return add, sorted(before.keys() - have.tags.keys() - after.keys())


def retag(want: Tagged, have: Tagged, tag: Callable[..., Any], untag: Callable[..., Any]) -> bool:
    """The two calls that every service has, of which mostly neither is needed."""
    add, take = retagged(want, have)
    if add:
        tag(Tags=add)
    if take:
        untag(TagKeys=take)
    return bool(add or take)


class Tags:
    """Of many things, asked for one by one: AWS lists things without their tags. Who asks while another does gets what that one finds."""

    def __init__(
        self,
        service: str,
        listing: Callable[[str], Iterable[str]],
        ask: Callable[[str], Sequence[Mapping[str, Any]]],
    ) -> None:
        self.service, self.listing, self.ask = service, listing, ask
        self.readings: dict[str, _Reading] = {}  # by cluster

    def owned(self, cluster: str) -> dict[str, Mark]:
        marks = {thing: names.mark(tags, cluster) for thing, tags in self.all(cluster).items()}
        return {thing: mark for thing, mark in marks.items() if mark and mark.cluster == cluster}

    def all(self, cluster: str) -> Mapping[str, dict[str, str]]:
        """Of each thing that may be the cluster's."""
        return self.readings.setdefault(
            cluster, _Reading(self.service, partial(self.listing, cluster), self.ask)
        ).all()


class _Reading:
    """What was told is kept until all of it is, so that a try that is stopped after nineteen of twenty goes on from there."""

    def __init__(
        self,
        service: str,
        listing: Callable[[], Iterable[str]],
        ask: Callable[[str], Sequence[Mapping[str, Any]]],
    ) -> None:
        self.service, self.listing, self.ask, self.gate = service, listing, ask, threading.Lock()
        self.times = 0  # that it came to its end
        self.found: dict[str, dict[str, str]] = {}
        self.listed: list[str] | None = None
        self.told: dict[str, dict[str, str]] = {}

    def all(self) -> Mapping[str, dict[str, str]]:
        before = self.times
        with self.gate:
            if self.times == before:
                self._finish()
            return self.found

    def _finish(self) -> None:
        before = len(self.told)
        try:
            with told(self.service):
                self._go_on()
        except NotYet as e:
            e.after = e.after or (SOON if len(self.told) > before else None)
            raise
        self.found, self.listed, self.told = (
            {thing: self.told[thing] for thing in self.listed or ()},
            None,
            {},
        )
        self.times += 1

    def _go_on(self) -> None:
        if self.listed is None:
            self.listed = list(self.listing())
        for thing in self.listed:
            if thing not in self.told:
                self.told[thing] = self._asked(thing)

    def _asked(self, thing: str) -> dict[str, str]:
        """What is listed and not there has just gone, or has just come: the list is made again."""
        try:
            return read(self.ask(thing))
        except ClientError as e:
            if absent(e):
                self.listed = None
            raise
