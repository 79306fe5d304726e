"""Nodes that the webhook's pods can be on. Where there is one alone, a budget would keep it from being drained: there is nowhere to be ready again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from cwiictl.install.values import Values

Body = Mapping[str, Any]

MANY = 100  # nodes that are enough to look at
_KEEPING_OUT = ("NoSchedule", "NoExecute")
_PASSING = "node.kubernetes.io/"  # taints for as long as a node is cordoned, or not well


def alone(values: Values, nodes: Sequence[Body]) -> bool:
    return len(nodes) < MANY and sum(_takes(node, values) for node in nodes) == 1


def _takes(node: Body, values: Values) -> bool:
    taints: Sequence[Mapping[str, str]] = node.get("spec", {}).get("taints") or ()
    lasting = [
        taint
        for taint in taints
        if taint["effect"] in _KEEPING_OUT and not taint["key"].startswith(_PASSING)
    ]
    return all(
        any(_tolerates(toleration, taint) for toleration in values.tolerations) for taint in lasting
    )


def _tolerates(toleration: Body, taint: Mapping[str, str]) -> bool:
    """An empty key, or effect, is any."""
    if toleration.get("key") not in {None, "", taint["key"]} or toleration.get("effect") not in {
        None,
        "",
        taint["effect"],
    }:
        return False
    return toleration.get("operator") == "Exists" or toleration.get("value", "") == taint.get(
        "value", ""
    )
