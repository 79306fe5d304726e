"""STS in the sandbox: a token opens a role only if it would on AWS."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Callable
from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.cwiictl.sandbox.visitor import (
    ACCOUNT,
    BUCKET,
    HOST,
    ISSUER,
    PROVIDER,
    SUBJECT,
    Visitor,
    discovery,
    key_set,
    refusal,
    token,
    trust,
)

Enter = Callable[..., Visitor]


def refused(call: Callable[[], Any]) -> tuple[str, int]:
    with pytest.raises(ClientError) as caught:
        call()
    return refusal(caught.value)


def as_somebody(visitor: Visitor, credentials: Any) -> Visitor:
    return Visitor(
        visitor.sandbox,
        credentials["AccessKeyId"],
        credentials["SecretAccessKey"],
        credentials["SessionToken"],
    )


def test_a_right_token_gets_credentials_that_work(visitor: Visitor) -> None:
    visitor.federate()
    answer = visitor.assume(token())
    assert answer["SubjectFromWebIdentityToken"] == SUBJECT
    assert (answer["Audience"], answer["Provider"]) == ("sts.amazonaws.com", PROVIDER)
    somebody = as_somebody(visitor, answer["Credentials"]).sts.get_caller_identity()
    assert (
        somebody["Arn"]
        == answer["AssumedRoleUser"]["Arn"]
        == f"arn:aws:sts::{ACCOUNT}:assumed-role/r/someone"
    )
    assert somebody["UserId"] == answer["AssumedRoleUser"]["AssumedRoleId"]


@pytest.mark.parametrize(
    ("wrong", "code", "status"),
    [
        ({"aud": "another"}, "InvalidIdentityToken", 400),
        ({"aud": None}, "InvalidIdentityToken", 400),
        ({"sub": "system:serviceaccount:kube-system:other"}, "AccessDenied", 403),
        ({"sub": SUBJECT.upper()}, "AccessDenied", 403),
        ({"iss": "https://elsewhere.example.org"}, "InvalidIdentityToken", 400),
        ({"iss": f"{ISSUER}/"}, "InvalidIdentityToken", 400),
        ({"key": 1}, "InvalidIdentityToken", 400),
        ({"kid": "unknown"}, "InvalidIdentityToken", 400),
        ({"exp": 1_000_000_000}, "ExpiredTokenException", 400),
        ({"nbf": 9_000_000_000}, "InvalidIdentityToken", 400),
        ({"exp": None}, "InvalidIdentityToken", 400),
    ],
)
def test_a_wrong_token_is_refused_as_sts_would(
    visitor: Visitor, wrong: dict[str, Any], code: str, status: int
) -> None:
    visitor.federate()
    assert refused(lambda: visitor.assume(token(**wrong))) == (code, status)


def test_what_is_no_token_is_refused(visitor: Visitor) -> None:
    visitor.federate()
    assert refused(lambda: visitor.assume("nonsense")) == ("InvalidIdentityToken", 400)


@pytest.mark.parametrize(
    "header",
    [{"alg": "none", "kid": "k1"}, {"alg": "HS256", "kid": "k1"}, {"alg": "RS256", "kid": 7}],
)
def test_other_signatures_than_rs256_are_refused(visitor: Visitor, header: dict[str, Any]) -> None:
    visitor.federate()
    head = base64.urlsafe_b64encode(json.dumps(header).encode()).rstrip(b"=").decode()
    assert refused(lambda: visitor.assume(f"{head}.{token().partition('.')[2]}")) == (
        "InvalidIdentityToken",
        400,
    )


def test_a_role_that_is_not_there_is_not_told_from_one_that_does_not_trust(
    visitor: Visitor,
) -> None:
    visitor.federate()
    assert refused(lambda: visitor.assume(token(), role="none")) == ("AccessDenied", 403)


def test_without_a_provider_no_token_is_good(visitor: Visitor) -> None:
    visitor.open_bucket()
    visitor.publish()
    visitor.iam.create_role(RoleName="r", AssumeRolePolicyDocument=trust())
    assert refused(lambda: visitor.assume(token())) == ("InvalidIdentityToken", 400)


def test_documents_that_cannot_be_read_are_a_matter_of_communication(visitor: Visitor) -> None:
    visitor.federate()
    visitor.s3.delete_bucket_policy(Bucket=BUCKET)
    assert refused(lambda: visitor.assume(token())) == ("IDPCommunicationError", 400)


@pytest.mark.parametrize(
    "document",
    [
        b"nonsense",
        b"[]",
        b"{}",
        discovery(f"{ISSUER}/"),
        discovery().replace(b'uri": "https', b'uri": "http'),
    ],
)
def test_documents_of_somebody_else_vouch_for_nothing(visitor: Visitor, document: bytes) -> None:
    visitor.federate()
    visitor.s3.put_object(Bucket=BUCKET, Key=".well-known/openid-configuration", Body=document)
    assert refused(lambda: visitor.assume(token())) == ("InvalidIdentityToken", 400)


@pytest.mark.parametrize(
    ("condition", "good"),
    [
        ({}, True),
        ({"StringEquals": {f"{HOST}:SUB": [SUBJECT, "another"]}}, True),
        ({"StringEquals": {f"{HOST}:sub": SUBJECT, f"{HOST}:aud": "another"}}, False),
        ({"StringLike": {f"{HOST}:sub": "system:serviceaccount:kube-system:*"}}, True),
        ({"StringLike": {f"{HOST}:sub": "system:serviceaccount:default:*"}}, False),
        ({"ForAnyValue:StringEquals": {f"{HOST}:aud": ["sts.amazonaws.com"]}}, True),
        ({"StringEquals": {"elsewhere.example.org:sub": SUBJECT}}, False),
        ({"StringNotEquals": {f"{HOST}:sub": SUBJECT}}, False),
        ({"NumericEquals": {f"{HOST}:sub": SUBJECT}}, False),
    ],
)
def test_the_conditions_of_a_trust_decide(
    visitor: Visitor, condition: dict[str, Any], good: bool
) -> None:
    visitor.federate()
    visitor.iam.update_assume_role_policy(RoleName="r", PolicyDocument=trust(Condition=condition))
    if good:
        visitor.assume(token())
    else:
        assert refused(lambda: visitor.assume(token())) == ("AccessDenied", 403)


@pytest.mark.parametrize(
    "change",
    [
        {"Effect": "Deny"},
        {"Principal": {"Federated": f"{PROVIDER}x"}},
        {"Action": "sts:AssumeRole"},
    ],
)
def test_a_trust_for_something_else_does_not_count(
    visitor: Visitor, change: dict[str, Any]
) -> None:
    visitor.federate()
    visitor.iam.update_assume_role_policy(RoleName="r", PolicyDocument=trust(**change))
    assert refused(lambda: visitor.assume(token())) == ("AccessDenied", 403)


def test_credentials_of_a_role_end(enter: Enter) -> None:
    now = [time.time()]
    visitor = enter(clock=lambda: now[0])
    visitor.federate()
    somebody = as_somebody(visitor, visitor.assume(token())["Credentials"])
    now[0] += 3601
    assert refused(somebody.sts.get_caller_identity) == ("ExpiredToken", 403)
    assert refused(somebody.s3.list_buckets) == ("ExpiredToken", 400)


def test_a_roles_key_without_its_token_is_nobodys(visitor: Visitor) -> None:
    visitor.federate()
    somebody = as_somebody(visitor, visitor.assume(token())["Credentials"])
    somebody.session_token = "another"
    assert refused(somebody.iam.list_roles) == ("InvalidClientTokenId", 403)


def test_a_session_is_no_longer_than_the_role_allows(visitor: Visitor) -> None:
    visitor.federate()
    arn = f"arn:aws:iam::{ACCOUNT}:role/r"
    call = lambda: visitor.sts.assume_role_with_web_identity(
        RoleArn=arn, RoleSessionName="some", WebIdentityToken=token(), DurationSeconds=3601
    )
    assert refused(call) == ("ValidationError", 400)


def test_a_role_for_the_account_is_assumed_with_the_accounts_key(visitor: Visitor) -> None:
    allowed = trust(
        Principal={"AWS": f"arn:aws:iam::{ACCOUNT}:root"}, Action="sts:AssumeRole", Condition={}
    )
    visitor.iam.create_role(RoleName="mine", AssumeRolePolicyDocument=allowed)
    visitor.iam.create_role(RoleName="other", AssumeRolePolicyDocument=trust())
    answer = visitor.sts.assume_role(
        RoleArn=f"arn:aws:iam::{ACCOUNT}:role/mine", RoleSessionName="some"
    )
    assert (
        as_somebody(visitor, answer["Credentials"])
        .sts.get_caller_identity()["Arn"]
        .endswith("assumed-role/mine/some")
    )
    assert refused(
        lambda: visitor.sts.assume_role(
            RoleArn=f"arn:aws:iam::{ACCOUNT}:role/other", RoleSessionName="some"
        )
    ) == ("AccessDenied", 403)


def test_a_cached_key_set_is_read_again_for_an_unknown_key(enter: Enter) -> None:
    visitor = enter(jwks_cache=300.0)
    visitor.federate()
    visitor.assume(token())
    visitor.s3.put_object(Bucket=BUCKET, Key="keys.json", Body=key_set(k1=0, k2=1))
    visitor.assume(token(key=1, kid="k2"))
    assert reads(visitor) == 2


def test_a_cloud_that_does_not_look_again_knows_a_new_key_only_later(enter: Enter) -> None:
    now = [time.time()]
    visitor = enter(jwks_cache=300.0, jwks_refetch=False, clock=lambda: now[0])
    visitor.federate()
    visitor.assume(token())
    visitor.s3.put_object(Bucket=BUCKET, Key="keys.json", Body=key_set(k1=0, k2=1))
    assert refused(lambda: visitor.assume(token(key=1, kid="k2"))) == ("InvalidIdentityToken", 400)
    now[0] += 301
    visitor.assume(token(key=1, kid="k2"))
    assert reads(visitor) == 2


def reads(visitor: Visitor) -> int:
    return sum(
        1
        for seen in visitor.sandbox.record
        if seen.path == "/keys.json" and seen.action == "s3:GetObject"
    )
