"""Entra in the sandbox: a secret or a federated token opens what it would open, and each refusal has its own number."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import jwt
import pytest
from azure.core.exceptions import ClientAuthenticationError
from azure.identity import ClientSecretCredential, WorkloadIdentityCredential
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from cwiictl.issuer.stores.mint import Mint
from cwiictl.sandbox.azure.world import CLIENT, OPERATOR, SECRET, TENANT, Credential
from cwiictl.sandbox.faults import Fault
from cwiictl.sandbox.tokens import Checker
from tests.cwiictl.sandbox.azure.tenant import (
    AUDIENCE,
    ISSUER,
    MANAGEMENT,
    STORAGE,
    SUBJECT,
    WORKLOAD,
    Begin,
    Tenant,
    assertion,
)
from tests.cwiictl.sandbox.visitor import Answer, key_set, signing_key

ENDPOINT = f"https://login.microsoftonline.com/{TENANT}/oauth2/v2.0/token"
KIND = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"


def numbers(call: Callable[[], Any]) -> int:
    """The number of the refusal that the SDK tells."""
    with pytest.raises(ClientAuthenticationError) as caught:
        call()
    found = re.search(r"AADSTS(\d+):", str(caught.value))
    assert found is not None, caught.value
    return int(found[1])


def workload(tenant: Tenant, folder: Path, text: str, **changes: Any) -> WorkloadIdentityCredential:
    file = folder / "token"
    file.write_text(text, encoding="ascii")
    asked = {"tenant_id": TENANT, "client_id": WORKLOAD, "token_file_path": str(file), **changes}
    return WorkloadIdentityCredential(**asked, **tenant.options)


def post(tenant: Tenant, endpoint: str = ENDPOINT, **form: str) -> Answer:
    known = {
        "grant_type": "client_credentials",
        "client_id": CLIENT,
        "client_secret": SECRET,
        "scope": MANAGEMENT,
        **form,
    }
    body = urlencode({name: value for name, value in known.items() if value}).encode()
    return tenant.ask(
        "POST",
        endpoint,
        {"Content-Type": "application/x-www-form-urlencoded", "client-request-id": "corr"},
        body,
    )


def said(answer: Answer) -> tuple[int, str, int]:
    body = json.loads(answer.body)
    return answer.status, body["error"], body["error_codes"][0]


def test_the_operators_secret_gets_a_token_that_a_tool_can_check(tenant: Tenant) -> None:
    text = tenant.operator.get_token(MANAGEMENT).token
    keys = json.loads(
        tenant.ask("GET", f"https://login.microsoftonline.com/{TENANT}/discovery/v2.0/keys").body
    )
    claims = jwt.decode(
        text,
        jwt.PyJWKSet.from_dict(keys).keys[0],
        algorithms=["RS256"],
        audience="https://management.azure.com",
    )
    assert (claims["oid"], claims["tid"], claims["appid"], claims["idtyp"]) == (
        OPERATOR,
        TENANT,
        CLIENT,
        "app",
    )
    assert claims["iss"] == f"https://sts.windows.net/{TENANT}/"
    assert 3500 < claims["exp"] - time.time() <= 3600


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"client_secret": "wrong"}, (401, "invalid_client", 7000215)),
        ({"client_secret": ""}, (401, "invalid_client", 7000216)),
        (
            {"client_id": "00000000-0000-0000-0000-000000000009"},
            (400, "unauthorized_client", 700016),
        ),
        ({"client_id": ""}, (400, "invalid_request", 900144)),
        ({"scope": ""}, (400, "invalid_request", 900144)),
        ({"grant_type": "password"}, (400, "unsupported_grant_type", 70003)),
        ({"scope": "https://management.azure.com"}, (400, "invalid_scope", 1002012)),
        ({"scope": "https://nowhere.example.org/.default"}, (400, "invalid_resource", 500011)),
        (
            {"scope": "https://management.usgovcloudapi.net/.default"},
            (400, "invalid_resource", 500011),
        ),
        (
            {"client_secret": "", "client_assertion": "x", "client_assertion_type": KIND},
            (401, "invalid_client", 70025),
        ),
        (
            {"client_secret": "", "client_assertion": "x", "client_assertion_type": "x"},
            (400, "invalid_request", 50027),
        ),
    ],
)
def test_a_wrong_request_is_refused_with_its_number(
    tenant: Tenant, changes: dict[str, str], expected: tuple[int, str, int]
) -> None:
    assert said(post(tenant, **changes)) == expected


def test_a_refusal_has_all_that_support_would_ask_for(tenant: Tenant) -> None:
    answer = post(tenant, client_secret="wrong")
    body = json.loads(answer.body)
    assert set(body) == {
        "error",
        "error_description",
        "error_codes",
        "timestamp",
        "trace_id",
        "correlation_id",
        "error_uri",
    }
    assert body["correlation_id"] == "corr"
    assert body["trace_id"] == answer.headers["x-ms-request-id"]
    pattern = r"AADSTS7000215: Invalid client secret provided\. .* Trace ID: .* Correlation ID: corr Timestamp: \d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ"
    assert re.fullmatch(pattern, body["error_description"])


@pytest.mark.parametrize(
    ("who", "expected"),
    [
        ("33333333-3333-4333-8333-333333333333", (400, "invalid_request", 90002)),
        ("common", (400, "invalid_request", 50059)),
    ],
)
def test_another_tenant_is_not_here(
    tenant: Tenant, who: str, expected: tuple[int, str, int]
) -> None:
    assert said(post(tenant, ENDPOINT.replace(TENANT, who))) == expected


def test_the_sdk_cannot_even_find_an_unknown_tenant(tenant: Tenant) -> None:
    stranger = ClientSecretCredential(
        "33333333-3333-4333-8333-333333333333", CLIENT, SECRET, **tenant.options
    )
    with pytest.raises(ClientAuthenticationError, match="Unable to get authority configuration"):
        stranger.get_token(MANAGEMENT)


def test_a_tenant_is_the_same_in_capitals(tenant: Tenant) -> None:
    assert (
        post(tenant, ENDPOINT.replace(TENANT, TENANT.upper()), client_id=CLIENT.upper()).status
        == 200
    )


def test_the_first_version_asks_for_a_resource(tenant: Tenant) -> None:
    endpoint = ENDPOINT.replace("v2.0/", "")
    body = json.loads(
        post(tenant, endpoint, scope="", resource="https://management.azure.com/").body
    )
    assert (body["expires_in"], body["resource"]) == ("3599", "https://management.azure.com/")
    assert (
        jwt.decode(body["access_token"], options={"verify_signature": False})["aud"]
        == "https://management.azure.com/"
    )
    assert said(post(tenant, endpoint)) == (400, "invalid_request", 900144)


def test_a_minted_token_of_the_created_key_gets_an_access_token(
    tenant: Tenant, tmp_path: Path
) -> None:
    key = signing_key(0).private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    text = Mint(key, "a key", ISSUER).token("kube-system", "csi", AUDIENCE, 3600)
    tenant.publish(key_set(**{jwt.get_unverified_header(text)["kid"]: 0}))
    identity = tenant.identity()
    access = workload(tenant, tmp_path, text).get_token(MANAGEMENT).token
    assert jwt.decode(access, options={"verify_signature": False})["oid"] == identity.principal


@pytest.mark.parametrize(
    ("claims", "number"),
    [
        ({"iss": f"{ISSUER}/"}, 700211),
        ({"iss": ISSUER.replace("cwiioidc", "CwiiOidc")}, 700211),
        ({"sub": "system:serviceaccount:kube-system:other"}, 700213),
        ({"sub": SUBJECT.upper()}, 7002138),
        ({"aud": "api://azureadtokenexchange"}, 700212),
        ({"aud": "sts.amazonaws.com"}, 700212),
        ({"exp": 1_000_000_000}, 700024),
        ({"nbf": 9_000_000_000}, 700024),
        ({"kid": "unknown"}, 7000272),
        ({"key": 1}, 700027),
        ({"exp": None}, 50027),
        ({"sub": None}, 50027),
    ],
)
def test_a_wrong_assertion_is_refused_with_its_number(
    tenant: Tenant, tmp_path: Path, claims: dict[str, Any], number: int
) -> None:
    tenant.publish(key_set(k1=0))
    tenant.identity()
    assert (
        numbers(lambda: workload(tenant, tmp_path, assertion(**claims)).get_token(MANAGEMENT))
        == number
    )


def test_what_is_no_token_is_malformed(tenant: Tenant, tmp_path: Path) -> None:
    tenant.identity()
    assert numbers(lambda: workload(tenant, tmp_path, "nonsense").get_token(MANAGEMENT)) == 50027


def test_a_token_of_another_kind_is_told_so(tenant: Tenant) -> None:
    tenant.identity()
    odd = jwt.encode(
        {"iss": ISSUER, "sub": SUBJECT, "aud": AUDIENCE},
        signing_key(0),
        algorithm="RS256",
        headers={"kid": "k1", "typ": "at+jwt"},
    )
    asked = {
        "client_secret": "",
        "client_id": WORKLOAD,
        "client_assertion": odd,
        "client_assertion_type": KIND,
    }
    assert said(post(tenant, **asked)) == (400, "invalid_request", 5002727)


def test_an_identity_that_nobody_made_is_unknown(tenant: Tenant, tmp_path: Path) -> None:
    assert numbers(lambda: workload(tenant, tmp_path, assertion()).get_token(MANAGEMENT)) == 700016


def test_an_identity_has_no_secret(tenant: Tenant) -> None:
    tenant.identity()
    assert said(post(tenant, client_id=WORKLOAD)) == (401, "invalid_client", 7000215)


def test_no_document_is_read_of_an_issuer_that_nobody_trusts(
    tenant: Tenant, tmp_path: Path
) -> None:
    tenant.publish(key_set(k1=0))
    tenant.identity(issuer="https://elsewhere.example.org")
    assert numbers(lambda: workload(tenant, tmp_path, assertion()).get_token(MANAGEMENT)) == 700211
    assert not [
        seen
        for seen in tenant.sandbox.record
        if seen.method == "GET" and seen.host.startswith("cwiioidc")
    ]


def test_documents_that_cannot_be_read_are_told(tenant: Tenant, tmp_path: Path) -> None:
    tenant.publish(key_set(k1=0))
    tenant.container("None")
    tenant.identity()
    assert numbers(lambda: workload(tenant, tmp_path, assertion()).get_token(MANAGEMENT)) == 501661


def test_documents_of_another_issuer_vouch_for_nothing(tenant: Tenant, tmp_path: Path) -> None:
    tenant.publish(key_set(k1=0), issuer=f"{ISSUER}/")
    tenant.identity()
    assert numbers(lambda: workload(tenant, tmp_path, assertion()).get_token(MANAGEMENT)) == 501661


def test_one_of_several_credentials_and_audiences_is_enough(tenant: Tenant, tmp_path: Path) -> None:
    tenant.publish(key_set(k1=0))
    identity = tenant.identity(audiences=("openshift", AUDIENCE))
    identity.credentials["other"] = Credential(
        "other", ISSUER, "system:serviceaccount:a:b", (AUDIENCE,), 0.0
    )
    assert workload(tenant, tmp_path, assertion(aud=["openshift"])).get_token(STORAGE).token


def test_new_identities_and_credentials_are_seen_late(begin: Begin, tmp_path: Path) -> None:
    now = [time.time()]
    tenant = begin(lag=60.0, clock=lambda: now[0])
    tenant.publish(key_set(k1=0))
    identity = tenant.identity(born=now[0])
    identity.born = now[0]
    asked = lambda: workload(tenant, tmp_path, assertion()).get_token(MANAGEMENT)
    assert numbers(asked) == 700016
    identity.born = 0.0
    assert numbers(asked) == 70025
    identity.credentials["old"] = Credential("old", f"{ISSUER}/", SUBJECT, (AUDIENCE,), 0.0)
    assert numbers(asked) == 700211
    now[0] += 60
    assert asked().token


def test_when_credentials_have_expired_it_is_the_secret_that_has(
    begin: Begin, tmp_path: Path
) -> None:
    tenant = begin(expired=True)
    assert numbers(lambda: tenant.operator.get_token(MANAGEMENT)) == 7000222
    tenant.publish(key_set(k1=0))
    tenant.identity()
    assert workload(tenant, tmp_path, assertion()).get_token(MANAGEMENT).token


@pytest.mark.parametrize(
    ("authority", "management", "other"),
    [
        ("login.microsoftonline.us", "https://management.usgovcloudapi.net/.default", MANAGEMENT),
        ("login.chinacloudapi.cn", "https://management.chinacloudapi.cn/.default", MANAGEMENT),
        ("login.microsoftonline.com", MANAGEMENT, "https://management.chinacloudapi.cn/.default"),
    ],
)
def test_each_cloud_gives_tokens_for_its_own(
    tenant: Tenant, authority: str, management: str, other: str
) -> None:
    credential = ClientSecretCredential(
        TENANT, CLIENT, SECRET, authority=authority, **tenant.options
    )
    assert credential.get_token(management).token
    assert credential.get_token(STORAGE).token
    assert numbers(lambda: credential.get_token(other)) == 500011


def test_an_account_is_an_audience_of_its_own(tenant: Tenant) -> None:
    access = tenant.operator.get_token("https://cwiioidc.blob.core.windows.net/.default").token
    assert (
        jwt.decode(access, options={"verify_signature": False})["aud"]
        == "https://cwiioidc.blob.core.windows.net"
    )


def test_authorities_are_known_to_each_other(tenant: Tenant) -> None:
    asked = f"https://login.microsoftonline.com/common/discovery/instance?api-version=1.1&authorization_endpoint=https://login.microsoftonline.us/{TENANT}/oauth2/v2.0/authorize"
    found = json.loads(tenant.ask("GET", asked).body)
    assert (
        found["tenant_discovery_endpoint"]
        == f"https://login.microsoftonline.us/{TENANT}/v2.0/.well-known/openid-configuration"
    )
    assert {"login.windows.net", "login.microsoftonline.com"} <= set(
        found["metadata"][0]["aliases"]
    )
    assert said(tenant.ask("GET", asked.replace("microsoftonline.us", "example.org"))) == (
        400,
        "invalid_instance",
        50049,
    )


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        (Fault.THROTTLED, (429, "temporarily_unavailable", 90055)),
        (Fault.UNAVAILABLE, (503, "temporarily_unavailable", 90033)),
        (Fault.BROKEN, (500, "server_error", 50000)),
    ],
)
def test_bad_weather_is_told_in_entras_words(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch, fault: Fault, expected: tuple[int, str, int]
) -> None:
    monkeypatch.setattr(tenant.sandbox.faults, "strike", lambda: fault)
    assert said(post(tenant)) == expected


def test_asking_for_a_token_is_no_write(tenant: Tenant) -> None:
    post(tenant)
    seen = tenant.sandbox.record[-1]
    assert (seen.action, seen.mutating, seen.permissions, seen.status) == (
        "Entra/token",
        False,
        (),
        200,
    )


def test_what_a_tool_would_check_is_what_clouds_check(tenant: Tenant) -> None:
    """The documents that Entra itself serves pass for those of an issuer."""
    found = json.loads(
        tenant.ask(
            "GET",
            f"https://login.microsoftonline.com/{TENANT}/v2.0/.well-known/openid-configuration",
        ).body
    )
    checker = Checker(lambda url: tenant.ask("GET", url).body, time.time)
    assert checker._keys(found["issuer"])[0]  # pyright: ignore[reportPrivateUsage] - the double is looked into from here alone
