"""AWS, in cwii's words: the role to assume, and the token to assume it with."""

from __future__ import annotations

from functools import partial

from cwii_webhook.admission.injection import Skip, Variable, variable
from cwii_webhook.dialects.cwii import annotations as words
from cwii_webhook.dialects.cwii.mutators import (
    CloudMutator,
    NativeAnnotation,
    Plan,
    declined,
    incomplete,
    plan,
)
from cwii_webhook.dialects.cwii.precedence import ResolvedAnnotations, where
from cwii_webhook.dialects.cwii.settings import Settings
from cwii_webhook.dialects.cwii.token import TokenVolume, container_path
from cwii_webhook.dialects.cwii.value_checks import ROLE_ARN, SESSION, checked
from cwii_webhook.dialects.cwii.verification import VerificationContainer
from cwii_webhook.settings.formats import AUDIENCE, REGION

GIVES = "aws"
VARIABLES = frozenset(
    {"AWS_ROLE_ARN", "AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_REGION", "AWS_ROLE_SESSION_NAME"}
)
NATIVE = words.NATIVE_AWS_ROLE_ARN
COMMAND = "aws sts get-caller-identity"


def aws(settings: Settings) -> CloudMutator:
    token = TokenVolume(GIVES, settings.root)
    check = VerificationContainer(
        "cwii-aws-verify", words.AWS, settings.aws_verify_image, "256Mi", COMMAND
    )
    return CloudMutator(
        GIVES, frozenset({token.name}), VARIABLES, partial(_plan, settings, token, check)
    )


def _plan(
    settings: Settings,
    token: TokenVolume,
    check: VerificationContainer,
    wishes: ResolvedAnnotations,
) -> Plan | Skip:
    nothing = declined(
        GIVES,
        words.AWS,
        wishes,
        (words.AWS_ROLE_ARN,),
        NativeAnnotation(NATIVE, "eks", settings.native_annotations),
    )
    if nothing:
        return nothing
    role = wishes.either(
        words.AWS_ROLE_ARN, NATIVE, "AWS_ROLE_ARN", honoured=settings.native_annotations
    )
    if role is None:
        return incomplete(GIVES, wishes, words.AWS_ROLE_ARN.key)
    arn = checked(role, ROLE_ARN)
    if len(arn.split(":")[4]) != 12:
        wishes.warnings.append(f"{where(role)} names no account of 12 digits: AWS will not know it")
    variables = _variables(
        wishes,
        arn,
        container_path(token.path, windows=wishes.hearing.windows),
        settings.aws_default_region,
    )
    audience = wishes.text(words.AWS.audience, "token audience") or wishes.otherwise(
        "token audience", settings.aws_default_audience
    )
    volume = token.volume(
        checked(audience, AUDIENCE), wishes.seconds(words.AWS.expiration, settings.expiration)
    )
    guests = check.guests(wishes, settings, variables, (token.mount,))
    return plan(
        wishes, volumes=(volume,), variables=variables, mounts=(token.mount,), guests=guests
    )


def _variables(
    wishes: ResolvedAnnotations, role: str, path: str, otherwise: str
) -> tuple[Variable, ...]:
    wishes.otherwise("AWS_WEB_IDENTITY_TOKEN_FILE", path)
    variables = [variable("AWS_ROLE_ARN", role), variable("AWS_WEB_IDENTITY_TOKEN_FILE", path)]
    region = wishes.text(words.AWS_REGION, "AWS_REGION") or (
        wishes.otherwise("AWS_REGION", otherwise) if otherwise else None
    )
    if region:
        variables.append(variable("AWS_REGION", checked(region, REGION)))
    if session := wishes.text(words.AWS_SESSION_NAME, "AWS_ROLE_SESSION_NAME"):
        variables.append(variable("AWS_ROLE_SESSION_NAME", checked(session, SESSION)))
    return tuple(variables)
