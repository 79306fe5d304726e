"""Finds misspelled annotations, and annotations on an object where no dialect reads them."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import islice

from cwii_webhook.admission.annotation_sources import AnnotationSource, PodContext, Scope
from cwii_webhook.dialects.common.annotations import Annotation

# Bounds for keys that strangers may write.
MAX_HINTS = 4  # per object
MAX_KEYS = 16  # unknown keys of one object that are looked at
MAX_CANDIDATES = 32  # known names that one key is compared with
SOURCE_NAMES: Mapping[Scope, str] = {
    "pod": "the pod",
    "owner": "its owner",
    "account": "its ServiceAccount",
    "namespace": "its namespace",
}
SCOPES: tuple[Scope, ...] = tuple(SOURCE_NAMES)


class TypoHints:
    """Builds hints for the annotations in one domain.

    If other software uses the domain too, only keys that resemble one of the dialect's are
    reported; with `is_exclusive`, all unknown keys are. `outputs` are keys that the webhook writes.
    """

    def __init__(
        self,
        dialect: str,
        domain: str,
        annotations: Iterable[Annotation],
        *,
        outputs: Collection[str] = (),
        is_exclusive: bool = False,
    ) -> None:
        known = tuple(annotations)
        self.prefix = f"{domain}/"
        self._dialect = dialect
        self._is_exclusive = is_exclusive
        self._inputs = {
            annotation.key: annotation
            for annotation in known
            if not annotation.is_output and annotation.key.startswith(self.prefix)
        }
        self._valid_keys = {
            scope: frozenset([*(a.key for a in known if _is_valid(a, scope)), *outputs])
            for scope in SCOPES
        }

    def for_pod(
        self, context: PodContext, service_account: AnnotationSource | None
    ) -> tuple[str, ...]:
        """Returns hints for a dialect that reads the pod and its ServiceAccount."""
        sources = (context.own_annotations(), service_account)
        return tuple([hint for source in sources if source for hint in self.for_source(source)])

    def for_all_sources(self, context: PodContext) -> tuple[str, ...]:
        """Returns hints for a dialect that reads all sources."""
        return tuple([hint for source in context.sources for hint in self.for_source(source)])

    def for_source(self, source: AnnotationSource) -> Iterator[str]:
        valid = self._valid_keys[source.scope]
        unknown = [
            key for key in source.annotations if key.startswith(self.prefix) and key not in valid
        ]
        hints = (self._hint(key, source) for key in unknown[:MAX_KEYS])
        yield from islice(filter(None, hints), MAX_HINTS)

    def _hint(self, key: str, source: AnnotationSource) -> str:
        annotation = self._inputs.get(key)
        if annotation and annotation.place == "label":
            return f"{key} of {source} is an annotation, and is heard as a label of pods alone"
        if annotation:
            places = " or ".join(SOURCE_NAMES[scope] for scope in annotation.sources)
            return f"{key} of {source} is not heard there: write it on {places}"
        text = f"{printable(key)} of {source} is no word of {self._dialect}'s: "
        names = [known.removeprefix(self.prefix) for known in self._inputs]
        match = nearest_match(key.removeprefix(self.prefix), names)
        if match:
            return f"{text}did you mean {self.prefix}{match}?"
        return f"{text}see README for those that there are" if self._is_exclusive else ""


def _is_valid(annotation: Annotation, scope: Scope) -> bool:
    return annotation.is_output or (
        annotation.place == "annotation" and scope in annotation.sources
    )


def nearest_match(text: str, candidates: Iterable[str]) -> str:
    """Returns the candidate that resembles the text most, or an empty string."""
    matches = difflib.get_close_matches(text[:64], list(islice(candidates, MAX_CANDIDATES)), 1)
    return matches[0] if matches else ""


def printable(text: str) -> str:
    """Quotes a text for a message: escaped, and cut to 64 characters."""
    return ascii(text if len(text) <= 64 else f"{text[:61]}...")
