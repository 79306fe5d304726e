"""A workload of the webhook, as a file and as options ask for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import yaml

from tests.journeys.ground import NAME, Done, Ground

Make: TypeAlias = Callable[..., Done]  # a ground, and further words

BILLING = f"{NAME}-shop-billing"
MANAGED = "arn:aws:iam::aws:policy/AmazonS3ReadOnlyAccess"
POLICY = {
    "Version": "2012-10-17",
    "Statement": [
        {"Effect": "Allow", "Action": ["s3:GetObject"], "Resource": "arn:aws:s3:::shop/*"}
    ],
}


def refused(ground: Ground, text: str, words: tuple[str, ...]) -> None:
    """What the file says wrongly is told with its place, before any call."""
    ground.write("cluster.yaml", text)

    done = ground.cwiictl("create-all", "--file", "cluster.yaml")

    assert done.code == 2
    assert all(word.lower() in done.err.lower() for word in words), done.err
    assert ground.asked() == []


def kept_apart(ground: Ground, thing: str, first: Make, second: Make, made_by: str) -> None:
    """What one command made, another neither narrows nor widens, but when it is told to take it over."""
    assert first(ground).code == 0
    before = ground.clouds()
    ground.fresh()

    for done in (second(ground), second(ground, "--dry-run")):
        assert done.code == 4, done.out
        assert done.things[thing] == "foreign"
        (told,) = (each for each in done.data["things"] if each["thing"] == thing)
        assert (
            told["problem"] == f"{thing} was made by {made_by}, and would lose what that asked for"
        )
        assert told["remedy"].endswith(
            f"change it with {made_by}, or take it over with --adopt {thing}"
        )
    assert ground.mutating() == []
    assert ground.clouds() == before

    done = second(ground, "--adopt", thing)
    assert (done.code, done.things[thing]) == (0, "repaired"), done.out
    assert second(ground).but("as wanted", "left over") == {}  # from then on it is that command's
    assert first(ground).code == 4


def unfinished(done: Done, thing: str, error: str) -> None:
    """What a run has made and could not finish is told, and where it prints what kubectl takes, that is nothing."""
    assert (done.code, done.out) == (1, ""), done.err
    assert f"  unfinished  {thing}\n" in done.err
    assert error in done.err
    assert (
        "What was made stays, also what is unfinished: mend what failed, and run the same command again to go on."
        in done.err
    )


def printed(done: Done) -> list[Any]:
    """The two ServiceAccounts that are to use one identity."""
    assert done.code == 0, done.err
    accounts = list(yaml.safe_load_all(done.out))
    assert [
        (each["kind"], each["metadata"]["namespace"], each["metadata"]["name"]) for each in accounts
    ] == [
        ("ServiceAccount", "shop", "billing"),
        ("ServiceAccount", "shop", "billing-jobs"),
    ]
    return accounts
