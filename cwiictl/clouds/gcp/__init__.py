"""Google Cloud: a bucket for the issuer, a workload identity pool that believes it, a service account per workload, and the roles that it is given."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cwiictl.clouds.gcp.section import WISHES, Section, ask_of
from cwiictl.clouds.gcp.spec import KIND, Spec, ask
from cwiictl.loading import behind, loading
from cwiictl.model import Cluster

if TYPE_CHECKING:
    from cwiictl.clouds.gcp.actors import acting
    from cwiictl.clouds.gcp.belief import believed, believers, exchanges
    from cwiictl.clouds.gcp.clearance import leaving, permitted
    from cwiictl.clouds.gcp.permissions import least
    from cwiictl.clouds.gcp.plan import (
        brings,
        host,
        identities,
        standing,
        trusted,
        trusting,
        uploads,
        walk,
    )
    from cwiictl.clouds.gcp.recognition import recognised
    from cwiictl.clouds.gcp.stores import Stores
    from cwiictl.clouds.gcp.telling import bindings

__all__ = [
    "FORMATS",
    "KIND",
    "TELLS",
    "WISHES",
    "Section",
    "Spec",
    "acting",
    "ask",
    "ask_of",
    "believed",
    "believers",
    "bindings",
    "brings",
    "connect",
    "exchanges",
    "host",
    "identities",
    "least",
    "leaving",
    "name",
    "permitted",
    "recognised",
    "standing",
    "title",
    "trusted",
    "trusting",
    "uploads",
    "walk",
]

name = "gcp"
title = "Google Cloud"
FORMATS = ()
TELLS = ("service_account.json", "cwii.dev/gcp-", "cloud.google.com/")


__getattr__ = behind(
    __name__, "plan", "permissions", "belief", "actors", "recognition", "clearance", "telling"
)


def connect(spec: Spec, cluster: Cluster, width: int) -> Stores:
    from cwiictl.clouds.gcp.plan import judged  # noqa: PLC0415 - who does not use this cloud does not load its plan

    judged(spec, cluster)
    with loading(name, title):
        from cwiictl.clouds.gcp.stores import session  # noqa: PLC0415 - nor its SDK

    return session.connect(spec, cluster, width)
