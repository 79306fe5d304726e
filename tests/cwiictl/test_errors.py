"""What somebody may not do, told so that it can be read: a few things in the sentence, many of them in lines, by what they are of."""

from __future__ import annotations

from typing import Any

import pytest
from click import unstyle

from cwiictl.cli.wording import error
from cwiictl.clouds.permissions import Leave, PermissionsState
from cwiictl.engine.resource import Known
from cwiictl.errors import MANY, Problem
from cwiictl.kubernetes.rights import Right, denied
from tests.contracts.shelf import Shelf, World

AWS = [
    "iam:CreateRole",
    "iam:GetRole",
    "s3:CreateBucket",
    "s3:GetObject",
    "s3:PutObject",
    "iam:TagRole",
    "s3:PutBucketPolicy",
]


def told(lacking: list[str]) -> str:
    store: Any = Shelf(World(), "aws/permissions")
    leave, known = Leave("somebody", store, "somebody"), Known()
    known.learn(leave, PermissionsState(lacking=tuple(lacking)))
    problem = leave.objection(known)
    assert isinstance(problem, Problem)
    return problem.problem


def test_a_few_stand_in_the_sentence() -> None:
    assert (
        told(AWS[:2])
        == "somebody may not do iam:CreateRole, iam:GetRole, which taking these things down needs"
    )


@pytest.mark.parametrize(
    ("lacking", "lines"),
    [
        (
            AWS,
            [
                "iam: CreateRole, GetRole, TagRole",
                "s3: CreateBucket, GetObject, PutObject, PutBucketPolicy",
            ],
        ),
        (
            [f"Microsoft.Storage/storageAccounts/{number}/write" for number in range(MANY + 1)],
            [
                f"Microsoft.Storage: {', '.join(f'storageAccounts/{number}/write' for number in range(MANY + 1))}"
            ],
        ),
        (
            [*(f"iam.roles.{number}" for number in range(MANY)), "storage.buckets.get"],
            ["iam.roles: 0, 1, 2, 3, 4, 5", "storage.buckets: get"],
        ),
    ],
    ids=["aws", "azure", "gcp"],
)
def test_many_are_told_by_their_service(lacking: list[str], lines: list[str]) -> None:
    assert told(lacking).splitlines() == [
        f"somebody may not do {len(lacking)} things, which taking these things down needs:",
        *lines,
    ]


def test_what_is_lacking_twice_is_told_once() -> None:
    assert told([AWS[0]] * (MANY + 1)).startswith("somebody may not do iam:CreateRole, which")


def test_rights_in_a_cluster_are_told_by_their_kind() -> None:
    rights = [
        Right(verb, kind, "apps", "shop")
        for kind in ("deployments", "daemonsets")
        for verb in ("get", "create", "patch", "delete")
    ]

    few, many = (
        denied("somebody", rights[:1], "installing"),
        denied("somebody", rights, "installing"),
    )

    assert few is not None
    assert few.problem == "somebody may not get deployments.apps in shop, which installing needs"
    assert many is not None
    assert many.problem.splitlines() == [
        "somebody lacks 8 rights, which installing needs:",
        "deployments.apps in shop: get, create, patch, delete",
        "daemonsets.apps in shop: get, create, patch, delete",
    ]


def test_lines_are_set_below_the_sentence_and_no_wider_than_can_be_read() -> None:
    lines = list(
        error(
            f"somebody lacks much\niam: {', '.join(f'Action{number:03}' for number in range(40))}",
            "have it granted",
        )
    )

    assert unstyle(lines[0]) == "Error: Somebody lacks much"
    assert all(line.startswith("    ") and len(line) <= 116 for line in lines[1:-1])
    assert lines[1].startswith("    iam: Action000, Action001")
    assert lines[-1] == "  Have it granted."
