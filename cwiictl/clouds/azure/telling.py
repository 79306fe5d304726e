"""What workloads in Azure must be told: as which client they come, and to which tenant."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from cwiictl.clouds.azure.environments import PUBLIC
from cwiictl.clouds.azure.resources.identity import Identity
from cwiictl.clouds.azure.spec import TENANT
from cwiictl.engine.resource import Known, Resource
from cwiictl.model import Binding

LABELS = {"azure.workload.identity/use": "true"}


def bindings(things: Iterable[Resource[Any]], known: Known) -> Iterator[Binding]:
    """For the identities that are there."""
    for identity in things:
        if isinstance(identity, Identity) and identity in known:
            have = known[identity]
            data = {
                "azure_client_id": have.client_id,
                TENANT: have.tenant_id,
                "azure_region": identity.subscription.region,
                "azure_subscription_id": identity.subscription.id,
                "azure_federated_token_file": identity.workload.token_path,
            }
            yield Binding(
                identity.workload,
                "azure",
                data,
                _told(have.client_id, have.tenant_id, identity),
                LABELS if _heard(identity) else {},
            )


def _told(client: str, tenant: str, identity: Identity) -> dict[str, str]:
    """In our webhook's words, and in those of Azure's own, whose tokens are never for whom a request's have to be."""
    where = identity.subscription.environment
    ours = {
        "cwii.dev/az-inject": "true",
        "cwii.dev/az-client-id": client,
        "cwii.dev/az-tenant-id": tenant,
        "cwii.dev/az-audience": identity.audience,
    }
    elsewhere = (
        {}
        if where.name == PUBLIC
        else {"cwii.dev/az-authority-host": f"https://{where.authority}/"}
    )
    theirs = (
        {"azure.workload.identity/client-id": client, "azure.workload.identity/tenant-id": tenant}
        if _heard(identity)
        else {}
    )
    return {**ours, **elsewhere, **theirs}


def _heard(identity: Identity) -> bool:
    return identity.workload.asker == "webhook"
