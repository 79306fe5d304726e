"""What every Store promises the engine. A place's tests take these over and say what to try them with:

class TestRoles(StoreContract):
    @pytest.fixture
    def specimen(self, iam): return Specimen(Roles(iam), "a-role", want=..., other=..., mark=...)
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from typing import Any, TypeVar

import pytest

from cwiictl.engine.resource import Mark, State, Store
from cwiictl.errors import NotYet

T = TypeVar("T")


def alike(want: State, have: State) -> bool:
    return want == have


@dataclass
class Specimen:
    """A store, a name that is free in it, two valid wants that differ, and whose they are."""

    store: Store[Any]
    name: str
    want: State
    other: State
    mark: Mark = field(default_factory=lambda: Mark("a-cluster"))
    unknown: str = "unknown"  # a valid name that nothing has
    alike: Callable[[Any, Any], bool] = alike  # of a shared document: whether our part is right
    bears: Collection[str] = (
        "owned",
        "adopted",
        "brought",
    )  # the holds that its marks can tell apart; none for what cannot bear a mark
    stays: bool = False  # what is everybody's, or goes with its parent, is not dropped
    sleep: Callable[[float], None] = time.sleep

    @property
    def another(self) -> str:
        """A cluster that is nobody else's either, where several have one place in common."""
        return f"{self.mark.cluster}-other"

    def patiently(self, call: Callable[[], T]) -> T:
        """As the engine would: what is not yet is tried again."""
        for _ in range(100):
            try:
                return call()
            except NotYet as e:
                self.sleep(min(e.after or 0.1, 0.3))
        return call()

    def get(self) -> Any:
        return self.patiently(lambda: self.store.get([self.name])).get(self.name)

    def put(self, want: State, mark: Mark | None) -> Any:
        """Put as the engine does: what is tried again is read again."""
        return self.patiently(
            lambda: self.store.put(self.name, replace(want, owner=mark), self.get())
        )

    def drop(self) -> None:
        self.patiently(lambda: self.store.drop(self.name))

    def owned(self, cluster: str) -> Mapping[str, Mark]:
        return self.patiently(lambda: self.store.owned(cluster))

    def needs(self, *, marks: bool = False, drops: bool = False) -> None:
        if marks and not self.bears:
            pytest.skip("it cannot bear a mark")
        if drops and self.stays:
            pytest.skip("it is not dropped")


