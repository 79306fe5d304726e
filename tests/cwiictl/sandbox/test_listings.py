"""IAM's long lists, and what each of them lacks."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.cwiictl.sandbox.visitor import ACCOUNT, Visitor, inline, refusal, trust

READ_ONLY = "arn:aws:iam::aws:policy/ReadOnlyAccess"


@pytest.fixture
def visitor(visitor: Visitor) -> Visitor:
    """With a role that has everything."""
    visitor.iam.create_role(
        RoleName="r",
        AssumeRolePolicyDocument=trust(),
        Description="a < b",
        MaxSessionDuration=7200,
        PermissionsBoundary=READ_ONLY,
        Tags=[{"Key": "k", "Value": "v & w"}],
    )
    visitor.iam.put_role_policy(RoleName="r", PolicyName="p", PolicyDocument=inline())
    visitor.iam.attach_role_policy(RoleName="r", PolicyArn=READ_ONLY)
    return visitor


def test_the_list_of_roles_lacks_tags_policies_and_boundary(visitor: Visitor) -> None:
    role: Any = visitor.iam.list_roles()["Roles"][0]
    assert (role["RoleName"], role["Description"], role["MaxSessionDuration"]) == (
        "r",
        "a < b",
        7200,
    )
    assert role["AssumeRolePolicyDocument"] == json.loads(trust())
    assert not {
        "Tags",
        "PermissionsBoundary",
        "RoleLastUsed",
        "RolePolicyList",
        "AttachedManagedPolicies",
    } & set(role)


def test_the_accounts_details_lack_description_and_duration(visitor: Visitor) -> None:
    found: Any = visitor.iam.get_account_authorization_details(Filter=["Role"])
    role = found["RoleDetailList"][0]
    assert role["Tags"] == [{"Key": "k", "Value": "v & w"}]
    assert role["RolePolicyList"] == [{"PolicyName": "p", "PolicyDocument": json.loads(inline())}]
    assert role["AttachedManagedPolicies"] == [
        {"PolicyName": "ReadOnlyAccess", "PolicyArn": READ_ONLY}
    ]
    assert role["PermissionsBoundary"]["PermissionsBoundaryArn"] == READ_ONLY
    assert role["AssumeRolePolicyDocument"] == json.loads(trust())
    assert not {"Description", "MaxSessionDuration"} & set(role)
    assert (found["Policies"], found["UserDetailList"]) == ([], [])


def test_details_name_the_policies_that_count(visitor: Visitor) -> None:
    visitor.iam.create_policy(PolicyName="ours", PolicyDocument=inline())
    arns: list[list[Any]] = []
    for kinds in (["LocalManagedPolicy"], ["AWSManagedPolicy"]):
        found: Any = visitor.iam.get_account_authorization_details(Filter=kinds)  # pyright: ignore[reportArgumentType] - the stubs' words are literals, and this is a text
        arns.append([one["Arn"] for one in found["Policies"]])
    assert arns == [[f"arn:aws:iam::{ACCOUNT}:policy/ours"], [READ_ONLY]]


@pytest.mark.parametrize(("size", "pages"), [(100, 3), (1000, 1)])
def test_both_come_in_pages_and_nothing_comes_twice(
    visitor: Visitor, size: int, pages: int
) -> None:
    visitor.sandbox.crowd(250)
    roles = list(
        visitor.iam.get_paginator("list_roles").paginate(PaginationConfig={"PageSize": size})
    )
    details = list(
        visitor.iam.get_paginator("get_account_authorization_details").paginate(
            Filter=["Role"], PaginationConfig={"PageSize": size}
        )
    )
    names = [role["RoleName"] for page in roles for role in page["Roles"]]
    assert (len(roles), len(details), len(names), len(set(names))) == (pages, pages, 251, 251)
    assert {role.get("RoleName") for page in details for role in page["RoleDetailList"]} == set(
        names
    )


def test_a_page_is_never_larger_than_a_thousand(visitor: Visitor) -> None:
    with pytest.raises(ClientError) as caught:
        visitor.iam.list_roles(MaxItems=1001)
    assert refusal(caught.value) == ("ValidationError", 400)


def test_a_crowd_of_strangers_is_there_at_once_and_slows_nobody(visitor: Visitor) -> None:
    before = time.monotonic()
    visitor.sandbox.crowd(3000)
    assert time.monotonic() - before < 5
    assert len(visitor.iam.list_roles(MaxItems=1000)["Roles"]) == 1000
    before = time.monotonic()
    for _ in range(20):
        visitor.iam.get_role(RoleName="r")
    assert time.monotonic() - before < 5
