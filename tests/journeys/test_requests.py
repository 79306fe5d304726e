"""How many requests a run makes: a few for each role, and hardly more in an account that is full of others'."""

from __future__ import annotations

from tests.examples import an_entry, an_object, text
from tests.journeys.conftest import Enter
from tests.journeys.ground import NOTHING, Ground

ROLES = 30
CONSTANT = 40  # key, bucket, documents, provider, who we are, what we may do, and what is left over
CROWD = 3000


def asked_for(ground: Ground) -> None:
    names = [f"workload-{number:02}" for number in range(ROLES)]
    ground.requests(
        {
            "all.yaml": text(
                *(
                    an_object(name, "many", name, entries=[an_entry("s3:GetObject")])
                    for name in names
                )
            )
        }
    )


def counted(ground: Ground, *arguments: str) -> int:
    ground.fresh()
    done = ground.create_all(*arguments)
    assert done.code == 0, done.out
    return len(ground.asked())


def test_the_first_run_makes_two_requests_a_role_and_the_second_none_but_a_constant(
    enter: Enter,
) -> None:
    ground = enter()
    asked_for(ground)

    assert counted(ground) <= 2 * ROLES + CONSTANT
    assert counted(ground) <= CONSTANT
    ground.fresh()
    assert ground.status().code == 0
    assert len(ground.asked()) <= CONSTANT


def test_thousands_of_strange_roles_change_that_by_a_few(enter: Enter) -> None:
    ground = enter()
    asked_for(ground)
    ground.sandbox.crowd(CROWD)

    assert counted(ground) <= 2 * ROLES + CONSTANT + 10
    assert counted(ground) <= CONSTANT + 10
    ground.fresh()
    assert ground.delete("--yes").code == 0
    assert (
        len([action for action in ground.asked() if action == "iam:GetAccountAuthorizationDetails"])
        <= 8
    )
    with ground.aws("iam") as iam:
        names = [
            role["RoleName"]
            for page in iam.get_paginator("list_roles").paginate(
                PaginationConfig={"PageSize": 1000}
            )
            for role in page["Roles"]
        ]
    assert len(names) == CROWD
    assert not any(name.startswith("demo-") for name in names)


def test_with_bulk_reading_denied_it_is_a_few_for_each_role(enter: Enter) -> None:
    ground = enter(deny=frozenset({"iam:GetAccountAuthorizationDetails"}))
    asked_for(ground)

    assert counted(ground) <= 5 * ROLES + CONSTANT
    assert counted(ground) <= 5 * ROLES + CONSTANT
    assert ground.delete("--yes").code == 0
    ground.sandbox.faults.deny = set()
    assert ground.clouds() == NOTHING
