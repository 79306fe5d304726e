"""From nothing to an access token, with nobody but the real SDKs: Azure's three parts are of one mind."""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import Any

import jwt
import pytest
from azure.core.exceptions import ClientAuthenticationError, HttpResponseError
from azure.identity import WorkloadIdentityCredential

from cwiictl.sandbox.azure.clouds import CLOUDS, Cloud
from cwiictl.sandbox.azure.world import OPERATOR, TENANT
from tests.cwiictl.sandbox.azure.manager import ACCOUNTS, Manager
from tests.cwiictl.sandbox.azure.tenant import (
    ACCOUNT,
    AUDIENCE,
    CONTAINER,
    DATA_CONTRIBUTOR,
    DATA_READER,
    STORAGE,
    SUBJECT,
    Tenant,
    assertion,
    refusal,
)
from tests.cwiictl.sandbox.visitor import discovery, key_set

CONTAINERS = f"{ACCOUNTS}/{ACCOUNT}/blobServices/default/containers/{CONTAINER}"
REGIONS = {
    "AzureCloud": "westeurope",
    "AzureUSGovernment": "usgovvirginia",
    "AzureChinaCloud": "chinanorth3",
}


def issuer(tenant: Tenant) -> str:
    return f"https://{ACCOUNT}.blob.{tenant.cloud.suffix}/{CONTAINER}"


def publish(manager: Manager) -> None:
    """As cwiictl does it: with the operator's own token, and a data role for as long as it takes."""
    manager.group(location=REGIONS[manager.tenant.cloud.name])
    manager.account(
        ACCOUNT,
        location=REGIONS[manager.tenant.cloud.name],
        allowBlobPublicAccess=True,
        allowSharedKeyAccess=False,
    )
    manager.storage.blob_containers.create(
        "g", ACCOUNT, CONTAINER, {"properties": {"publicAccess": "Blob"}}
    )
    manager.assign(CONTAINERS, OPERATOR, DATA_CONTRIBUTOR, "00000000-0000-4000-8000-000000000001")
    files = manager.tenant.files(manager.tenant.operator)
    files.upload_blob(".well-known/openid-configuration", discovery(issuer(manager.tenant)))
    files.upload_blob("keys.json", key_set(k1=0))
    manager.assignments.delete(CONTAINERS, "00000000-0000-4000-8000-000000000001")


def trusting(manager: Manager) -> Any:
    made = manager.identity(location=REGIONS[manager.tenant.cloud.name])
    manager.trust(issuer=issuer(manager.tenant), subject=SUBJECT, audiences=[AUDIENCE])
    return made


def workload(tenant: Tenant, client: str, folder: Path) -> WorkloadIdentityCredential:
    (folder / "token").write_text(assertion(iss=issuer(tenant)), encoding="ascii")
    where = {
        "tenant_id": TENANT,
        "client_id": client,
        "token_file_path": str(folder / "token"),
        "authority": tenant.cloud.authority,
    }
    return WorkloadIdentityCredential(**where, **tenant.options)


@pytest.mark.parametrize("cloud", CLOUDS, ids=lambda cloud: cloud.name)
def test_what_was_made_with_the_sdks_lets_a_workload_in(
    tenant: Tenant, tmp_path: Path, cloud: Cloud
) -> None:
    there = Tenant(tenant.sandbox, cloud)
    manager = Manager(there)
    publish(manager)
    made = trusting(manager)
    credential = workload(there, made.client_id, tmp_path)
    assert (
        jwt.decode(credential.get_token(STORAGE).token, options={"verify_signature": False})["oid"]
        == made.principal_id
    )
    files = there.files(credential)
    with pytest.raises(HttpResponseError) as caught:
        files.download_blob("keys.json")
    assert refusal(caught.value) == (403, "AuthorizationPermissionMismatch")
    manager.assign(CONTAINERS, made.principal_id, DATA_READER, str(uuid.uuid4()))
    assert files.download_blob("keys.json").readall() == key_set(k1=0)


def test_what_was_taken_away_lets_nobody_in(tenant: Tenant, tmp_path: Path) -> None:
    manager = Manager(tenant)
    publish(manager)
    made = trusting(manager)
    assert workload(tenant, made.client_id, tmp_path).get_token(STORAGE).token
    with pytest.raises(HttpResponseError) as caught:
        tenant.files(tenant.operator).upload_blob("more", b"x")
    assert refusal(caught.value) == (403, "AuthorizationPermissionMismatch")
    manager.credentials.delete("g", "one", "fic")
    with pytest.raises(ClientAuthenticationError, match="AADSTS70025"):
        workload(tenant, made.client_id, tmp_path).get_token(STORAGE)
    manager.identities.delete("g", "one")
    with pytest.raises(ClientAuthenticationError, match="AADSTS700016"):
        workload(tenant, made.client_id, tmp_path).get_token(STORAGE)


def test_an_issuer_that_is_closed_to_the_public_vouches_for_nobody(
    tenant: Tenant, tmp_path: Path
) -> None:
    manager = Manager(tenant)
    publish(manager)
    made = trusting(manager)
    manager.storage.storage_accounts.update(
        "g", ACCOUNT, {"properties": {"allowBlobPublicAccess": False}}
    )
    with pytest.raises(ClientAuthenticationError, match="AADSTS501661"):
        workload(tenant, made.client_id, tmp_path).get_token(STORAGE)
