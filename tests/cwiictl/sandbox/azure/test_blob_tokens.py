"""Who may do what with blobs: by token, role and place."""

from __future__ import annotations

import re
import time

import pytest
from azure.storage.blob import ContentSettings

from cwiictl.sandbox.azure.world import CLIENT, OPERATOR, SUBSCRIPTION, TENANT
from tests.cwiictl.sandbox.azure.blobs import BLOB, NEW, OLD, URL, bearer, refused
from tests.cwiictl.sandbox.azure.tenant import (
    ACCOUNT,
    CONTAINER,
    DATA_CONTRIBUTOR,
    DATA_OWNER,
    DATA_READER,
    GROUP,
    HOST,
    KEYS,
    STORAGE,
    Begin,
    Tenant,
)

CONTRIBUTOR = "b24988ac-6180-42a0-ab88-20f7382dd24c"


def test_a_data_role_writes_and_reads_with_a_token(tenant: Tenant) -> None:
    tenant.container()
    tenant.assign()
    files = tenant.files(tenant.operator)
    settings = ContentSettings("application/json", cache_control="max-age=300")
    files.upload_blob("a/b.json", b"{}", content_settings=settings, metadata={"who": "me"})
    found = files.get_blob_client("a/b.json").get_blob_properties()
    assert files.download_blob("a/b.json").readall() == b"{}"
    assert (found.size, found.metadata, found.content_settings.content_type) == (
        2,
        {"who": "me"},
        "application/json",
    )
    assert found.content_settings.cache_control == "max-age=300"
    assert [one.name for one in files.list_blobs()] == ["a/b.json"]


def test_an_owner_has_no_data_role_and_may_not_write_blobs(tenant: Tenant) -> None:
    tenant.container()
    files = tenant.files(tenant.operator)
    assert refused(lambda: files.upload_blob("a", b"x")) == (403, "AuthorizationPermissionMismatch")
    assert refused(lambda: list(files.list_blobs())) == (403, "AuthorizationPermissionMismatch")
    answer = tenant.ask("PUT", f"{URL}/a", {**bearer(tenant), "x-ms-blob-type": "BlockBlob"}, b"x")
    pattern = rb"""<\?xml version="1.0" encoding="utf-8"\?><Error><Code>AuthorizationPermissionMismatch</Code><Message>This request is not authorized to perform
 this operation using this permission.\nRequestId:\S+\nTime:\d{4}-\d\d-\d\dT[\d:.]+Z</Message></Error>""".replace(
        b"\n ", b" ", 1
    )
    assert re.fullmatch(pattern, answer.body)


def test_an_owner_may_make_and_open_containers(tenant: Tenant) -> None:
    """Roles give containers as actions, like ARM's own; only what is in them is data."""
    tenant.account()
    service = tenant.blobs(tenant.operator)
    files = service.create_container(CONTAINER)
    files.set_container_access_policy({}, public_access="blob")
    assert files.get_container_access_policy()["public_access"] == "blob"
    assert [one.name for one in service.list_containers()] == [CONTAINER]
    files.delete_container()
    assert refused(files.get_container_properties) == (404, "ContainerNotFound")


@pytest.mark.parametrize(
    ("role", "scope", "expected"),
    [
        (DATA_CONTRIBUTOR, f"{GROUP}/providers/Microsoft.Storage/storageAccounts/{ACCOUNT}", None),
        (
            DATA_CONTRIBUTOR,
            f"{GROUP}/providers/Microsoft.Storage/storageAccounts/{ACCOUNT}/blobServices/default/containers/{CONTAINER}",
            None,
        ),
        (
            DATA_CONTRIBUTOR,
            f"{GROUP}/providers/Microsoft.Storage/storageAccounts/{ACCOUNT}/blobServices/default/containers/other",
            403,
        ),
        (
            DATA_CONTRIBUTOR,
            f"/subscriptions/{SUBSCRIPTION}".upper().replace("/SUBSCRIPTIONS", "/subscriptions"),
            None,
        ),
        (DATA_OWNER, GROUP, None),
        (DATA_READER, GROUP, 403),
        (CONTRIBUTOR, GROUP, 403),
    ],
)
def test_what_counts_is_the_role_and_where_it_was_given(
    tenant: Tenant, role: str, scope: str, expected: int | None
) -> None:
    tenant.container()
    tenant.assign(role, scope)
    files = tenant.files(tenant.operator)
    if expected is None:
        files.upload_blob("a", b"x")
    else:
        assert refused(lambda: files.upload_blob("a", b"x")) == (
            expected,
            "AuthorizationPermissionMismatch",
        )


def test_a_reader_reads(tenant: Tenant) -> None:
    tenant.container()
    tenant.files(KEYS[0]).upload_blob("a", b"x")
    tenant.assign(DATA_READER)
    files = tenant.files(tenant.operator)
    assert files.download_blob("a").readall() == b"x"
    assert refused(lambda: files.delete_blob("a")) == (403, "AuthorizationPermissionMismatch")


