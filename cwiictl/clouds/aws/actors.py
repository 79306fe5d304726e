"""Who may act as what in AWS, to be drawn. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, cast

from cwiictl.clouds.aws.policy import Policy
from cwiictl.clouds.aws.resources.role import Role
from cwiictl.engine.resource import Known, Resource
from cwiictl.picture.map import Acting


def acting(things: Iterable[Resource[Any]], known: Known) -> Iterator[Acting]:
    for thing in things:
        if isinstance(thing, Role):
            have = known.get(thing)
            arn = have.arn if have else f"{thing.account.iam}role{thing.account.path}{thing.name}"
            parts = tuple(part.address for part in thing.parts)
            yield Acting(
                thing.address,
                thing.workload.namespace,
                thing.workload.service_accounts,
                thing.name,
                arn,
                tuple(_powers(thing)),
                parts,
            )


def _powers(role: Role) -> Iterator[str]:
    yield from sorted(role.managed)
    for policy in (role.grants, *(part.grants for part in role.parts)):
        yield from (_power(statement) for statement in (policy or _NOTHING).get("Statement", ()))


_NOTHING: Policy = {}


def _power(statement: Mapping[str, Any]) -> str:
    but = {"Action": "", "NotAction": "all but ", "Resource": "", "NotResource": "all but "}
    actions, resources = (
        "; ".join(
            f"{but[key]}{', '.join(_many(statement[key]))}"
            for key in (word, f"Not{word}")
            if key in statement
        )
        for word in ("Action", "Resource")
    )
    never = "never " if statement.get("Effect") == "Deny" else ""
    return (
        f"{never}{actions} on {resources}{', under conditions' if 'Condition' in statement else ''}"
    )


def _many(value: object) -> list[str]:
    return (
        [str(each) for each in cast("list[object]", value)]
        if isinstance(value, list)
        else [str(value)]
    )
