"""The managed identity of a workload, and the ServiceAccounts whose tokens it believes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from cwiictl import names
from cwiictl.clouds.azure.environments import Environment
from cwiictl.clouds.azure.resources.resource_group import ResourceGroup
from cwiictl.engine.resource import Known, Resource, State, assigned, part
from cwiictl.errors import Problem
from cwiictl.issuer.home import Home
from cwiictl.model import Cluster, Workload

TAG_VALUE = 256


@dataclass(frozen=True)
class Credential:
    """Whose tokens are believed (a federated identity credential). Entra compares all three as they are written."""

    issuer: str
    subject: str
    audience: str


@dataclass(frozen=True, kw_only=True)
class IdentityState(State):
    """Its credentials have no life of their own. They are found by what they say: a name is only what one is written under."""

    region: str = field(compare=False)  # where it is made; one that is elsewhere is objected to
    credentials: frozenset[Credential]  # all of them, for each is trust
    tags: Mapping[str, str] = part()
    client_id: str = assigned()
    principal_id: str = assigned()
    tenant_id: str = assigned()
    titles: Mapping[Credential, str] = field(
        default_factory=dict[Credential, str], compare=False, repr=False, metadata={"aside": True}
    )

    @property
    def called(self) -> frozenset[str]:
        return frozenset({self.client_id} - {""})


@dataclass(frozen=True)
class Subscription:
    """What is the same for all identities of a run."""

    id: str
    region: str
    environment: Environment


@dataclass(frozen=True)
class Identity(Resource[IdentityState]):
    """It names its issuer and does not hold it: Entra reads the issuer when a token comes, and so nobody waits for it."""

    cluster: Cluster
    workload: Workload
    subscription: Subscription
    group: ResourceGroup
    home: Home
    outside: tuple[
        str, ...
    ] = ()  # where else than in its subscription it is given roles: so that they are found again
    titles: Mapping[str, str] = field(
        default_factory=dict[str, str]
    )  # what credentials are to be called, by ServiceAccount, if not as we would

    @property
    def title(self) -> str:
        return self.name.partition("/")[2]

    @property
    def entitled(self) -> Mapping[str, str]:
        """What the credential of each subject is called."""
        accounts = zip(self.workload.service_accounts, self.workload.subjects, strict=True)
        return {
            subject: self.titles.get(account) or names.credential(account)
            for account, subject in accounts
        }

    @property
    def audience(self) -> str:
        return self.subscription.environment.audiences[self.workload.asker]

    @property
    def single(self) -> bool:
        return True

    def want(self, known: Known) -> IdentityState:
        url = self.home.url(known)
        titles = {
            Credential(url, subject, self.audience): title
            for subject, title in self.entitled.items()
        }
        outside = {
            f"{names.SCOPES_KEY}{number or ''}": text for number, text in enumerate(self.outside)
        }
        issuer = (
            {names.ISSUER_KEY: url} if len(url) <= TAG_VALUE else {}
        )  # of all identities at once, their credentials cannot be read
        tags = {**names.tags(self.cluster), **issuer, **outside}
        return IdentityState(
            region=self.subscription.region, credentials=frozenset(titles), titles=titles, tags=tags
        )

    def objection(self, found: Known) -> Problem | None:
        """Its workload is told the region that was asked for."""
        have = found.get(self)
        return self.group.stays(have.region, have.owner, found) if have else None
