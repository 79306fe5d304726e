"""The provider that is there already, for roles that are made without it: only looked at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from cwiictl.engine.resource import Known, Resource, State, aside, assigned
from cwiictl.errors import BadInput, Problem


@dataclass(frozen=True, kw_only=True)
class StandingProviderState(State):
    markless: ClassVar[bool] = True
    domain: str = assigned()  # the issuer's host and path
    several: tuple[str, ...] = aside()  # all that bear the cluster's mark, where that is not one


@dataclass(frozen=True)
class StandingProvider(Resource[StandingProviderState]):
    """What roles trust that are made without it: the provider of this host and path, or the one that bears this cluster's mark."""

    def want(self, known: Known) -> StandingProviderState:  # noqa: ARG002 - whatever it is
        return StandingProviderState()

    def objection(self, found: Known) -> Problem | None:
        have = found.get(self)
        if have is None:
            return BadInput(
                f"IAM has no OIDC provider {'' if '.' in self.name else 'of '}{self.name}, so nobody could assume a role that trusts it",
                remedy="make it with create-identity-provider, or say where the cluster's issuer is with --issuer-url URL --issuer-exists",
            )
        if have.several:
            return BadInput(
                f"IAM has {len(have.several)} OIDC providers of {self.name}: {', '.join(have.several)}",
                remedy=f"say which one the roles are to trust, as in --issuer-url https://{have.several[0]} --issuer-exists",
            )
        return None
