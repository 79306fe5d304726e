"""Google Cloud, in cwii's words: the credentials file, and the token that it leads to."""

from __future__ import annotations

from functools import partial

from cwii_webhook.admission.injection import Mount, PodRefused, Skip, variable
from cwii_webhook.dialects.common import warnings as cautions
from cwii_webhook.dialects.common.typo_hints import printable
from cwii_webhook.dialects.cwii import annotations as words
from cwii_webhook.dialects.cwii import google_credentials as credentials
from cwii_webhook.dialects.cwii.mutators import (
    CloudMutator,
    NativeAnnotation,
    Plan,
    declined,
    incomplete,
    plan,
)
from cwii_webhook.dialects.cwii.precedence import ResolvedAnnotations, where
from cwii_webhook.dialects.cwii.settings import Delivery, Settings, delivery
from cwii_webhook.dialects.cwii.token import TokenVolume, container_path
from cwii_webhook.dialects.cwii.value_checks import PROVIDER, SERVICE_ACCOUNT, checked
from cwii_webhook.dialects.cwii.verification import VerificationContainer
from cwii_webhook.settings.formats import AUDIENCE

GIVES = "gcp"
POINTER = "GOOGLE_APPLICATION_CREDENTIALS"
NATIVE = words.NATIVE_GCP_SERVICE_ACCOUNT
EXAMPLE = "//iam.googleapis.com/projects/NUMBER/locations/global/workloadIdentityPools/POOL/providers/PROVIDER"
COMMAND = "gcloud auth application-default print-access-token >/dev/null"


def gcp(settings: Settings) -> CloudMutator:
    token = TokenVolume(GIVES, settings.root)
    check = VerificationContainer(
        "cwii-gcp-verify", words.GCP, settings.gcp_verify_image, "384Mi", COMMAND
    )
    return CloudMutator(
        GIVES,
        frozenset({token.name, credentials.NAME}),
        frozenset({POINTER}),
        partial(_plan, settings, token, check),
    )


def _plan(
    settings: Settings,
    token: TokenVolume,
    check: VerificationContainer,
    wishes: ResolvedAnnotations,
) -> Plan | Skip:
    natives = (
        NativeAnnotation(NATIVE, honoured=settings.native_annotations),
        NativeAnnotation(words.FOREIGN_GCP_PROVIDER, "gcpwif"),
    )
    nothing = declined(
        GIVES, words.GCP, wishes, (words.GCP.audience, words.GCP_SERVICE_ACCOUNT), *natives
    )
    if nothing:
        return nothing
    audience = wishes.text(words.GCP.audience, "token audience")
    if audience is None and settings.gcp_default_audience:
        audience = wishes.otherwise("token audience", settings.gcp_default_audience)
    if audience is None:
        return incomplete(GIVES, wishes, words.GCP.audience.key)
    if audience.source and not PROVIDER.fullmatch(checked(audience, AUDIENCE)):
        wishes.warnings.append(
            f"{where(audience)} is {printable(audience.value)}, which names no provider: Google Cloud knows it as {EXAMPLE}"
        )
    volume = token.volume(
        checked(audience, AUDIENCE), wishes.seconds(words.GCP.expiration, settings.expiration)
    )
    mounts = (token.mount, Mount(credentials.NAME, f"{settings.root}/gcp-creds", read_only=True))
    path = wishes.otherwise(
        POINTER,
        container_path(
            f"{settings.root}/gcp-creds/{credentials.FILE}", windows=wishes.hearing.windows
        ),
    ).value
    variables = (variable(POINTER, path),)
    file = _delivered(settings, token, wishes, audience.value)
    return plan(
        wishes,
        volumes=(volume, file.volume),
        variables=variables,
        mounts=mounts,
        guests=(*file.guests, *check.guests(wishes, settings, variables, mounts)),
        annotations=file.annotations,
        before=file.before,
    )


def _delivered(
    settings: Settings, token: TokenVolume, wishes: ResolvedAnnotations, audience: str
) -> credentials.Delivered:
    windows = wishes.hearing.windows
    said = wishes.either(
        words.GCP_SERVICE_ACCOUNT, NATIVE, "service account", honoured=settings.native_annotations
    )
    account = checked(said, SERVICE_ACCOUNT) if said else ""
    wishes.warnings += cautions.service_account(where(said), account) if said else ()
    text = credentials.document(audience, account, container_path(token.path, windows=windows))
    match _way(settings, wishes):
        case "annotation":
            return credentials.annotation(text)
        case "config-map":
            return credentials.config_map(
                wishes.hearing.namespace, credentials.name(audience, account, windows=windows), text
            )
        case "init-container":
            return credentials.written(settings.gcp_init_image, text)


def _way(settings: Settings, wishes: ResolvedAnnotations) -> Delivery:
    said = wishes.text(words.GCP_DELIVERY, "delivery") or wishes.otherwise(
        "delivery", settings.delivery
    )
    way = delivery(said.value)
    if way is None:
        raise PodRefused(
            f"{where(said)} is {printable(said.value)}: say annotation, config-map or init-container"
        )
    if way == "init-container" and wishes.hearing.windows:
        wishes.warnings.append(
            "the container that would write Google's credentials file does not run on Windows: they come by annotation"
        )
        return "annotation"
    return way
