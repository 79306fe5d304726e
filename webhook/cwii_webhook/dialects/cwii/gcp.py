"""Injects Google Cloud identities: the credentials file, and the token that it refers to."""

from __future__ import annotations

from functools import partial

from cwii_webhook.admission.injection import PodRefused, Skip, VolumeMount, env_var
from cwii_webhook.dialects.common.typo_hints import printable
from cwii_webhook.dialects.common.warnings import service_account_warnings
from cwii_webhook.dialects.cwii import annotations as keys
from cwii_webhook.dialects.cwii import google_credentials
from cwii_webhook.dialects.cwii.google_credentials import CredentialsDelivery
from cwii_webhook.dialects.cwii.mutators import (
    CloudMutator,
    Identity,
    NativeAnnotation,
    TokenVolume,
    container_path,
    skip_incomplete,
    skip_unless_requested,
)
from cwii_webhook.dialects.cwii.precedence import AnnotationResolver, describe
from cwii_webhook.dialects.cwii.settings import Delivery, Settings, parse_delivery
from cwii_webhook.dialects.cwii.value_checks import PROVIDER_AUDIENCE, SERVICE_ACCOUNT, checked
from cwii_webhook.dialects.cwii.verification import VerificationContainer
from cwii_webhook.settings.formats import AUDIENCE

PROVIDER = "gcp"
CREDENTIALS_VARIABLE = "GOOGLE_APPLICATION_CREDENTIALS"
EXAMPLE_AUDIENCE = (
    "//iam.googleapis.com/projects/NUMBER/locations/global/workloadIdentityPools/POOL"
    "/providers/PROVIDER"
)
VERIFY_COMMAND = "gcloud auth application-default print-access-token >/dev/null"


def gcp_mutator(settings: Settings) -> CloudMutator:
    token = TokenVolume(PROVIDER, settings.root)
    verification = VerificationContainer(
        "cwii-gcp-verify", keys.GCP, settings.gcp_verify_image, "384Mi", VERIFY_COMMAND
    )
    return CloudMutator(
        PROVIDER,
        frozenset({token.name, google_credentials.NAME}),
        frozenset({CREDENTIALS_VARIABLE}),
        partial(_resolve, settings, token, verification),
    )


def _resolve(
    settings: Settings,
    token: TokenVolume,
    verification: VerificationContainer,
    annotations: AnnotationResolver,
) -> Identity | Skip:
    skip = skip_unless_requested(
        PROVIDER,
        keys.GCP,
        annotations,
        (keys.GCP.audience, keys.GCP_SERVICE_ACCOUNT),
        NativeAnnotation(keys.NATIVE_GCP_SERVICE_ACCOUNT, is_used=settings.native_annotations),
        NativeAnnotation(keys.GCPWIF_PROVIDER, "gcpwif"),
    )
    if skip:
        return skip
    audience = annotations.use_text(keys.GCP.audience, "token audience")
    if audience is None and settings.gcp_default_audience:
        audience = annotations.use_default("token audience", settings.gcp_default_audience)
    if audience is None:
        return skip_incomplete(PROVIDER, annotations, keys.GCP.audience.key)
    if audience.source and not PROVIDER_AUDIENCE.fullmatch(checked(audience, AUDIENCE)):
        annotations.warnings.append(
            f"{describe(audience)} is {printable(audience.value)}, which names no provider: "
            f"Google Cloud knows it as {EXAMPLE_AUDIENCE}"
        )
    seconds = annotations.use_seconds(keys.GCP.expiration, settings.expiration)
    volume = token.volume(checked(audience, AUDIENCE), seconds)
    folder = f"{settings.root}/gcp-creds"
    mounts = (token.mount, VolumeMount(google_credentials.NAME, folder, read_only=True))
    path = container_path(f"{folder}/{google_credentials.FILE}", is_windows=annotations.is_windows)
    annotations.use_default(CREDENTIALS_VARIABLE, path)
    env = (env_var(CREDENTIALS_VARIABLE, path),)
    delivery = _delivery(settings, token, annotations, audience.value)
    helpers = verification.helpers(annotations, settings, env, mounts)
    return Identity(
        volumes=(volume, delivery.volume),
        env=env,
        volume_mounts=mounts,
        helpers=(*delivery.helpers, *helpers),
        annotations=delivery.annotations,
        prerequisites=delivery.prerequisites,
        overflow_hint=f", or set {keys.GCP_DELIVERY.key} to config-map"
        if delivery.annotations
        else "",
    )


def _delivery(
    settings: Settings, token: TokenVolume, annotations: AnnotationResolver, audience: str
) -> CredentialsDelivery:
    is_windows = annotations.is_windows
    origin = annotations.use_own_or_native(
        keys.GCP_SERVICE_ACCOUNT,
        keys.NATIVE_GCP_SERVICE_ACCOUNT,
        "service account",
        use_native=settings.native_annotations,
    )
    account = ""
    if origin:
        account = checked(origin, SERVICE_ACCOUNT)
        annotations.warnings += service_account_warnings(describe(origin), account)
    token_path = container_path(token.path, is_windows=is_windows)
    text = google_credentials.credentials_file(audience, account, token_path)
    match _delivery_method(settings, annotations):
        case "annotation":
            return google_credentials.by_annotation(text)
        case "config-map":
            name = google_credentials.config_map_name(audience, account, is_windows=is_windows)
            namespace = annotations.context.namespace
            return google_credentials.by_config_map(namespace, name, text)
        case "init-container":
            return google_credentials.by_init_container(settings.gcp_init_image, text)


def _delivery_method(settings: Settings, annotations: AnnotationResolver) -> Delivery:
    origin = annotations.use_text(keys.GCP_DELIVERY, "delivery")
    origin = origin or annotations.use_default("delivery", settings.delivery)
    method = parse_delivery(origin.value)
    if method is None:
        raise PodRefused(
            f"{describe(origin)} is {printable(origin.value)}: "
            "say annotation, config-map or init-container"
        )
    if method == "init-container" and annotations.is_windows:
        annotations.warnings.append(
            "the container that would write Google's credentials file does not run on Windows: "
            "they come by annotation"
        )
        return "annotation"
    return method
