"""Blob storage in the sandbox: who may read and write, in which words others are refused, and that blobs are what was put."""

from __future__ import annotations

import os
import re
import time
from typing import Any

import pytest
from azure.storage.blob import BlobBlock, ContentSettings

from cwiictl.sandbox.azure.clouds import CLOUDS
from cwiictl.sandbox.faults import Fault
from tests.cwiictl.sandbox.azure.blobs import BLOB, NEW, OLD, URL, bearer, refused
from tests.cwiictl.sandbox.azure.tenant import (
    ACCOUNT,
    CONTAINER,
    DATA_OWNER,
    HOST,
    KEYS,
    VERSION,
    Begin,
    Tenant,
)


@pytest.mark.parametrize("key", KEYS)
def test_either_key_opens_everything(tenant: Tenant, key: str) -> None:
    tenant.account()
    files = tenant.blobs(key).create_container(CONTAINER, metadata={"a_b": "1", "aB": "2"})
    files.upload_blob("a b/ü+%.json", b"x", metadata={"who": "me"}, tags={"k": "v w"})
    assert files.download_blob("a b/ü+%.json").readall() == b"x"
    assert [
        one.name for one in files.list_blobs(name_starts_with="a b/", include=["metadata", "tags"])
    ] == ["a b/ü+%.json"]
    files.delete_blob("a b/ü+%.json")


def test_another_key_opens_nothing(tenant: Tenant) -> None:
    tenant.container("Blob")
    assert refused(lambda: tenant.files(KEYS[0].lower()).upload_blob("a", b"x")) == (
        403,
        "AuthenticationFailed",
    )


def test_a_key_is_worth_nothing_where_keys_are_off(tenant: Tenant) -> None:
    tenant.account(allowSharedKeyAccess=False)
    assert refused(lambda: tenant.blobs(KEYS[0]).create_container(CONTAINER)) == (
        403,
        "KeyBasedAuthenticationNotPermitted",
    )
    tenant.blobs(tenant.operator).create_container(CONTAINER)


def test_a_shared_access_signature_opens_nothing(tenant: Tenant) -> None:
    """Nobody makes one here that would."""
    account = tenant.account()
    tenant.container("Container")
    signed = f"{URL}/a?sv=2024-11-04&sr=b&sp=r&se=2099-01-01T00:00:00Z&sig=AAAA"
    assert tenant.ask("GET", signed).headers["x-ms-error-code"] == "AuthenticationFailed"
    account.properties["allowSharedKeyAccess"] = False
    assert (
        tenant.ask("GET", signed).headers["x-ms-error-code"] == "KeyBasedAuthenticationNotPermitted"
    )


def test_a_signature_is_good_for_a_quarter_of_an_hour(begin: Begin) -> None:
    tenant = begin(clock=lambda: time.time() + 1000)
    tenant.container()
    assert refused(lambda: tenant.files(KEYS[0]).upload_blob("a", b"x")) == (
        403,
        "AuthenticationFailed",
    )


def test_another_scheme_is_not_understood(tenant: Tenant) -> None:
    tenant.container("Blob")
    answer = tenant.ask("GET", f"{URL}/a", {"Authorization": "Basic eDp5", **NEW})
    assert (answer.status, answer.headers["x-ms-error-code"]) == (400, "InvalidAuthenticationInfo")


@pytest.mark.parametrize(
    "properties", [{"publicNetworkAccess": "Disabled"}, {"networkAcls": {"defaultAction": "Deny"}}]
)
def test_behind_a_closed_network_nobody_gets_in(tenant: Tenant, properties: dict[str, Any]) -> None:
    account = tenant.account()
    tenant.container("Blob")
    tenant.assign(DATA_OWNER)
    account.properties.update(properties)
    for credential in (KEYS[0], tenant.operator, None):
        assert refused(lambda who=credential: tenant.files(who).upload_blob("a", b"x")) == (
            403,
            "AuthorizationFailure",
        )


