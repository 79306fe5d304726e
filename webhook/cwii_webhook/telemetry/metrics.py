"""Counters, gauges and histograms in Prometheus' text. Labels come from closed sets, so that no stranger can make them grow.

All values are one row of numbers, a row for each process: what is shared by the processes is nothing but memory, and adding to it is all that a request
pays.
"""

from __future__ import annotations

import itertools
import mmap
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, cast, overload

SECONDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
Across = Callable[[Iterable[float]], float]
OTHER = "other"  # where a value that is in no set goes


class Row(Protocol):
    def __len__(self) -> int: ...
    def __setitem__(self, index: int, value: float, /) -> None: ...
    @overload
    def __getitem__(self, index: int, /) -> float: ...
    @overload
    def __getitem__(self, index: slice, /) -> Iterable[float]: ...


class Metrics:
    """Declare everything, then `share` it, then fork: each process says which row is its own."""

    def __init__(self) -> None:
        self._growing: array[float] | None = array("d")
        self.mine: Row = self._growing
        self._rows: Sequence[Row] = [self.mine]
        self._families: list[_Family] = []

    def share(self, processes: int) -> None:
        size = len(self.mine) * 8
        memory = memoryview(mmap.mmap(-1, max(1, size * processes)))
        self._rows = [
            cast("Row", memory[number * size : (number + 1) * size].cast("d"))
            for number in range(processes)
        ]
        self.mine = self._rows[0]
        self._growing = None

    def become(self, process: int) -> None:
        self.mine = self._rows[process]

    def forget(self, process: int) -> None:
        """Of a process that has ended, what it counted stays; what it was does not."""
        for family in self._families:
            if family.kind == "gauge":
                for index in family.cells.values():
                    self._rows[process][index] = 0.0

    def counter(self, name: str, help: str, **labels: Sequence[str]) -> Counter:  # noqa: A002  (Prometheus' own word)
        return Counter(self, self._declare(_Family(name, help, "counter", labels)))

    def gauge(self, name: str, help: str, across: Across = sum, **labels: Sequence[str]) -> Gauge:  # noqa: A002
        """`across` says what the gauges of all processes are together: `sum`, `min`, `max`, `soonest`."""
        return Gauge(self, self._declare(_Family(name, help, "gauge", labels, across=across)))

    def histogram(
        self,
        name: str,
        help: str,  # noqa: A002
        bounds: Sequence[float] = SECONDS,
        **labels: Sequence[str],
    ) -> Histogram:
        return Histogram(
            self, self._declare(_Family(name, help, "histogram", labels, bounds=tuple(bounds)))
        )

    def values(self, gauge: Gauge, *labels: str) -> list[float]:
        """One for each process."""
        return [row[gauge.index(labels)] for row in self._rows]

    def exposition(self) -> bytes:
        return "".join(
            line for family in self._families for line in family.lines(self._rows)
        ).encode()

    def names(self) -> Iterator[tuple[str, str, str]]:
        """Name, kind and meaning of all that has one number at a time: of a histogram, how many there were and their sum."""
        for family in self._families:
            if family.kind == "histogram":
                yield from (
                    (f"{family.name}_{part}", "counter", family.help) for part in ("count", "sum")
                )
            else:
                yield family.name, family.kind, family.help

    def of(self, name: str) -> Iterator[tuple[dict[str, str], float]]:
        """Its labels and numbers."""
        return (
            pair
            for family in self._families
            if family.owns(name)
            for pair in family.numbers(name, self._rows)
        )

    def _declare(self, family: _Family) -> _Family:
        assert self._growing is not None, "what is shared cannot grow"  # noqa: S101
        family.place(len(self._growing))
        self._growing.extend([0.0] * family.size)
        self._families.append(family)
        return family


