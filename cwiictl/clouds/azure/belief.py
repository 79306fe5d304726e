"""Whom Azure's identities believe, as Azure says so itself, and what the cluster's tokens are exchanged for there. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from cwiictl.clouds.azure.resources.identity import Credential, Identity, IdentityState
from cwiictl.engine.resource import Known, Resource
from cwiictl.verify.expected import Expected
from cwiictl.verify.finding import TRUST, Exchange, Finding
from cwiictl.verify.letter import not_

MEND = "run create-all, which mends it"


class Client(NamedTuple):
    """What a pod is told to log in as."""

    tenant: str
    id: str


def believers(things: Iterable[Resource[Any]]) -> Iterator[Resource[Any]]:
    return (thing for thing in things if isinstance(thing, Identity))


def believed(thing: Resource[Any], have: Any, expected: Expected) -> Iterator[Finding]:
    if not isinstance(thing, Identity):
        return
    if have is None:
        yield Finding(
            thing.address,
            TRUST,
            "failed",
            f"there is no identity {thing.title}",
            "make it with create-all, or with create-identities",
        )
        return
    wanted = {
        Credential(expected.url, subject, thing.audience) for subject in thing.workload.subjects
    }
    problems = [
        _unlike(each, have)
        for each in sorted(wanted - have.credentials, key=lambda each: each.subject)
    ]
    if problems:
        yield Finding(thing.address, TRUST, "failed", problems[0], MEND)
    elif others := sorted(f"{each.subject} of {each.issuer}" for each in have.credentials - wanted):
        yield Finding(
            thing.address,
            TRUST,
            "warning",
            f"the identity believes {', '.join(others)} too, for which nobody asked",
            MEND,
        )


def exchanges(things: Iterable[Resource[Any]], found: Known) -> Iterator[Exchange]:
    """Of the identities that are there, one for each ServiceAccount."""
    for thing in things:
        if isinstance(thing, Identity) and (have := found.get(thing)):
            client = Client(have.tenant_id, have.client_id)
            for account in thing.workload.service_accounts:
                yield Exchange(
                    thing.address,
                    (thing.address,),
                    thing.workload.namespace,
                    account,
                    thing.audience,
                    client,
                )


def _unlike(want: Credential, have: IdentityState) -> str:
    """Entra compares all three: which of them is it that nobody has?"""
    issuers = [each for each in have.credentials if each.issuer == want.issuer]
    subjects = [each for each in issuers if each.subject == want.subject]
    if subjects:
        return f"the identity takes tokens of {want.subject} for {not_(want.audience, (each.audience for each in subjects))}"
    if others := [each for each in have.credentials if each.subject == want.subject]:
        return f"the identity believes the issuer {not_(want.issuer, (each.issuer for each in others))}"
    return (
        f"the identity believes {not_(want.subject, (each.subject for each in have.credentials))}"
    )
