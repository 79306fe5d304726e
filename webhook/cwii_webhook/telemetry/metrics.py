"""Counters, gauges and histograms in the Prometheus text format, shared by all processes."""

from __future__ import annotations

import itertools
import mmap
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, cast, overload

# Upper bounds of durations in seconds.
BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
Aggregation = Callable[[Iterable[float]], float]
OTHER = "other"  # replaces a label value that was not declared


class Row(Protocol):
    """The values of one process: an array, or a part of the shared memory."""

    def __len__(self) -> int: ...
    def __setitem__(self, index: int, value: float, /) -> None: ...
    @overload
    def __getitem__(self, index: int, /) -> float: ...
    @overload
    def __getitem__(self, index: slice, /) -> Iterable[float]: ...


class Metrics:
    """Registry of all metrics.

    First declare all metrics, then call `share`, then fork. After the fork, each process calls
    `use_row` once.

    Label values are declared, so requests cannot add series. Each process has one row of numbers
    in shared memory, so an update costs a request one addition and no lock.
    """

    def __init__(self) -> None:
        self._unshared_row: array[float] | None = array("d")
        self.row: Row = self._unshared_row
        self._rows: Sequence[Row] = [self.row]
        self._families: list[_Family] = []

    def share(self, processes: int) -> None:
        """Move the values into shared memory. No metric can be declared afterwards."""
        size = len(self.row) * 8
        memory = memoryview(mmap.mmap(-1, max(1, size * processes)))
        self._rows = [
            cast("Row", memory[number * size : (number + 1) * size].cast("d"))
            for number in range(processes)
        ]
        self.row = self._rows[0]
        self._unshared_row = None

    def use_row(self, process: int) -> None:
        self.row = self._rows[process]

    def clear_gauges(self, process: int) -> None:
        """Reset the gauges of a process that has ended. Its counters stay."""
        for family in self._families:
            if family.kind == "gauge":
                for index in family.indexes.values():
                    self._rows[process][index] = 0.0

    def counter(self, name: str, help: str, **labels: Sequence[str]) -> Counter:  # noqa: A002  (the word of the Prometheus format)
        return Counter(self, self._register(_Family(name, help, "counter", labels)))

    def gauge(
        self,
        name: str,
        help: str,  # noqa: A002
        aggregate: Aggregation = sum,
        **labels: Sequence[str],
    ) -> Gauge:
        """Declare a gauge. `aggregate` combines the values of all processes."""
        return Gauge(
            self, self._register(_Family(name, help, "gauge", labels, aggregate=aggregate))
        )

    def histogram(
        self,
        name: str,
        help: str,  # noqa: A002
        bounds: Sequence[float] = BUCKETS,
        **labels: Sequence[str],
    ) -> Histogram:
        return Histogram(
            self, self._register(_Family(name, help, "histogram", labels, bounds=tuple(bounds)))
        )

    def values_by_process(self, gauge: Gauge, *labels: str) -> list[float]:
        return [row[gauge.index(labels)] for row in self._rows]

    def exposition(self) -> bytes:
        return "".join(
            line for family in self._families for line in family.lines(self._rows)
        ).encode()

    def series(self) -> Iterator[tuple[str, str, str]]:
        """Yield name, kind and help of each metric. A histogram yields its count and its sum."""
        for family in self._families:
            if family.kind == "histogram":
                yield from (
                    (f"{family.name}_{suffix}", "counter", family.help)
                    for suffix in ("count", "sum")
                )
            else:
                yield family.name, family.kind, family.help

    def samples(self, name: str) -> Iterator[tuple[dict[str, str], float]]:
        """Yield the labels and the value of each sample of one name from `series`."""
        return (
            sample
            for family in self._families
            if family.has_series(name)
            for sample in family.samples(name, self._rows)
        )

    def _register(self, family: _Family) -> _Family:
        assert self._unshared_row is not None, "what is shared cannot grow"  # noqa: S101
        family.assign_indexes(len(self._unshared_row))
        self._unshared_row.extend([0.0] * family.size)
        self._families.append(family)
        return family


