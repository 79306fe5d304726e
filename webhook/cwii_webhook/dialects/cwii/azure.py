"""Injects Azure identities: the ids of the identity, and the token to log in with."""

from __future__ import annotations

from functools import partial

from cwii_webhook.admission.injection import EnvVar, Skip, env_var
from cwii_webhook.dialects.common.warnings import client_id_warnings, tenant_id_warnings
from cwii_webhook.dialects.cwii import annotations as keys
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
from cwii_webhook.dialects.cwii.settings import Settings
from cwii_webhook.dialects.cwii.value_checks import ID, checked, checked_authority
from cwii_webhook.dialects.cwii.verification import VerificationContainer
from cwii_webhook.settings.formats import AUDIENCE

PROVIDER = "az"
ENV_NAMES = frozenset(
    {"AZURE_CLIENT_ID", "AZURE_TENANT_ID", "AZURE_FEDERATED_TOKEN_FILE", "AZURE_AUTHORITY_HOST"}
)

# az reads an argument that begins with @ from a file, so the token is not in the process list.
VERIFY_COMMAND = (
    'az login --service-principal -u "$AZURE_CLIENT_ID" -t "$AZURE_TENANT_ID"'
    ' --federated-token "@$AZURE_FEDERATED_TOKEN_FILE" >/dev/null'
    " && az account show >/dev/null"
)


def azure_mutator(settings: Settings) -> CloudMutator:
    token = TokenVolume(PROVIDER, settings.root)
    verification = VerificationContainer(
        "cwii-az-verify", keys.AZURE, settings.az_verify_image, "512Mi", VERIFY_COMMAND
    )
    resolve = partial(_resolve, settings, token, verification)
    return CloudMutator(PROVIDER, frozenset({token.name}), ENV_NAMES, resolve)


def _resolve(
    settings: Settings,
    token: TokenVolume,
    verification: VerificationContainer,
    annotations: AnnotationResolver,
) -> Identity | Skip:
    use_native = settings.native_annotations
    native = NativeAnnotation(keys.NATIVE_AZURE_CLIENT_ID, "azwi", use_native)
    skip = skip_unless_requested(PROVIDER, keys.AZURE, annotations, (keys.AZURE_CLIENT_ID,), native)
    if skip:
        return skip
    client = annotations.use_own_or_native(
        keys.AZURE_CLIENT_ID,
        keys.NATIVE_AZURE_CLIENT_ID,
        "AZURE_CLIENT_ID",
        use_native=use_native,
    )
    tenant = annotations.use_own_or_native(
        keys.AZURE_TENANT_ID,
        keys.NATIVE_AZURE_TENANT_ID,
        "AZURE_TENANT_ID",
        use_native=use_native,
    )
    if client is None or tenant is None:
        ids = ((client, keys.AZURE_CLIENT_ID), (tenant, keys.AZURE_TENANT_ID))
        missing = [annotation.key for origin, annotation in ids if origin is None]
        return skip_incomplete(PROVIDER, annotations, *missing)
    client_id, tenant_id = checked(client, ID), checked(tenant, ID)
    annotations.warnings += client_id_warnings(describe(client), client_id)
    annotations.warnings += tenant_id_warnings(describe(tenant), tenant_id)
    path = container_path(token.path, is_windows=annotations.is_windows)
    env = _env(settings, annotations, client_id, tenant_id, path)
    audience = annotations.use_text(keys.AZURE.audience, "token audience")
    audience = audience or annotations.use_default("token audience", settings.az_default_audience)
    seconds = annotations.use_seconds(keys.AZURE.expiration, settings.expiration)
    volume = token.volume(checked(audience, AUDIENCE), seconds)
    mounts = (token.mount,)
    helpers = verification.helpers(annotations, settings, env, mounts)
    return Identity(volumes=(volume,), env=env, volume_mounts=mounts, helpers=helpers)


def _env(
    settings: Settings,
    annotations: AnnotationResolver,
    client_id: str,
    tenant_id: str,
    token_path: str,
) -> tuple[EnvVar, ...]:
    annotations.use_default("AZURE_FEDERATED_TOKEN_FILE", token_path)
    env = [
        env_var("AZURE_CLIENT_ID", client_id),
        env_var("AZURE_TENANT_ID", tenant_id),
        env_var("AZURE_FEDERATED_TOKEN_FILE", token_path),
    ]
    if host := annotations.use_text(keys.AZURE_AUTHORITY_HOST, "AZURE_AUTHORITY_HOST"):
        authority = checked_authority(host, settings.authority_hosts)
        env.append(env_var("AZURE_AUTHORITY_HOST", authority))
    return tuple(env)
