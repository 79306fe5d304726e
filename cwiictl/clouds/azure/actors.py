"""Who may act as what in Azure, to be drawn. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from cwiictl.clouds.azure.resources.identity import Identity
from cwiictl.clouds.azure.resources.role_assignments import RoleAssignments
from cwiictl.engine.resource import Known, Resource
from cwiictl.picture.map import Acting


def acting(things: Iterable[Resource[Any]], known: Known) -> Iterator[Acting]:
    """What they log in as is the client id."""
    every = tuple(things)
    given = {thing.identity.address: thing for thing in every if isinstance(thing, RoleAssignments)}
    for thing in every:
        if isinstance(thing, Identity):
            have, roles = known.get(thing), given.get(thing.address)
            client = have.client_id if have and not known.vague(have.client_id) else ""
            parts = (roles.address, *((roles.own.address,) if roles.own else ())) if roles else ()
            powers = tuple(_powers(roles)) if roles else ()
            yield Acting(
                thing.address,
                thing.workload.namespace,
                thing.workload.service_accounts,
                thing.title,
                client,
                powers,
                parts,
            )


def _powers(given: RoleAssignments) -> Iterator[str]:
    if given.own:
        yield f"{given.own.name} on {', '.join(sorted(given.own_scopes))}"
    yield from sorted(
        f"{given.titles.get(grant.role) or f'the role {grant.role}'} on {grant.scope}"
        for grant in given.grants
    )
