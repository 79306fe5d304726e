"""What the caller may not do: which permissions a request needs, and how each service says that one is missing."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.cwiictl.sandbox.front import Clock, Front
from tests.cwiictl.sandbox.visitor import (
    ACCOUNT,
    BUCKET,
    HOST,
    PROVIDER,
    REGION,
    Visitor,
    refusal,
    token,
    trust,
)

Enter = Callable[..., Visitor]
USER = f"arn:aws:iam::{ACCOUNT}:user/sandbox"
TAGS: Any = [{"Key": "k", "Value": "v"}]


def told(call: Callable[[], Any]) -> str:
    with pytest.raises(ClientError) as caught:
        call()
    assert refusal(caught.value) == ("AccessDenied", 403)
    found: Any = caught.value.response
    return found["Error"]["Message"]


def permissions(visitor: Visitor) -> list[tuple[str, ...]]:
    return [seen.permissions for seen in visitor.sandbox.record]


def test_iam_names_the_user_the_action_and_the_resource(enter: Enter) -> None:
    visitor = enter(deny=frozenset({"iam:Get*", "iam:CreateRole", "iam:ListRoles"}))
    because = "because no identity-based policy allows the"
    account = f"arn:aws:iam::{ACCOUNT}"
    expected = f"User: {USER} is not authorized to perform: iam:GetRole on resource: role r {because} iam:GetRole action"
    assert told(lambda: visitor.iam.get_role(RoleName="r")) == expected
    assert f" on resource: {account}:role/p/r " in told(
        lambda: visitor.iam.create_role(RoleName="r", Path="/p/", AssumeRolePolicyDocument=trust())
    )
    assert f" on resource: {account}:role/ " in told(visitor.iam.list_roles)
    assert f" on resource: {PROVIDER} " in told(
        lambda: visitor.iam.get_open_id_connect_provider(OpenIDConnectProviderArn=PROVIDER)
    )


def test_s3_and_cloudfront_and_sts_say_it_in_their_own_words(enter: Enter) -> None:
    visitor = enter(
        deny=frozenset(
            {
                "s3:PutBucketPolicy",
                "s3:GetObject",
                "cloudfront:List*",
                "cloudfront:GetDistribution",
                "sts:AssumeRole",
            }
        )
    )
    visitor.s3.create_bucket(
        Bucket=BUCKET, CreateBucketConfiguration={"LocationConstraint": REGION}
    )
    assert f'on resource: "arn:aws:s3:::{BUCKET}" because' in told(
        lambda: visitor.s3.put_bucket_policy(Bucket=BUCKET, Policy="{}")
    )
    assert f'on resource: "arn:aws:s3:::{BUCKET}/a b" because' in told(
        lambda: visitor.s3.get_object(Bucket=BUCKET, Key="a b")
    )
    assert "perform: cloudfront:ListDistributions because" in told(
        visitor.cloudfront.list_distributions
    )
    assert f"on resource: arn:aws:cloudfront::{ACCOUNT}:distribution/E1 " in told(
        lambda: visitor.cloudfront.get_distribution(Id="E1")
    )
    assert "perform: sts:AssumeRole " in told(
        lambda: visitor.sts.assume_role(
            RoleArn=f"arn:aws:iam::{ACCOUNT}:role/r", RoleSessionName="someone"
        )
    )


def test_what_is_denied_can_be_changed_and_was_not_carried_out(visitor: Visitor) -> None:
    visitor.sandbox.faults.deny = {"IAM:createrole"}
    told(lambda: visitor.iam.create_role(RoleName="r", AssumeRolePolicyDocument=trust()))
    assert visitor.iam.list_roles()["Roles"] == []
    visitor.sandbox.faults.deny.clear()
    visitor.iam.create_role(RoleName="r", AssumeRolePolicyDocument=trust())


@pytest.mark.parametrize(
    "denied", ["iam:TagRole", "iam:PutRolePermissionsBoundary", "iam:CreateRole"]
)
def test_everything_that_a_call_does_must_be_allowed(visitor: Visitor, denied: str) -> None:
    visitor.sandbox.faults.deny.add(denied)
    boundary = "arn:aws:iam::aws:policy/ReadOnlyAccess"
    make = lambda: visitor.iam.create_role(
        RoleName="r", AssumeRolePolicyDocument=trust(), Tags=TAGS, PermissionsBoundary=boundary
    )
    assert f"perform: {denied} " in told(make)


def test_heads_are_refused_without_words(visitor: Visitor) -> None:
    visitor.sandbox.faults.deny.add("s3:ListBucket")
    with pytest.raises(ClientError) as caught:
        visitor.s3.head_bucket(Bucket=BUCKET)
    assert refusal(caught.value) == ("403", 403)


def test_a_denial_is_not_for_those_who_read_without_an_account(visitor: Visitor) -> None:
    visitor.federate()
    visitor.sandbox.faults.deny.add("*")
    assert visitor.get(f"https://{HOST}/keys.json").status == 200
    visitor.assume(token())
    assert visitor.sts.get_caller_identity()["Arn"] == USER


def test_the_record_has_what_each_request_needs(visitor: Visitor) -> None:
    visitor.s3.create_bucket(
        Bucket=BUCKET, CreateBucketConfiguration={"LocationConstraint": REGION, "Tags": TAGS}
    )
    visitor.s3.head_bucket(Bucket=BUCKET)
    visitor.s3.list_objects_v2(Bucket=BUCKET)
    visitor.s3.get_public_access_block(Bucket=BUCKET)
    visitor.s3.put_object(Bucket=BUCKET, Key="k", Tagging="a=b")
    visitor.s3.delete_objects(Bucket=BUCKET, Delete={"Objects": [{"Key": "k"}]})
    visitor.iam.create_open_id_connect_provider(
        Url="https://x.example.org", ThumbprintList=["a" * 40], Tags=TAGS
    )
    visitor.sts.get_caller_identity()
    visitor.get(f"https://{HOST}/k")
    assert permissions(visitor) == [
        ("s3:CreateBucket", "s3:TagResource"),
        ("s3:ListBucket",),
        ("s3:ListBucket",),
        ("s3:GetBucketPublicAccessBlock",),
        ("s3:PutObject", "s3:PutObjectTagging"),
        ("s3:DeleteObject",),
        ("iam:CreateOpenIDConnectProvider", "iam:TagOpenIDConnectProvider"),
        (),
        (),
    ]


def test_a_distribution_with_tags_needs_two(enter: Enter) -> None:
    clock = Clock()
    front = Front(enter(clock=clock), clock)
    front.distribution()
    assert permissions(front.visitor)[-1] == (
        "cloudfront:CreateDistribution",
        "cloudfront:TagResource",
    )


def test_the_simulator_answers_from_the_same_list(visitor: Visitor) -> None:
    visitor.sandbox.faults.deny.add("iam:Create*")
    asked = ["iam:CreateRole", "iam:GetRole"]
    found = visitor.iam.simulate_principal_policy(
        PolicySourceArn=USER, ActionNames=asked, ResourceArns=["*"]
    )["EvaluationResults"]
    assert [(one["EvalActionName"], one["EvalDecision"]) for one in found] == [
        ("iam:CreateRole", "implicitDeny"),
        ("iam:GetRole", "allowed"),
    ]


def test_the_simulator_has_pages(visitor: Visitor) -> None:
    asked = [f"s3:Get{number:03}" for number in range(150)]
    pages = list(
        visitor.iam.get_paginator("simulate_principal_policy").paginate(
            PolicySourceArn=USER, ActionNames=asked
        )
    )
    assert [one["EvalActionName"] for page in pages for one in page["EvaluationResults"]] == asked
    assert len(pages) == 2


def test_the_simulator_knows_users_and_roles_only_and_can_be_denied(visitor: Visitor) -> None:
    def simulate(arn: str) -> object:
        return visitor.iam.simulate_principal_policy(
            PolicySourceArn=arn, ActionNames=["iam:GetRole"]
        )

    codes: list[tuple[str, int]] = []
    for arn in (f"arn:aws:sts::{ACCOUNT}:assumed-role/r/s", f"arn:aws:iam::{ACCOUNT}:user/nobody"):
        with pytest.raises(ClientError) as caught:
            simulate(arn)
        codes.append(refusal(caught.value))
    assert codes == [("InvalidInput", 400), ("NoSuchEntity", 404)]
    visitor.sandbox.faults.deny.add("iam:SimulatePrincipalPolicy")
    assert f"on resource: {USER} " in told(lambda: simulate(USER))


def test_the_file_has_the_permissions_too(enter: Enter, tmp_path: Any) -> None:
    visitor = enter(record=tmp_path / "record")
    visitor.iam.list_roles()
    assert json.loads((tmp_path / "record").read_text())["permissions"] == ["iam:ListRoles"]
