"""Injects AWS identities as amazon-eks-pod-identity-webhook does."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import cast

from msgspec.structs import replace

from cwii_webhook.admission.annotation_sources import PodContext
from cwii_webhook.admission.cluster_view import service_account_ref
from cwii_webhook.admission.injection import (
    ContainerInjection,
    EnvVar,
    Injection,
    Origin,
    Skip,
    Volume,
    VolumeMount,
    env_var,
)
from cwii_webhook.admission.review import Container, Pod, env_names
from cwii_webhook.dialects.common.external_config import ExternalConfig
from cwii_webhook.dialects.common.pod_traits import runs_on_windows
from cwii_webhook.dialects.common.typo_hints import TypoHints, printable
from cwii_webhook.dialects.common.warnings import (
    env_conflict_warnings,
    expiration_warnings,
    unknown_container_warnings,
)
from cwii_webhook.dialects.eks.annotations import AGENT, ENABLED, POD_IDENTITY, eks_annotations
from cwii_webhook.dialects.eks.request import RoleRequest, RoleResolver
from cwii_webhook.dialects.eks.settings import Settings

PROVIDER = "aws"
ROLE_ARN = re.compile(r"arn:aws[a-z0-9-]*:iam::\d{12}:role/[\w\-/.@+=,]+", re.ASCII)
REGION_VARIABLES = ("AWS_REGION", "AWS_DEFAULT_REGION")
REGIONAL_STS_VARIABLE = "AWS_STS_REGIONAL_ENDPOINTS"

_CSV_FIELD = re.compile(r'"((?:[^"]|"")*)"(?=,|\r?\n|\Z)|([^",\r\n]*)(?=,|\r?\n|\Z)')


class EksMutator:
    """Injects the role of the ServiceAccount, or credentials of the Pod Identity agent."""

    provider = PROVIDER

    def __init__(self, settings: Settings) -> None:
        self._annotations = eks_annotations(settings.domain)
        self._roles = RoleResolver(settings, self._annotations)
        self._region_env = tuple(
            [env_var(name, settings.region) for name in ("AWS_DEFAULT_REGION", "AWS_REGION")]
            if settings.region
            else []
        )
        known = [getattr(self._annotations, name) for name in self._annotations.__struct_fields__]
        self._typo_hints = TypoHints("eks", settings.domain, [*known, AGENT])
        methods = (self._roles.sts, self._roles.agent)
        self.volume_names = frozenset([method.volume for method in methods])
        self.env_names = frozenset(
            [*REGION_VARIABLES, REGIONAL_STS_VARIABLE]
            + [method.token_file_variable for method in methods]
            + [method.target_variable for method in methods]
        )

    @property
    def external_config(self) -> tuple[ExternalConfig, ...]:
        return self._roles.external_config

    def skipped_containers(self, pod: Pod) -> frozenset[str]:
        return parse_csv_names(
            (pod.metadata.annotations or {}).get(self._annotations.skip_containers.key, "")
        )

    def typo_hints(self, context: PodContext) -> tuple[str, ...]:
        name = context.pod.spec.service_account_name
        if not name or self._is_switched_off(context):
            return ()
        return self._typo_hints.for_pod(context, context.service_account(name))

    def __call__(self, context: PodContext) -> Injection | Skip:
        name = context.pod.spec.service_account_name
        if not name:
            return Skip(PROVIDER, "no-account", "the pod names no ServiceAccount")
        if self._is_switched_off(context):
            detail = f"the pod has the label {self._annotations.skip_label.key}"
            return Skip(PROVIDER, "switched-off", detail)
        account = context.service_account(name)
        request = self._roles(context, name, account)
        if request is None:
            ref = service_account_ref(context.namespace, name)
            if account is None and not self._roles.roles:
                return Skip(PROVIDER, "no-account", f"there is no {ref}")
            detail = f"{ref} has no {self._annotations.role_arn.key}"
            return Skip(PROVIDER, "not-asked", detail)
        return self._injection(context, request)

    def _is_switched_off(self, context: PodContext) -> bool:
        return self._annotations.skip_label.key in (context.pod.metadata.labels or ())

    def _injection(self, context: PodContext, request: RoleRequest) -> Injection:
        method = request.method
        token_file = f"{method.mount_path}/{method.file}"
        if runs_on_windows(context.pod):
            token_file = "C:" + token_file.replace("/", "\\")
        identity = (
            env_var(method.target_variable, request.target.value),
            env_var(method.token_file_variable, token_file),
        )
        token = {
            "audience": request.audience.value,
            "expirationSeconds": int(request.expiration.value),
            "path": method.file,
        }
        skipped = self.skipped_containers(context.pod)
        return Injection(
            provider=PROVIDER,
            volumes=(
                Volume(method.volume, {"projected": {"sources": [{"serviceAccountToken": token}]}}),
            ),
            containers=tuple(self._containers(context, request, identity, skipped)),
            labels={POD_IDENTITY: ENABLED} if method is self._roles.agent else {},
            warnings=(
                *self._value_warnings(request),
                *self._skip_warnings(context, skipped),
                *env_conflict_warnings(context, (*self._region_env, *identity), skipped),
            ),
            origins=tuple(self._origins(request, token_file)),
        )

    def _containers(
        self,
        context: PodContext,
        request: RoleRequest,
        identity: tuple[EnvVar, EnvVar],
        skipped: frozenset[str],
    ) -> Iterator[ContainerInjection]:
        mounts = (VolumeMount(request.method.volume, request.method.mount_path, read_only=True),)
        containers = [c for c in context.containers if c.name not in skipped]
        for ref, container in zip(context.container_refs(skipped), containers, strict=True):
            env = self._env(container, request, identity)
            if env is not None:
                yield ContainerInjection(*ref, env, mounts)

    def _env(
        self, container: Container, request: RoleRequest, identity: tuple[EnvVar, EnvVar]
    ) -> tuple[EnvVar, ...] | None:
        """Returns the variables for one container.

        There are three groups: identity, region and STS endpoint. If a container has a variable of
        a group, it keeps its own and gets none of that group. None means that it has variables of
        each group, and needs no mount either.
        """
        existing = env_names((container,))
        has_identity = not existing.isdisjoint([variable.name for variable in identity])
        has_region = not existing.isdisjoint(REGION_VARIABLES)
        has_sts = REGIONAL_STS_VARIABLE in existing
        if has_identity and has_region and has_sts:
            return None
        sts = (EnvVar(REGIONAL_STS_VARIABLE, "regional"),)
        return (
            *(sts if request.regional_sts.value == "true" and not has_sts else ()),
            *(() if has_region else self._region_env),
            *(() if has_identity else identity),
        )

    def _origins(self, request: RoleRequest, token_file: str) -> Iterator[Origin]:
        yield request.target.origin(request.method.target_variable)
        yield Origin(request.method.token_file_variable, token_file)
        yield request.audience.origin("audience")
        yield request.expiration.origin("expiration")
        if request.regional_sts.value == "true":
            yield replace(request.regional_sts, value="regional").origin(REGIONAL_STS_VARIABLE)
        yield from (Origin(variable.name, variable.value) for variable in self._region_env)

    def _value_warnings(self, request: RoleRequest) -> Iterator[str]:
        yield from (*request.expiration.warnings, *request.regional_sts.warnings)
        role = request.target
        if request.method is self._roles.sts and not ROLE_ARN.fullmatch(role.value):
            instance = self._roles.instance
            problem = "which is no role's ARN: AWS will refuse it"
            if instance and not instance.account:
                problem = (
                    "in which the account is missing: the webhook asks the instance that it runs on"
                )
            yield f"{role.key} of {role.ref} is {printable(role.value)}, {problem}"
        seconds = int(request.expiration.value)
        yield from expiration_warnings(seconds, self._annotations.expiration.key)

    def _skip_warnings(self, context: PodContext, skipped: frozenset[str]) -> Iterator[str]:
        key = self._annotations.skip_containers.key
        text = context.annotations.get(key)
        if skipped:
            yield from unknown_container_warnings(context, key, skipped)
        elif text:
            yield (
                f"{key} of {context.ref} is {printable(text)}, which is no line of CSV: "
                "nobody is skipped"
            )


def parse_csv_names(text: str) -> frozenset[str]:
    """Parses one CSV record as Go does: an invalid record has no names."""
    names: list[str] = []
    position, text = 0, text.lstrip("\r\n")
    while text:
        match = _CSV_FIELD.match(text, position)
        if match is None:
            return frozenset()
        quoted = cast("str | None", match[1])
        names.append(match[2] if quoted is None else quoted.replace('""', '"'))
        position = match.end() + 1
        if not text.startswith(",", match.end()):
            break
    return frozenset(names)
