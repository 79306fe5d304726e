"""What is wished for a pod in cwii's words: of each word the nearest voice is heard, in the way of the word's kind."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from cwii_webhook import owners
from cwii_webhook.injection import Origin, Refused
from cwii_webhook.memo import Memo
from cwii_webhook.picture import Ref
from cwii_webhook.review import Places, encode
from cwii_webhook.settings import LEAST, MOST
from cwii_webhook.shape import on_windows
from cwii_webhook.spelling import Spelling, shown
from cwii_webhook.vocabulary import Word
from cwii_webhook.vocabulary.cwii import ALL, DOMAIN, HEARD
from cwii_webhook.voices import Scope, Subject, Voice

# Containers of ours, which a second pass finds among the pod's own: each has all that it needs.
GUESTS = frozenset(
    {"cwii-gcp-creds-writer", "cwii-gcp-verify", "cwii-aws-verify", "cwii-az-verify"}
)

SPELLING = Spelling("cwii", DOMAIN, ALL, alone=True)
PREFIX = SPELLING.prefix
KNOWN = frozenset(word.key for word in ALL)

_WHOLE = re.compile(r"[+-]?[0-9]+")

Texts = tuple[tuple[str, str], ...]
Key = tuple[str, bool, Places, tuple[tuple[Scope, Ref, Texts], ...]]


class Said(Struct, frozen=True, eq=False):
    """What is given follows from it alone, where nothing is in the way. Of pods of which the same is said, it is one and the same object."""

    places: Places  # of containers
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

    def __init__(self, subject: Subject) -> None:
        spec = subject.pod.spec
        self.namespace = subject.namespace
        every = list(_voices(subject))
        self.voices = tuple([voice for voice in every if not HEARD.isdisjoint(voice.annotations)])
        if odd := [
            voice
            for voice in every
            if not KNOWN.issuperset(voice.annotations) and PREFIX in "\n".join(voice.annotations)
        ]:
            subject.odd = tuple([told for voice in odd for told in SPELLING.told(voice)])
        self.windows = bool(self.voices) and on_windows(subject.pod)
        self.containers = (
            [container for container in subject.containers if container.name not in GUESTS]
            if self.voices
            else []
        )
        places = subject.places(GUESTS) if self.voices else ()
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


def hearing(subject: Subject) -> Hearing:
    if not isinstance(subject.heard, Hearing):
        subject.heard = Hearing(subject)
    return subject.heard


def _texts(voice: Voice) -> Texts:
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


def _voices(subject: Subject) -> Iterator[Voice]:
    yield subject.itself()
    yield from owners.voices(subject)
    account, space = (
        subject.account(subject.pod.spec.service_account_name or "default"),
        subject.space(),
    )
    if account:
        yield account
    if space:
        yield space


class Wishes:
    """One mutator's questions to the voices. It keeps where each answer came from, and what was odd about it."""

    __slots__ = ("hearing", "origins", "voices", "warnings")

    def __init__(self, heard: Hearing) -> None:
        self.hearing = heard
        self.voices = [
            Voice(voice.scope, voice.ref, dict(_texts(voice))) for voice in heard.voices
        ]  # origins keep them: no more than what is heard
        self.origins: list[Origin] = []
        self.warnings: list[str] = []

    def flag(self, word: Word) -> Origin | None:
        """What is neither true nor false is no answer, and the next voice is asked."""
        for voice in self.voices:
            said = voice.annotations.get(word.key)
            if said is not None:
                text = said.strip().lower()
                if text in {"true", "false"}:
                    return self._kept(Origin(word.key, text, word.key, voice))
                if text:
                    self.warnings.append(
                        f"{word.key} of {voice} is {shown(said)}, neither true nor false: it is passed over"
                    )
        return None

    def text(self, word: Word, what: str) -> Origin | None:
        """What is empty is no answer either."""
        origin = self.heard(word, what)
        return self._kept(origin) if origin else None

    def heard(self, word: Word, what: str) -> Origin | None:
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

    def seconds(self, word: Word, default: int) -> int:
        """The nearest answer is the answer, even if it is no number: then the server's own counts, not what is said farther away."""
        origin = self.heard(word, "token expiration")
        if origin is None or not _WHOLE.fullmatch(origin.value):
            if origin:
                self.warnings.append(
                    f"{where(origin)} is {shown(origin.value)}, which is no number of seconds: {default} is used"
                )
            self.otherwise("token expiration", str(default))
            return default
        digits = origin.value.lstrip("+-").lstrip("0")
        seconds = 0 if origin.value.startswith("-") else int(digits[:40] or "0")
        if seconds > MOST:
            raise Refused(
                f"{where(origin)} is {shown(origin.value)}, and no token may last so long: say {LEAST} to {MOST} seconds"
            )
        if seconds < LEAST:
            self.warnings.append(
                f"{where(origin)} is {origin.value}, and no token lasts less than {LEAST} seconds: {LEAST} is used"
            )
        seconds = max(LEAST, seconds)
        self._kept(Origin(origin.what, str(seconds), origin.key, origin.voice))
        return seconds

    def either(self, word: Word, native: Word, what: str, *, honoured: bool) -> Origin | None:
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
    return f"{origin.key} of {origin.voice}" if origin.voice else origin.what
