"""Resolves the role of a pod: from its ServiceAccount, a ConfigMap or a file."""

from __future__ import annotations

import zlib

from msgspec import Struct
from msgspec.structs import replace

from cwii_webhook.admission.annotation_sources import AnnotationSource, PodContext
from cwii_webhook.admission.cluster_view import ObjectRef
from cwii_webhook.admission.injection import Origin
from cwii_webhook.dialects.common.external_config import ExternalConfig
from cwii_webhook.dialects.common.go_values import InvalidNumber, parse_int
from cwii_webhook.dialects.common.typo_hints import printable
from cwii_webhook.dialects.eks.annotations import EksAnnotations
from cwii_webhook.dialects.eks.external_config import (
    AgentIdentities,
    ConfigMapRoles,
    InstanceIdentity,
    RoleEntry,
)
from cwii_webhook.dialects.eks.settings import DAY, Settings
from cwii_webhook.settings.formats import MIN_TOKEN_SECONDS

MAX_JITTER = 7200  # seconds

# The texts that Go's strconv.ParseBool accepts.
_BOOLEANS = dict.fromkeys(("1", "t", "T", "TRUE", "true", "True"), True) | dict.fromkeys(
    ("0", "f", "F", "FALSE", "false", "False"), False
)


class CredentialMethod(Struct, frozen=True):
    """One of the two ways to AWS credentials: web identity with STS, or the Pod Identity agent."""

    volume: str
    mount_path: str
    file: str
    token_file_variable: str
    target_variable: str  # names the role or the agent


class ResolvedValue(Struct, frozen=True, gc=False):
    """A value and where it comes from. Without a source, it is a default of the webhook."""

    value: str
    key: str = ""
    ref: ObjectRef | None = None
    warnings: tuple[str, ...] = ()

    def origin(self, name: str) -> Origin:
        if self.ref is None:
            return Origin(name, self.value, self.key)
        scope = "pod" if self.ref.kind == "Pod" else "account"
        return Origin(name, self.value, self.key, AnnotationSource(scope, self.ref, {}))


class RoleRequest(Struct, frozen=True):
    """What a pod asks for."""

    method: CredentialMethod
    target: ResolvedValue  # the role's ARN or the agent's URI
    audience: ResolvedValue
    expiration: ResolvedValue
    regional_sts: ResolvedValue


