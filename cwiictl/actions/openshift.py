"""What is to be installed in this very cluster: OpenShift's own operator may run a webhook there, and knows things that need not be said."""

from __future__ import annotations

import base64

from cwiictl.actions.cluster import Installation, imaged, values
from cwiictl.install import openshift, rollover
from cwiictl.install.values import Values
from cwiictl.kubernetes import Place


def suited(order: Installation, place: Place) -> tuple[Values, tuple[str, ...]]:
    """With what is to be told of it."""
    if not place.kinds.get(openshift.CLUSTER):
        return imaged(values(order)), ()
    if operator := openshift.operated(place.api.list(rollover.CONFIGURATION)):
        return openshift.apart(imaged(values(order)), operator)
    return imaged(values(order, openshift.below(_tenant(place)))), ()


def _tenant(place: Place) -> str:
    """Of Azure, as the installer left it for the operator."""
    name, key = openshift.TENANT
    secret = place.api.get("Secret", openshift.NAMESPACE, name)
    return base64.b64decode((secret or {"data": {}})["data"].get(key, "")).decode()
