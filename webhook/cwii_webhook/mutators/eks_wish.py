"""What is asked of EKS's dialect for one pod: by its ServiceAccount, a ConfigMap, or the file of who goes to the agent."""

from __future__ import annotations

import zlib

from msgspec import Struct
from msgspec.structs import replace

from cwii_webhook.mutators import peers
from cwii_webhook.mutators.eks_sources import Entry, Home, Identities, Roles
from cwii_webhook.picture import Ref
from cwii_webhook.settings import LEAST
from cwii_webhook.settings.eks import DAY, Settings
from cwii_webhook.source import Source
from cwii_webhook.spelling import shown
from cwii_webhook.vocabulary.eks import Words
from cwii_webhook.voices import Subject, Voice

JITTER = 7200

_BOOL = {"1": True, "t": True, "T": True, "TRUE": True, "true": True, "True": True} | dict.fromkeys(
    ("0", "f", "F", "FALSE", "false", "False"), False
)


class Way(Struct, frozen=True, cache_hash=True):
    """One of the two ways to credentials: what is mounted where, and the two variables that lead there."""

    volume: str
    mount_path: str
    file: str
    pointer: str  # the variable that names the token's file
    other: str  # the variable that goes with it


class Heard(Struct, frozen=True, gc=False):
    """A value, and whose word it is, or with neither key nor bearer the webhook's own; and what was passed over on the way to it."""

    value: str
    key: str = ""
    bearer: Ref | None = None
    odd: tuple[str, ...] = ()


class Wish(Struct, frozen=True):
    """What is asked for a pod."""

    way: Way
    value: Heard
    audience: Heard
    expiration: Heard
    regional: Heard


class Wishes:
    """All that a wish may come from besides the pod and its ServiceAccount."""

    def __init__(self, settings: Settings, words: Words) -> None:
        own = settings.container
        self.settings = settings
        self.words = words
        self.lasting = Heard(str(max(LEAST, settings.expiration)))
        self.regional = Heard("true" if settings.regional else "false")
        self.roles = Roles(settings.namespace) if settings.config_map else None
        self.identities = Identities(settings.identities) if settings.identities else None
        self.home = Home() if settings.compose else None
        self.sts = Way(
            "aws-iam-token",
            settings.mount_path,
            "token",
            "AWS_WEB_IDENTITY_TOKEN_FILE",
            "AWS_ROLE_ARN",
        )
        self.agent = Way(
            own.volume_name,
            own.mount_path,
            own.token_path,
            "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE",
            "AWS_CONTAINER_CREDENTIALS_FULL_URI",
        )

    @property
    def sources(self) -> tuple[Source, ...]:
        return tuple([source for source in (self.roles, self.identities, self.home) if source])

    def __call__(self, subject: Subject, name: str, account: Voice | None) -> Wish | None:
        if self.identities and (subject.namespace, name) in self.identities.pairs:
            return self._of_agent(subject, name, account)
        if account and account.annotations.get(self.words.role_arn.key):
            return self._of_account(subject, account)
        entry = self._entry(subject, name)
        if not self.roles or entry is None or not entry.rolearn:
            return None
        lasts, regional = self._entered(subject, name, entry)
        role, audience = [
            Heard(text, f"{subject.namespace}/{name}", self.roles.ref)
            for text in (self._composed(entry.rolearn), entry.audience)
        ]
        return Wish(self.sts, role, audience, lasts, regional)

    def _of_account(self, subject: Subject, account: Voice) -> Wish:
        said, words = account.annotations, self.words
        role = Heard(self._composed(said[words.role_arn.key]), words.role_arn.key, account.ref)
        audience = said.get(words.audience.key)
        heard = (
            Heard(self.settings.audience)
            if audience is None
            else Heard(audience, words.audience.key, account.ref)
        )
        lasts = self._expiration(
            subject, self._lasting(said.get(words.expiration.key), account.ref, self.lasting)
        )
        return Wish(self.sts, role, heard, lasts, self._regional(account))

    def _of_agent(self, subject: Subject, name: str, account: Voice | None) -> Wish:
        """As much as the ServiceAccount or the ConfigMap says of it. A day is a little less for most, so that not all come at once."""
        own, entry = self.settings.container, None if account else self._entry(subject, name)
        if account:
            lasts = self._expiration(
                subject,
                self._lasting(
                    account.annotations.get(self.words.expiration.key), account.ref, self.lasting
                ),
            )
            regional = self._regional(account)
        elif entry:
            lasts, regional = self._entered(subject, name, entry)
        else:
            lasts, regional = self._expiration(subject, Heard(str(DAY))), Heard("false")
        if lasts.value == str(DAY):
            lasts = replace(lasts, value=str(DAY - zlib.crc32(subject.uid.encode()) % (JITTER + 1)))
        return Wish(self.agent, Heard(own.full_uri), Heard(own.audience), lasts, regional)

    def _regional(self, account: Voice) -> Heard:
        key = self.words.regional.key
        text = account.annotations.get(key)
        if text is None:
            return self.regional
        if text not in _BOOL:
            odd = f"{key} of {account} is {shown(text)}, neither true nor false: it is taken for {self.regional.value}"
            return replace(self.regional, odd=(odd,))
        return Heard("true" if _BOOL[text] else "false", key, account.ref)

    def _expiration(self, subject: Subject, otherwise: Heard) -> Heard:
        """The pod's own word goes before its ServiceAccount's."""
        text = (subject.pod.metadata.annotations or {}).get(self.words.expiration.key)
        return otherwise if text is None else self._lasting(text, subject.ref, otherwise)

    def _lasting(self, text: str | None, bearer: Ref, otherwise: Heard) -> Heard:
        if text is None:
            return otherwise
        key = self.words.expiration.key
        try:
            seconds = peers.whole(text)
        except peers.NotANumber:
            odd = f"{key} of {bearer} is {shown(text)}, which is no number of seconds: {otherwise.value} is used"
            return replace(otherwise, odd=(*otherwise.odd, odd))
        odd = (
            (
                f"{key} of {bearer} is {seconds}, and no token lasts less than {LEAST} seconds: {LEAST} is used",
            )
            if seconds < LEAST
            else ()
        )
        return Heard(str(max(LEAST, seconds)), key, bearer, odd)

    def _composed(self, role: str) -> str:
        return self.home.composed(role) if self.home else role

    def _entry(self, subject: Subject, name: str) -> Entry | None:
        return self.roles.of(subject.namespace, name) if self.roles else None

    def _entered(self, subject: Subject, name: str, entry: Entry) -> tuple[Heard, Heard]:
        """How long its token lasts, and whether STS is the region's."""
        key, ref = f"{subject.namespace}/{name}", self.roles.ref if self.roles else None
        lasts = (
            Heard(str(max(LEAST, entry.tokenexpiration)), key, ref)
            if entry.tokenexpiration
            else self.lasting
        )
        return self._expiration(subject, lasts), Heard(
            "true" if entry.useregionalsts else "false", key, ref
        )