class RoleResolver:
    """Resolves requests, with the settings and the external configuration of the webhook."""

    def __init__(self, settings: Settings, annotations: EksAnnotations) -> None:
        agent = settings.container
        self.roles = ConfigMapRoles(settings.namespace) if settings.config_map else None
        self.identities = AgentIdentities(settings.identities) if settings.identities else None
        self.instance = InstanceIdentity() if settings.compose else None
        self.sts = CredentialMethod(
            "aws-iam-token",
            settings.mount_path,
            "token",
            "AWS_WEB_IDENTITY_TOKEN_FILE",
            "AWS_ROLE_ARN",
        )
        self.agent = CredentialMethod(
            agent.volume_name,
            agent.mount_path,
            agent.token_path,
            "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE",
            "AWS_CONTAINER_CREDENTIALS_FULL_URI",
        )
        self._settings = settings
        self._annotations = annotations
        self._default_expiration = ResolvedValue(str(max(MIN_TOKEN_SECONDS, settings.expiration)))
        self._default_regional = ResolvedValue("true" if settings.regional else "false")

    @property
    def external_config(self) -> tuple[ExternalConfig, ...]:
        sources = (self.roles, self.identities, self.instance)
        return tuple([source for source in sources if source])

    def __call__(
        self, context: PodContext, account_name: str, account: AnnotationSource | None
    ) -> RoleRequest | None:
        """Returns the request, or None if the pod's ServiceAccount has no role."""
        if self.identities and (context.namespace, account_name) in self.identities.pairs:
            return self._agent_request(context, account_name, account)
        if account and account.annotations.get(self._annotations.role_arn.key):
            return self._annotated_request(context, account)
        entry = self._entry(context, account_name)
        if not self.roles or entry is None or not entry.rolearn:
            return None
        expiration, regional = self._entry_settings(context, account_name, entry)
        role, audience = [
            ResolvedValue(text, f"{context.namespace}/{account_name}", self.roles.ref)
            for text in (self._full_arn(entry.rolearn), entry.audience)
        ]
        return RoleRequest(self.sts, role, audience, expiration, regional)

    def _annotated_request(self, context: PodContext, account: AnnotationSource) -> RoleRequest:
        values, keys = account.annotations, self._annotations
        role = ResolvedValue(
            self._full_arn(values[keys.role_arn.key]), keys.role_arn.key, account.ref
        )
        audience = ResolvedValue(self._settings.audience)
        if keys.audience.key in values:
            audience = ResolvedValue(values[keys.audience.key], keys.audience.key, account.ref)
        expiration = self._expiration(context, self._account_expiration(account))
        return RoleRequest(self.sts, role, audience, expiration, self._regional(account))

    def _agent_request(
        self, context: PodContext, name: str, account: AnnotationSource | None
    ) -> RoleRequest:
        """Resolves a request for the agent.

        A lifetime of a day is reduced by a jitter, so that not all pods renew their tokens at the
        same time. The jitter follows from the UID of the request, so the same request gets the same
        answer.
        """
        agent, entry = self._settings.container, None if account else self._entry(context, name)
        if account:
            expiration = self._expiration(context, self._account_expiration(account))
            regional = self._regional(account)
        elif entry:
            expiration, regional = self._entry_settings(context, name, entry)
        else:
            expiration, regional = (
                self._expiration(context, ResolvedValue(str(DAY))),
                ResolvedValue("false"),
            )
        if expiration.value == str(DAY):
            jitter = zlib.crc32(context.uid.encode()) % (MAX_JITTER + 1)
            expiration = replace(expiration, value=str(DAY - jitter))
        target, audience = ResolvedValue(agent.full_uri), ResolvedValue(agent.audience)
        return RoleRequest(self.agent, target, audience, expiration, regional)

    def _regional(self, account: AnnotationSource) -> ResolvedValue:
        key, default = self._annotations.regional.key, self._default_regional
        text = account.annotations.get(key)
        if text is None:
            return default
        if text not in _BOOLEANS:
            warning = f"{key} of {account} is {printable(text)}, neither true nor false: "
            return replace(default, warnings=(f"{warning}it is taken for {default.value}",))
        return ResolvedValue("true" if _BOOLEANS[text] else "false", key, account.ref)

    def _account_expiration(self, account: AnnotationSource) -> ResolvedValue:
        text = account.annotations.get(self._annotations.expiration.key)
        return self._parse_expiration(text, account.ref, self._default_expiration)

    def _expiration(self, context: PodContext, default: ResolvedValue) -> ResolvedValue:
        """The pod's own annotation takes precedence over the default."""
        text = context.annotations.get(self._annotations.expiration.key)
        return self._parse_expiration(text, context.ref, default)

    def _parse_expiration(
        self, text: str | None, ref: ObjectRef, default: ResolvedValue
    ) -> ResolvedValue:
        if text is None:
            return default
        key = self._annotations.expiration.key
        try:
            seconds = parse_int(text)
        except InvalidNumber:
            warning = (
                f"{key} of {ref} is {printable(text)}, which is no number of seconds: "
                f"{default.value} is used"
            )
            return replace(default, warnings=(*default.warnings, warning))
        warnings: tuple[str, ...] = ()
        if seconds < MIN_TOKEN_SECONDS:
            text = f"{key} of {ref} is {seconds}, and no token lasts less than "
            warnings = (f"{text}{MIN_TOKEN_SECONDS} seconds: {MIN_TOKEN_SECONDS} is used",)
        return ResolvedValue(str(max(MIN_TOKEN_SECONDS, seconds)), key, ref, warnings)

    def _full_arn(self, role: str) -> str:
        return self.instance.full_arn(role) if self.instance else role

    def _entry(self, context: PodContext, name: str) -> RoleEntry | None:
        return self.roles.entry(context.namespace, name) if self.roles else None

    def _entry_settings(
        self, context: PodContext, name: str, entry: RoleEntry
    ) -> tuple[ResolvedValue, ResolvedValue]:
        """Returns the token's lifetime, and whether the regional STS endpoint is used."""
        key, ref = f"{context.namespace}/{name}", self.roles.ref if self.roles else None
        expiration = self._default_expiration
        if entry.tokenexpiration:
            expiration = ResolvedValue(str(max(MIN_TOKEN_SECONDS, entry.tokenexpiration)), key, ref)
        regional = ResolvedValue("true" if entry.useregionalsts else "false", key, ref)
        return self._expiration(context, expiration), regional
