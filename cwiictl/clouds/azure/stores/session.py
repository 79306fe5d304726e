"""The clients that act in Azure: made once, in the calling thread, as wide as the workers."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
from typing import Any

from azure.identity import DefaultAzureCredential
from azure.mgmt.authorization.v2022_04_01 import AuthorizationManagementClient
from azure.mgmt.msi.v2024_11_30 import ManagedServiceIdentityClient
from azure.mgmt.resource.resources import ResourceManagementClient
from azure.mgmt.resource.resources import models as resource_models
from azure.mgmt.storage import StorageManagementClient
from azure.mgmt.storage import models as storage_models

from cwiictl.clouds.azure.environments import Environment, environment
from cwiictl.clouds.azure.spec import Spec
from cwiictl.clouds.azure.stores import Stores
from cwiictl.clouds.azure.stores.assignments import Assignments
from cwiictl.clouds.azure.stores.blobs import Blobs, Documents, KeySets
from cwiictl.clouds.azure.stores.containers import Containers
from cwiictl.clouds.azure.stores.errors import LOGIN
from cwiictl.clouds.azure.stores.exchange import Exchanges
from cwiictl.clouds.azure.stores.groups import ResourceGroups, StandingGroups
from cwiictl.clouds.azure.stores.identities import Identities
from cwiictl.clouds.azure.stores.ledger import Ledger
from cwiictl.clouds.azure.stores.lent import Lender, LentRoles
from cwiictl.clouds.azure.stores.permissions import Permissions
from cwiictl.clouds.azure.stores.regions import Regions
from cwiictl.clouds.azure.stores.roles import CustomRoles, Roles
from cwiictl.clouds.azure.stores.storage import StorageAccounts
from cwiictl.clouds.azure.stores.tokens import Caller, Tokens
from cwiictl.clouds.azure.stores.wire import policies, settled, wide
from cwiictl.errors import BadInput
from cwiictl.issuer.stores.known import KnownIssuers
from cwiictl.issuer.stores.web import Web
from cwiictl.model import Cluster


def connect(spec: Spec, cluster: Cluster, width: int) -> Stores:
    where = environment(spec.environment)
    credential, transport = _credential(where), wide(width)

    def close() -> None:
        transport.close()
        credential.close()

    tokens = Tokens(credential, spec.tenant)
    try:
        caller = known(spec, tokens.get_token(where.scope).token)
    except BaseException:
        close()
        raise
    return stores(
        spec, cluster, Clients(where, tokens, transport, spec.subscription), caller, close
    )


def _credential(where: Environment) -> DefaultAzureCredential:
    """What it would say of itself at length, we say in a sentence."""
    logging.getLogger("azure").addHandler(logging.NullHandler())
    try:
        return DefaultAzureCredential(authority=where.authority)
    except ValueError as e:
        raise BadInput(f"the Azure credentials are not whole: {e}", remedy=LOGIN) from e


def known(spec: Spec, token: str) -> Caller:
    caller = Caller.read(token)
    if spec.tenant and caller.tenant != spec.tenant:
        raise BadInput(
            f"the Azure credentials are of tenant {caller.tenant}, and --tenant-id says {spec.tenant}",
            remedy="log in to the right tenant, or change the pin",
        )
    return caller


def stores(
    spec: Spec, cluster: Cluster, clients: Clients, caller: Caller, close: Callable[[], None]
) -> Stores:
    name = cluster.name
    accounts = StorageAccounts(clients.storage, spec.subscription, name)
    blobs = Blobs(clients.where, clients.tokens, clients.transport)
    ledger, roles = (
        Ledger(clients.access, spec.subscription, spec.elsewhere),
        Roles(clients.access, spec.subscription),
    )
    lender = Lender(ledger, caller, accounts.container, name)
    containers = Containers(accounts, blobs, lender)
    groups, identities = (
        ResourceGroups(clients.resources, name),
        Identities(clients.identities, name),
    )

    def ended() -> None:
        try:
            lender.close()
        finally:
            close()

    return Stores(
        account=spec.subscription,
        caller=caller.name,
        tenant=caller.tenant,
        environment=clients.where,
        doomed=spec.doomed(cluster),
        role=roles.id,
        role_titles=roles.titles,
        close=ended,
        permissions=partial(Permissions, clients.resources),
        regions=Regions(clients.resources, spec.subscription),
        groups=groups,
        standing_groups=StandingGroups(groups),
        accounts=accounts,
        containers=containers,
        lent_roles=LentRoles(lender),
        documents=Documents(blobs, containers, lender),
        key_sets=KeySets(blobs, containers, lender),
        issuers=Web(),
        known_issuers=KnownIssuers("azure", identities.issuers),
        identities=identities,
        custom_roles=CustomRoles(clients.access, spec.subscription, name),
        assignments=Assignments(ledger, identities, name),
        exchange=Exchanges(clients.where, clients.transport).exchange,
    )


class Clients:
    """The clients of Azure Resource Manager. None of them tries again, follows, or registers anything by itself."""

    def __init__(
        self, where: Environment, tokens: Tokens, transport: Any, subscription: str
    ) -> None:
        self.where, self.tokens, self.transport = where, tokens, transport
        self.settle()
        self.resources: ResourceManagementClient = self._made(
            ResourceManagementClient, subscription
        )
        self.storage: StorageManagementClient = self._made(StorageManagementClient, subscription)
        self.identities: ManagedServiceIdentityClient = self._made(
            ManagedServiceIdentityClient, subscription
        )
        self.access: AuthorizationManagementClient = self._made(
            AuthorizationManagementClient, subscription
        )

    @staticmethod
    def settle() -> None:
        settled(resource_models)
        settled(storage_models)

    def _made(self, client: Any, subscription: str) -> Any:
        return client(
            self.tokens,
            subscription,
            base_url=f"https://{self.where.manager}",
            credential_scopes=[self.where.scope],
            transport=self.transport,
            policies=policies(self.tokens, self.where.scope),
        )
