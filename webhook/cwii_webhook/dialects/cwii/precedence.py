"""What is wished for a pod in cwii's words: of each word the nearest voice is heard, in the way of the word's kind."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from cwii_webhook.admission import owners
from cwii_webhook.admission.annotation_sources import AnnotationSource, PodContext, Scope
from cwii_webhook.admission.cluster_view import ObjectRef
from cwii_webhook.admission.injection import Origin, PodRefused
from cwii_webhook.admission.memo import Memo
from cwii_webhook.admission.review import ContainerRefs, encode
from cwii_webhook.dialects.common.annotations import Annotation
from cwii_webhook.dialects.common.pod_traits import runs_on_windows
from cwii_webhook.dialects.common.typo_hints import TypoHints, printable
from cwii_webhook.dialects.cwii.annotations import ALL, DOMAIN, HEARD
from cwii_webhook.settings.formats import MAX_TOKEN_SECONDS, MIN_TOKEN_SECONDS

# Containers of ours, which a second pass finds among the pod's own: each has all that it needs.
GUESTS = frozenset(
    {"cwii-gcp-creds-writer", "cwii-gcp-verify", "cwii-aws-verify", "cwii-az-verify"}
)

SPELLING = TypoHints("cwii", DOMAIN, ALL, alone=True)
PREFIX = SPELLING.prefix
KNOWN = frozenset(word.key for word in ALL)

_WHOLE = re.compile(r"[+-]?[0-9]+")

Texts = tuple[tuple[str, str], ...]
Key = tuple[str, bool, ContainerRefs, tuple[tuple[Scope, ObjectRef, Texts], ...]]


class Said(Struct, frozen=True, eq=False):
    """What is given follows from it alone, where nothing is in the way. Of pods of which the same is said, it is one and the same object."""

    places: ContainerRefs  # of containers
    weight: int


_heard: Memo[Key, Said] = Memo()


class Hearing:
    """What is looked up once for a pod, however many clouds it is for."""

    __slots__ = (
        "containers",
        "env",
        "from_elsewhere",
        "namespace",
        "said",
        "voices",
        "volumes",
        "windows",
    )

    def __init__(self, subject: PodContext) -> None:
        spec = subject.pod.spec
        self.namespace = subject.namespace
        every = list(_voices(subject))
        self.voices = tuple([voice for voice in every if not HEARD.isdisjoint(voice.annotations)])
        if odd := [
            voice
            for voice in every
            if not KNOWN.issuperset(voice.annotations) and PREFIX in "\n".join(voice.annotations)
        ]:
            subject.annotation_warnings = tuple(
                [told for voice in odd for told in SPELLING.told(voice)]
            )
        self.windows = bool(self.voices) and runs_on_windows(subject.pod)
        self.containers = (
            [container for container in subject.containers if container.name not in GUESTS]
            if self.voices
            else []
        )
        places = subject.container_refs(GUESTS) if self.voices else ()
        self.said = _said(
            (
                self.namespace,
                self.windows,
                places,
                tuple([(voice.scope, voice.ref, _texts(voice)) for voice in self.voices]),
            )
        )
        self.env = frozenset(
            [
                variable.name
                for container in self.containers
                if container.env
                for variable in container.env
            ]
        )
        self.from_elsewhere = [
            container.name for container in self.containers if container.env_from
        ]
        self.volumes = {volume.name: volume for volume in spec.volumes or ()}


def hearing(subject: PodContext) -> Hearing:
    if not isinstance(subject.heard, Hearing):
        subject.heard = Hearing(subject)
    return subject.heard


def _texts(voice: AnnotationSource) -> Texts:
    items = voice.annotations.items()
    return (
        tuple(items)
        if HEARD.issuperset(voice.annotations)
        else tuple([said for said in items if said[0] in HEARD])
    )


def _said(key: Key) -> Said:
    said = _heard.get(key)
    if said is None:
        weight = len(encode(key))
        said = _heard.keep(key, Said(key[2], weight), weight)
    return said


def _voices(subject: PodContext) -> Iterator[AnnotationSource]:
    yield subject.own_annotations()
    yield from owners.owner_sources(subject)
    account, space = (
        subject.service_account(subject.pod.spec.service_account_name or "default"),
        subject.namespace_annotations(),
    )
    if account:
        yield account
    if space:
        yield space


class ResolvedAnnotations:
    """One mutator's questions to the voices. It keeps where each answer came from, and what was odd about it."""

    __slots__ = ("hearing", "origins", "voices", "warnings")

    def __init__(self, heard: Hearing) -> None:
        self.hearing = heard
        self.voices = [
            AnnotationSource(voice.scope, voice.ref, dict(_texts(voice))) for voice in heard.voices
        ]  # origins keep them: no more than what is heard
        self.origins: list[Origin] = []
        self.warnings: list[str] = []

    def flag(self, word: Annotation) -> Origin | None:
        """What is neither true nor false is no answer, and the next voice is asked."""
        for voice in self.voices:
            said = voice.annotations.get(word.key)
            if said is not None:
                text = said.strip().lower()
                if text in {"true", "false"}:
                    return self._kept(Origin(word.key, text, word.key, voice))
                if text:
                    self.warnings.append(
                        f"{word.key} of {voice} is {printable(said)}, neither true nor false: it is passed over"
                    )
        return None

    def text(self, word: Annotation, what: str) -> Origin | None:
        """What is empty is no answer either."""
        origin = self.heard(word, what)
        return self._kept(origin) if origin else None

    def heard(self, word: Annotation, what: str) -> Origin | None:
        """As `text`, of something that need not be used."""
        key = word.key
        for voice in self.voices:
            said = voice.annotations.get(key)
            if said and (said := said.strip()):
                return Origin(what, said, key, voice)
        return None

    def otherwise(self, what: str, value: str) -> Origin:
        """Nobody said it: the server's own."""
        return self._kept(Origin(what, value))

    def seconds(self, word: Annotation, default: int) -> int:
        """The nearest answer is the answer, even if it is no number: then the server's own counts, not what is said farther away."""
        origin = self.heard(word, "token expiration")
        if origin is None or not _WHOLE.fullmatch(origin.value):
            if origin:
                self.warnings.append(
                    f"{where(origin)} is {printable(origin.value)}, which is no number of seconds: {default} is used"
                )
            self.otherwise("token expiration", str(default))
            return default
        digits = origin.value.lstrip("+-").lstrip("0")
        seconds = 0 if origin.value.startswith("-") else int(digits[:40] or "0")
        if seconds > MAX_TOKEN_SECONDS:
            raise PodRefused(
                f"{where(origin)} is {printable(origin.value)}, and no token may last so long: say {MIN_TOKEN_SECONDS} to {MAX_TOKEN_SECONDS} seconds"
            )
        if seconds < MIN_TOKEN_SECONDS:
            self.warnings.append(
                f"{where(origin)} is {origin.value}, and no token lasts less than {MIN_TOKEN_SECONDS} seconds: {MIN_TOKEN_SECONDS} is used"
            )
        seconds = max(MIN_TOKEN_SECONDS, seconds)
        self._kept(Origin(origin.name, str(seconds), origin.key, origin.source))
        return seconds

    def either(
        self, word: Annotation, native: Annotation, what: str, *, honoured: bool
    ) -> Origin | None:
        """A word of cwii's, or where it is missing the one that another webhook has for it."""
        own, other = self.heard(word, what), self.heard(native, what)
        if own and other and own.value != other.value:
            self.warnings.append(
                f"{where(own)} and {where(other)} say different things: {word.key} is used here, but {native.key} speaks to another webhook too"
            )
        if own is None and honoured:
            own = other
        return self._kept(own) if own else None

    def _kept(self, origin: Origin) -> Origin:
        self.origins.append(origin)
        return origin


def where(origin: Origin) -> str:
    """Which annotation, and on what it is."""
    return f"{origin.key} of {origin.source}" if origin.source else origin.name
