"""What the contracts of Azure's stores are tried with."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from cwiictl import names
from cwiictl.clouds.azure import ids
from cwiictl.clouds.azure.resources.identity import Credential, IdentityState
from cwiictl.clouds.azure.resources.role_assignments import Assignment, Grant
from cwiictl.clouds.azure.resources.storage_account import StorageAccountState
from cwiictl.clouds.azure.spec import Spec
from cwiictl.clouds.azure.stores import Stores
from cwiictl.clouds.azure.stores.lent import CONTRIBUTOR, Lender
from cwiictl.clouds.azure.stores.session import connect
from cwiictl.model import Cluster
from cwiictl.sandbox.azure.world import SUBSCRIPTION

CLUSTER = "a-cluster"
GROUP = f"{CLUSTER}-oidc"
ACCOUNT = "acluster"
CONTAINER = f"{ACCOUNT}/{CLUSTER}"
DISCOVERY = f"{CONTAINER}/.well-known/openid-configuration"
JWKS = f"{CONTAINER}/openid/v1/jwks"
SITE = ids.folded(ids.group(SUBSCRIPTION, CLUSTER))
READER = "acdd72a7-3385-48ef-bd42-f606fba81ae7"
NETWORK = "4d97b98b-1d4f-4787-a291-c67834d212e7"


def connected(subscription: str = SUBSCRIPTION) -> Iterator[Stores]:
    made = connect(Spec(region="eastus", subscription=subscription), Cluster(CLUSTER), 4)
    try:
        yield made
    finally:
        made.close()


def an_account(**changes: Any) -> StorageAccountState:
    told: dict[str, Any] = {"id": "", "region": "eastus", "tags": {"Name": CLUSTER}}
    return StorageAccountState(**{**told, **changes})


def an_identity(*credentials: tuple[str, str], **changes: Any) -> IdentityState:
    trusted = {
        Credential("https://issuer.example.org", f"system:serviceaccount:ns:{name}", audience): name
        for name, audience in credentials
    }
    told: dict[str, Any] = {
        "region": "eastus",
        "credentials": frozenset(trusted),
        "titles": trusted,
        "tags": {"Name": CLUSTER},
    }
    return IdentityState(**{**told, **changes})


def looking(stores: Stores) -> None:
    """Who may not look into a container drops none."""
    lent: Any = stores.lent_roles
    lender: Lender = lent.lender
    scope = ids.account(SUBSCRIPTION, GROUP, ACCOUNT)
    granted = Assignment(
        ids.assignment(scope, names.assignment(scope, CONTRIBUTOR, lender.caller.id)),
        Grant(scope, CONTRIBUTOR),
        lender.caller.id,
    )
    lender.ledger.write(granted, lender.caller.kind)


def an_assignment(
    stores: Stores,
    principal: str,
    description: str,
    role: str = READER,
    condition: tuple[str, str] = ("", ""),
) -> str:
    """Of somebody else's."""
    store: Any = stores.assignments
    id_ = ids.folded(ids.assignment(SITE, names.assignment(SITE, role, "somebody")))
    wish = {
        "principal_id": principal,
        "role_definition_id": ids.role(SITE, role),
        "principal_type": "ServicePrincipal",
        "description": description,
    }
    wish |= {"condition": condition[0], "condition_version": condition[1]} if condition[0] else {}
    store.ledger.access.create_by_id(id_.lstrip("/"), wish)
    return id_
