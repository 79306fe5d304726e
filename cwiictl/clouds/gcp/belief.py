"""Whom Google believes, as it says so itself, and what the cluster's tokens are exchanged for there. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from cwiictl.audiences import GCP
from cwiictl.clouds.gcp import ids
from cwiictl.clouds.gcp.resources.policy import Policy, Principal
from cwiictl.clouds.gcp.resources.pool import Pool, PoolState
from cwiictl.clouds.gcp.resources.provider import SUBJECT, Provider, ProviderState
from cwiictl.clouds.gcp.resources.service_account import (
    Project,
    ServiceAccount,
    ServiceAccountState,
)
from cwiictl.engine.resource import Known, Resource
from cwiictl.issuer.documents import KeySet, KeySetState
from cwiictl.model import Workload
from cwiictl.verify.documents import KEY, published
from cwiictl.verify.expected import Expected
from cwiictl.verify.finding import TRUST, Exchange, Finding
from cwiictl.verify.letter import not_

MEND = "run create-all, which mends it"


class Way(NamedTuple):
    """The provider that is asked, and the service account that is to be acted as, if there is one between."""

    audience: str
    email: str


def believers(things: Iterable[Resource[Any]]) -> Iterator[Resource[Any]]:
    """Keys are believed here only where they were uploaded."""
    every = tuple(things)
    uploaded = {
        thing.name for thing in every if isinstance(thing, Provider) and thing.keys == "uploaded"
    }
    for thing in every:
        if isinstance(thing, Pool | Provider | ServiceAccount) or (
            type(thing) is KeySet and thing.name in uploaded
        ):
            yield thing


def believed(thing: Resource[Any], have: Any, expected: Expected) -> Iterator[Finding]:
    if type(thing) is KeySet:
        yield from _keys(thing, have, expected)
        return
    problem = ""
    match thing:
        case Pool():
            problem = _off("pool", thing.name, have) or _crowded(thing, have)
        case Provider():
            problem = _off("provider", thing.name, have) or _provider(thing, have, expected)
        case ServiceAccount():
            problem = _account(thing, have)
        case _:
            pass
    if problem:
        yield Finding(thing.address, TRUST, "failed", problem, MEND)


def exchanges(things: Iterable[Resource[Any]], found: Known) -> Iterator[Exchange]:
    """Of the service accounts that are there, one for each ServiceAccount; and those who need none."""
    every = tuple(things)
    needs = tuple(
        thing.address for thing in believers(every) if not isinstance(thing, ServiceAccount)
    )
    for thing in every:
        if isinstance(thing, ServiceAccount) and (have := found.get(thing)):
            way, audience = (
                Way(f"//{thing.project.named}", have.email),
                _audience(thing.workload, thing.project),
            )
            for account in thing.workload.service_accounts:
                yield Exchange(
                    thing.address,
                    (*needs, thing.address),
                    thing.workload.namespace,
                    account,
                    audience,
                    way,
                )
        if isinstance(thing, Policy):
            yield from (
                each
                for who in thing.principals
                if who.project.id == thing.name
                for each in _direct(who, needs)
            )


def _direct(who: Principal, needs: tuple[str, ...]) -> Iterator[Exchange]:
    """There is no service account of Google's between."""
    way, audience = Way(f"//{who.project.named}", ""), _audience(who.workload, who.project)
    for account in who.workload.service_accounts:
        yield Exchange(
            f"gcp/principal/{who.workload.namespace}:{account}",
            needs,
            who.workload.namespace,
            account,
            audience,
            way,
        )


def _audience(workload: Workload, project: Project) -> str:
    return min(GCP[workload.asker]).format(provider=project.path)


def _off(kind: str, name: str, have: PoolState | ProviderState | None) -> str:
    if have is None:
        return f"there is no {kind} {name}"
    return (
        f"the {kind} {name} is {'deleted' if have.deleted else 'disabled'}"
        if have.deleted or have.disabled
        else ""
    )


def _crowded(thing: Pool, have: PoolState) -> str:
    strangers = have.strangers(thing.provider)
    return (
        f"the pool has the provider {strangers[0]} too: whoever that is could say to be any of the cluster's workloads"
        if strangers
        else ""
    )


def _provider(thing: Provider, have: ProviderState, expected: Expected) -> str:
    if have.issuer != expected.url:
        return f"the provider believes the issuer {not_(expected.url, [have.issuer])}"
    if lacking := sorted(thing.audiences - have.audiences):
        return f"the provider takes tokens for {not_(', '.join(lacking), have.audiences)}"
    if have.mapping.get("google.subject") != SUBJECT["google.subject"]:
        return f"the provider makes {have.mapping.get('google.subject', 'nothing')} of a token's subject, and service accounts are for {SUBJECT['google.subject']}"
    if have.condition:
        return f"the provider has the condition {have.condition}, for which nobody asked"
    if thing.keys == "issuer" and have.keys != "issuer":
        return "the provider has keys of its own, and so does not look at those that the issuer publishes"
    return ""


def _account(thing: ServiceAccount, have: ServiceAccountState | None) -> str:
    if have is None:
        return f"there is no service account {thing.email}"
    if have.disabled:
        return f"the service account {thing.email} is disabled"
    wanted = ids.principals(thing.project.number, thing.project.pool, thing.workload.subjects)
    if lacking := sorted(wanted - have.principals):
        return f"who may act as the service account is {not_(_who(lacking[0]), map(_who, have.principals))}"
    return ""


def _who(member: str) -> str:
    return f"system:serviceaccount:{found}" if (found := ids.subject(member)) else member


def _keys(thing: KeySet, have: KeySetState | None, expected: Expected) -> Iterator[Finding]:
    if have is None or not have.published:
        yield Finding(
            thing.address,
            KEY,
            "failed",
            have.malformed if have and have.malformed else "the provider has no keys",
            MEND,
        )
    elif expected.key:
        yield from published(
            thing.address,
            expected.key,
            have.published[0],
            f"the provider {thing.name}",
            have.rotation,
        )
