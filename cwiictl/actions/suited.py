"""What is to be installed in this very cluster: OpenShift's own operator may run a webhook there, and there may be one node alone."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import Any

from cwiictl.actions.cluster import NOTHING, Installation, imaged, values
from cwiictl.errors import Denied
from cwiictl.install import nodes, openshift, rollover
from cwiictl.install.values import Values
from cwiictl.kubernetes import Place
from cwiictl.kubernetes.place import Body

Below = Mapping[str, Any]
UNBUDGETED = "Its pods have one node alone to be on, which a PodDisruptionBudget would keep from being drained: none is made. --set disruptionBudget=true makes one."


def suited(order: Installation, place: Place) -> tuple[Values, tuple[str, ...]]:
    """With what is to be told of it."""
    if not place.kinds.get(openshift.CLUSTER):
        return _budgeted(order, NOTHING, place)
    if operator := openshift.operated(place.api.list(rollover.CONFIGURATION)):
        wanted, hints = _budgeted(order, NOTHING, place)
        fewer, told = openshift.apart(wanted, operator)
        return fewer, (*told, *hints)
    return _budgeted(order, openshift.below(_tenant(place)), place)


def _budgeted(order: Installation, below: Below, place: Place) -> tuple[Values, tuple[str, ...]]:
    """Whoever says disruptionBudget has it as they say."""
    wanted = imaged(values(order, below))
    without = values(order, {**below, "disruptionBudget": False})
    if wanted == without or not wanted.replicated or not nodes.alone(wanted, _nodes(wanted, place)):
        return wanted, ()
    return without, (UNBUDGETED,)


def _nodes(wanted: Values, place: Place) -> Sequence[Body]:
    """Who may not list them installs what is right for most."""
    selector = ",".join(f"{key}={value}" for key, value in wanted.node_selector.items())
    try:
        return place.api.list("Node", selector=selector, most=nodes.MANY)
    except Denied:
        return ()


def _tenant(place: Place) -> str:
    """Of Azure, as the installer left it for the operator."""
    name, key = openshift.TENANT
    secret = place.api.get("Secret", openshift.NAMESPACE, name)
    return base64.b64decode((secret or {"data": {}})["data"].get(key, "")).decode()
