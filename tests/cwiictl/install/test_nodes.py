"""Where the webhook's pods have one node alone to be on, however many there are."""

from __future__ import annotations

from typing import Any

import pytest

from cwiictl.install.nodes import MANY, alone
from tests.cwiictl.install.installed import some

MASTER, INFRA, SICK = (
    {"key": "node-role.kubernetes.io/control-plane", "effect": "NoSchedule"},
    {"key": "infra", "value": "yes", "effect": "NoExecute"},
    {"key": "node.kubernetes.io/unreachable", "effect": "NoExecute"},
)
SLOW = {"key": "slow", "effect": "PreferNoSchedule"}


def nodes(*taints: tuple[dict[str, str], ...]) -> list[dict[str, Any]]:
    return [{"spec": {"taints": list(each)} if each else {}} for each in taints]


@pytest.mark.parametrize(
    ("taints", "said"),
    [
        (((),), True),
        (((), ()), False),
        (((MASTER,), ()), True),
        (((MASTER,), (), ()), False),
        (((), (SICK,)), False),
        (((), (SLOW,)), False),
        ((), False),
        (((MASTER,),), False),
        (((),) * MANY, False),
    ],
    ids=str,
)
def test_a_node_counts_that_takes_its_pods(
    taints: tuple[tuple[dict[str, str], ...], ...], said: bool
) -> None:
    assert alone(some(), nodes(*taints)) is said


@pytest.mark.parametrize(
    ("toleration", "more"),
    [
        ({"key": "infra", "operator": "Exists", "effect": "NoExecute"}, True),
        ({"operator": "Exists"}, True),
        ({"key": "infra", "value": "yes"}, True),
        ({"key": "infra", "value": "no"}, False),
        ({"key": "infra", "operator": "Exists", "effect": "NoSchedule"}, False),
        ({"key": "other", "operator": "Exists"}, False),
    ],
    ids=str,
)
def test_what_it_tolerates_keeps_it_out_no_more(toleration: dict[str, str], more: bool) -> None:
    assert alone(some(tolerations=[toleration]), nodes((), (INFRA,))) is not more
