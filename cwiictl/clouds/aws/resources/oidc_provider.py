"""IAM's word for an issuer that it believes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from cwiictl import names
from cwiictl.engine.resource import Difference, Known, Resource, State, aside, differences, part
from cwiictl.issuer.documents import Issuer
from cwiictl.model import Cluster


@dataclass(frozen=True, kw_only=True)
class OidcProviderState(State):
    """A thumbprint is not in it: IAM fills one in, and no longer looks at it."""

    url: str
    audiences: frozenset[str]
    tags: Mapping[str, str] = part()
    spared: tuple[str, ...] = (
        aside()
    )  # of the wanted one: audiences that are not taken away, whoever asked for them


@dataclass(frozen=True)
class OidcProvider(Resource[OidcProviderState]):
    """It holds the issuer: IAM asks the issuer's host for its certificate when the provider is made."""

    cluster: Cluster
    issuer: Issuer
    audiences: frozenset[str]
    spared: frozenset[
        str
    ]  # what tokens of the cluster may be for: a run that does not ask for it does not know who does
    lent: str = (
        ""  # the place of the user's own that the documents are in: so that they are found again
    )

    @property
    def late(self) -> bool:
        return self.issuer.late

    def place(self, known: Known) -> str:
        return known[self.issuer].url.removeprefix("https://")

    def want(self, known: Known) -> OidcProviderState:
        lent = {names.DOCUMENTS_KEY: self.lent} if self.lent else {}
        return OidcProviderState(
            url=known[self.issuer].url,
            audiences=self.audiences,
            tags={**names.tags(self.cluster), **lent},
            spared=tuple(sorted(self.spared)),
        )

    def differing(self, want: OidcProviderState, have: OidcProviderState) -> tuple[Difference, ...]:
        """What is left over stays usable until it is dropped. An audience that is spared lets nobody in whom no role names."""
        return differences(
            want, replace(have, audiences=have.audiences - (self.spared - want.audiences))
        )