@pytest.mark.parametrize(
    ("allowed", "public", "blob", "list_"),
    [
        (True, "Container", (200, ""), (200, "")),
        (True, "Blob", (200, ""), (404, "ResourceNotFound")),
        (True, "None", (404, "ResourceNotFound"), (404, "ResourceNotFound")),
        (False, "Container", (409, "PublicAccessNotPermitted"), (409, "PublicAccessNotPermitted")),
        (False, "None", (409, "PublicAccessNotPermitted"), (409, "PublicAccessNotPermitted")),
    ],
)
def test_strangers_read_where_account_and_container_are_open(
    tenant: Tenant, allowed: bool, public: Any, blob: Any, list_: Any
) -> None:
    tenant.account(allowBlobPublicAccess=allowed)
    tenant.container(public)
    tenant.files(KEYS[0]).upload_blob("a", b"x")
    for path, expected in (("/a", blob), ("?restype=container&comp=list", list_)):
        for headers in ({}, OLD):
            answer = tenant.ask("GET", f"{URL}{path}", headers)
            assert (answer.status, answer.headers.get("x-ms-error-code", "")) == expected
        answer = tenant.ask("GET", f"{URL}{path}", NEW)
        assert (answer.status, answer.headers.get("x-ms-error-code", "")) == (
            expected if expected[0] == 200 else (401, "NoAuthenticationInformation")
        )
        assert ("www-authenticate" in answer.headers) == (expected[0] != 200)


def test_strangers_are_not_told_what_is_not_there(tenant: Tenant) -> None:
    tenant.container("Blob")
    assert tenant.ask("GET", f"{URL}/none").headers["x-ms-error-code"] == "BlobNotFound"
    assert (
        tenant.ask("GET", f"https://{HOST}/nothing/none").headers["x-ms-error-code"]
        == "ResourceNotFound"
    )
    assert tenant.ask("PUT", f"{URL}/a", {"x-ms-blob-type": "BlockBlob"}, b"x").status == 404
    assert tenant.ask("GET", f"https://{HOST}/?comp=list").status == 404


def test_head_has_its_code_in_a_header_and_no_body(tenant: Tenant) -> None:
    tenant.container("Blob")
    answer = tenant.ask("HEAD", f"{URL}/none")
    assert (answer.status, answer.headers["x-ms-error-code"], answer.body) == (
        404,
        "BlobNotFound",
        b"",
    )


def test_a_container_can_only_be_opened_where_the_account_is(tenant: Tenant) -> None:
    tenant.account(allowBlobPublicAccess=False)
    service = tenant.blobs(KEYS[0])
    assert refused(lambda: service.create_container(CONTAINER, public_access="blob")) == (
        409,
        "PublicAccessNotPermitted",
    )
    files = service.create_container(CONTAINER)
    assert refused(lambda: files.set_container_access_policy({}, public_access="blob")) == (
        409,
        "PublicAccessNotPermitted",
    )


def test_what_is_served_says_what_it_is(tenant: Tenant) -> None:
    tenant.container("Blob")
    tenant.files(KEYS[0]).upload_blob(
        "a", b"{}", content_settings=ContentSettings("application/json", cache_control="no-cache")
    )
    answer = tenant.ask("GET", f"{URL}/a", {"x-ms-client-request-id": "mine", **NEW})
    told = {
        "content-type": "application/json",
        "cache-control": "no-cache",
        "x-ms-version": VERSION,
        "x-ms-client-request-id": "mine",
        "content-length": "2",
    }
    assert told.items() <= answer.headers.items()
    assert re.fullmatch(r'"0x8[0-9A-F]{14}"', answer.headers["etag"])
    assert answer.headers["last-modified"].endswith("GMT")
    assert (
        answer.headers["x-ms-request-id"]
        != tenant.ask("GET", f"{URL}/a").headers["x-ms-request-id"]
    )


def test_large_blobs_come_in_blocks(tenant: Tenant) -> None:
    tenant.container()
    content = os.urandom(3 * 1024 * 1024)
    small = tenant.blobs(
        KEYS[0], max_single_put_size=1024, max_block_size=1024 * 1024
    ).get_container_client(CONTAINER)
    small.upload_blob("big", content)
    assert small.download_blob("big").readall() == content
    client = small.get_blob_client("one")
    client.stage_block("AAAA", b"x")
    assert refused(client.get_blob_properties)[0] == 404
    client.commit_block_list([BlobBlock("AAAA")])
    assert client.download_blob().readall() == b"x"


def test_a_list_comes_in_pages(tenant: Tenant) -> None:
    tenant.container()
    files = tenant.files(KEYS[0])
    for number in range(5):
        files.upload_blob(f"{number}", b"x")
    pages = [[one.name for one in page] for page in files.list_blobs(results_per_page=2).by_page()]
    assert pages == [["0", "1"], ["2", "3"], ["4"]]


def test_the_service_tells_about_itself(tenant: Tenant) -> None:
    tenant.account()
    service = tenant.blobs(KEYS[0])
    assert service.get_service_properties()["static_website"].enabled is False
    service.set_service_properties(hour_metrics=None, target_version="2020-10-02")
    assert service.get_account_information()["account_kind"] == "StorageV2"


