"""Azure, in cwii's words: the identity's ids, and the token to log in with."""

from __future__ import annotations

from functools import partial

from cwii_webhook.admission.injection import Skip, Variable, variable
from cwii_webhook.dialects.common import warnings as cautions
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
from cwii_webhook.dialects.cwii.value_checks import ID, authority, checked
from cwii_webhook.dialects.cwii.verification import VerificationContainer
from cwii_webhook.settings.formats import AUDIENCE

GIVES = "az"
VARIABLES = frozenset(
    {"AZURE_CLIENT_ID", "AZURE_TENANT_ID", "AZURE_FEDERATED_TOKEN_FILE", "AZURE_AUTHORITY_HOST"}
)
NATIVE = words.NATIVE_AZURE_CLIENT_ID

# az reads an argument that begins with @ from the file of that name: no token stands in a list of arguments.
COMMAND = (
    'az login --service-principal -u "$AZURE_CLIENT_ID" -t "$AZURE_TENANT_ID" --federated-token "@$AZURE_FEDERATED_TOKEN_FILE" >/dev/null'
    " && az account show >/dev/null"
)


def azure(settings: Settings) -> CloudMutator:
    token = TokenVolume(GIVES, settings.root)
    check = VerificationContainer(
        "cwii-az-verify", words.AZURE, settings.az_verify_image, "512Mi", COMMAND
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
    honoured = settings.native_annotations
    nothing = declined(
        GIVES,
        words.AZURE,
        wishes,
        (words.AZURE_CLIENT_ID,),
        NativeAnnotation(NATIVE, "azwi", honoured),
    )
    if nothing:
        return nothing
    client = wishes.either(words.AZURE_CLIENT_ID, NATIVE, "AZURE_CLIENT_ID", honoured=honoured)
    tenant = wishes.either(
        words.AZURE_TENANT_ID, words.NATIVE_AZURE_TENANT_ID, "AZURE_TENANT_ID", honoured=honoured
    )
    if client is None or tenant is None:
        ids = ((client, words.AZURE_CLIENT_ID), (tenant, words.AZURE_TENANT_ID))
        return incomplete(GIVES, wishes, *[word.key for said, word in ids if said is None])
    ids = checked(client, ID), checked(tenant, ID)
    wishes.warnings += [
        *cautions.client(where(client), client.value),
        *cautions.tenant(where(tenant), tenant.value),
    ]
    variables = _variables(
        settings, wishes, ids, container_path(token.path, windows=wishes.hearing.windows)
    )
    audience = wishes.text(words.AZURE.audience, "token audience") or wishes.otherwise(
        "token audience", settings.az_default_audience
    )
    volume = token.volume(
        checked(audience, AUDIENCE), wishes.seconds(words.AZURE.expiration, settings.expiration)
    )
    guests = check.guests(wishes, settings, variables, (token.mount,))
    return plan(
        wishes, volumes=(volume,), variables=variables, mounts=(token.mount,), guests=guests
    )


def _variables(
    settings: Settings, wishes: ResolvedAnnotations, ids: tuple[str, str], path: str
) -> tuple[Variable, ...]:
    wishes.otherwise("AZURE_FEDERATED_TOKEN_FILE", path)
    client, tenant = ids
    variables = [
        variable("AZURE_CLIENT_ID", client),
        variable("AZURE_TENANT_ID", tenant),
        variable("AZURE_FEDERATED_TOKEN_FILE", path),
    ]
    if host := wishes.text(words.AZURE_AUTHORITY_HOST, "AZURE_AUTHORITY_HOST"):
        variables.append(
            variable("AZURE_AUTHORITY_HOST", authority(host, settings.authority_hosts))
        )
    return tuple(variables)
