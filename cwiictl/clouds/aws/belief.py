"""Whom AWS believes, as it says so itself, and what the cluster's tokens are exchanged for there. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any, cast

from cwiictl.audiences import AWS
from cwiictl.clouds.aws.resources.oidc_provider import OidcProvider, OidcProviderState
from cwiictl.clouds.aws.resources.role import Role, RoleState, trust
from cwiictl.engine.resource import Known, Resource
from cwiictl.verify.expected import Expected
from cwiictl.verify.finding import TRUST, Exchange, Finding
from cwiictl.verify.letter import not_

ASSUME = "sts:AssumeRoleWithWebIdentity"
MEND = "run create-all, which mends it"


def believers(things: Iterable[Resource[Any]]) -> Iterator[Resource[Any]]:
    return (thing for thing in things if isinstance(thing, OidcProvider | Role))


def believed(thing: Resource[Any], have: Any, expected: Expected) -> Iterator[Finding]:
    match thing:
        case OidcProvider():
            problem = _provider(thing, have, expected)
            yield from [Finding(thing.address, TRUST, "failed", problem, MEND)] if problem else []
        case Role() if have is None:
            yield Finding(
                thing.address,
                TRUST,
                "failed",
                f"there is no role {thing.name}",
                "make it with create-all, or with create-identities",
            )
        case Role():
            yield from _role(thing, have, expected.url)
        case _:
            pass


def exchanges(things: Iterable[Resource[Any]], found: Known) -> Iterator[Exchange]:
    """Of the roles that are there, one for each ServiceAccount: as the SDKs do it, for an ARN."""
    every = tuple(things)
    providers = tuple(thing.address for thing in every if isinstance(thing, OidcProvider))
    for thing in every:
        if isinstance(thing, Role) and (have := found.get(thing)):
            audience = min(AWS[thing.workload.asker])
            for account in thing.workload.service_accounts:
                yield Exchange(
                    thing.address,
                    (*providers, thing.address),
                    thing.workload.namespace,
                    account,
                    audience,
                    have.arn,
                )


def _provider(thing: OidcProvider, have: OidcProviderState | None, expected: Expected) -> str:
    if have is None:
        others = f", and believes {not_(expected.url, expected.known)}" if expected.known else ""
        return f"AWS IAM has no OIDC provider of {expected.url}{others}"
    if have.url != expected.url:
        return f"the provider believes {not_(expected.url, [have.url])}"
    lacking = sorted(thing.audiences - have.audiences)
    return (
        f"the provider takes tokens for {not_(', '.join(lacking), have.audiences)}"
        if lacking
        else ""
    )


def _role(thing: Role, have: RoleState, url: str) -> Iterator[Finding]:
    provider = thing.account.trusted(url)
    want = trust(provider, thing.workload)
    if have.trust == want:
        return
    statements = [
        cast("dict[str, Any]", s)
        for s in _many(have.trust.get("Statement", ()))
        if isinstance(s, dict)
    ]
    if problem := _problem(thing, statements, provider):
        yield Finding(thing.address, TRUST, "failed", problem, MEND)
    else:
        yield Finding(
            thing.address,
            TRUST,
            "warning",
            "the role lets more in than was asked for, or asks more of them",
            f"{MEND}; status shows what is different",
        )


def _problem(thing: Role, statements: list[dict[str, Any]], provider: str) -> str:
    """The worst of what is wrong: what lets everybody in, then what keeps the workload out."""
    if any(map(_everybody, statements)):
        return "anybody in AWS may assume the role, or whoever meets a condition"
    ours = [s for s in _granting(statements) if provider in _federated(s)]
    if not ours:
        return f"the role trusts {not_(provider, _trusted(statements))}"
    if problem := _lacking(thing, ours, provider):
        return problem
    denies = any(statement.get("Effect") == "Deny" for statement in statements)
    return "the role's trust denies somebody something, whatever else it allows" if denies else ""


def _lacking(thing: Role, ours: list[Mapping[str, Any]], provider: str) -> str:
    """What keeps the tokens of the workload out."""
    issuer = provider.partition(":oidc-provider/")[2]
    every = [_conditions(statement) for statement in ours]
    told = [each for each in every if not _others(each, issuer)]
    if not told:
        return f"the conditions of the role's trust are of the issuer {not_(issuer, (other for each in every for other in _others(each, issuer)))}"
    for subject in thing.workload.subjects:
        letting = [each for each in told if _met(each.get(f"{issuer}:sub"), subject)]
        if not letting:
            return f"the role trusts {not_(subject, (value for each in told for value in each.get(f'{issuer}:sub', ())))}"
        audience = min(AWS[thing.workload.asker])
        if not any(_met(each.get(f"{issuer}:aud"), audience) for each in letting):
            return f"the role takes tokens for {not_(audience, (value for each in letting for value in each.get(f'{issuer}:aud', ())))}"
    return ""


def _others(conditions: Mapping[str, Any], issuer: str) -> set[str]:
    """Issuers whose claims are asked for: no token of ours has them."""
    return {
        prefix
        for prefix, _, claim in (key.rpartition(":") for key in conditions)
        if claim in {"sub", "aud"}
    } - {issuer}


def _granting(statements: Iterable[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    for statement in statements:
        actions = [str(action).lower() for action in _many(statement.get("Action", ()))]
        if statement.get("Effect") == "Allow" and any(
            fnmatchcase(ASSUME.lower(), action) for action in actions
        ):
            yield statement


def _federated(statement: Mapping[str, Any]) -> set[str]:
    principal: object = statement.get("Principal")
    return (
        {str(who) for who in _many(cast("dict[str, Any]", principal).get("Federated", ()))}
        if isinstance(principal, dict)
        else set()
    )


def _everybody(statement: Mapping[str, Any]) -> bool:
    principal: object = statement.get("Principal")
    named = (
        _many(cast("dict[str, Any]", principal).get("AWS", ()))
        if isinstance(principal, dict)
        else (principal,)
    )
    return statement.get("Effect") == "Allow" and "*" in named


def _trusted(statements: Iterable[Mapping[str, Any]]) -> set[str]:
    return {who for statement in _granting(statements) for who in _federated(statement)}


def _conditions(statement: Mapping[str, Any]) -> dict[str, list[str]]:
    """What is asked of a token's claims, by whichever operator."""
    found: dict[str, list[str]] = {}
    for tests in cast("dict[str, dict[str, Any]]", statement.get("Condition", {})).values():
        for key, values in tests.items():
            found.setdefault(key, []).extend(str(value) for value in _many(values))
    return found


def _met(wanted: list[str] | None, value: str) -> bool:
    return wanted is None or any(fnmatchcase(value, pattern) for pattern in wanted)


def _many(value: object) -> list[Any]:
    return list(cast("list[Any]", value)) if isinstance(value, list | tuple) else [value]