class StoreContract:
    @pytest.fixture
    def specimen(self) -> Specimen:
        raise NotImplementedError

    def test_it_says_where_it_is_and_how_long_to_believe_in_it(self, specimen: Specimen) -> None:
        assert "/" in specimen.store.kind or specimen.store.kind.isalpha()
        assert isinstance(specimen.store.bulk, bool)
        assert specimen.store.patience > 0

    def test_what_is_not_there_is_not_in_the_answer(self, specimen: Specimen) -> None:
        specimen.needs(drops=True)
        assert dict(specimen.store.get([specimen.name, specimen.unknown])) == {}
        assert dict(specimen.store.get([])) == {}

    def test_what_was_put_is_there_as_wanted_with_its_mark(self, specimen: Specimen) -> None:
        made = specimen.put(specimen.want, specimen.mark)
        found = specimen.get()
        assert specimen.alike(specimen.want, made)
        assert specimen.alike(specimen.want, found)
        assert made.owner == found.owner == (specimen.mark if specimen.bears else None)
        assert not found.remnant
        assert type(found) is type(specimen.want)

    def test_what_was_put_is_told_with_all_that_was_assigned(self, specimen: Specimen) -> None:
        """So that what builds upon it needs no second reading."""
        assert everything(specimen.put(specimen.want, specimen.mark)) == everything(specimen.get())

    def test_only_what_was_asked_for_is_in_the_answer(self, specimen: Specimen) -> None:
        specimen.needs(drops=True)
        specimen.put(specimen.want, specimen.mark)
        assert set(specimen.store.get([specimen.name, specimen.unknown])) == {specimen.name}
        assert set(specimen.store.get([specimen.unknown])) == set()

    def test_put_twice_is_as_once(self, specimen: Specimen) -> None:
        specimen.put(specimen.want, specimen.mark)
        before = everything(specimen.get())
        specimen.put(specimen.want, specimen.mark)
        assert everything(specimen.get()) == before

    def test_making_what_is_there_already_says_not_yet_or_changes_nothing(
        self, specimen: Specimen
    ) -> None:
        """As after an answer that was lost: the next reading decides, by the mark."""
        specimen.put(specimen.want, specimen.mark)
        before = everything(specimen.get())
        with suppress(NotYet):
            specimen.store.put(specimen.name, replace(specimen.want, owner=specimen.mark), None)
        assert everything(specimen.get()) == before

    def test_another_want_is_put_over_the_first_and_back(self, specimen: Specimen) -> None:
        assigned = specimen.put(specimen.want, specimen.mark)
        for want in (specimen.other, specimen.want):
            assert not specimen.alike(want, specimen.get())
            specimen.put(want, specimen.mark)
            assert specimen.alike(want, specimen.get())
        assert everything(specimen.get()) == everything(assigned)

    @pytest.mark.parametrize("hold", ["owned", "adopted", "brought"])
    @pytest.mark.parametrize("origin", ["create-all", "create-identity"])
    def test_marks_are_kept_to_the_letter(self, specimen: Specimen, hold: Any, origin: str) -> None:
        specimen.needs(marks=True)
        if hold not in specimen.bears:
            pytest.skip("it is never held so")
        mark = replace(specimen.mark, hold=hold, origin=origin)
        specimen.put(specimen.want, mark)
        assert specimen.get().owner == mark
        assert specimen.owned(mark.cluster).get(specimen.name) == mark

    def test_owned_is_what_bears_the_mark_of_this_cluster_and_of_no_other(
        self, specimen: Specimen
    ) -> None:
        specimen.needs(marks=True)
        assert specimen.name not in specimen.owned(specimen.mark.cluster)
        specimen.put(specimen.want, specimen.mark)
        assert dict(specimen.owned(specimen.mark.cluster)) == {specimen.name: specimen.mark}
        for other in (specimen.another, specimen.mark.cluster + "-2", specimen.mark.cluster[:-1]):
            assert dict(specimen.owned(other)) == {}

    def test_what_cannot_bear_a_mark_is_owned_by_nobody(self, specimen: Specimen) -> None:
        if specimen.bears:
            pytest.skip("it bears a mark")
        specimen.put(specimen.want, specimen.mark)
        assert dict(specimen.owned(specimen.mark.cluster)) == {}
        assert specimen.get().markless

    def test_putting_without_a_mark_releases_it_and_changes_nothing_else(
        self, specimen: Specimen
    ) -> None:
        specimen.needs(marks=True)
        before = specimen.put(specimen.want, specimen.mark)
        specimen.put(specimen.get(), None)
        found = specimen.get()
        assert found.owner is None
        assert specimen.alike(specimen.want, found)
        assert everything(found) == {**everything(before), "owner": None, "remnant": found.remnant}
        assert specimen.name not in specimen.owned(specimen.mark.cluster)

    def test_a_mark_is_put_over_another_or_none(self, specimen: Specimen) -> None:
        specimen.needs(marks=True)
        for mark in (
            replace(specimen.mark, cluster=specimen.another),
            specimen.mark,
            None,
            specimen.mark,
        ):
            specimen.put(specimen.want, mark)
            assert specimen.get().owner == mark
        assert dict(specimen.owned(specimen.another)) == {}

    def test_what_was_dropped_is_gone_and_dropping_twice_is_as_good_as_once(
        self, specimen: Specimen
    ) -> None:
        specimen.needs(drops=True)
        specimen.drop()
        specimen.put(specimen.want, specimen.mark)
        for _ in range(2):
            specimen.drop()
            assert specimen.get() is None
            assert specimen.name not in specimen.owned(specimen.mark.cluster)

    def test_what_was_dropped_can_be_made_again(self, specimen: Specimen) -> None:
        specimen.needs(drops=True)
        specimen.put(specimen.want, specimen.mark)
        specimen.drop()
        specimen.put(specimen.other, specimen.mark)
        assert specimen.alike(specimen.other, specimen.get())


def everything(state: State) -> dict[str, Any]:
    """Also what is not compared: what was assigned, and whose it is. Not what a store keeps for its own use."""
    return {
        f.name: getattr(state, f.name)
        for f in fields(state)
        if f.compare or {"assigned", "bookkeeping"} & f.metadata.keys()
    }