def test_an_account_that_is_not_there_has_no_host(begin: Begin) -> None:
    now = [time.time()]
    tenant = begin(clock=lambda: now[0])
    with pytest.raises(OSError, match="502"):
        tenant.ask("GET", f"https://{HOST}/")
    tenant.account().ready = now[0] + 10
    with pytest.raises(OSError, match="502"):
        tenant.ask("GET", f"https://{HOST}/")
    now[0] += 10
    assert tenant.ask("GET", f"https://{HOST}/").status == 400


@pytest.mark.parametrize("cloud", CLOUDS, ids=lambda cloud: cloud.name)
def test_each_cloud_has_its_own_hosts_and_authority(tenant: Tenant, cloud: Any) -> None:
    there = Tenant(tenant.sandbox, cloud)
    there.container()
    there.assign()
    there.files(there.operator).upload_blob("a", b"x")
    others = [one for one in CLOUDS if one is not cloud]
    for other in others:
        with pytest.raises(OSError, match="502"):
            tenant.ask("GET", f"https://{ACCOUNT}.blob.{other.suffix}/")
    challenge = tenant.ask(
        "GET", f"https://{ACCOUNT}.blob.{cloud.suffix}/{CONTAINER}/a", NEW
    ).headers["www-authenticate"]
    assert cloud.authority in challenge


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        (Fault.THROTTLED, (503, "ServerBusy")),
        (Fault.UNAVAILABLE, (503, "ServerBusy")),
        (Fault.BROKEN, (500, "InternalError")),
    ],
)
def test_bad_weather_is_told_in_the_services_words(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch, fault: Fault, expected: tuple[int, str]
) -> None:
    tenant.container()
    monkeypatch.setattr(tenant.sandbox.faults, "strike", lambda: fault)
    assert refused(lambda: tenant.files(KEYS[0]).upload_blob("a", b"x")) == expected


def test_what_was_done_is_recorded_with_what_it_needs(tenant: Tenant) -> None:
    tenant.container("Blob")
    tenant.assign(DATA_OWNER)
    files = tenant.files(tenant.operator)
    files.upload_blob("a", b"x", tags={"k": "v"})
    put = tenant.sandbox.record[-1]
    assert (put.action, put.mutating, put.permissions) == (
        f"{BLOB}/write",
        True,
        (f"{BLOB}/write", f"{BLOB}/tags/write"),
    )
    files.download_blob("a").readall()
    read = tenant.sandbox.record[-1]
    assert (read.action, read.mutating, read.permissions) == (
        f"{BLOB}/read",
        False,
        (f"{BLOB}/read",),
    )
    tenant.ask("GET", f"{URL}/a")
    assert tenant.sandbox.record[-1].permissions == ()


@pytest.mark.parametrize(
    ("method", "url", "headers", "expected"),
    [
        ("GET", f"{URL}/a", {"x-ms-version": "yesterday"}, (400, "InvalidHeaderValue")),
        ("GET", f"{URL}/a?comp=nonsense", {}, (400, "InvalidQueryParameterValue")),
        ("DELETE", f"https://{HOST}/?comp=list", {}, (405, "UnsupportedHttpVerb")),
        ("PUT", f"{URL}/a", {}, (400, "MissingRequiredHeader")),
        ("PUT", f"{URL}/a", {"x-ms-blob-type": "PageBlob"}, (400, "InvalidHeaderValue")),
        ("PUT", f"{URL}/a?comp=tags", {}, (400, "InvalidXmlDocument")),
        (
            "GET",
            f"{URL}?restype=container&comp=list&marker=%21",
            {},
            (400, "InvalidQueryParameterValue"),
        ),
    ],
)
def test_what_makes_no_sense_is_told(
    tenant: Tenant, method: str, url: str, headers: dict[str, str], expected: tuple[int, str]
) -> None:
    tenant.container()
    tenant.assign(DATA_OWNER)
    answer = tenant.ask(method, url, bearer(tenant) | headers)
    assert (answer.status, answer.headers["x-ms-error-code"]) == expected


def test_all_is_gone_after_a_reset(tenant: Tenant) -> None:
    tenant.container()
    tenant.blobs(KEYS[0]).get_blob_client(CONTAINER, "a").stage_block("AAAA", b"x")
    tenant.sandbox.reset()
    tenant.container()
    client = tenant.files(KEYS[0]).get_blob_client("a")
    assert refused(lambda: client.commit_block_list([BlobBlock("AAAA")])) == (
        400,
        "InvalidBlockList",
    )
