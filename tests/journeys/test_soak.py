"""What a key rotation tries its new key as: what was asked for, and nothing else that there is."""

from __future__ import annotations

import pytest

from cwiictl.actions.order import Order
from cwiictl.actions.soak import tries
from cwiictl.actions.stage import staged
from cwiictl.engine.pace import Pace
from cwiictl.engine.resource import silent
from cwiictl.model import Cluster
from tests.journeys.ground import NAME, REGION, Ground


def test_it_is_tried_though_nobody_may_say_what_else_there_is(
    ground: Ground, monkeypatch: pytest.MonkeyPatch
) -> None:
    ground.keys()
    assert ground.create_all().code == 0
    for name, value in ground.sandbox.environment().items():
        monkeypatch.setenv(name, value)
    ground.sandbox.faults.deny = {"iam:GetAccountAuthorizationDetails", "iam:ListRoles"}
    asked = Order(
        Cluster(NAME),
        {"aws": {"region": REGION}},
        requests=ground.folder / "requests",
        output=ground.folder / "out",
    )

    trying = tries(staged(asked, Pace(), silent, writes=False), silent)

    assert {cloud: taken() for cloud, taken in trying.items()} == {"AWS": ""}
