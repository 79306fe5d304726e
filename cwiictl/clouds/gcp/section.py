"""What a workload may ask of Google Cloud in cluster.yaml: the keys of its section, with what editors say of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, UnsetType

from cwiictl.clouds.gcp.resources.grant import Condition
from cwiictl.clouds.gcp.spec import PROJECT, Ask, Role, permissions, role
from cwiictl.clouds.spec import Wish
from cwiictl.documents import Document
from cwiictl.errors import BadInput
from cwiictl.shapes import Strict, told

WISHES = (
    Wish(
        "--predefined-role",
        "predefinedRoles",
        "Google Cloud role to give to the identity, such as roles/storage.objectViewer. Repeatable.",
        "ROLE",
    ),
    Wish(
        "--permission",
        "permissions",
        "What it may do, such as storage.buckets.get, in a custom role. Repeatable.",
        "PERMISSION",
    ),
    Wish(
        "--project-scope",
        "projects",
        "Project in which its roles hold. Repeatable.  [default: the cluster's]",
        "PROJECT",
    ),
)

UNIQUE = {"uniqueItems": True}
BASIC = frozenset({"roles/owner", "roles/editor", "roles/viewer"})
ACCOUNT = re.compile(r"[a-z][-a-z0-9]{4,28}[a-z0-9]")


def _words() -> list[str]:
    return msgspec.field(default_factory=list[str])


class RoleCondition(Strict):
    title: Annotated[str, Meta(description="A name for people.", min_length=1)]
    expression: Annotated[
        str, Meta(description="When it holds, in the Common Expression Language.", min_length=1)
    ]
    description: Annotated[str, Meta(description="More for people.")] = ""


class RoleGrant(Strict):
    role: Annotated[
        str, Meta(description="A role, such as roles/storage.objectViewer.", min_length=1)
    ]
    projects: Annotated[
        list[str],
        Meta(
            description="Where it holds: ids of projects.  [default: the workload's]",
            extra_json_schema=UNIQUE,
        ),
    ] = _words()
    condition: Annotated[RoleCondition, Meta(description="Only when this is true.")] | UnsetType = (
        UNSET
    )


class Section(Strict):
    predefined_roles: Annotated[
        list[Annotated[str, Meta(min_length=1)] | RoleGrant],
        Meta(description="Roles of the identity: names, or objects that say more."),
    ] = msgspec.field(default_factory=list[str | RoleGrant])
    permissions: Annotated[
        list[str],
        Meta(
            description="What it may do in the cluster's project: permissions, in a custom role.",
            extra_json_schema=UNIQUE,
        ),
    ] = _words()
    projects: Annotated[
        list[str],
        Meta(
            description="Where its roles hold: ids of projects.  [default: the cluster's]",
            extra_json_schema=UNIQUE,
        ),
    ] = _words()
    service_account: Annotated[
        bool | str,
        Meta(
            description="false: no service account, its ServiceAccounts are given the roles themselves. A text: the service account's id."
        ),
    ] = True


def ask_of(section: Document) -> Ask:
    """What a workload of cluster.yaml, or of create-identity, asks of Google Cloud. Nothing is fine: an identity may be known in other policies."""
    asked = told(section, Section)
    projects = tuple(_projects(section, asked.projects, "projects"))
    roles = tuple(
        dict.fromkeys(
            _role(section, number, each, projects)
            for number, each in enumerate(asked.predefined_roles)
        )
    )
    if projects and all(each.projects != projects for each in roles):
        raise BadInput(
            f"{section.where('projects')}: no role is to hold there",
            remedy="give predefinedRoles, or leave the projects out",
        )
    account = asked.service_account if isinstance(asked.service_account, str) else ""
    if isinstance(asked.service_account, str) and not ACCOUNT.fullmatch(account):
        where = section.where("serviceAccount")
        raise BadInput(
            f"{where}: {account!r} is no id of a service account",
            remedy="use 6 to 30 lower-case letters, digits and '-', beginning with a letter",
        )
    return Ask(
        roles,
        permissions(section.source, asked.permissions),
        account=account,
        direct=asked.service_account is False,
    )


def _role(
    section: Document, number: int, asked: str | RoleGrant, projects: tuple[str, ...]
) -> Role:
    where = section.where("predefinedRoles", number)
    if isinstance(asked, str):
        return Role(role(where, asked), projects)
    found = None if isinstance(asked.condition, UnsetType) else asked.condition
    condition = Condition(found.title, found.expression, found.description) if found else None
    if condition and asked.role in BASIC:
        raise BadInput(
            f"{where}: Google takes no condition on the basic role {asked.role}",
            remedy="give it without one, or a role that allows less",
        )
    return Role(
        role(where, asked.role),
        tuple(_projects(section, asked.projects, "predefinedRoles", number)) or projects,
        condition,
    )


def _projects(section: Document, projects: list[str], *path: str | int) -> Iterator[str]:
    for project in projects:
        if not PROJECT.fullmatch(project):
            raise BadInput(
                f"{section.where(*path)}: {project!r} is not the id of a project",
                remedy="write it like my-project-123",
            )
        yield project
