"""IAM's word for an issuer that it believes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from cwiictl import names
from cwiictl.engine.resource import Known, Resource, State, part
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
