"""Connecting to a cluster: who asks, which version it is of, and what it serves."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from cwiictl.errors import BadInput, Problem
from cwiictl.kubernetes.kinds import NAMESPACE, Kind, Kinds, discovered
from cwiictl.kubernetes.place import Place
from cwiictl.kubernetes.stores.asked import Asked
from cwiictl.kubernetes.stores.credentials import configured, expired
from cwiictl.kubernetes.stores.errors import Refused, answered, told, unknown
from cwiictl.kubernetes.stores.namespaces import Namespaces
from cwiictl.kubernetes.stores.store import Objects
from cwiictl.kubernetes.stores.wire import DISCOVERY, Wire

OLDEST = (1, 28)
ANONYMOUS = "system:anonymous"
REVIEW = "/apis/authentication.k8s.io/v1/selfsubjectreviews"


def connect(
    kubeconfig: Path | None, context: str | None, width: int = 16, name: str = "", within: str = ""
) -> Place:
    configuration, chosen = configured(kubeconfig, context)
    wire = Wire(configuration, width)
    try:
        return _place(wire, chosen, width, name, within)
    except BaseException:
        wire.close()
        raise


@told()
def _place(wire: Wire, context: str, width: int, name: str, within: str) -> Place:
    try:
        version, caller = _version(wire), _caller(wire, context)
    except Refused as e:
        raise _stranger(wire, context, e) from e
    kinds = Kinds(
        kind
        for path in ("/api", "/apis")
        for kind in discovered(wire.call("GET", path, form=DISCOVERY))
    )
    stores: dict[Kind, Objects] = {}

    def store(kind: Kind) -> Objects:
        if kind not in stores:
            stores[kind] = (
                Namespaces(wire, kind, kinds, place=name)
                if kind.title == NAMESPACE
                else Objects(wire, kind, place=name, within=within)
            )
        return stores[kind]

    return Place(
        wire.server,
        context,
        version,
        caller,
        kinds,
        store,
        Asked(wire, kinds, width),
        wire.close,
        name,
        within,
    )


def _version(wire: Wire) -> str:
    told: Any = wire.call("GET", "/version")
    version = tuple(
        int(re.sub(r"\D.*", "", str(told.get(part, ""))) or 0) for part in ("major", "minor")
    )
    if version < OLDEST:
        raise BadInput(
            f"the cluster at {wire.server} is Kubernetes {told.get('gitVersion')}, and {'.'.join(map(str, OLDEST))} is the oldest that is supported",
            remedy="upgrade it, or choose another --context",
        )
    return str(told.get("gitVersion"))


def _caller(wire: Wire, context: str) -> str:
    """Whoever cannot say who they are is told apart from who may do little: most answers to nobody look like a missing right."""
    answer: Any = wire.call(
        "POST", REVIEW, body={"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
    )
    name = str(answer["status"]["userInfo"].get("username", ""))
    if name == ANONYMOUS:
        raise _nobody(context)
    return name


def _stranger(wire: Wire, context: str, e: Refused) -> Problem:
    if e.status == 401 and (ended := expired(wire.configuration)):
        return BadInput(
            f"the client certificate of the context {context} has run out ({ended})",
            remedy="have it renewed, or log in again",
        )
    return _nobody(context) if e.status == 403 and ANONYMOUS in e.message else answered(e)


def _nobody(context: str) -> BadInput:
    return unknown(f"the context {context} has no credentials that it takes")
