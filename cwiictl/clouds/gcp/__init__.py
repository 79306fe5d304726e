"""Google Cloud: a bucket for the issuer, a workload identity pool that believes it, a service account per workload, and the roles that it is given."""

from __future__ import annotations

from cwiictl.clouds.gcp.permissions import least
from cwiictl.clouds.gcp.plan import bindings, brings, host, identities, judged, leaving, permitted, standing, trusting, walk
from cwiictl.clouds.gcp.section import WISHES, Section, ask_of
from cwiictl.clouds.gcp.spec import KIND, Spec, ask
from cwiictl.clouds.gcp.stores import Stores
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

name = "gcp"
title = "Google Cloud"
FORMATS = ()


def connect(spec: Spec, cluster: Cluster, width: int) -> Stores:
    """The SDKs are loaded here, and only here: who does not use this cloud does not pay for it."""
    judged(spec, cluster)
    try:
        from cwiictl.clouds.gcp.stores import session  # noqa: PLC0415
    except ModuleNotFoundError as e:
        raise BadInput(
            f"Google's SDKs are not installed: there is no module {e.name}", remedy="install cwiictl with its extra gcp, as in pip install '.[gcp]'"
        ) from e

    return session.connect(spec, cluster, width)
