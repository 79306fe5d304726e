"""A workload's token for one of Google's: directly, and as a service account."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from google.auth.exceptions import OAuthError, RefreshError

from cwiictl.sandbox.gcp.world import PROJECT, World
from tests.cwiictl.sandbox.gcp.owner import (
    ACCOUNT,
    AUDIENCE,
    BUCKET,
    ISSUER,
    POOL,
    PRINCIPAL,
    STORAGE,
    SUBJECT,
    Begin,
    Owner,
    bearer,
    claimed,
    impersonation,
)
from tests.cwiictl.sandbox.visitor import key_set

USER = "roles/iam.workloadIdentityUser"
INSIDE = "google.subject"


def refused(owner: Owner, assertion: str, **changes: str) -> tuple[str, str]:
    status, told = owner.exchange(assertion, **changes)
    assert status == 400, told
    return told["error"], told["error_description"]


def test_a_workload_reads_a_bucket_as_itself(owner: Owner, tmp_path: Path) -> None:
    owner.publish()
    owner.trust()
    owner.grant("roles/storage.objectViewer", PRINCIPAL)
    names = [blob.name for blob in owner.storage_of(owner.workload(tmp_path)).list_blobs(BUCKET)]
    assert names == [".well-known/openid-configuration", "keys.json"]


def test_a_workload_may_do_what_was_granted_to_it_and_no_more(owner: Owner, tmp_path: Path) -> None:
    owner.publish()
    owner.trust()
    answer = owner.session_of(owner.workload(tmp_path)).post(
        f"{STORAGE}?project={PROJECT}", json={"name": "another"}
    )
    assert answer.status_code == 403
    assert answer.json()["error"]["message"].startswith(
        f"{PRINCIPAL} does not have storage.buckets.create access to the Google Cloud project."
    )


def test_a_workload_becomes_a_service_account_that_lets_it(owner: Owner, tmp_path: Path) -> None:
    owner.publish()
    owner.trust()
    owner.allow(owner.account(), USER, PRINCIPAL)
    token = owner.refresh(owner.workload(tmp_path, email=ACCOUNT))
    with owner.world.lock:
        assert owner.tokens._issued[token][0].member == f"serviceAccount:{ACCOUNT}"  # pyright: ignore[reportPrivateUsage] - the double is looked into from here alone


@pytest.mark.parametrize(
    ("mapping", "member"),
    [
        ({}, f"principalSet://iam.googleapis.com/{POOL}/*"),
        (
            {"attribute.ns": "assertion['kubernetes.io']['namespace']"},
            f"principalSet://iam.googleapis.com/{POOL}/attribute.ns/kube-system",
        ),
        (
            {"google.groups": "['drivers', 'all']"},
            f"principalSet://iam.googleapis.com/{POOL}/group/drivers",
        ),
    ],
)
def test_a_service_account_lets_whole_crowds(
    owner: Owner, tmp_path: Path, mapping: dict[str, str], member: str
) -> None:
    owner.publish()
    owner.trust(attributeMapping={"google.subject": "assertion.sub", **mapping})
    owner.allow(owner.account(), USER, member)
    claims: dict[str, Any] = {"kubernetes.io": {"namespace": "kube-system"}}
    assertion = claimed(**claims)
    assert owner.refresh(owner.workload(tmp_path, assertion, ACCOUNT))


def test_a_service_account_lets_nobody_who_is_not_named(owner: Owner, tmp_path: Path) -> None:
    owner.publish()
    owner.trust()
    owner.allow(owner.account(), USER, PRINCIPAL.replace("csi", "another"))
    with pytest.raises(
        RefreshError,
        match=r"iam\.serviceAccounts\.getAccessToken.* denied on resource \(or it may not exist\)",
    ):
        owner.refresh(owner.workload(tmp_path, email=ACCOUNT))


def test_a_service_account_that_is_not_there_is_told(owner: Owner) -> None:
    answer = owner.session.post(impersonation(ACCOUNT), json={"scope": ["x"]})
    assert answer.status_code == 404
    assert answer.json()["error"]["message"] == f"Not found; Gaia id not found for email {ACCOUNT}"


def test_a_token_does_not_outlive_its_service_account(owner: Owner) -> None:
    headers = owner.issue(owner.account())
    assert owner.ask("GET", f"{STORAGE}/none", headers=headers).status == 404
    owner.session.delete(
        f"https://iam.googleapis.com/v1/projects/{PROJECT}/serviceAccounts/{ACCOUNT}"
    ).raise_for_status()
    owner.account()
    assert owner.ask("GET", f"{STORAGE}/none", headers=headers).status == 401


WRONG: list[tuple[dict[str, Any], str, str]] = [
    (
        {"aud": ["https://elsewhere"]},
        "invalid_grant",
        "The audience in ID Token [https://elsewhere] does not match the expected audience",
    ),
    (
        {"iss": "https://elsewhere.example.org"},
        "invalid_grant",
        "The issuer in ID Token https://elsewhere.example.org does not match",
    ),
    ({"key": 1}, "invalid_grant", "Unable to verify the ID Token signature."),
    ({"kid": "k2"}, "invalid_grant", "Unable to verify the ID Token signature."),
    ({"exp": 1_700_000_000, "iat": 1_699_999_000}, "invalid_grant", "The ID Token has expired."),
    (
        {"iat": int(time.time()) + 36_000, "exp": int(time.time()) + 39_600},
        "invalid_grant",
        "The ID Token is not valid yet.",
    ),
    (
        {"iat": int(time.time()) - 60, "exp": int(time.time()) + 24 * 3600},
        "invalid_grant",
        "The lifetime of the ID Token is 86460 seconds",
    ),
    (
        {"sub": f"system:serviceaccount:{'n' * 63}:{'s' * 43}"},
        "invalid_request",
        "The size of mapped attribute google.subject exceeds the 127 bytes limit.",
    ),
    ({"sub": None}, "invalid_request", "Unable to parse the ID Token."),
]


@pytest.mark.parametrize(
    ("claims", "error", "words"), WRONG, ids=[" ".join(one[0]) for one in WRONG]
)
def test_a_token_that_says_something_else_is_refused(
    owner: Owner, claims: dict[str, Any], error: str, words: str
) -> None:
    owner.publish()
    owner.trust()
    assert owner.exchange(claimed())[0] == 200
    told = refused(owner, claimed(**claims))
    assert told[0] == error
    assert told[1].startswith(words)


def test_a_subject_of_127_bytes_is_taken(owner: Owner) -> None:
    owner.publish()
    owner.trust()
    subject = f"system:serviceaccount:{'n' * 63}:{'s' * 41}"
    assert len(subject) == 127
    assert owner.exchange(claimed(sub=subject))[0] == 200


def test_an_audience_is_one_of_those_allowed_or_the_provider_itself(owner: Owner) -> None:
    owner.publish()
    owner.trust(oidc={"issuerUri": ISSUER, "allowedAudiences": ["openshift", "vault"]})
    assert owner.exchange(claimed(aud="vault"))[0] == 200
    assert refused(owner, claimed())[0] == "invalid_grant"
    owner.session.patch(
        f"https://iam.googleapis.com/v1/{AUDIENCE[21:]}?updateMask=oidc",
        json={"oidc": {"issuerUri": ISSUER}},
    )
    assert owner.exchange(claimed(aud=AUDIENCE))[0] == 200


def test_a_provider_is_named_in_full(owner: Owner) -> None:
    owner.publish()
    owner.trust()
    assert refused(owner, claimed(), audience=AUDIENCE[2:])[1].startswith(
        'Invalid value for "audience". This value should be the full resource name'
    )
    assert (
        refused(owner, claimed(), audience=AUDIENCE.replace("oidc", "other"))[0] == "invalid_target"
    )
    assert (
        refused(owner, claimed(), audience=AUDIENCE.replace("123456789012", PROJECT))[0]
        == "invalid_target"
    )


def _disable_provider(world: World) -> None:
    world.pools[PROJECT, "cluster"].providers["oidc"].disabled = True


def _disable_pool(world: World) -> None:
    world.pools[PROJECT, "cluster"].disabled = True


def _delete_provider(world: World) -> None:
    world.pools[PROJECT, "cluster"].providers["oidc"].deleted = time.time()


def _delete_pool(world: World) -> None:
    world.pools[PROJECT, "cluster"].deleted = time.time()


@pytest.mark.parametrize(
    "change", [_disable_provider, _disable_pool, _delete_provider, _delete_pool]
)
def test_who_is_disabled_or_deleted_believes_nobody(
    owner: Owner, change: Callable[[World], None]
) -> None:
    owner.publish()
    owner.trust()
    change(owner.world)
    assert refused(owner, claimed())[0] == "invalid_target"


def test_keys_that_were_uploaded_stand_for_an_issuer_that_nobody_can_reach(owner: Owner) -> None:
    owner.trust(
        oidc={"issuerUri": "https://nowhere.example.org", "jwksJson": key_set(k1=0).decode()}
    )
    assert owner.exchange(claimed(iss="https://nowhere.example.org"))[0] == 200
    assert (
        refused(owner, claimed(1, iss="https://nowhere.example.org"))[1]
        == "Unable to verify the ID Token signature."
    )


def test_an_issuer_whose_documents_are_not_there_or_not_public_is_not_believed(
    owner: Owner,
) -> None:
    owner.trust()
    assert refused(owner, claimed()) == (
        "invalid_grant",
        "Error connecting to the given credential's issuer.",
    )
    owner.publish()
    assert owner.exchange(claimed())[0] == 200
    owner.world.buckets[BUCKET].prevention = "enforced"
    assert refused(owner, claimed())[0] == "invalid_grant"


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        ("assertion.sub.startsWith('system:serviceaccount:kube-system:')", True),
        ("assertion.sub.startsWith('system:serviceaccount:default:')", False),
        (f"assertion.sub in ['x', '{SUBJECT}'] && google.subject != 'y'", True),
        ("assertion.sub == 'x' || attribute.kind == 'serviceaccount'", True),
        ("assertion.missing == 'x'", False),
        ("!has(assertion.missing) && size(assertion.sub) < 50", True),
        ("assertion.sub.matches('^system:.*:csi$')", True),
    ],
)
def test_a_condition_decides(owner: Owner, condition: str, holds: bool) -> None:
    owner.publish()
    owner.trust(
        attributeMapping={INSIDE: "assertion.sub", "attribute.kind": "assertion.sub.split(':')[1]"},
        attributeCondition=condition,
    )
    if holds:
        assert owner.exchange(claimed())[0] == 200
    else:
        assert refused(owner, claimed()) == (
            "unauthorized_client",
            "The given credential is rejected by the attribute condition.",
        )


def test_a_mapping_that_finds_no_subject_is_told(owner: Owner) -> None:
    owner.publish()
    owner.trust(attributeMapping={INSIDE: "assertion.email"})
    assert refused(owner, claimed()) == (
        "invalid_request",
        "Could not obtain a value for google.subject from the given credential.",
    )


def test_trust_is_late_where_things_are(begin: Begin) -> None:
    now = [time.time()]
    owner = begin(deploy=0, lag=30.0, clock=lambda: now[0])
    owner.trust(oidc={"issuerUri": ISSUER, "jwksJson": key_set(k1=0).decode()})
    assert refused(owner, claimed())[0] == "invalid_target"
    now[0] += 31
    assert owner.exchange(claimed())[0] == 200


def test_an_api_that_is_off_is_told_as_google_tells_it(owner: Owner) -> None:
    owner.publish()
    owner.trust()
    owner.project.services.pop("sts.googleapis.com")
    status, told = owner.exchange(claimed())
    assert (status, told["error"]["details"][0]["reason"]) == (403, "SERVICE_DISABLED")


def test_a_question_that_is_none_is_refused(owner: Owner) -> None:
    owner.trust()
    assert refused(owner, claimed(), grant_type="password")[0] == "unsupported_grant_type"
    assert (
        refused(owner, claimed(), subject_token_type="urn:ietf:params:aws:token-type:aws4_request")[
            0
        ]
        == "invalid_request"
    )
    assert refused(owner, "", scope="x")[1] == 'Missing required parameter: "subject_token".'
    assert refused(owner, claimed(), scope="")[0] == "invalid_scope"
    assert refused(owner, "no.such.token") == ("invalid_request", "Unable to parse the ID Token.")


def test_a_question_may_be_json(owner: Owner) -> None:
    owner.publish()
    owner.trust()
    asked = {
        "grantType": "urn:ietf:params:oauth:grant-type:token-exchange",
        "audience": AUDIENCE,
        "scope": "x",
        "subjectTokenType": "urn:ietf:params:oauth:token-type:jwt",
        "subjectToken": claimed(),
    }
    answer = owner.plain.post("https://sts.googleapis.com/v1/token", json=asked)
    assert (answer.status_code, answer.json()["token_type"]) == (200, "Bearer")


def test_google_auth_tells_what_sts_told(owner: Owner, tmp_path: Path) -> None:
    owner.publish()
    owner.trust()
    with pytest.raises(OAuthError, match="Error code invalid_grant: The ID Token has expired"):
        owner.refresh(owner.workload(tmp_path, claimed(exp=1_700_000_000, iat=1_699_999_999)))


def test_a_lifetime_is_an_hour_at_most(owner: Owner) -> None:
    owner.allow(owner.account(), USER, "serviceAccount:" + owner.key["client_email"])
    asked: dict[str, Any] = {"scope": ["x"], "lifetime": "3600s"}
    assert (
        owner.session.post(impersonation(ACCOUNT), json=asked)
        .json()["accessToken"]
        .startswith("ya29.")
    )
    assert (
        owner.session.post(impersonation(ACCOUNT), json={**asked, "lifetime": "3601s"}).status_code
        == 400
    )
    assert owner.session.post(impersonation(ACCOUNT), json={"lifetime": "60s"}).status_code == 400


def test_a_disabled_account_is_nobody(owner: Owner) -> None:
    owner.allow(owner.account(), USER, "serviceAccount:" + owner.key["client_email"])
    owner.world.accounts[ACCOUNT].disabled = True
    assert (
        owner.session.post(impersonation(ACCOUNT), json={"scope": ["x"]}).json()["error"]["status"]
        == "FAILED_PRECONDITION"
    )


def test_whoever_owns_a_project_is_not_its_service_accounts(owner: Owner) -> None:
    owner.account()
    assert owner.session.post(impersonation(ACCOUNT), json={"scope": ["x"]}).status_code == 403


def test_every_sdk_may_ask_from_where_a_token_is_good(owner: Owner) -> None:
    caller = owner.tokens.account(owner.key["client_email"])
    assert caller is not None
    where = f"https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/{owner.key['client_email']}/allowedLocations"
    assert owner.ask("GET", where, headers=bearer(owner.tokens, caller)).status == 200
    assert owner.ask("GET", where).status == 401
