"""Resolves cwii's annotations: the nearest source that has an annotation decides."""

from __future__ import annotations

import re

from cwii_webhook.admission.annotation_sources import AnnotationSource, PodContext
from cwii_webhook.admission.injection import Origin, PodRefused
from cwii_webhook.dialects.common.annotations import Annotation
from cwii_webhook.dialects.common.pod_traits import runs_on_windows
from cwii_webhook.dialects.common.typo_hints import printable
from cwii_webhook.dialects.cwii.annotations import INPUT_KEYS
from cwii_webhook.settings.formats import MAX_TOKEN_SECONDS, MIN_TOKEN_SECONDS

_INTEGER = re.compile(r"[+-]?[0-9]+")


class AnnotationResolver:
    """Answers one mutator's questions about a pod's annotations.

    Records the origin of each answer that is used, and warnings about values that are not.
    """

    def __init__(self, context: PodContext) -> None:
        self.context = context
        self.is_windows = runs_on_windows(context.pod)
        self.origins: list[Origin] = []
        self.warnings: list[str] = []
        # Origins keep their source, so that a source must not keep foreign annotations in memory.
        self._sources = [
            AnnotationSource(source.scope, source.ref, inputs)
            for source in context.sources
            if (inputs := {k: v for k, v in source.annotations.items() if k in INPUT_KEYS})
        ]

    def use_flag(self, annotation: Annotation) -> Origin | None:
        """Resolves a boolean. A source with another value is skipped, with a warning."""
        for source in self._sources:
            text = source.annotations.get(annotation.key)
            if text is None:
                continue
            value = text.strip().lower()
            if value in {"true", "false"}:
                return self._record(Origin(annotation.key, value, annotation.key, source))
            if value:
                self.warnings.append(
                    f"{annotation.key} of {source} is {printable(text)}, neither true nor false: "
                    "it is passed over"
                )
        return None

    def use_text(self, annotation: Annotation, name: str) -> Origin | None:
        """Resolves a text. A source with an empty value is skipped."""
        origin = self.peek(annotation, name)
        return self._record(origin) if origin else None

    def peek(self, annotation: Annotation, name: str) -> Origin | None:
        """Resolves a text without recording the origin."""
        for source in self._sources:
            value = source.annotations.get(annotation.key, "").strip()
            if value:
                return Origin(name, value, annotation.key, source)
        return None

    def use_default(self, name: str, value: str) -> Origin:
        """Records that a default of the server is used."""
        return self._record(Origin(name, value))

    def use_seconds(self, annotation: Annotation, default: int) -> int:
        """Resolves a token lifetime.

        The nearest value decides even if it is no number. The server's default is used then, and
        not the value of a source farther away.
        """
        name = "token expiration"
        origin = self.peek(annotation, name)
        if origin is None or not _INTEGER.fullmatch(origin.value):
            if origin:
                self.warnings.append(
                    f"{describe(origin)} is {printable(origin.value)}, which is no number of "
                    f"seconds: {default} is used"
                )
            self.use_default(name, str(default))
            return default
        seconds = _clamped_int(origin.value)
        if seconds > MAX_TOKEN_SECONDS:
            raise PodRefused(
                f"{describe(origin)} is {printable(origin.value)}, and no token may last so long: "
                f"say {MIN_TOKEN_SECONDS} to {MAX_TOKEN_SECONDS} seconds"
            )
        if seconds < MIN_TOKEN_SECONDS:
            self.warnings.append(
                f"{describe(origin)} is {origin.value}, and no token lasts less than "
                f"{MIN_TOKEN_SECONDS} seconds: {MIN_TOKEN_SECONDS} is used"
            )
        seconds = max(MIN_TOKEN_SECONDS, seconds)
        self._record(Origin(name, str(seconds), origin.key, origin.source))
        return seconds

    def use_own_or_native(
        self, annotation: Annotation, native: Annotation, name: str, *, use_native: bool
    ) -> Origin | None:
        """Resolves an annotation of cwii, or else another webhook's with the same meaning."""
        own, other = self.peek(annotation, name), self.peek(native, name)
        if own and other and own.value != other.value:
            self.warnings.append(
                f"{describe(own)} and {describe(other)} say different things: {annotation.key} is "
                f"used here, but {native.key} speaks to another webhook too"
            )
        if own is None and use_native:
            own = other
        return self._record(own) if own else None

    def _record(self, origin: Origin) -> Origin:
        self.origins.append(origin)
        return origin


def _clamped_int(text: str) -> int:
    """Parses a number; negative ones become 0. 40 digits are enough to exceed any limit."""
    digits = text.lstrip("+-").lstrip("0")
    return 0 if text.startswith("-") else int(digits[:40] or "0")


def describe(origin: Origin) -> str:
    """Names the annotation and the object that has it."""
    return f"{origin.key} of {origin.source}" if origin.source else origin.name
