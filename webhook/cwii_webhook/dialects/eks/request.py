"""What is asked of EKS's dialect for one pod: by its ServiceAccount, a ConfigMap, or the file of who goes to the agent."""

from __future__ import annotations

import zlib

from msgspec import Struct
from msgspec.structs import replace

from cwii_webhook.admission.annotation_sources import AnnotationSource, PodContext
from cwii_webhook.admission.cluster_view import ObjectRef
from cwii_webhook.dialects.common import go_values as peers
from cwii_webhook.dialects.common.external_config import ExternalConfig
from cwii_webhook.dialects.common.typo_hints import printable
from cwii_webhook.dialects.eks.annotations import EksAnnotations
from cwii_webhook.dialects.eks.external_config import (
    AgentIdentities,
    ConfigMapRoles,
    Entry,
    InstanceIdentity,
)
from cwii_webhook.dialects.eks.settings import DAY, Settings
from cwii_webhook.settings.formats import MIN_TOKEN_SECONDS

JITTER = 7200

_BOOL = {"1": True, "t": True, "T": True, "TRUE": True, "true": True, "True": True} | dict.fromkeys(
    ("0", "f", "F", "FALSE", "false", "False"), False
)


class CredentialPath(Struct, frozen=True, cache_hash=True):
    """One of the two ways to credentials: what is mounted where, and the two variables that lead there."""

    volume: str
    mount_path: str
    file: str
    pointer: str  # the variable that names the token's file
    other: str  # the variable that goes with it


class Setting(Struct, frozen=True, gc=False):
    """A value, and whose word it is, or with neither key nor bearer the webhook's own; and what was passed over on the way to it."""

    value: str
    key: str = ""
    bearer: ObjectRef | None = None
    odd: tuple[str, ...] = ()


class RoleRequest(Struct, frozen=True):
    """What is asked for a pod."""

    way: CredentialPath
    value: Setting
    audience: Setting
    expiration: Setting
    regional: Setting


class RoleRequests:
    """All that a wish may come from besides the pod and its ServiceAccount."""

    def __init__(self, settings: Settings, words: EksAnnotations) -> None:
        own = settings.container
        self.settings = settings
        self.words = words
        self.lasting = Setting(str(max(MIN_TOKEN_SECONDS, settings.expiration)))
        self.regional = Setting("true" if settings.regional else "false")
        self.roles = ConfigMapRoles(settings.namespace) if settings.config_map else None
        self.identities = AgentIdentities(settings.identities) if settings.identities else None
        self.home = InstanceIdentity() if settings.compose else None
        self.sts = CredentialPath(
            "aws-iam-token",
            settings.mount_path,
            "token",
            "AWS_WEB_IDENTITY_TOKEN_FILE",
            "AWS_ROLE_ARN",
        )
        self.agent = CredentialPath(
            own.volume_name,
            own.mount_path,
            own.token_path,
            "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE",
            "AWS_CONTAINER_CREDENTIALS_FULL_URI",
        )

    @property
    def external_config(self) -> tuple[ExternalConfig, ...]:
        return tuple([source for source in (self.roles, self.identities, self.home) if source])

    def __call__(
        self, subject: PodContext, name: str, account: AnnotationSource | None
    ) -> RoleRequest | None:
        if self.identities and (subject.namespace, name) in self.identities.pairs:
            return self._of_agent(subject, name, account)
        if account and account.annotations.get(self.words.role_arn.key):
            return self._of_account(subject, account)
        entry = self._entry(subject, name)
        if not self.roles or entry is None or not entry.rolearn:
            return None
        lasts, regional = self._entered(subject, name, entry)
        role, audience = [
            Setting(text, f"{subject.namespace}/{name}", self.roles.ref)
            for text in (self._composed(entry.rolearn), entry.audience)
        ]
        return RoleRequest(self.sts, role, audience, lasts, regional)

    def _of_account(self, subject: PodContext, account: AnnotationSource) -> RoleRequest:
        said, words = account.annotations, self.words
        role = Setting(self._composed(said[words.role_arn.key]), words.role_arn.key, account.ref)
        audience = said.get(words.audience.key)
        heard = (
            Setting(self.settings.audience)
            if audience is None
            else Setting(audience, words.audience.key, account.ref)
        )
        lasts = self._expiration(
            subject, self._lasting(said.get(words.expiration.key), account.ref, self.lasting)
        )
        return RoleRequest(self.sts, role, heard, lasts, self._regional(account))

    def _of_agent(
        self, subject: PodContext, name: str, account: AnnotationSource | None
    ) -> RoleRequest:
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
            lasts, regional = self._expiration(subject, Setting(str(DAY))), Setting("false")
        if lasts.value == str(DAY):
            lasts = replace(lasts, value=str(DAY - zlib.crc32(subject.uid.encode()) % (JITTER + 1)))
        return RoleRequest(
            self.agent, Setting(own.full_uri), Setting(own.audience), lasts, regional
        )

    def _regional(self, account: AnnotationSource) -> Setting:
        key = self.words.regional.key
        text = account.annotations.get(key)
        if text is None:
            return self.regional
        if text not in _BOOL:
            odd = f"{key} of {account} is {printable(text)}, neither true nor false: it is taken for {self.regional.value}"
            return replace(self.regional, odd=(odd,))
        return Setting("true" if _BOOL[text] else "false", key, account.ref)

    def _expiration(self, subject: PodContext, otherwise: Setting) -> Setting:
        """The pod's own word goes before its ServiceAccount's."""
        text = (subject.pod.metadata.annotations or {}).get(self.words.expiration.key)
        return otherwise if text is None else self._lasting(text, subject.ref, otherwise)

    def _lasting(self, text: str | None, bearer: ObjectRef, otherwise: Setting) -> Setting:
        if text is None:
            return otherwise
        key = self.words.expiration.key
        try:
            seconds = peers.parse_int(text)
        except peers.InvalidNumber:
            odd = f"{key} of {bearer} is {printable(text)}, which is no number of seconds: {otherwise.value} is used"
            return replace(otherwise, odd=(*otherwise.odd, odd))
        odd = (
            (
                f"{key} of {bearer} is {seconds}, and no token lasts less than {MIN_TOKEN_SECONDS} seconds: {MIN_TOKEN_SECONDS} is used",
            )
            if seconds < MIN_TOKEN_SECONDS
            else ()
        )
        return Setting(str(max(MIN_TOKEN_SECONDS, seconds)), key, bearer, odd)

    def _composed(self, role: str) -> str:
        return self.home.composed(role) if self.home else role

    def _entry(self, subject: PodContext, name: str) -> Entry | None:
        return self.roles.of(subject.namespace, name) if self.roles else None

    def _entered(self, subject: PodContext, name: str, entry: Entry) -> tuple[Setting, Setting]:
        """How long its token lasts, and whether STS is the region's."""
        key, ref = f"{subject.namespace}/{name}", self.roles.ref if self.roles else None
        lasts = (
            Setting(str(max(MIN_TOKEN_SECONDS, entry.tokenexpiration)), key, ref)
            if entry.tokenexpiration
            else self.lasting
        )
        return self._expiration(subject, lasts), Setting(
            "true" if entry.useregionalsts else "false", key, ref
        )
