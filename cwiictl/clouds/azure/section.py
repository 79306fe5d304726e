"""What a workload may ask of Azure in cluster.yaml: the keys of its section, with what editors say of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, UnsetType

from cwiictl import names
from cwiictl.clouds.azure import ids
from cwiictl.clouds.azure.spec import Ask, Role, powers
from cwiictl.clouds.spec import Wish
from cwiictl.documents import Document
from cwiictl.errors import BadInput
from cwiictl.shapes import Strict, refuse_twins, told

WISHES = (
    Wish(
        "--role",
        "roles",
        "Azure role to give to the identity: its name, GUID or id. Repeatable.",
        "ROLE",
    ),
    Wish(
        "--scope",
        "scopes",
        "Where its roles hold: the id of a scope. Repeatable.  [default: the installation's resource group]",
        "SCOPE",
    ),
)

UNIQUE = {"uniqueItems": True}
IDENTITY = re.compile(r"[a-zA-Z0-9][-\w]{2,127}", re.ASCII)
CREDENTIAL = re.compile(r"[a-zA-Z0-9][-\w]{2,119}", re.ASCII)


def _words() -> list[str]:
    return msgspec.field(default_factory=list[str])


class RoleAssignment(Strict):
    role: Annotated[str, Meta(description="A role: its name, GUID or id.", min_length=1)]
    scopes: Annotated[
        list[str],
        Meta(
            description="Where it holds: ids of scopes.  [default: the workload's]",
            extra_json_schema=UNIQUE,
        ),
    ] = _words()


class Section(Strict):
    roles: Annotated[
        list[Annotated[str, Meta(min_length=1)]],
        Meta(description="Roles of the identity: names, GUIDs or ids.", extra_json_schema=UNIQUE),
    ] = _words()
    scopes: Annotated[
        list[str],
        Meta(
            description="Where its roles and permissions hold: ids of scopes.  [default: the installation's resource group]",
            extra_json_schema=UNIQUE,
        ),
    ] = _words()
    role_assignments: Annotated[
        list[RoleAssignment], Meta(description="Roles that hold elsewhere.")
    ] = msgspec.field(default_factory=list[RoleAssignment])
    permissions: Annotated[
        list[str],
        Meta(
            description="What it may do with resources: actions, in a role of its own.",
            extra_json_schema=UNIQUE,
        ),
    ] = _words()
    not_permissions: Annotated[
        list[str], Meta(description="All but these actions.", extra_json_schema=UNIQUE)
    ] = _words()
    data_permissions: Annotated[
        list[str],
        Meta(
            description="What it may do with the data in them: data actions.",
            extra_json_schema=UNIQUE,
        ),
    ] = _words()
    not_data_permissions: Annotated[
        list[str], Meta(description="All but these data actions.", extra_json_schema=UNIQUE)
    ] = _words()
    preserve_existing_roles: Annotated[
        bool, Meta(description="Leave it the roles that others have given it.")
    ] = False
    identity_name: (
        Annotated[
            str,
            Meta(
                description="The name of the identity.  [default: made of cluster, namespace and name]",
                min_length=1,
            ),
        ]
        | UnsetType
    ) = UNSET
    credential_names: Annotated[
        dict[str, str],
        Meta(
            description="The names of its federated credentials, by ServiceAccount.  [default: the ServiceAccount's]"
        ),
    ] = msgspec.field(default_factory=dict[str, str])


def ask_of(section: Document) -> Ask:
    """What a workload of cluster.yaml, or of create-identity, asks of Azure. Nothing is fine: an identity may be known elsewhere than in Azure's roles."""
    asked = told(section, Section)
    own = powers(
        section.source,
        asked.permissions,
        asked.not_permissions,
        asked.data_permissions,
        asked.not_data_permissions,
    )
    scopes = tuple(_scopes(section.where("scopes"), asked.scopes))
    further = (
        Role(each.role, tuple(_scopes(section.where("roleAssignments", n), each.scopes)))
        for n, each in enumerate(asked.role_assignments)
    )
    roles = tuple(dict.fromkeys((*(Role(title) for title in asked.roles), *further)))
    if scopes and not (own or any(not role.scopes for role in roles)):
        raise BadInput(
            f"{section.where('scopes')}: nothing is to hold there",
            remedy="give roles or permissions, or leave the scopes out",
        )
    identity = "" if isinstance(asked.identity_name, UnsetType) else asked.identity_name
    _check_names(section, identity, asked.credential_names)
    return Ask(
        roles,
        own,
        scopes,
        identity=identity.lower(),
        credentials=asked.credential_names,
        preserve=asked.preserve_existing_roles,
    )


def _check_names(section: Document, identity: str, credentials: Mapping[str, str]) -> None:
    if identity and not IDENTITY.fullmatch(identity):
        raise BadInput(
            f"{section.where('identityName')}: {identity} is no name of an identity",
            remedy="use 3 to 128 letters, digits, '-' and '_'",
        )
    if names.withheld(identity):
        raise BadInput(
            f"{section.where('identityName')}: {identity} holds a word that Azure keeps for itself",
            remedy="give another name",
        )
    for account, name in credentials.items():
        if not CREDENTIAL.fullmatch(name):
            where = section.where("credentialNames", account)
            raise BadInput(
                f"{where}: {name} is no name of a federated credential",
                remedy="use 3 to 120 letters, digits, '-' and '_'",
            )
    refuse_twins(
        [
            (f"the federated credential {name.lower()}", section.where("credentialNames", account))
            for account, name in credentials.items()
        ]
    )


def _scopes(where: str, scopes: Iterable[str]) -> Iterable[str]:
    for scope in scopes:
        if not ids.is_scope(scope):
            raise BadInput(
                f"{where}: {scope} is not the id of a scope",
                remedy="write it like /subscriptions/ID/resourceGroups/NAME",
            )
        yield ids.folded(scope)
