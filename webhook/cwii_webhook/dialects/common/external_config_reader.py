"""Reads what dialects heed besides annotations, again and again, and tells what is wrong with it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

from cwii_webhook.admission.cluster_view import ObjectMetadata, ObjectRef
from cwii_webhook.dialects.common.external_config import (
    NAMES,
    ConfigMapKey,
    ExternalConfig,
    InstanceMetadata,
    LocalFile,
)
from cwii_webhook.telemetry.log import Log
from cwii_webhook.telemetry.metrics import Metrics

MOST = 1 << 20  # bytes: as much as a ConfigMap may hold, which such files are mounted from


class WatchedObjects(Protocol):
    """What is known of an object without asking anybody, and who said so: another cluster's server says what holds there."""

    def held(self, ref: ObjectRef, /) -> ObjectMetadata | None: ...
    def whose(self, ref: ObjectRef, /) -> object: ...


Mark = ObjectMetadata | tuple[int, ...] | None  # by which a change is seen


class ErrorReport:
    """Declared before there are several processes."""

    def __init__(self, metrics: Metrics, log: Log) -> None:
        self.gauge = metrics.gauge(
            "cwii_external_config_error",
            "1 if what is heeded besides annotations cannot be read.",
            max,
            source=NAMES,
        )
        self.log = log


class ExternalConfigReader:
    def __init__(
        self, sources: Sequence[ExternalConfig], known: WatchedObjects, troubles: ErrorReport
    ) -> None:
        self._all = [
            _Reading(source, known)
            for source in sources
            if not isinstance(source.location, InstanceMetadata)
        ]
        self._troubles = troubles

    def refresh(self) -> None:
        """Called every second or so. Half of a replacement cannot be read either, so it is tried again until it is good."""
        for reading in self._all:
            before = reading.problem
            if not reading.again():
                continue
            if reading.problem and reading.problem != before:
                self._troubles.log.warning(reading.problem, source=reading.source.name)
            elif not reading.problem:
                self._troubles.log.info(
                    "what is heeded besides annotations was read", source=reading.source.name
                )
            same = [each for each in self._all if each.source.name == reading.source.name]
            self._troubles.gauge.set(float(any(each.problem for each in same)), reading.source.name)


class _Reading:
    """One source, as it was read last."""

    def __init__(self, source: ExternalConfig, known: WatchedObjects) -> None:
        self.source = source
        self.problem = ""
        self._known = known
        self._whose: object = None
        self._mark: Mark | str = "never"

    def again(self) -> bool:
        """Whether there was anything to read: it changed, or could not be read before."""
        match self.source.location:
            case ConfigMapKey(ref, key):
                self._forget(self._known.whose(ref))
                seen = self._known.held(ref)
                return self._heeded(seen, lambda: seen.annotations.get(key) if seen else None)
            case LocalFile(path):
                return self._heeded(_looks(Path(path)), lambda: _content(Path(path)))
            case InstanceMetadata():
                return False

    def _forget(self, whose: object) -> None:
        """What was good in another cluster is not even good enough to go on with."""
        if whose != self._whose:
            self.source.update("")
            self._whose, self._mark = whose, "never"

    def _heeded(self, mark: Mark, text: Callable[[], str | None]) -> bool:
        if mark == self._mark and not self.problem:
            return False
        try:
            self.problem = self.source.update(text())
        except (OSError, ValueError) as e:
            self.problem = str(e)
        except Exception as e:  # noqa: BLE001 - whoever may write one thing to be read must not stop the look at all others
            self.problem = f"the {self.source.name} cannot be read ({type(e).__name__}: {e})"
        self._mark = mark
        return True


def _looks(path: Path) -> tuple[int, ...] | None:
    """Of where it leads: the kubelet swaps a link on the way to a ConfigMap's files, and never writes them."""
    try:
        found = path.stat()
    except OSError:
        return None
    return (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)


def _content(path: Path) -> str | None:
    try:
        with path.open("rb") as file:
            content = file.read(MOST + 1)
    except FileNotFoundError:
        return None
    if len(content) > MOST:
        raise ValueError(f"{path} is longer than {MOST} bytes")
    try:
        return content.decode()
    except UnicodeDecodeError as e:
        raise ValueError(f"{path} is not UTF-8 ({e})") from e
