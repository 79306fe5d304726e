"""What machines run as: a role that EC2 alone gives out, in a profile; and names that are said."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from cwiictl.clouds import aws
from cwiictl.clouds.aws import plan, policy, telling
from cwiictl.clouds.aws.resources.instance_profile import InstanceProfile
from cwiictl.clouds.aws.resources.role import Role
from cwiictl.clouds.aws.spec import Ask, Machines, Spec
from cwiictl.documents import documents
from cwiictl.engine.resource import Known, Plan
from cwiictl.errors import BadInput, Conflict
from cwiictl.issuer.home import Home
from tests.cwiictl.clouds.aws.planned import ALLOWED, the_stores
from tests.examples import ACCOUNT, a_cluster, a_workload

MACHINES = Machines(
    "demo-worker",
    "demo-worker-role",
    policy.canonical(policy.allow("ec2:DescribeRegions", Resource="*")),
)
DOCUMENT = {"Statement": {"Effect": "Allow", "Action": "ec2:DescribeRegions", "Resource": "*"}}


ASK = replace(ALLOWED, machines=MACHINES)


def asked(ask: Ask = ASK) -> list[Role | InstanceProfile]:
    home = Home("https://issuer.example.org")
    return list(
        plan.identities(
            Spec("us-east-1", path="/clusters/"),
            a_cluster(),
            the_stores(),
            [(a_workload(), ask)],
            home,
        )
    )


def both() -> tuple[Role, InstanceProfile]:
    role, profile = asked()
    assert isinstance(role, Role)
    assert isinstance(profile, InstanceProfile)
    return role, profile


def test_a_profile_holds_the_role_that_only_ec2_gives_out() -> None:
    _, profile = both()
    role = profile.role.want(Known())

    assert profile.want(Known()).role == "demo-worker-role"
    assert profile.want(Known()).arn == f"arn:aws:iam::{ACCOUNT}:instance-profile/demo-worker"
    assert [need.address for need in profile.needs] == [profile.role.address]
    assert role.trust == policy.canonical(
        policy.allow("sts:AssumeRole", Principal={"Service": "ec2.amazonaws.com"})
    )
    assert (role.policy, role.arn) == (
        MACHINES.policy,
        f"arn:aws:iam::{ACCOUNT}:role/clusters/demo-worker-role",
    )
    assert role.description == "Role of the machines of kube-system/cloud-credentials"


def test_a_workload_is_told_of_its_role_when_the_profile_of_its_machines_is_there_too() -> None:
    role, profile = both()
    known = Known()
    known.learn(role, role.want(known))
    assert list(telling.bindings([role, profile], known)) == []
    known.learn(profile, profile.want(known))

    (binding,) = telling.bindings([role, profile], known)

    assert binding.ids == {
        "role_arn": role.want(known).arn,
        "region": "us-east-1",
        "cluster": "demo",
        "issuer": "https://issuer.example.org",
        "instance_profile": "demo-worker",
    }


def test_a_profile_elsewhere_is_told_since_none_moves() -> None:
    _, profile = both()
    found = Known()
    assert profile.objection(found) is None
    found.learn(profile, profile.want(found))
    assert profile.objection(found) is None

    found.learn(
        profile,
        replace(profile.want(found), arn="arn:aws:iam::1:instance-profile/theirs/demo-worker"),
    )

    problem = profile.objection(found)
    assert isinstance(problem, Conflict)
    assert "does not move" in problem.problem


@pytest.mark.parametrize(
    "ask",
    [
        replace(ALLOWED, role="other-role"),
        replace(ALLOWED, role="demo"),
        replace(ALLOWED, machines=replace(MACHINES, role="worker")),
        replace(ALLOWED, machines=replace(MACHINES, profile="worker")),
    ],
)
def test_what_would_not_be_found_again_by_its_name_is_refused(ask: Ask) -> None:
    with pytest.raises(
        BadInput, match=r"does not begin with demo-, by which the cluster's things are found"
    ):
        asked(ask)


def test_two_workloads_cannot_have_one_role() -> None:
    home, ask = Home("https://issuer.example.org"), replace(ALLOWED, role="demo-one")
    asks = [(a_workload(), ask), (a_workload(name="other"), ask)]

    with pytest.raises(BadInput, match="two different things would be aws/roles/demo-one"):
        Plan(plan.identities(Spec("us-east-1"), a_cluster(), the_stores(), asks, home))


def test_what_iam_would_not_take_of_the_machines_is_refused_before_it_is_asked() -> None:
    wide = policy.canonical(
        policy.allow([f"ec2:Action{number:04}" for number in range(800)], Resource="*")
    )

    with pytest.raises(
        BadInput, match="the policy of demo-worker-role is longer than the 10240 characters"
    ):
        asked(replace(ALLOWED, machines=replace(MACHINES, policy=wide)))


def section(**changes: Any) -> Ask:
    profile = {"name": "demo-worker", "roleName": "demo-worker-role", "policy": DOCUMENT}
    told = {
        "policy": DOCUMENT,
        "instanceProfile": {**profile, **changes.pop("profile", {})},
        **changes,
    }
    (document,) = documents("cluster.yaml", json.dumps(told).encode())
    return aws.ask_of(document)


def test_a_workload_may_say_how_its_things_are_called() -> None:
    assert section(roleName="demo-mine").role == "demo-mine"
    assert section().role == ""
    assert section().machines == MACHINES


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"roleName": "demo/role"}, "demo/role is no name of a role"),
        ({"roleName": "demo-" + "a" * 60}, "is no name of a role"),
        ({"profile": {"roleName": "demo role"}}, "demo role is no name of a role"),
        ({"profile": {"name": "demo/worker"}}, "demo/worker is no name of an instance profile"),
        (
            {"profile": {"managedPolicyArns": ["ReadOnly"]}},
            "ReadOnly is not the ARN of an IAM policy",
        ),
        ({"profile": {"nmae": "x"}}, "nmae"),
    ],
)
def test_a_name_that_iam_does_not_take_is_told_with_its_line(
    wrong: dict[str, Any], why: str
) -> None:
    with pytest.raises(BadInput, match=why):
        section(**wrong)
