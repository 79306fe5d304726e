"""A workload of the webhook, as a file and as options ask for it."""

from __future__ import annotations

from typing import Any

import yaml

from tests.journeys.ground import NAME, Done, Ground

BILLING = f"{NAME}-shop-billing"
MANAGED = "arn:aws:iam::aws:policy/AmazonS3ReadOnlyAccess"
POLICY = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": ["s3:GetObject"], "Resource": "arn:aws:s3:::shop/*"}]}


def refused(ground: Ground, text: str, words: tuple[str, ...]) -> None:
    """What the file says wrongly is told with its place, before any call."""
    ground.write("cluster.yaml", text)

    done = ground.cwiictl("create-all", "--file", "cluster.yaml")

    assert done.code == 2
    assert all(word.lower() in done.err.lower() for word in words), done.err
    assert ground.asked() == []


def printed(done: Done) -> list[Any]:
    """The two ServiceAccounts that are to use one identity."""
    assert done.code == 0, done.err
    accounts = list(yaml.safe_load_all(done.out))
    assert [(each["kind"], each["metadata"]["namespace"], each["metadata"]["name"]) for each in accounts] == [
        ("ServiceAccount", "shop", "billing"),
        ("ServiceAccount", "shop", "billing-jobs"),
    ]
    return accounts
