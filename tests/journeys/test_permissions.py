"""Who may do it: the least policy that is printed is enough and hardly more, and what is lacking is said before anything is written."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from cwiictl.clouds.aws.policy import dump
from cwiictl.sandbox.aws.policy import like
from tests.examples import an_entry, an_object, text, two_requests
from tests.journeys import denial
from tests.journeys.conftest import Enter
from tests.journeys.ground import (
    BUCKET,
    CALLER,
    HOST,
    INGRESS,
    NAME,
    NOTHING,
    PERMISSIONS,
    PRIVATE,
    PROVIDER,
    REGISTRY,
    Ground,
)
from tests.journeys.turns import made, rotate


def printed(ground: Ground, command: str) -> set[str]:
    """The actions of the policy; which is also one that IAM would take."""
    done = ground.cwiictl("permissions", command, *ground.where)
    assert done.code == 0, done.err
    policy: Any = done.data
    assert policy["Version"] == "2012-10-17"
    assert len(dump(policy)) <= 6144
    return {action for statement in policy["Statement"] for action in _list(statement["Action"])}


def _list(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else value


def needed(ground: Ground) -> set[str]:
    """Of all that was asked, whoever refused it, by cwiictl."""
    return {
        permission
        for seen in ground.sandbox.record[ground.before :]
        for permission in seen.permissions
    }


def on(ground: Ground, command: str) -> Iterator[tuple[str, str]]:
    policy: Any = ground.cwiictl("permissions", command, *ground.where).data
    yield from (
        (action, resource)
        for each in policy["Statement"]
        for action in _list(each["Action"])
        for resource in _list(each["Resource"])
    )


LONG = [
    an_entry(*(f"ec2:Action{number:03}OfALongName" for number in range(part, part + 150)))
    for part in (0, 200, 400)
]


def _drift(ground: Ground) -> None:
    """Of everything, so that a run has to write all that it ever writes."""
    boundary = "arn:aws:iam::123456789012:policy/theirs"
    with ground.aws("iam") as iam, ground.aws("s3") as s3, ground.aws("cloudfront") as front:
        deny = '{"Version":"2012-10-17","Statement":[{"Effect":"Deny","Action":"ec2:*","Resource":"*"}]}'
        iam.create_policy(PolicyName="theirs", PolicyDocument=deny)
        iam.update_role_description(RoleName=INGRESS, Description="theirs")
        iam.update_assume_role_policy(
            RoleName=INGRESS,
            PolicyDocument=deny.replace('"Resource":"*"', '"Principal":"*"').replace(
                "ec2:*", "sts:AssumeRole"
            ),
        )
        iam.put_role_policy(RoleName=INGRESS, PolicyName="theirs", PolicyDocument=deny)
        iam.attach_role_policy(RoleName=INGRESS, PolicyArn=boundary)
        iam.tag_role(RoleName=INGRESS, Tags=[{"Key": "Name", "Value": "theirs"}])
        for provider in iam.list_open_id_connect_providers()["OpenIDConnectProviderList"]:
            iam.add_client_id_to_open_id_connect_provider(
                OpenIDConnectProviderArn=provider["Arn"], ClientID="theirs"
            )
            iam.remove_client_id_from_open_id_connect_provider(
                OpenIDConnectProviderArn=provider["Arn"], ClientID="openshift"
            )
            iam.tag_open_id_connect_provider(
                OpenIDConnectProviderArn=provider["Arn"], Tags=[{"Key": "Name", "Value": "theirs"}]
            )
        for policy in iam.list_policies(Scope="Local")["Policies"]:
            if policy["PolicyName"].startswith(NAME):
                iam.create_policy_version(
                    PolicyArn=policy["Arn"], PolicyDocument=deny, SetAsDefault=True
                )
                iam.tag_policy(PolicyArn=policy["Arn"], Tags=[{"Key": "Name", "Value": "theirs"}])
        s3.put_public_access_block(
            Bucket=BUCKET, PublicAccessBlockConfiguration={"BlockPublicAcls": False}
        )
        s3.put_bucket_tagging(
            Bucket=BUCKET, Tagging={"TagSet": [*s3.get_bucket_tagging(Bucket=BUCKET)["TagSet"][1:]]}
        )
        s3.delete_bucket_policy(Bucket=BUCKET)
        s3.delete_object(Bucket=BUCKET, Key="keys.json")
        for item in front.list_distributions()["DistributionList"].get("Items", []):
            now = front.get_distribution_config(Id=item["Id"])
            off = {**now["DistributionConfig"], "Enabled": False}
            front.update_distribution(Id=item["Id"], IfMatch=now["ETag"], DistributionConfig=off)
            front.tag_resource(
                Resource=item["ARN"], Tags={"Items": [{"Key": "Name", "Value": "theirs"}]}
            )
        for item in front.list_origin_access_controls()["OriginAccessControlList"].get("Items", []):
            found = front.get_origin_access_control(Id=item["Id"])
            config = {
                **found["OriginAccessControl"]["OriginAccessControlConfig"],
                "SigningBehavior": "never",
            }
            front.update_origin_access_control(
                Id=item["Id"], IfMatch=found["ETag"], OriginAccessControlConfig=config
            )


@pytest.mark.parametrize("arguments", [(), (PRIVATE,)], ids=["public", "private"])
def test_the_printed_policy_is_enough_for_every_command_and_holds_nothing_unheard_of(
    enter: Enter, arguments: tuple[str, ...]
) -> None:
    """Made, found, drifted in everything, repaired and taken down, with bulk reading and without it."""
    ground = enter(deploy=0.2)
    ground.requests(
        {**two_requests(), "long.yaml": text(an_object("long", "long", "long", entries=LONG))}
    )
    policies = {command: printed(ground, command) for command in ("create", "status", "delete")}
    used: dict[str, set[str]] = {command: set() for command in policies}

    def step(command: str, done: Any, *codes: int) -> None:
        assert done.code in codes, done.out
        used[command] |= needed(ground)
        assert needed(ground) <= policies[command]
        ground.fresh()

    ground.fresh()
    step(
        "create",
        ground.create_all(
            *arguments, "--permissions-boundary-arn", "arn:aws:iam::aws:policy/ReadOnlyAccess"
        ),
        0,
    )
    step("status", ground.status(*arguments), 0)
    step("status", ground.verify(*arguments), 0)
    _drift(ground)
    ground.fresh()
    step("status", ground.status(*arguments), 3)
    step("create", ground.create_all(*arguments, "--user-tags", "a=b"), 0)
    ground.sandbox.faults.deny = {"iam:GetAccountAuthorizationDetails"}
    step("status", ground.status(*arguments), 3, 0)
    step(
        "create",
        ground.create_all(
            *arguments, "--permissions-boundary-arn", "arn:aws:iam::aws:policy/PowerUserAccess"
        ),
        0,
    )
    ground.requests(two_requests())
    ground.sandbox.faults.deny = set()
    with ground.aws("iam") as iam:
        iam.create_instance_profile(InstanceProfileName="theirs")
        iam.add_role_to_instance_profile(InstanceProfileName="theirs", RoleName=REGISTRY)
    ground.fresh()
    step("delete", ground.delete("--yes"), 0)
    assert [arn.rpartition("/")[2] for arn in ground.clouds()["policies"]] == ["theirs"]
    assert {**ground.clouds(), "policies": {}} == NOTHING

    ground.requests({"long.yaml": text(an_object("long", "long", "long", entries=LONG))})
    ground.fresh()
    step("create", ground.create_all(*arguments), 0)
    _adopted(ground)
    ground.sandbox.faults.deny = {"iam:GetAccountAuthorizationDetails"}
    ground.fresh()
    step("delete", ground.delete("--yes"), 0)

    for command, asked in used.items():
        unheard = {
            action
            for action in policies[command] - asked
            if arguments or not action.startswith("cloudfront:")
        }
        assert unheard == UNUSED[command] | (UNUSED_IN_FRONT[command] if arguments else set()), (
            command
        )


def _adopted(ground: Ground) -> None:
    """Everything, as if it had been there before: it is released and not dropped."""
    hold = [{"Key": f"cwii.dev/cluster/{NAME}", "Value": "adopted"}]
    with ground.aws("iam") as iam, ground.aws("s3") as s3, ground.aws("cloudfront") as front:
        iam.tag_role(RoleName=f"{NAME}-long-long", Tags=hold)
        for policy in iam.list_policies(Scope="Local")["Policies"]:
            if policy["PolicyName"].startswith(NAME):
                iam.tag_policy(PolicyArn=policy["Arn"], Tags=hold)
        for provider in iam.list_open_id_connect_providers()["OpenIDConnectProviderList"]:
            iam.tag_open_id_connect_provider(OpenIDConnectProviderArn=provider["Arn"], Tags=hold)
        others = [
            tag
            for tag in s3.get_bucket_tagging(Bucket=BUCKET)["TagSet"]
            if tag["Key"] != hold[0]["Key"]
        ]
        s3.put_bucket_tagging(Bucket=BUCKET, Tagging={"TagSet": [*others, *hold]})
        for item in front.list_distributions()["DistributionList"].get("Items", []):
            front.tag_resource(Resource=item["ARN"], Tags={"Items": hold})
        for item in front.list_origin_access_controls()["OriginAccessControlList"].get("Items", []):
            found = front.get_origin_access_control(Id=item["Id"])
            config = found["OriginAccessControl"]["OriginAccessControlConfig"]
            config["Description"] = config["Description"].replace("=owned", "=adopted")
            front.update_origin_access_control(
                Id=item["Id"], IfMatch=found["ETag"], OriginAccessControlConfig=config
            )


# What this journey does not need: a bucket of the user's own is another story, and so are machines, and a role with an inline policy that is read alone.
FILLING = (
    "GetInstanceProfile",
    "CreateInstanceProfile",
    "TagInstanceProfile",
    "AddRoleToInstanceProfile",
    "RemoveRoleFromInstanceProfile",
    "PassRole",
)
UNUSED: dict[str, set[str]] = {
    "create": {"s3:GetObjectTagging", *(f"iam:{action}" for action in FILLING)},
    "status": {"s3:GetObjectTagging", "iam:GetInstanceProfile"},
    "delete": {
        *("s3:GetObjectTagging", "s3:GetObject", "s3:GetBucketPolicy", "iam:GetRolePolicy"),
        *("iam:GetInstanceProfile", "iam:DeleteInstanceProfile", "iam:UntagInstanceProfile"),
    },
}
# And so is what ccoctl made of the older kind.
OLDER = {"cloudfront:GetCloudFrontOriginAccessIdentityConfig"}
UNUSED_IN_FRONT: dict[str, set[str]] = {
    "create": {*OLDER, "cloudfront:UpdateCloudFrontOriginAccessIdentity"},
    "status": set(),
    "delete": {*OLDER, "cloudfront:DeleteCloudFrontOriginAccessIdentity"},
}


def test_the_policy_is_for_things_of_this_cluster_alone(ground: Ground) -> None:
    """Wherever IAM can tell them apart."""
    for command in ("create", "status", "delete", "rotate"):
        for action, resource in on(ground, command):
            arns = {
                "s3": f"arn:aws:s3:::{BUCKET}",
                "iam": f"arn:aws:iam::123456789012:role/{NAME}-x",
            }
            if action.startswith("s3:"):
                assert resource in {arns["s3"], f"{arns['s3']}/*"}
            elif "InstanceProfile" in action and resource != "*":
                assert like(
                    f"arn:aws:iam::123456789012:{'role' if action.endswith('ForRole') else 'instance-profile'}/{NAME}-x",
                    resource,
                )
                assert not like("arn:aws:iam::123456789012:instance-profile/admin", resource)
            elif "Role" in action and action != "iam:ListRoles" and resource != "*":
                assert like(arns["iam"], resource)
                assert not like("arn:aws:iam::123456789012:role/admin", resource)
    writes = {
        action
        for action, resource in on(ground, "create")
        if resource == "*" and action.startswith(("s3:", "iam:"))
    }
    assert all(action.split(":")[1].startswith(("Get", "List", "Simulate")) for action in writes)


def test_its_roles_may_be_passed_to_machines_alone(ground: Ground) -> None:
    policy: Any = ground.cwiictl("permissions", "create", *ground.where).data

    (passing,) = [each for each in policy["Statement"] if "iam:PassRole" in _list(each["Action"])]
    assert passing["Action"] == "iam:PassRole", (
        "what else is allowed is not bound to that condition"
    )
    assert passing["Condition"] == {
        "StringEquals": {"iam:PassedToService": ["ec2.amazonaws.com", "ec2.amazonaws.com.cn"]}
    }


def test_status_and_the_reading_of_others_may_write_nothing(ground: Ground) -> None:
    assert all(
        action.split(":")[1].startswith(("Get", "List", "Simulate"))
        for action in printed(ground, "status")
    )


def test_it_asks_no_cloud_and_follows_region_and_path(ground: Ground) -> None:
    done = ground.cwiictl(
        "permissions",
        "create",
        "--cloud",
        "aws",
        "--name",
        NAME,
        "--region",
        "us-gov-west-1",
        "--role-path",
        "/clusters/",
    )

    assert "arn:aws-us-gov:iam::*:role/clusters/demo-*" in done.out
    assert "arn:aws:" not in done.out
    assert "cloudfront" not in done.out
    assert ground.asked() == []


# --- denial ---


def test_what_is_lacking_is_named_before_the_first_write(enter: Enter) -> None:
    ground = enter(deny=frozenset({"iam:CreateRole", "s3:PutBucketPolicy"}))

    denial.foreseen(
        ground, PERMISSIONS, f"{CALLER} may not do iam:CreateRole, s3:PutBucketPolicy", NOTHING
    )


def test_who_lacks_what_nothing_needs_today_is_not_stopped(ground: Ground) -> None:
    ground.create_all()
    ground.sandbox.faults.deny = {"iam:Create*", "iam:Put*", "s3:Put*", "s3:Create*"}
    ground.fresh()

    assert ground.create_all().code == 0
    assert ground.status().code == 0
    assert ground.mutating() == []


def test_who_may_not_list_instance_profiles_is_stopped_by_nothing_that_needs_none(
    ground: Ground,
) -> None:
    """Policies that were printed before there were any do not allow it. What is gone is gone, and what nobody could look for is told."""
    ground.sandbox.faults.deny = {"iam:ListInstanceProfiles"}

    assert ground.create_all().code == 0
    assert ground.status().code == 0
    done = ground.delete("--yes")

    assert (done.code, done.but("dropped")) == (1, {"aws/instance-profile": "failed"})
    assert "have iam:ListInstanceProfiles granted" in done.out
    assert ground.clouds() == NOTHING


SIMULATOR, BULK = "iam:SimulatePrincipalPolicy", "iam:GetAccountAuthorizationDetails"


@pytest.mark.parametrize(
    "deny",
    [{SIMULATOR}, {BULK}, {SIMULATOR, BULK, "iam:ListRoles"}],
    ids=["simulator", "bulk", "both and the list"],
)
def test_without_the_simulator_and_without_bulk_reading_it_works_too(
    clean: Any, enter: Enter, deny: set[str]
) -> None:
    ground = enter(deny=frozenset(deny))

    done = ground.create_all()
    assert done.code == (1 if "iam:ListRoles" in deny else 0), (
        done.out
    )  # who may not look for what is left over is told so
    ground.sandbox.faults.deny = deny - {"iam:ListRoles"}
    again = ground.create_all()
    assert (again.code, again.but("as wanted")) == (0, {})
    ground.sandbox.faults.deny = set()
    assert ground.everything() == clean
    ground.sandbox.faults.deny = deny - {"iam:ListRoles"}
    assert ground.delete("--yes").code == 0
    ground.sandbox.faults.deny = set()
    assert ground.clouds() == NOTHING


@pytest.mark.parametrize(
    ("denied", "thing"),
    [
        ("iam:CreateRole", f"aws/role/{INGRESS}"),
        ("iam:CreateOpenIDConnectProvider", f"aws/oidc-provider/{HOST}"),
        ("s3:CreateBucket", f"aws/bucket/{BUCKET}"),
        ("s3:PutObject", f"aws/key-set/{BUCKET}/keys.json"),
    ],
)
def test_a_denial_that_could_not_be_foreseen_names_the_action_and_stops_no_stranger(
    enter: Enter, denied: str, thing: str
) -> None:
    denial.unforeseen(enter(deny=frozenset({"iam:SimulatePrincipalPolicy", denied})), denied, thing)


def test_a_delete_that_lacks_something_says_so_before_anything_is_dropped(ground: Ground) -> None:
    ground.create_all("--role-path", "/clusters/")
    ground.sandbox.faults.deny = {"iam:DeleteOpenIDConnectProvider", "iam:DeleteRole"}

    lacking = "iam:DeleteOpenIDConnectProvider, iam:DeleteRole"
    denial.not_dropped(
        ground, PERMISSIONS, f"{CALLER} may not do {lacking}, which taking these things down needs"
    )


def test_a_delete_that_was_denied_what_nobody_could_foresee_names_the_action_and_exits_1(
    ground: Ground,
) -> None:
    ground.create_all()
    ground.sandbox.faults.deny = {SIMULATOR, "iam:DeleteOpenIDConnectProvider"}

    done = ground.delete("--yes")

    assert done.code == 1
    assert done.things[f"aws/oidc-provider/{HOST}"] == "failed"
    assert "iam:DeleteOpenIDConnectProvider" in done.out
    left = ground.clouds()
    assert list(left["providers"]) == [PROVIDER]
    assert list(left["buckets"]) == [BUCKET]  # whoever takes its name would be believed
    ground.sandbox.faults.deny = set()
    assert ground.delete("--yes").code == 0
    assert json.dumps(ground.clouds()) == json.dumps(NOTHING)


def test_whoever_may_not_see_what_is_trusted_already_writes_nothing(enter: Enter) -> None:
    """The run might move the issuer from under the tokens of a running cluster."""
    ground = enter(deny={"iam:ListOpenIDConnectProviders"})

    done = ground.create_all()

    assert done.code == 1
    assert "iam:ListOpenIDConnectProviders" in done.out
    assert ground.mutating() == []


def test_who_may_only_rotate_keys_can(ground: Ground) -> None:
    made(ground)

    assert rotate(ground, "add").code == 0
    assert needed(ground) <= printed(ground, "rotate")
