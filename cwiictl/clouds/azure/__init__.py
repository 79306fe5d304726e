"""Microsoft Azure: a blob container for the issuer, a managed identity per workload that believes it, and the roles that it is given."""

from __future__ import annotations

from cwiictl.clouds.azure import aso
from cwiictl.clouds.azure.permissions import least
from cwiictl.clouds.azure.plan import bindings, brings, host, identities, judged, leaving, permitted, standing, trusting, walk
from cwiictl.clouds.azure.section import WISHES, Section, ask_of
from cwiictl.clouds.azure.spec import KIND, Spec, ask
from cwiictl.clouds.azure.stores import Stores
from cwiictl.clouds.format import Format
from cwiictl.clouds.sdk import loading
from cwiictl.model import Cluster

__all__ = [
    "FORMATS",
    "KIND",
    "WISHES",
    "Section",
    "Spec",
    "ask",
    "ask_of",
    "bindings",
    "brings",
    "connect",
    "host",
    "identities",
    "least",
    "leaving",
    "name",
    "permitted",
    "standing",
    "title",
    "trusting",
    "walk",
]

name = "azure"
title = "Azure"
FORMATS: tuple[Format, ...] = (aso,)


def connect(spec: Spec, cluster: Cluster, width: int) -> Stores:
    judged(spec, cluster)
    with loading(name, title):
        from cwiictl.clouds.azure.stores import session  # noqa: PLC0415 - who does not use this cloud does not load its SDK

    return session.connect(spec, cluster, width)
