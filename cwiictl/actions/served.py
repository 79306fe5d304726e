"""A cluster that exists: its own keys, read from its API server, and what becomes of an order because of them."""

from __future__ import annotations

import json
from contextlib import closing
from dataclasses import replace
from typing import Any

from cwiictl import names
from cwiictl.actions.order import Order, Reach
from cwiictl.clouds import ALL
from cwiictl.errors import BadInput, Denied, Failed
from cwiictl.installers import openshift
from cwiictl.issuer.served import DISCOVERY, JWKS, Served, served
from cwiictl.kubernetes import connect
from cwiictl.kubernetes.place import Api


def settled(order: Order) -> Order:
    """With what the cluster tells of itself, where it is asked."""
    return decided(order, told(order.from_cluster)) if order.from_cluster else order


def decided(order: Order, found: Served) -> Order:
    """Which issuer is to be trusted: the cluster's own, or a new one of the same keys."""
    order = replace(order, served=found)
    return (
        replace(order, issuer_url=found.issuer, issuer_exists=not _uploaded(order))
        if _trusted_as_it_is(order, found)
        else order
    )


def judge_audiences(order: Order) -> None:
    """For whom API servers take tokens they are told anew with another issuer. Whoever would not be named again would be refused."""
    found, ours = order.served, set(order.installers) - {openshift.name}
    if found is None or found.audiences or not ours or order.issuer_url == found.issuer:
        return
    if order.move_issuer or names.hosted(found.issuer).get("cloud") not in order.clouds:
        raise BadInput(
            f"for whom the API servers of {found.issuer} take tokens is not known, and they would be told anew with another issuer",
            remedy="have the right to create a token of the ServiceAccount default/default given to who runs this: it says so",
        )


def told(reach: Reach) -> Served:
    with closing(connect(reach.kubeconfig, reach.context or None)) as place:
        return read(place.api)


def read(api: Api) -> Served:
    """Who may not ask for a token learns all the same what can be known without. Whoever only has no time for it is asked again."""
    try:
        token = api.token("default", "default", "")
    except (Denied, Failed):
        token = ""
    return served(api.document(DISCOVERY), json.dumps(api.document(JWKS)).encode(), token)


def _trusted_as_it_is(order: Order, found: Served) -> bool:
    """Where its name says that nobody could read it, or that was asked for, it gets another. What we have published stays ours to publish."""
    if order.issuer_exists:
        return True
    if order.issuer_url or order.move_issuer:
        return False
    return _uploaded(order) or not (found.inside or _published(order, found))


def _published(order: Order, found: Served) -> bool:
    """By us, or to be: in a place of ours, or in one of the user's."""
    return names.hosted(found.issuer).get("cloud") in order.clouds or any(
        ALL[name].brings(_spec(order, name)) for name in order.clouds
    )


def _uploaded(order: Order) -> bool:
    """Of one cloud alone: nobody else has the keys."""
    return len(order.clouds) == 1 and all(
        ALL[name].uploads(_spec(order, name)) for name in order.clouds
    )


def _spec(order: Order, cloud: str) -> Any:
    return ALL[cloud].Spec(**order.clouds[cloud])