def test_a_role_takes_effect_late(begin: Begin) -> None:
    now = [time.time()]
    tenant = begin(lag=120.0, clock=lambda: now[0])
    tenant.container()
    tenant.assign(born=now[0])
    files = tenant.files(tenant.operator)
    assert refused(lambda: files.upload_blob("a", b"x")) == (403, "AuthorizationPermissionMismatch")
    now[0] += 120
    files.upload_blob("a", b"x")


def test_what_is_denied_is_denied_whatever_the_role(begin: Begin) -> None:
    tenant = begin(deny=frozenset({f"{BLOB}/write"}))
    tenant.container()
    tenant.assign(DATA_OWNER)
    files = tenant.files(tenant.operator)
    files.upload_blob("a", b"x")  # with blobs/add/action, which is enough for what is not there yet
    assert refused(lambda: files.upload_blob("a", b"y", overwrite=True)) == (
        403,
        "AuthorizationPermissionMismatch",
    )
    assert files.download_blob("a").readall() == b"x"


def test_tags_that_come_with_a_blob_need_their_own_right(tenant: Tenant) -> None:
    tenant.container()
    tenant.assign(DATA_CONTRIBUTOR)
    files = tenant.files(tenant.operator)
    assert refused(lambda: files.upload_blob("a", b"x", tags={"k": "v"})) == (
        403,
        "AuthorizationPermissionMismatch",
    )
    tenant.assign(DATA_OWNER)
    files.upload_blob("a", b"x", tags={"k": "v"})
    assert files.get_blob_client("a").get_blob_tags() == {"k": "v"}


@pytest.mark.parametrize(
    ("audience", "detail"),
    [
        ("https://management.azure.com", "Audience validation failed"),
        ("https://other.blob.core.windows.net", "Audience validation failed"),
    ],
)
def test_a_token_for_somebody_else_is_not_believed(
    tenant: Tenant, audience: str, detail: str
) -> None:
    tenant.container()
    token = tenant.tokens.issue(OPERATOR, CLIENT, audience, TENANT)
    answer = tenant.ask("GET", f"{URL}/a", {"Authorization": f"Bearer {token}", **NEW})
    assert (answer.status, answer.headers["x-ms-error-code"]) == (401, "InvalidAuthenticationInfo")
    assert detail in answer.body.decode()
    assert answer.headers["www-authenticate"] == (
        f"Bearer authorization_uri=https://login.microsoftonline.com/{TENANT}/oauth2/authorize resource_id=https://storage.azure.com"
    )
    older = tenant.ask("GET", f"{URL}/a", {"Authorization": f"Bearer {token}", **OLD})
    assert (
        older.status,
        older.headers["x-ms-error-code"],
        "www-authenticate" in older.headers,
    ) == (403, "AuthenticationFailed", False)


def test_a_token_for_this_account_is_believed_here(tenant: Tenant) -> None:
    tenant.container()
    tenant.assign()
    token = tenant.tokens.issue(OPERATOR, CLIENT, f"https://{HOST}/", TENANT)
    answer = tenant.ask(
        "PUT",
        f"{URL}/a",
        {"Authorization": f"Bearer {token}", "x-ms-blob-type": "BlockBlob", **NEW},
        b"x",
    )
    assert answer.status == 201


def test_a_forged_token_is_not_believed(tenant: Tenant) -> None:
    tenant.container()
    head, body, _ = tenant.operator.get_token(STORAGE).token.split(".")
    answer = tenant.ask(
        "GET", f"{URL}/a", {"Authorization": f"Bearer {head}.{body}.{'A' * 342}", **NEW}
    )
    assert (answer.status, answer.headers["x-ms-error-code"]) == (401, "InvalidAuthenticationInfo")


def test_a_token_ends_after_an_hour(begin: Begin) -> None:
    now = [time.time()]
    tenant = begin(clock=lambda: now[0])
    tenant.container("Blob")
    asked = bearer(tenant)
    tenant.assign()
    assert tenant.ask("GET", f"{URL}/a", asked).status == 404
    now[0] += 3601
    answer = tenant.ask("GET", f"{URL}/a", asked)
    assert (answer.status, b"The token is expired" in answer.body) == (401, True)


def test_expired_credentials_are_those_of_tokens_alone(begin: Begin) -> None:
    tenant = begin()
    tenant.container("Blob")
    asked = bearer(tenant)
    tenant.sandbox.faults.expired = True
    answer = tenant.ask("GET", f"{URL}/a", asked)
    assert (answer.status, answer.headers["x-ms-error-code"]) == (401, "InvalidAuthenticationInfo")
    tenant.files(KEYS[0]).upload_blob("a", b"x")
    assert tenant.ask("GET", f"{URL}/a").status == 200


def test_tokens_are_for_newer_versions_only(tenant: Tenant) -> None:
    tenant.container()
    answer = tenant.ask("GET", f"{URL}/a", bearer(tenant) | {"x-ms-version": "2017-04-17"})
    assert (answer.status, answer.headers["x-ms-error-code"]) == (403, "AuthenticationFailed")
