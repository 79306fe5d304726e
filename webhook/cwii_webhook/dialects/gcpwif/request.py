"""Resolves the identity of a pod, and refuses what the peer refuses with its messages."""

from __future__ import annotations

import re

from msgspec import Struct

from cwii_webhook.admission.annotation_sources import AnnotationSource
from cwii_webhook.admission.injection import Origin, PodRefused
from cwii_webhook.dialects.common.annotations import Annotation
from cwii_webhook.dialects.common.go_values import InvalidNumber, parse_int
from cwii_webhook.dialects.gcpwif.annotations import GcpwifAnnotations
from cwii_webhook.dialects.gcpwif.settings import MIN_SECONDS, Mode, Settings

PROVIDER_FORM = (
    "projects/{ProjectNumber}/locations/{Location}/workloadIdentityPools/{PoolId}"
    "/providers/{ProviderId}"
)
MAX_LENGTH = 1024  # of values that are matched with patterns; long ones would take long

_PROVIDER = re.compile(r"projects/.+/locations/.+/workloadIdentityPools/.+/providers/.+")
_PROJECT = re.compile(r"@(.*).iam.gserviceaccount.com")
_SHELL_CHARACTERS = re.compile(r"""['"\\\n\r\0`$;&|<>()]""")
_MODES: dict[str, Mode] = {"gcloud": "gcloud", "direct": "direct"}


class IdentityRequest(Struct, frozen=True, gc=False):
    """What a pod asks for."""

    account: AnnotationSource
    provider: str
    email: str
    audience: Origin
    expiration: Origin
    seconds: int  # at least the minimum
    requested_seconds: int
    user: int | None
    mode: Mode

    @property
    def project(self) -> str:
        """The project of the service account, if its address contains it."""
        match = _PROJECT.search(self.email) if len(self.email) <= MAX_LENGTH else None
        return match[1] if match else ""


def resolve_request(
    settings: Settings,
    annotations: GcpwifAnnotations,
    pod: AnnotationSource,
    account: AnnotationSource,
) -> IdentityRequest | None:
    """Returns None if the ServiceAccount has neither a provider nor a service account."""
    values = account.annotations
    account_seconds = _number(annotations.expiration, account)
    user = _number(annotations.user, account)
    mode = _mode(settings, annotations.mode, account)
    if annotations.provider.key not in values and annotations.email.key not in values:
        return None
    _check_pair(annotations, account)
    pod_seconds = _number(annotations.expiration, pod)
    seconds, source = int(settings.expiration), None
    if account_seconds is not None:
        seconds, source = account_seconds, account
    if pod_seconds is not None:
        seconds, source = pod_seconds, pod
    effective = max(MIN_SECONDS, seconds)
    key = annotations.expiration.key if source else ""
    request = IdentityRequest(
        account,
        values[annotations.provider.key],
        values[annotations.email.key],
        _audience(settings, annotations.audience, account),
        Origin("expiration", str(effective), key, source),
        effective,
        seconds,
        user,
        mode,
    )
    if mode == "gcloud":
        _check_for_shell(annotations.provider, request.provider, account)
        _check_for_shell(annotations.email, request.email, account)
    return request


def _number(annotation: Annotation, source: AnnotationSource) -> int | None:
    text = source.annotations.get(annotation.key)
    try:
        return None if text is None else parse_int(text)
    except InvalidNumber as e:
        remedy = f"{annotation.key} of {source} is {text!r}: write a whole number, or remove it"
        message = f"{annotation.key} must be positive integer string: {e}"
        raise PodRefused(message, warnings=(remedy,)) from e


def _mode(settings: Settings, annotation: Annotation, account: AnnotationSource) -> Mode:
    text = account.annotations.get(annotation.key)
    if text is None:
        return settings.mode
    if text.lower() not in _MODES:
        remedy = f"{annotation.key} of {account} is {text!r}: write gcloud or direct, or remove it"
        message = f"{annotation.key} mode must be 'direct', 'gcloud' or unset"
        raise PodRefused(message, warnings=(remedy,))
    return _MODES[text.lower()]


def _check_pair(annotations: GcpwifAnnotations, account: AnnotationSource) -> None:
    """Refuses half a pair. The peer's message names the expiration where it means the email."""
    provider, email = annotations.provider, annotations.email
    value = account.annotations.get(provider.key)
    if value is None or email.key not in account.annotations:
        missing, present = (provider, email) if value is None else (email, provider)
        remedy = f"{account} has {present.key} and no {missing.key}: set both, or neither"
        message = f"{provider.key}, {annotations.expiration.key} must set at a time"
        raise PodRefused(message, warnings=(remedy,))
    if len(value) > MAX_LENGTH or not _PROVIDER.fullmatch(value):
        remedy = (
            f"{provider.key} of {account} is {value[:MAX_LENGTH]!r}: "
            "copy it from the pool's page, without //iam.googleapis.com/"
        )
        raise PodRefused(f"{provider.key} must be form of {PROVIDER_FORM}", warnings=(remedy,))


def _audience(settings: Settings, annotation: Annotation, account: AnnotationSource) -> Origin:
    if annotation.key in account.annotations:
        return Origin("audience", account.annotations[annotation.key], annotation.key, account)
    return Origin("audience", settings.audience)


def _check_for_shell(annotation: Annotation, value: str, account: AnnotationSource) -> None:
    if match := _SHELL_CHARACTERS.search(value):
        raise PodRefused(
            f"{annotation.key} of {account} holds {match[0]!r}, and gcloud is set up by a shell: "
            "correct it, or set injection-mode to direct"
        )
