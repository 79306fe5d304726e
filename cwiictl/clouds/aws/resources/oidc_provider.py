"""IAM's word for an issuer that it believes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from cwiictl import names
from cwiictl.engine.resource import Known, Resource, State, aside, assigned, part
from cwiictl.errors import BadInput, Problem
from cwiictl.issuer.documents import Issuer
from cwiictl.model import Cluster


@dataclass(frozen=True, kw_only=True)
class OidcProviderState(State):
    """A thumbprint is not in it: IAM fills one in, and no longer looks at it."""

    url: str
    audiences: frozenset[str]
    tags: Mapping[str, str] = part()


@dataclass(frozen=True)
class OidcProvider(Resource[OidcProviderState]):
    """It holds the issuer: IAM asks the issuer's host for its certificate when the provider is made."""

    cluster: Cluster
    issuer: Issuer
    audiences: frozenset[str]
    lent: str = ""  # the place of the user's own that the documents are in: so that they are found again

    @property
    def late(self) -> bool:
        return self.issuer.late

    def place(self, known: Known) -> str:
        return known[self.issuer].url.removeprefix("https://")

    def want(self, known: Known) -> OidcProviderState:
        lent = {names.DOCUMENTS_KEY: self.lent} if self.lent else {}
        return OidcProviderState(url=known[self.issuer].url, audiences=self.audiences, tags={**names.tags(self.cluster), **lent})


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
