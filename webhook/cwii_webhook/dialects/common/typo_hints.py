"""What a user wrote that is no word of a dialect's, or where the dialect does not hear it: told with what he may have meant."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import islice

from cwii_webhook.admission.annotation_sources import AnnotationSource, PodContext, Scope
from cwii_webhook.admission.memo import Memo
from cwii_webhook.dialects.common.annotations import Annotation

MOST = 4  # odd words of one voice that are told of
LOOKED = 16  # at of those that a stranger may write
ALIKE = 32  # that are compared with one
BEARERS: Mapping[Scope, str] = {
    "pod": "the pod",
    "owner": "its owner",
    "account": "its ServiceAccount",
    "namespace": "its namespace",
}
SCOPES: tuple[Scope, ...] = tuple(BEARERS)

_near: Memo[tuple[str, str], str] = Memo(256)


class TypoHints:
    """In a domain that others have words in too, only what is nearly a word of the dialect's is told. `written` are those that it writes itself."""

    def __init__(
        self,
        dialect: str,
        domain: str,
        words: Iterable[Annotation],
        *,
        written: Collection[str] = (),
        alone: bool = False,
    ) -> None:
        every = tuple(words)
        self.prefix = f"{domain}/"
        self._dialect, self._alone = dialect, alone
        self._words = {
            word.key: word
            for word in every
            if not word.is_output and word.key.startswith(self.prefix)
        }
        self._heard = {
            scope: frozenset([*(word.key for word in every if _heard(word, scope)), *written])
            for scope in SCOPES
        }

    def of(self, subject: PodContext, account: AnnotationSource | None) -> tuple[str, ...]:
        """For a dialect that hears the pod and its ServiceAccount."""
        own, said = subject.pod.metadata.annotations, account and account.annotations
        pod = tuple(self.told(subject.own_annotations())) if own and self._odd("pod", own) else ()
        return (
            (*pod, *self.told(account)) if account and said and self._odd("account", said) else pod
        )

    def _odd(self, scope: Scope, annotations: Mapping[str, str]) -> bool:
        """Whether there may be something to tell: mostly there is not."""
        return not self._heard[scope].issuperset(annotations) and self.prefix in "\n".join(
            annotations
        )

    def told(self, voice: AnnotationSource) -> Iterator[str]:
        """Somebody means something by them."""
        heard = self._heard[voice.scope]
        odd = [key for key in voice.annotations if key.startswith(self.prefix) and key not in heard]
        yield from islice((text for key in odd[:LOOKED] if (text := self._text(key, voice))), MOST)

    def _text(self, key: str, voice: AnnotationSource) -> str:
        word = self._words.get(key)
        if word and word.place == "label":
            return f"{key} of {voice} is an annotation, and is heard as a label of pods alone"
        if word:
            return f"{key} of {voice} is not heard there: write it on {' or '.join(BEARERS[scope] for scope in word.sources)}"
        near = self._nearest(key)
        if near:
            return (
                f"{printable(key)} of {voice} is no word of {self._dialect}'s: did you mean {near}?"
            )
        return (
            f"{printable(key)} of {voice} is no word of {self._dialect}'s: see README for those that there are"
            if self._alone
            else ""
        )

    def _nearest(self, key: str) -> str:
        asked = self.prefix, key
        known = _near.get(asked)
        if known is None:
            known = nearest(
                key.removeprefix(self.prefix),
                [word.removeprefix(self.prefix) for word in self._words],
            )
            known = _near.keep(asked, self.prefix + known if known else "", len(key))
        return known


def _heard(word: Annotation, scope: Scope) -> bool:
    return word.is_output or (word.place == "annotation" and scope in word.sources)


def nearest(text: str, others: Iterable[str]) -> str:
    """Of the others, the one that may have been meant; nothing where none is like it."""
    found = difflib.get_close_matches(text[:64], list(islice(others, ALIKE)), 1)
    return found[0] if found else ""


def printable(text: str) -> str:
    """As it may stand in a message: nothing that a terminal obeys, and not too much of it."""
    return ascii(text if len(text) <= 64 else f"{text[:61]}...")
