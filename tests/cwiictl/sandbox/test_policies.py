"""Managed policies, boundaries and the other things that a role may have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.cwiictl.sandbox.front import Clock
from tests.cwiictl.sandbox.visitor import ACCOUNT, Visitor, inline, refusal, trust

READ_ONLY = "arn:aws:iam::aws:policy/ReadOnlyAccess"
OURS = f"arn:aws:iam::{ACCOUNT}:policy/ours"


def refused(call: Callable[[], Any]) -> tuple[str, int]:
    with pytest.raises(ClientError) as caught:
        call()
    return refusal(caught.value)


@pytest.fixture
def visitor(visitor: Visitor) -> Visitor:
    """With a role."""
    visitor.iam.create_role(RoleName="r", AssumeRolePolicyDocument=trust())
    return visitor


@pytest.mark.parametrize(
    "name",
    [
        "ReadOnlyAccess",
        "AdministratorAccess",
        "AmazonS3ReadOnlyAccess",
        "AmazonEC2ContainerRegistryReadOnly",
        "service-role/AmazonEBSCSIDriverPolicy",
    ],
)
def test_policies_of_awss_own_are_there_without_being_made(visitor: Visitor, name: str) -> None:
    arn = f"arn:aws:iam::aws:policy/{name}"
    visitor.iam.attach_role_policy(RoleName="r", PolicyArn=arn)
    attached = visitor.iam.list_attached_role_policies(RoleName="r")["AttachedPolicies"]
    assert [one.get("PolicyArn") for one in attached] == [arn]
    found: Any = visitor.iam.get_policy(PolicyArn=arn)["Policy"]
    assert visitor.iam.get_policy_version(PolicyArn=arn, VersionId=found["DefaultVersionId"])[
        "PolicyVersion"
    ].get("Document")


@pytest.mark.parametrize(
    "arn", ["arn:aws:iam::aws:policy/Nonsense", "arn:aws-cn:iam::aws:policy/ReadOnlyAccess", OURS]
)
def test_a_policy_that_is_not_there_can_be_neither_attached_nor_be_a_boundary(
    visitor: Visitor, arn: str
) -> None:
    make = lambda: visitor.iam.create_role(
        RoleName="s", AssumeRolePolicyDocument=trust(), PermissionsBoundary=arn
    )
    assert refused(lambda: visitor.iam.attach_role_policy(RoleName="r", PolicyArn=arn)) == (
        "NoSuchEntity",
        404,
    )
    assert refused(
        lambda: visitor.iam.put_role_permissions_boundary(RoleName="r", PermissionsBoundary=arn)
    ) == ("NoSuchEntity", 404)
    assert refused(make) == ("NoSuchEntity", 404)


def test_nobody_changes_a_policy_of_awss_own(visitor: Visitor) -> None:
    assert refused(lambda: visitor.iam.delete_policy(PolicyArn=READ_ONLY)) == ("AccessDenied", 403)


def test_ten_policies_are_enough_and_the_same_one_twice_is_one(visitor: Visitor) -> None:
    for number in range(11):
        visitor.iam.create_policy(PolicyName=f"p{number}", PolicyDocument=inline())

    def attach(number: int) -> object:
        return visitor.iam.attach_role_policy(
            RoleName="r", PolicyArn=f"arn:aws:iam::{ACCOUNT}:policy/p{number}"
        )

    for number in [*range(10), 0, 9]:
        attach(number)
    assert refused(lambda: attach(10)) == ("LimitExceeded", 409)
    assert (
        visitor.iam.get_policy(PolicyArn=f"arn:aws:iam::{ACCOUNT}:policy/p0")["Policy"].get(
            "AttachmentCount"
        )
        == 1
    )


def test_a_policy_holds_6144_characters_and_white_space_is_free(visitor: Visitor) -> None:
    fits = 6144 - len(inline().replace(" ", ""))
    visitor.iam.create_policy(
        PolicyName="ours",
        PolicyDocument=inline(fits) + " " * 500,
        Tags=[{"Key": "k", "Value": "v"}],
    )
    assert refused(
        lambda: visitor.iam.create_policy(PolicyName="more", PolicyDocument=inline(fits + 1))
    ) == ("LimitExceeded", 409)
    assert refused(
        lambda: visitor.iam.create_policy_version(PolicyArn=OURS, PolicyDocument=inline(fits + 1))
    ) == ("LimitExceeded", 409)
    assert visitor.iam.list_policy_tags(PolicyArn=OURS)["Tags"] == [{"Key": "k", "Value": "v"}]


def test_a_policy_has_five_versions_and_one_that_counts(visitor: Visitor) -> None:
    visitor.iam.create_policy(PolicyName="ours", PolicyDocument=inline())
    for number in range(1, 5):
        visitor.iam.create_policy_version(
            PolicyArn=OURS, PolicyDocument=inline(number), SetAsDefault=number == 4
        )
    assert refused(
        lambda: visitor.iam.create_policy_version(PolicyArn=OURS, PolicyDocument=inline())
    ) == ("LimitExceeded", 409)
    assert visitor.iam.get_policy(PolicyArn=OURS)["Policy"].get("DefaultVersionId") == "v5"
    assert refused(lambda: visitor.iam.delete_policy_version(PolicyArn=OURS, VersionId="v5")) == (
        "DeleteConflict",
        409,
    )
    visitor.iam.delete_policy_version(PolicyArn=OURS, VersionId="v1")
    visitor.iam.create_policy_version(PolicyArn=OURS, PolicyDocument=inline())
    found: Any = visitor.iam.get_policy_version(PolicyArn=OURS, VersionId="v5")["PolicyVersion"]
    assert found["Document"]["Statement"][0]["Resource"][1].endswith(":::xxxx")


def test_a_policy_that_is_used_or_has_old_versions_stays(visitor: Visitor) -> None:
    visitor.iam.create_policy(PolicyName="ours", PolicyDocument=inline())
    delete = lambda: visitor.iam.delete_policy(PolicyArn=OURS)
    visitor.iam.attach_role_policy(RoleName="r", PolicyArn=OURS)
    assert refused(delete) == ("DeleteConflict", 409)
    assert refused(lambda: visitor.iam.delete_role(RoleName="r")) == ("DeleteConflict", 409)
    visitor.iam.detach_role_policy(RoleName="r", PolicyArn=OURS)
    visitor.iam.put_role_permissions_boundary(RoleName="r", PermissionsBoundary=OURS)
    assert refused(delete) == ("DeleteConflict", 409)
    visitor.iam.delete_role_permissions_boundary(RoleName="r")
    visitor.iam.create_policy_version(PolicyArn=OURS, PolicyDocument=inline())
    assert refused(delete) == ("DeleteConflict", 409)
    visitor.iam.delete_policy_version(PolicyArn=OURS, VersionId="v2")
    delete()
    assert refused(delete) == ("NoSuchEntity", 404)


def test_a_new_policy_is_seen_only_after_the_lag(enter: Callable[..., Visitor]) -> None:
    clock = Clock()
    visitor = enter(clock=clock)
    visitor.iam.create_role(RoleName="r", AssumeRolePolicyDocument=trust())
    visitor.sandbox.faults.lag = 10.0
    visitor.iam.create_policy(PolicyName="ours", PolicyDocument=inline())
    assert refused(lambda: visitor.iam.get_policy(PolicyArn=OURS)) == ("NoSuchEntity", 404)
    assert refused(lambda: visitor.iam.attach_role_policy(RoleName="r", PolicyArn=OURS)) == (
        "NoSuchEntity",
        404,
    )
    assert visitor.iam.list_policies(Scope="Local")["Policies"] == []
    clock.now += 10
    visitor.iam.attach_role_policy(RoleName="r", PolicyArn=OURS)
    assert visitor.iam.list_attached_role_policies(RoleName="r")["AttachedPolicies"] == []
    clock.now += 10
    assert len(visitor.iam.list_attached_role_policies(RoleName="r")["AttachedPolicies"]) == 1


def test_a_boundary_is_shown_with_its_role(visitor: Visitor) -> None:
    visitor.iam.create_role(
        RoleName="s",
        Path="/p/",
        AssumeRolePolicyDocument=trust(),
        PermissionsBoundary=READ_ONLY,
        MaxSessionDuration=43200,
    )
    role: Any = visitor.iam.get_role(RoleName="s")["Role"]
    assert (role["Arn"], role["MaxSessionDuration"]) == (f"arn:aws:iam::{ACCOUNT}:role/p/s", 43200)
    assert role["PermissionsBoundary"]["PermissionsBoundaryArn"] == READ_ONLY


@pytest.mark.parametrize("seconds", [3599, 43201])
def test_sessions_are_neither_shorter_than_an_hour_nor_longer_than_twelve(
    visitor: Visitor, seconds: int
) -> None:
    iam = visitor.client(
        "iam", parameter_validation=False
    )  # botocore keeps the lower limit by itself; other SDKs do not
    make = lambda: iam.create_role(
        RoleName="s", AssumeRolePolicyDocument=trust(), MaxSessionDuration=seconds
    )
    assert refused(make) == ("ValidationError", 400)
    assert refused(lambda: iam.update_role(RoleName="r", MaxSessionDuration=seconds)) == (
        "ValidationError",
        400,
    )


def test_what_an_update_does_not_name_stays(visitor: Visitor) -> None:
    visitor.iam.update_role(RoleName="r", Description="one & two")
    visitor.iam.update_role(RoleName="r", MaxSessionDuration=7200)
    visitor.iam.update_role(RoleName="r")
    role: Any = visitor.iam.get_role(RoleName="r")["Role"]
    assert (role["Description"], role["MaxSessionDuration"]) == ("one & two", 7200)


@pytest.mark.parametrize("path", ["p", "/p", "p/", "/ä/"])
def test_a_path_has_a_slash_at_both_ends(visitor: Visitor, path: str) -> None:
    assert refused(
        lambda: visitor.iam.create_role(RoleName="s", Path=path, AssumeRolePolicyDocument=trust())
    ) == ("ValidationError", 400)
