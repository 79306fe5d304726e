"""Where Google's things live, a file per service. The only importers of its SDKs, which are loaded when a store is first made."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from cwiictl.clouds.gcp.belief import Way
from cwiictl.clouds.gcp.permissions import Grant
from cwiictl.clouds.gcp.resources.api import ApiState
from cwiictl.clouds.gcp.resources.bucket import BucketState
from cwiictl.clouds.gcp.resources.custom_role import CustomRoleState
from cwiictl.clouds.gcp.resources.policy import PolicyState
from cwiictl.clouds.gcp.resources.pool import PoolState
from cwiictl.clouds.gcp.resources.principal import SubjectState
from cwiictl.clouds.gcp.resources.provider import ProviderState
from cwiictl.clouds.gcp.resources.reach import ReachState
from cwiictl.clouds.gcp.resources.service_account import ServiceAccountState
from cwiictl.clouds.gcp.universes import Universe
from cwiictl.clouds.permissions import PermissionsState
from cwiictl.engine.resource import Store
from cwiictl.issuer.documents import DocumentState, IssuerState, KeySetState
from cwiictl.issuer.known import KnownIssuersState
from cwiictl.verify.finding import Refusal


@dataclass(frozen=True)
class Stores:
    account: str  # the project
    number: str  # of the project, as principals and providers are named by
    caller: str
    universe: Universe
    role: Callable[[str], str]  # a predefined role as it is granted; what is none is BadInput
    entitled: Callable[
        [str, str], str
    ]  # the id of the account that bears an id of ours; or else this title, of ccoctl's or taken over from it; or our id
    close: Callable[[], None]
    permissions: Callable[[tuple[Grant, ...]], Store[PermissionsState]]
    apis: Store[ApiState]
    buckets: Store[BucketState]
    documents: Store[DocumentState]
    key_sets: Store[KeySetState]
    published_before: Store[KeySetState]
    uploaded_before: Store[KeySetState]
    issuers: Store[IssuerState]
    known_issuers: Store[KnownIssuersState]
    pools: Store[PoolState]
    reaches: Store[ReachState]
    providers: Store[ProviderState]
    provider_keys: Store[KeySetState]
    service_accounts: Store[ServiceAccountState]
    custom_roles: Store[CustomRoleState]
    policies: Store[PolicyState]
    principals: Store[SubjectState]
    exchange: Callable[[Way, str], Refusal | None]  # of a token, for one of Google's

    @property
    def identities(self) -> Store[ServiceAccountState]:
        return self.service_accounts

    @property
    def facts(self) -> Mapping[str, str]:
        return {}
