"""Microsoft Azure: a blob container for the issuer, a managed identity per workload that believes it, and the roles that it is given."""

from __future__ import annotations

from cwiictl.clouds.azure import aso
from cwiictl.clouds.azure.permissions import least
from cwiictl.clouds.azure.plan import bindings, brings, host, identities, judged, leaving, permitted, standing, trusting, walk
from cwiictl.clouds.azure.section import WISHES, Section, ask_of
from cwiictl.clouds.azure.spec import KIND, Spec, ask
from cwiictl.clouds.azure.stores import Stores
from cwiictl.clouds.format import Format
from cwiictl.errors import BadInput
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
    """The SDKs are loaded here, and only here: who does not use this cloud does not pay for it."""
    judged(spec, cluster)
    try:
        from cwiictl.clouds.azure.stores import session  # noqa: PLC0415
    except ModuleNotFoundError as e:
        raise BadInput(
            f"Azure's SDKs are not installed: there is no module {e.name}", remedy="install cwiictl with its extra azure, as in pip install '.[azure]'"
        ) from e

    return session.connect(spec, cluster, width)