@dataclass
class _Family:
    """One metric with all that its labels may say, and where in a row each has its number, or its numbers."""

    name: str
    help: str
    kind: str
    labels: Mapping[str, Sequence[str]]
    across: Across = sum
    bounds: tuple[float, ...] = ()
    cells: dict[tuple[str, ...], int] = field(default_factory=dict[tuple[str, ...], int])

    def __post_init__(self) -> None:
        self.sets = [
            values if OTHER in values else (*values, OTHER) for values in self.labels.values()
        ]
        self.width = (
            len(self.bounds) + 2 if self.kind == "histogram" else 1
        )  # a bucket for each bound, one for the rest, and the sum

    def place(self, start: int) -> None:
        self.cells = {
            values: start + number * self.width
            for number, values in enumerate(itertools.product(*self.sets))
        }

    @property
    def size(self) -> int:
        return len(self.cells) * self.width

    def index(self, values: tuple[str, ...]) -> int:
        index = self.cells.get(values)
        return (
            self.cells[
                tuple(
                    value if value in known else OTHER
                    for value, known in zip(values, self.sets, strict=True)
                )
            ]
            if index is None
            else index
        )

    def owns(self, name: str) -> bool:
        return name == self.name or (
            self.kind == "histogram" and name in {f"{self.name}_count", f"{self.name}_sum"}
        )

    def numbers(self, name: str, rows: Sequence[Row]) -> Iterator[tuple[dict[str, str], float]]:
        for values, index in self.cells.items():
            columns = [list(row[index : index + self.width]) for row in rows]
            if values and not any(map(any, columns)):
                continue
            if self.kind == "histogram":
                number = sum(row[-1] if name.endswith("_sum") else sum(row[:-1]) for row in columns)
            else:
                number = (self.across if self.kind == "gauge" else sum)(row[0] for row in columns)
            yield dict(zip(self.labels, values, strict=True)), number

    def lines(self, rows: Sequence[Row]) -> Iterator[str]:
        yield f"# HELP {self.name} {self.help}\n# TYPE {self.name} {self.kind}\n"
        for values, index in self.cells.items():
            numbers = [list(row[index : index + self.width]) for row in rows]
            if not values or any(
                map(any, numbers)
            ):  # what never happened is not listed: sets are small, their products are not
                yield from self._sample(dict(zip(self.labels, values, strict=True)), numbers)

    def _sample(self, labels: dict[str, str], rows: list[list[float]]) -> Iterator[str]:
        if self.kind == "gauge":
            yield _line(self.name, labels, self.across(row[0] for row in rows))
        elif self.kind == "counter":
            yield _line(self.name, labels, sum(row[0] for row in rows))
        else:
            *buckets, total = map(sum, zip(*rows, strict=True))
            counts = list(itertools.accumulate(buckets))
            for bound, count in zip((*map(_number, self.bounds), "+Inf"), counts, strict=True):
                yield _line(f"{self.name}_bucket", {**labels, "le": bound}, count)
            yield _line(f"{self.name}_sum", labels, total)
            yield _line(f"{self.name}_count", labels, counts[-1])


class _Metric:
    __slots__ = ("_cells", "_family", "_metrics")

    def __init__(self, metrics: Metrics, family: _Family) -> None:
        self._metrics = metrics
        self._family = family
        self._cells = family.cells

    def index(self, labels: tuple[str, ...]) -> int:
        return self._family.index(labels)


class Counter(_Metric):
    def add(self, *labels: str, by: float = 1.0) -> None:
        index = self._cells.get(labels)
        self._metrics.mine[self.index(labels) if index is None else index] += by


class Gauge(_Metric):
    def set(self, value: float, *labels: str) -> None:
        self._metrics.mine[self._family.index(labels)] = value


class Histogram(_Metric):
    def observe(self, value: float, *labels: str) -> None:
        row, family = self._metrics.mine, self._family
        index = family.index(labels)
        row[index + bisect_left(family.bounds, value)] += 1.0
        row[index + family.width - 1] += value


def soonest(values: Iterable[float]) -> float:
    """Of times, where 0 is none at all."""
    return min(filter(None, values), default=0.0)


def _line(name: str, labels: dict[str, str], value: float) -> str:
    pairs = ",".join(f'{key}="{_escaped(text)}"' for key, text in labels.items())
    return f"{name}{{{pairs}}} {_number(value)}\n" if pairs else f"{name} {_number(value)}\n"


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else repr(value)


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
