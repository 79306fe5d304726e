"""What is asked of Google's dialect for one pod, and what its peer refuses, in its words and in its order."""

from __future__ import annotations

import re

from msgspec import Struct

from cwii_webhook.admission.annotation_sources import AnnotationSource
from cwii_webhook.admission.injection import Origin, PodRefused
from cwii_webhook.dialects.common import go_values as peers
from cwii_webhook.dialects.common.annotations import Annotation
from cwii_webhook.dialects.gcpwif.annotations import GcpwifAnnotations
from cwii_webhook.dialects.gcpwif.settings import LEAST, Mode, Settings

FORM = "projects/{ProjectNumber}/locations/{Location}/workloadIdentityPools/{PoolId}/providers/{ProviderId}"

_PROVIDER = re.compile(r"projects/.+/locations/.+/workloadIdentityPools/.+/providers/.+")
_PROJECT = re.compile(r"@(.*).iam.gserviceaccount.com")
_SHELL = re.compile(r"""['"\\\n\r\0`$;&|<>()]""")  # none of these may come near one
MOST = 1024  # characters of an address or a provider: they are looked at for patterns, which may take long on long ones
_MODES: dict[str, Mode] = {"gcloud": "gcloud", "direct": "direct"}


class IdentityRequest(Struct, frozen=True, gc=False, eq=False):
    """Of pods of which the same is said, it is one and the same object."""

    account: AnnotationSource
    provider: str
    email: str
    audience: Origin
    expiration: Origin
    seconds: int
    said: int  # instead of which it lasts so many seconds
    user: int | None
    mode: Mode

    @property
    def project(self) -> str:
        """The service account's own, where its address tells it."""
        found = _PROJECT.search(self.email) if len(self.email) <= MOST else None
        return found[1] if found else ""


def wish(
    settings: Settings, words: GcpwifAnnotations, pod: AnnotationSource, account: AnnotationSource
) -> IdentityRequest | None:
    """None where the ServiceAccount names neither provider nor service account."""
    said = account.annotations
    lasts = _number(words.expiration, account)
    user = _number(words.user, account)
    mode = _mode(settings, words.mode, account)
    if words.provider.key not in said and words.email.key not in said:
        return None
    _checked_pair(words, account)
    own = _number(words.expiration, pod)
    seconds = int(settings.expiration) if lasts is None else lasts
    bearer = account if lasts is not None else None
    if own is not None:
        seconds, bearer = own, pod
    made = IdentityRequest(
        account,
        said[words.provider.key],
        said[words.email.key],
        _audience(settings, words.audience, account),
        Origin(
            "expiration", str(max(LEAST, seconds)), words.expiration.key if bearer else "", bearer
        ),
        max(LEAST, seconds),
        seconds,
        user,
        mode,
    )
    if mode == "gcloud":
        _shell(words.provider, made.provider, account)
        _shell(words.email, made.email, account)
    return made


def _number(word: Annotation, voice: AnnotationSource) -> int | None:
    text = voice.annotations.get(word.key)
    try:
        return None if text is None else peers.parse_int(text)
    except peers.InvalidNumber as e:
        remedy = f"{word.key} of {voice} is {text!r}: write a whole number, or remove it"
        raise PodRefused(
            f"{word.key} must be positive integer string: {e}", warnings=(remedy,)
        ) from e


def _mode(settings: Settings, word: Annotation, account: AnnotationSource) -> Mode:
    text = account.annotations.get(word.key)
    if text is None:
        return settings.mode
    if text.lower() not in _MODES:
        remedy = f"{word.key} of {account} is {text!r}: write gcloud or direct, or remove it"
        raise PodRefused(f"{word.key} mode must be 'direct', 'gcloud' or unset", warnings=(remedy,))
    return _MODES[text.lower()]


def _checked_pair(words: GcpwifAnnotations, account: AnnotationSource) -> None:
    """The peer's text names another annotation than it means."""
    provider = account.annotations.get(words.provider.key)
    if provider is None or words.email.key not in account.annotations:
        missing, there = (
            (words.provider, words.email) if provider is None else (words.email, words.provider)
        )
        remedy = f"{account} has {there.key} and no {missing.key}: set both, or neither"
        raise PodRefused(
            f"{words.provider.key}, {words.expiration.key} must set at a time", warnings=(remedy,)
        )
    if len(provider) > MOST or not _PROVIDER.fullmatch(provider):
        remedy = f"{words.provider.key} of {account} is {provider[:MOST]!r}: copy it from the pool's page, without //iam.googleapis.com/"
        raise PodRefused(f"{words.provider.key} must be form of {FORM}", warnings=(remedy,))


def _audience(settings: Settings, word: Annotation, account: AnnotationSource) -> Origin:
    if word.key in account.annotations:
        return Origin("audience", account.annotations[word.key], word.key, account)
    return Origin("audience", settings.audience)


def _shell(word: Annotation, value: str, account: AnnotationSource) -> None:
    if found := _SHELL.search(value):
        raise PodRefused(
            f"{word.key} of {account} holds {found[0]!r}, and gcloud is set up by a shell: correct it, or set injection-mode to direct"
        )
