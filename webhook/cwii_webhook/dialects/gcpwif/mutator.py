"""Injects Google Cloud identities as gcp-workload-identity-federation-webhook does."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from cwii_webhook.admission.annotation_sources import AnnotationSource, PodContext
from cwii_webhook.admission.injection import (
    ContainerInjection,
    EnvVar,
    Injection,
    Origin,
    PodRefused,
    Skip,
    Volume,
    env_var,
)
from cwii_webhook.admission.review import Pod
from cwii_webhook.dialects.common.go_values import split_names
from cwii_webhook.dialects.common.pod_traits import common_user, declares_windows, runs_on_windows
from cwii_webhook.dialects.common.typo_hints import TypoHints
from cwii_webhook.dialects.common.warnings import (
    env_conflict_warnings,
    expiration_warnings,
    service_account_warnings,
    unknown_container_warnings,
    unreadable_token_warnings,
)
from cwii_webhook.dialects.gcpwif.annotations import gcpwif_annotations
from cwii_webhook.dialects.gcpwif.paths import (
    DIRECT,
    GCLOUD,
    PATH_VARIABLES,
    REPLACED_ENV,
    REPLACED_NAMES,
    TOKEN,
    TOKEN_FILE,
    VOLUME_MOUNTS,
    credentials_volumes,
)
from cwii_webhook.dialects.gcpwif.request import IdentityRequest, resolve_request
from cwii_webhook.dialects.gcpwif.settings import MIN_SECONDS, Settings
from cwii_webhook.dialects.gcpwif.setup_container import NAME as SETUP_CONTAINER
from cwii_webhook.dialects.gcpwif.setup_container import SetupContainer

PROVIDER = "gcp"
ALWAYS_SKIPPED = frozenset({SETUP_CONTAINER})
MAX_USER = (1 << 31) - 1  # the API server's limit for runAsUser


class GcpwifMutator:
    """Injects the provider and the service account that the pod's ServiceAccount names."""

    provider = PROVIDER
    volume_names = frozenset({TOKEN.name, GCLOUD.name, DIRECT.name})
    env_names = frozenset(
        {
            "GOOGLE_APPLICATION_CREDENTIALS",
            "CLOUDSDK_CONFIG",
            "CLOUDSDK_COMPUTE_REGION",
            "CLOUDSDK_CORE_PROJECT",
        }
    )

    def __init__(self, settings: Settings) -> None:
        keys = gcpwif_annotations(settings.domain)
        self._settings = settings
        self._annotations = keys
        self._region = env_var("CLOUDSDK_COMPUTE_REGION", settings.region)
        self._volumes = credentials_volumes(keys.credentials.key, settings.file_mode)
        self._setup = SetupContainer(settings.image, settings.resources)
        known = [getattr(keys, name) for name in keys.__struct_fields__]
        # The webhook writes these on the pod as well.
        outputs = [keys.provider.key, keys.email.key, keys.audience.key]
        self._typo_hints = TypoHints("gcpwif", settings.domain, known, outputs=outputs)

    def skipped_containers(self, pod: Pod) -> frozenset[str]:
        text = (pod.metadata.annotations or {}).get(self._annotations.skip.key, "")
        return split_names(text, ",") | ALWAYS_SKIPPED if text else ALWAYS_SKIPPED

    def typo_hints(self, context: PodContext) -> tuple[str, ...]:
        name = context.pod.spec.service_account_name
        account = context.service_account(name) if name else None
        return self._typo_hints.for_pod(context, account) if account else ()

    def __call__(self, context: PodContext) -> Injection | Skip:
        name = context.pod.spec.service_account_name
        if not name:
            return Skip(PROVIDER, "no-account", "the pod names no ServiceAccount")
        account = context.service_account(name)
        if account is None:
            detail = f"there is no ServiceAccount {context.namespace}/{name}"
            return Skip(PROVIDER, "no-account", detail)
        own = context.own_annotations()
        request = resolve_request(self._settings, self._annotations, own, account)
        if request is None:
            return self._skip(context, account)
        if request.mode == "gcloud" and declares_windows(context.pod):
            remedy = f"set {self._annotations.mode.key} of {request.account} to direct"
            raise PodRefused(f"{SETUP_CONTAINER} does not run on Windows", warnings=(remedy,))
        return self._injection(context, request)

    def _skip(self, context: PodContext, account: AnnotationSource) -> Skip:
        """The peer writes annotations on the pod, but reads the ServiceAccount only."""
        keys = self._annotations
        pair = f"{keys.provider.key} and {keys.email.key}"
        if keys.mode.key in account.annotations or keys.user.key in account.annotations:
            warning = f"{account} is annotated for Google's credentials, but lacks {pair}"
            return Skip(PROVIDER, "incomplete", f"{account} lacks {pair}", (warning,))
        warnings = [
            f"{key} of {context.ref} is not heard there: write it on {account}"
            for key in (keys.provider.key, keys.email.key)
            if key in context.annotations
        ]
        detail = f"{account} has no {keys.provider.key}"
        return Skip(PROVIDER, "not-asked", detail, tuple(warnings))

    def _injection(self, context: PodContext, request: IdentityRequest) -> Injection:
        mode, pod = request.mode, context.pod
        project = env_var("CLOUDSDK_CORE_PROJECT", request.project)
        env = (*PATH_VARIABLES[mode], self._region, project)
        skipped = self.skipped_containers(pod)
        return Injection(
            provider=PROVIDER,
            volumes=(self._token_volume(request), *self._volumes[mode]),
            containers=tuple(
                [
                    ContainerInjection(*ref, env, VOLUME_MOUNTS[mode])
                    for ref in context.container_refs(skipped)
                ]
            ),
            helpers=(self._setup.helper(pod, request),) if mode == "gcloud" else (),
            replaced_names=REPLACED_NAMES[mode],
            annotations=self._output_annotations(request),
            warnings=(
                *self._value_warnings(request),
                *self._gcloud_warnings(context, request),
                *unreadable_token_warnings(pod, self._settings.file_mode, TOKEN_FILE),
                *unknown_container_warnings(
                    context, self._annotations.skip.key, skipped, ALWAYS_SKIPPED
                ),
                *env_conflict_warnings(context, env, skipped, REPLACED_ENV[mode]),
            ),
            origins=tuple(self._origins(request, env)),
        )

    def _token_volume(self, request: IdentityRequest) -> Volume:
        token = {
            "audience": request.audience.value,
            "expirationSeconds": request.seconds,
            "path": "token",
        }
        projected = {
            "sources": [{"serviceAccountToken": token}],
            "defaultMode": self._settings.file_mode,
        }
        return Volume(TOKEN.name, {"projected": projected})

    def _output_annotations(self, request: IdentityRequest) -> dict[str, str]:
        keys = self._annotations
        outputs = {
            keys.provider.key: request.provider,
            keys.email.key: request.email,
            keys.audience.key: request.audience.value,
            keys.expiration.key: str(request.seconds),
        }
        if request.mode == "direct":
            outputs[keys.credentials.key] = credentials_file(request)
        return outputs

    def _origins(self, request: IdentityRequest, env: tuple[EnvVar, ...]) -> Iterator[Origin]:
        keys, account = self._annotations, request.account
        yield Origin("provider", request.provider, keys.provider.key, account)
        yield Origin("service account", request.email, keys.email.key, account)
        yield request.audience
        yield request.expiration
        if request.user is not None:
            yield Origin("gcloud's user", str(request.user), keys.user.key, account)
        *defaults, project = env
        yield from (Origin(v.name, v.value) for v in defaults if v.value)
        if project.value:
            yield Origin(project.name, project.value, keys.email.key, account)

    def _value_warnings(self, request: IdentityRequest) -> Iterator[str]:
        keys, account, expiration = self._annotations, request.account, request.expiration
        if not request.audience.value:
            yield (
                f"{keys.audience.key} of {account} is empty: "
                "the token is for the API server, and Google will refuse it"
            )
        if request.email:
            yield from service_account_warnings(f"{keys.email.key} of {account}", request.email)
        else:
            yield f"{keys.email.key} of {account} is empty: there is nobody to act as"
        if expiration.source and request.requested_seconds < MIN_SECONDS:
            yield (
                f"{expiration.key} of {expiration.source} is {request.requested_seconds}: "
                f"the token lasts {MIN_SECONDS} seconds, the least that there is"
            )
        yield from expiration_warnings(request.seconds, keys.expiration.key)
        user = request.user
        if request.mode == "gcloud" and user is not None and not 0 <= user <= MAX_USER:
            yield f"{keys.user.key}: the API server refuses user {user}; it takes 0 to {MAX_USER}"

    def _gcloud_warnings(self, context: PodContext, request: IdentityRequest) -> Iterator[str]:
        if request.mode != "gcloud":
            return
        keys = self._annotations
        if runs_on_windows(context.pod):
            text = f"{SETUP_CONTAINER} does not run on Windows: set {keys.mode.key} of "
            yield f"{text}{request.account} to direct"
        if request.user is None:
            return
        pod_context, user = context.pod.spec.security_context, common_user(context.pod)
        has_group = pod_context is not None and pod_context.fs_group is not None
        is_private = not has_group and not self._settings.file_mode & 0o004
        if is_private and user and request.user != user:
            yield (
                f"{keys.user.key} of {request.account} is {request.user}, but containers run as "
                f"{user}: they will not be able to read {TOKEN_FILE}"
            )


def credentials_file(request: IdentityRequest) -> str:
    """Returns the JSON that Google's libraries read, with the keys in the peer's order."""
    document = {
        "type": "external_account",
        "audience": f"//iam.googleapis.com/{request.provider}",
        "subject_token_type": "urn:ietf:params:oauth:token-type:jwt",
        "token_url": "https://sts.googleapis.com/v1/token",
        "service_account_impersonation_url": (
            "https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/"
            f"{request.email}:generateAccessToken"
        ),
        "credential_source": {"file": TOKEN_FILE, "format": {"type": "text"}},
    }
    return msgspec.json.encode(document).decode()
