"""Microsoft Azure: a blob container for the issuer, a managed identity per workload that believes it, and the roles that it is given."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cwiictl.clouds.azure.section import WISHES, Section, ask_of
from cwiictl.clouds.azure.spec import KIND, Spec, ask
from cwiictl.clouds.format import Format
from cwiictl.loading import behind, loading
from cwiictl.model import Cluster

if TYPE_CHECKING:
    from cwiictl.clouds.azure.actors import acting
    from cwiictl.clouds.azure.belief import believed, believers, exchanges
    from cwiictl.clouds.azure.clearance import leaving, permitted
    from cwiictl.clouds.azure.permissions import least
    from cwiictl.clouds.azure.plan import (
        brings,
        host,
        identities,
        standing,
        trusted,
        trusting,
        uploads,
        walk,
    )
    from cwiictl.clouds.azure.recognition import recognised
    from cwiictl.clouds.azure.stores import Stores
    from cwiictl.clouds.azure.telling import bindings

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

name = "azure"
title = "Azure"
FORMATS = (Format("aso", "Azure Service Operator", "cwiictl.clouds.azure.aso"),)
TELLS = ("azure_", "cwii.dev/az-", "azure.workload.identity/")


__getattr__ = behind(
    __name__, "plan", "permissions", "belief", "actors", "recognition", "clearance", "telling"
)


def connect(spec: Spec, cluster: Cluster, width: int) -> Stores:
    from cwiictl.clouds.azure.plan import judged  # noqa: PLC0415 - who does not use this cloud does not load its plan

    judged(spec, cluster)
    with loading(name, title):
        from cwiictl.clouds.azure.stores import session  # noqa: PLC0415 - nor its SDK

    return session.connect(spec, cluster, width)
