"""What is too long for a role itself goes to policies of ours, and comes back when it is short again."""

from __future__ import annotations

import json
import signal
from typing import Any

import pytest

from tests.examples import ACCOUNT, an_entry, an_object, text
from tests.journeys import cuts
from tests.journeys.conftest import Enter
from tests.journeys.ground import NAME, NOTHING, Ground

ROLE = f"{NAME}-long-long"
TRUST = '{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Service":"ec2.amazonaws.com"},"Action":"sts:AssumeRole"}]}'
NAMES = [f"{ROLE}-{number}" for number in (1, 2, 3)]
ARNS = [f"arn:aws:iam::{ACCOUNT}:policy/{name}" for name in NAMES]
PARTS = [
    [f"ec2:Action{number:03}OfAVeryLongNameIndeed" for number in range(part, part + 60)]
    for part in range(0, 300, 60)
]
MADE = {f"aws/policy/{name}" for name in NAMES}


def ask(ground: Ground, parts: list[list[str]]) -> None:
    ground.requests(
        {
            "long.yaml": text(
                an_object("long", "long", "long", entries=[an_entry(*actions) for actions in parts])
            )
        }
    )


@pytest.fixture
def long(enter: Enter) -> Ground:
    ground = enter()
    ground.keys()
    ask(ground, PARTS)
    return ground


def granted(ground: Ground) -> list[str]:
    documents: list[Any] = [policy["document"] for policy in ground.clouds()["policies"].values()]
    return sorted(
        action
        for document in documents
        for statement in document["Statement"]
        for action in statement["Action"]
    )


def test_it_is_split_over_managed_policies_of_ours(long: Ground) -> None:
    done = long.create_all()

    assert done.code == 0, done.out
    assert done.things.keys() >= MADE
    clouds = long.clouds()
    assert sorted(clouds["policies"]) == ARNS
    assert clouds["roles"][ROLE]["managed"] == ARNS
    assert clouds["roles"][ROLE]["inline"] == {}
    assert granted(long) == sorted(action for actions in PARTS for action in actions)
    assert all(
        len(json.dumps(policy["document"], separators=(",", ":"))) <= 6144
        for policy in clouds["policies"].values()
    )
    assert {
        policy["tags"][f"cwii.dev/cluster/{NAME}"] for policy in clouds["policies"].values()
    } == {"owned"}
    long.fresh()
    assert long.create_all().but("as wanted") == {}
    assert long.status().code == 0
    assert long.mutating() == []


def test_when_it_is_short_again_it_comes_back_and_the_policies_are_left_over(long: Ground) -> None:
    long.create_all()
    ask(long, PARTS[:1])

    done = long.create_all()

    assert done.code == 0, done.out
    assert done.but("as wanted") == {
        f"aws/role/{ROLE}": "repaired",
        **dict.fromkeys(MADE, "left over"),
    }
    assert done.fields[f"aws/role/{ROLE}"] == ["policy", "managed"]
    role = long.clouds()["roles"][ROLE]
    assert (list(role["inline"]), role["managed"]) == ([ROLE], [])
    pruned = long.create_all("--prune", "--yes")
    assert pruned.but("as wanted") == dict.fromkeys(MADE, "dropped")
    assert long.clouds()["policies"] == {}
    assert long.status().code == 0

    ask(long, PARTS)
    assert long.create_all().code == 0
    assert long.clouds()["roles"][ROLE]["managed"] == ARNS
    assert long.delete("--yes").code == 0
    assert long.clouds() == NOTHING


def test_a_policy_that_was_changed_by_hand_is_repaired_however_often(long: Ground) -> None:
    """IAM keeps five versions of a policy."""
    long.create_all()
    before = long.clouds()
    for _ in range(6):
        with long.aws("iam") as iam:
            iam.create_policy_version(PolicyArn=ARNS[0], SetAsDefault=True, PolicyDocument=DENY)
        done = long.create_all()
        assert done.code == 0, done.out
        assert done.fields == {f"aws/policy/{NAMES[0]}": ["policy"]}
    assert long.clouds() == before


DENY = '{"Version":"2012-10-17","Statement":[{"Effect":"Deny","Action":"ec2:*","Resource":"*"}]}'


def test_a_policy_of_that_name_without_our_mark_is_refused(long: Ground) -> None:
    with long.aws("iam") as iam:
        iam.create_policy(PolicyName=NAMES[0], PolicyDocument=DENY)
    before = long.clouds()
    long.fresh()

    done = long.create_all()

    assert done.code == 4
    assert done.things[f"aws/policy/{NAMES[0]}"] == "foreign"
    assert long.mutating() == []
    assert long.clouds() == before


@pytest.mark.parametrize("writes", cuts.after([1, 3, 6, 7, 9]))
def test_killed_on_the_way_there_it_ends_the_same_and_killed_on_the_way_down_it_leaves_nothing(
    long: Ground, writes: int
) -> None:
    assert long.killed(writes, "create-all", *long.where, *long.asking) == -signal.SIGKILL
    assert long.create_all().code == 0
    assert long.clouds()["roles"][ROLE]["managed"] == ARNS
    assert long.status().code == 0

    assert long.killed(writes, "delete", *long.where, "--yes") == -signal.SIGKILL
    assert long.delete("--yes").code == 0
    assert long.clouds() == NOTHING


def test_an_adopted_role_lets_go_of_them_when_it_is_released(long: Ground) -> None:
    with long.aws("iam") as iam:
        iam.create_role(RoleName=ROLE, AssumeRolePolicyDocument=TRUST)
        iam.attach_role_policy(RoleName=ROLE, PolicyArn="arn:aws:iam::aws:policy/ReadOnlyAccess")
    assert long.create_all("--adopt", f"aws/role/{ROLE}").code == 0
    with long.aws("iam") as iam:
        iam.attach_role_policy(
            RoleName=ROLE, PolicyArn="arn:aws:iam::aws:policy/ReadOnlyAccess"
        )  # by hand, later

    gone = long.delete("--yes")

    assert gone.code == 0, gone.out
    assert gone.but("dropped") == {f"aws/role/{ROLE}": "released"}
    left = long.clouds()
    assert left["roles"][ROLE]["managed"] == ["arn:aws:iam::aws:policy/ReadOnlyAccess"]
    assert {**left, "roles": {}} == NOTHING
