"""Who may act as what in Google Cloud, to be drawn. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from cwiictl.clouds.gcp import ids
from cwiictl.clouds.gcp.resources.custom_role import CustomRole
from cwiictl.clouds.gcp.resources.policy import Policy, Principal
from cwiictl.clouds.gcp.resources.service_account import ServiceAccount
from cwiictl.engine.resource import Known, Resource
from cwiictl.picture.map import Acting

SELF = "itself"


def acting(things: Iterable[Resource[Any]], known: Known) -> Iterator[Acting]:  # noqa: ARG001 - an e-mail follows from what was asked
    """Policies are the projects'. Whether what somebody may do is granted is seen in them alone."""
    every = tuple(things)
    powers, seen = _powers(every), _seen(every)
    for thing in every:
        if isinstance(thing, ServiceAccount):
            may = tuple(powers.get(thing.member, ()))
            yield Acting(
                thing.address,
                thing.workload.namespace,
                thing.workload.service_accounts,
                thing.name,
                thing.email,
                may,
                seen.get(thing.member, ()),
            )
        if isinstance(thing, Policy):
            yield from (
                each
                for who in thing.principals
                if who.project.id == thing.name
                for each in _direct(who, powers, seen)
            )


def _direct(
    who: Principal, powers: dict[str, list[str]], seen: dict[str, tuple[str, ...]]
) -> Iterator[Acting]:
    """There is no service account of Google's between."""
    for account, subject in zip(who.workload.service_accounts, who.workload.subjects, strict=True):
        member = ids.principal(who.project.number, who.project.pool, subject)
        place = f"gcp/principal/{who.workload.namespace}:{account}"
        yield Acting(
            place,
            who.workload.namespace,
            (account,),
            SELF,
            member,
            tuple(powers.get(member, ())),
            seen.get(member, ()),
        )


def _seen(things: Iterable[Resource[Any]]) -> dict[str, tuple[str, ...]]:
    """By member, the policies that grant it something."""
    found: dict[str, tuple[str, ...]] = {}
    for policy in things:
        for member in (
            dict.fromkeys(each.member for each in policy.granted)
            if isinstance(policy, Policy)
            else ()
        ):
            found[member] = (*found.get(member, ()), policy.address)
    return found


def _powers(things: Iterable[Resource[Any]]) -> dict[str, list[str]]:
    """By member, in all projects."""
    found: dict[str, list[str]] = {}
    for policy in things:
        for each in policy.granted if isinstance(policy, Policy) else ():
            role = (
                f"{each.role.name} ({', '.join(sorted(each.role.permissions))})"
                if isinstance(each.role, CustomRole)
                else each.role
            )
            found.setdefault(each.member, []).append(
                f"{role} in {policy.name}{f' if {each.condition.title}' if each.condition else ''}"
            )
    return found
