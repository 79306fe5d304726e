"""Injects AWS identities: the role to assume, and the token to assume it with."""

from __future__ import annotations

from functools import partial

from cwii_webhook.admission.injection import EnvVar, Skip, env_var
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
from cwii_webhook.dialects.cwii.value_checks import ROLE_ARN, SESSION_NAME, checked
from cwii_webhook.dialects.cwii.verification import VerificationContainer
from cwii_webhook.settings.formats import AUDIENCE, REGION

PROVIDER = "aws"
ENV_NAMES = frozenset(
    {"AWS_ROLE_ARN", "AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_REGION", "AWS_ROLE_SESSION_NAME"}
)
VERIFY_COMMAND = "aws sts get-caller-identity"


def aws_mutator(settings: Settings) -> CloudMutator:
    token = TokenVolume(PROVIDER, settings.root)
    verification = VerificationContainer(
        "cwii-aws-verify", keys.AWS, settings.aws_verify_image, "256Mi", VERIFY_COMMAND
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
    native = NativeAnnotation(keys.NATIVE_AWS_ROLE_ARN, "eks", use_native)
    skip = skip_unless_requested(PROVIDER, keys.AWS, annotations, (keys.AWS_ROLE_ARN,), native)
    if skip:
        return skip
    role = annotations.use_own_or_native(
        keys.AWS_ROLE_ARN, keys.NATIVE_AWS_ROLE_ARN, "AWS_ROLE_ARN", use_native=use_native
    )
    if role is None:
        return skip_incomplete(PROVIDER, annotations, keys.AWS_ROLE_ARN.key)
    arn = checked(role, ROLE_ARN)
    if len(arn.split(":")[4]) != 12:
        annotations.warnings.append(
            f"{describe(role)} names no account of 12 digits: AWS will not know it"
        )
    path = container_path(token.path, is_windows=annotations.is_windows)
    env = _env(annotations, arn, path, settings.aws_default_region)
    audience = annotations.use_text(keys.AWS.audience, "token audience")
    audience = audience or annotations.use_default("token audience", settings.aws_default_audience)
    seconds = annotations.use_seconds(keys.AWS.expiration, settings.expiration)
    volume = token.volume(checked(audience, AUDIENCE), seconds)
    mounts = (token.mount,)
    helpers = verification.helpers(annotations, settings, env, mounts)
    return Identity(volumes=(volume,), env=env, volume_mounts=mounts, helpers=helpers)


def _env(
    annotations: AnnotationResolver, role: str, token_path: str, default_region: str
) -> tuple[EnvVar, ...]:
    annotations.use_default("AWS_WEB_IDENTITY_TOKEN_FILE", token_path)
    env = [env_var("AWS_ROLE_ARN", role), env_var("AWS_WEB_IDENTITY_TOKEN_FILE", token_path)]
    region = annotations.use_text(keys.AWS_REGION, "AWS_REGION")
    if region is None and default_region:
        region = annotations.use_default("AWS_REGION", default_region)
    if region:
        env.append(env_var("AWS_REGION", checked(region, REGION)))
    if session := annotations.use_text(keys.AWS_SESSION_NAME, "AWS_ROLE_SESSION_NAME"):
        env.append(env_var("AWS_ROLE_SESSION_NAME", checked(session, SESSION_NAME)))
    return tuple(env)
