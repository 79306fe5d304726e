"""Reads external configuration again and again, and reports errors in the log and in a metric."""

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

MAX_FILE = 1 << 20  # bytes; such files are usually mounted from a ConfigMap, which holds no more


class WatchedObjects(Protocol):
    """Answers from memory which content an object has, and which API server sent it."""

    def get_cached(self, ref: ObjectRef, /) -> ObjectMetadata | None: ...
    def get_server(self, ref: ObjectRef, /) -> object: ...


# A change of the fingerprint shows that the content changed.
Fingerprint = ObjectMetadata | tuple[int, ...] | None


class ErrorReport:
    """The metric and the log for errors. It is created before the workers are forked."""

    def __init__(self, metrics: Metrics, log: Log) -> None:
        self.gauge = metrics.gauge(
            "cwii_external_config_error",
            "1 if what is heeded besides annotations cannot be read.",
            max,
            source=NAMES,
        )
        self.log = log


class ExternalConfigReader:
    """Keeps all sources up to date, except the instance metadata, which does not change."""

    def __init__(
        self, sources: Sequence[ExternalConfig], objects: WatchedObjects, report: ErrorReport
    ) -> None:
        self._sources = [
            _Source(source, objects)
            for source in sources
            if not isinstance(source.location, InstanceMetadata)
        ]
        self._report = report

    def refresh(self) -> None:
        """Reads what changed. The caller does this about every second.

        A source with an error is read every time: a file may be half written.
        """
        for source in self._sources:
            old_error = source.error
            if not source.refresh():
                continue
            name = source.config.name
            if source.error and source.error != old_error:
                self._report.log.warning(source.error, source=name)
            elif not source.error:
                text = "what is heeded besides annotations was read"
                self._report.log.info(text, source=name)
            has_error = any(s.error for s in self._sources if s.config.name == name)
            self._report.gauge.set(float(has_error), name)


class _Source:
    """One source, with the fingerprint and the error of the last reading."""

    def __init__(self, config: ExternalConfig, objects: WatchedObjects) -> None:
        self.config = config
        self.error = ""
        self._objects = objects
        self._server: object = None
        self._fingerprint: Fingerprint | str = "never read"

    def refresh(self) -> bool:
        """Reads the source if it changed or had an error. Reports whether it did."""
        match self.config.location:
            case ConfigMapKey(ref, key):
                self._reset_for(self._objects.get_server(ref))
                found = self._objects.get_cached(ref)
                return self._read(found, lambda: found.annotations.get(key) if found else None)
            case LocalFile(path):
                return self._read(_fingerprint(Path(path)), lambda: _content(Path(path)))
            case InstanceMetadata():
                return False

    def _reset_for(self, server: object) -> None:
        """Drops the content after a switch to another cluster, before the new one is known."""
        if server != self._server:
            self.config.update("")
            self._server, self._fingerprint = server, "never read"

    def _read(self, fingerprint: Fingerprint, read: Callable[[], str | None]) -> bool:
        if fingerprint == self._fingerprint and not self.error:
            return False
        try:
            self.error = self.config.update(read())
        except (OSError, ValueError) as e:
            self.error = str(e)
        except Exception as e:  # noqa: BLE001 - an error in one source must not stop the others
            self.error = f"the {self.config.name} cannot be read ({type(e).__name__}: {e})"
        self._fingerprint = fingerprint
        return True


def _fingerprint(path: Path) -> tuple[int, ...] | None:
    """Follows links, because the kubelet replaces a link and not the files of a ConfigMap."""
    try:
        stat = path.stat()
    except OSError:
        return None
    return (stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns)


def _content(path: Path) -> str | None:
    try:
        with path.open("rb") as file:
            content = file.read(MAX_FILE + 1)
    except FileNotFoundError:
        return None
    if len(content) > MAX_FILE:
        raise ValueError(f"{path} is longer than {MAX_FILE} bytes")
    try:
        return content.decode()
    except UnicodeDecodeError as e:
        raise ValueError(f"{path} is not UTF-8 ({e})") from e
