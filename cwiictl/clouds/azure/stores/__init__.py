"""Where Azure's things live, a file per service. The only importers of its SDKs, which are loaded when a store is first made."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from cwiictl.clouds.azure.belief import Client
from cwiictl.clouds.azure.environments import Environment
from cwiictl.clouds.azure.permissions import Grant
from cwiictl.clouds.azure.resources.custom_role import CustomRoleState
from cwiictl.clouds.azure.resources.identity import IdentityState
from cwiictl.clouds.azure.resources.known_region import KnownRegionState
from cwiictl.clouds.azure.resources.lent_role import LentRoleState
from cwiictl.clouds.azure.resources.role_assignments import AssignmentsState
from cwiictl.clouds.azure.resources.standing_group import StandingGroupState
from cwiictl.clouds.azure.resources.storage_account import ContainerState, StorageAccountState
from cwiictl.clouds.azure.spec import TENANT
from cwiictl.clouds.azure.stores.leaving import Groups
from cwiictl.clouds.permissions import PermissionsState
from cwiictl.engine.resource import Store
from cwiictl.issuer.documents import DocumentState, IssuerState, KeySetState
from cwiictl.issuer.known import KnownIssuersState
from cwiictl.verify.finding import Refusal


@dataclass(frozen=True)
class Stores:
    account: str  # the subscription
    caller: str
    tenant: str
    environment: Environment
    doomed: str  # the resource group that `delete` was told to drop too: `spec.doomed(cluster)`
    role: Callable[
        [str], str
    ]  # the id of a role, by its name, GUID or id; what is none is BadInput
    role_titles: Mapping[str, str]  # of those that were listed, by their GUIDs
    close: Callable[[], None]  # takes back whatever this process lent
    permissions: Callable[[tuple[Grant, ...]], Store[PermissionsState]]
    regions: Store[KnownRegionState]
    groups: Groups
    standing_groups: Store[StandingGroupState]
    accounts: Store[StorageAccountState]
    containers: Store[ContainerState]
    lent_roles: Store[LentRoleState]
    documents: Store[DocumentState]
    key_sets: Store[KeySetState]
    issuers: Store[IssuerState]
    known_issuers: Store[KnownIssuersState]
    identities: Store[IdentityState]
    custom_roles: Store[CustomRoleState]
    assignments: Store[AssignmentsState]
    exchange: Callable[[Client, str], Refusal | None]  # of a token, for one of Entra's

    @property
    def facts(self) -> Mapping[str, str]:
        return {TENANT: self.tenant, "azure_environment": self.environment.name}