@dataclass
class _Family:
    """One metric with all combinations of its label values, and their positions in a row."""

    name: str
    help: str
    kind: str
    labels: Mapping[str, Sequence[str]]
    aggregate: Aggregation = sum
    bounds: tuple[float, ...] = ()
    # First position in a row, by label values.
    indexes: dict[tuple[str, ...], int] = field(default_factory=dict[tuple[str, ...], int])

    def __post_init__(self) -> None:
        self.label_values = [
            values if OTHER in values else (*values, OTHER) for values in self.labels.values()
        ]
        # A histogram has a bucket for each bound, one for larger values, and the sum.
        self.width = len(self.bounds) + 2 if self.kind == "histogram" else 1

    def assign_indexes(self, start: int) -> None:
        self.indexes = {
            values: start + number * self.width
            for number, values in enumerate(itertools.product(*self.label_values))
        }

    @property
    def size(self) -> int:
        return len(self.indexes) * self.width

    def index(self, values: tuple[str, ...]) -> int:
        index = self.indexes.get(values)
        return (
            self.indexes[
                tuple(
                    value if value in declared else OTHER
                    for value, declared in zip(values, self.label_values, strict=True)
                )
            ]
            if index is None
            else index
        )

    def has_series(self, name: str) -> bool:
        return name == self.name or (
            self.kind == "histogram" and name in {f"{self.name}_count", f"{self.name}_sum"}
        )

    def samples(self, name: str, rows: Sequence[Row]) -> Iterator[tuple[dict[str, str], float]]:
        for values, index in self.indexes.items():
            cells = [list(row[index : index + self.width]) for row in rows]
            if values and not any(map(any, cells)):
                continue
            if self.kind == "histogram":
                number = sum(
                    cell[-1] if name.endswith("_sum") else sum(cell[:-1]) for cell in cells
                )
            else:
                aggregate = self.aggregate if self.kind == "gauge" else sum
                number = aggregate(cell[0] for cell in cells)
            yield dict(zip(self.labels, values, strict=True)), number

    def lines(self, rows: Sequence[Row]) -> Iterator[str]:
        yield f"# HELP {self.name} {self.help}\n# TYPE {self.name} {self.kind}\n"
        for values, index in self.indexes.items():
            cells = [list(row[index : index + self.width]) for row in rows]
            # Labeled series with the value 0 are left out: there are few values per label, but
            # many combinations.
            if not values or any(map(any, cells)):
                yield from self._series_lines(dict(zip(self.labels, values, strict=True)), cells)

    def _series_lines(self, labels: dict[str, str], cells: list[list[float]]) -> Iterator[str]:
        if self.kind == "gauge":
            yield _line(self.name, labels, self.aggregate(cell[0] for cell in cells))
        elif self.kind == "counter":
            yield _line(self.name, labels, sum(cell[0] for cell in cells))
        else:
            *buckets, total = map(sum, zip(*cells, strict=True))
            counts = list(itertools.accumulate(buckets))
            for bound, count in zip(
                (*map(_format_number, self.bounds), "+Inf"), counts, strict=True
            ):
                yield _line(f"{self.name}_bucket", {**labels, "le": bound}, count)
            yield _line(f"{self.name}_sum", labels, total)
            yield _line(f"{self.name}_count", labels, counts[-1])


class _Metric:
    __slots__ = ("_family", "_indexes", "_metrics")

    def __init__(self, metrics: Metrics, family: _Family) -> None:
        self._metrics = metrics
        self._family = family
        self._indexes = family.indexes

    def index(self, labels: tuple[str, ...]) -> int:
        return self._family.index(labels)


class Counter(_Metric):
    def add(self, *labels: str, by: float = 1.0) -> None:
        index = self._indexes.get(labels)
        self._metrics.row[self.index(labels) if index is None else index] += by


class Gauge(_Metric):
    def set(self, value: float, *labels: str) -> None:
        self._metrics.row[self._family.index(labels)] = value


class Histogram(_Metric):
    def observe(self, value: float, *labels: str) -> None:
        row, family = self._metrics.row, self._family
        index = family.index(labels)
        row[index + bisect_left(family.bounds, value)] += 1.0
        row[index + family.width - 1] += value


def earliest(times: Iterable[float]) -> float:
    """Return the smallest time. 0 means that there is no time."""
    return min(filter(None, times), default=0.0)


def _line(name: str, labels: dict[str, str], value: float) -> str:
    pairs = ",".join(f'{key}="{_escape_label(text)}"' for key, text in labels.items())
    return (
        f"{name}{{{pairs}}} {_format_number(value)}\n"
        if pairs
        else f"{name} {_format_number(value)}\n"
    )


def _format_number(value: float) -> str:
    return str(int(value)) if value == int(value) else repr(value)


def _escape_label(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
