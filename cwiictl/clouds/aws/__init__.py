"""Amazon Web Services: an S3 bucket for the issuer, an IAM OIDC provider that believes it, a role per workload."""

from __future__ import annotations

from cwiictl.clouds.aws.permissions import least
from cwiictl.clouds.aws.plan import bindings, brings, host, identities, judged, leaving, permitted, standing, trusting, walk
from cwiictl.clouds.aws.section import WISHES, Section, ask_of
from cwiictl.clouds.aws.spec import KIND, Spec, ask
from cwiictl.clouds.aws.stores import Stores
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

name = "aws"
title = "AWS"
FORMATS = ()


def connect(spec: Spec, cluster: Cluster, width: int) -> Stores:
    judged(spec, cluster)
    with loading(name, title):
        from cwiictl.clouds.aws.stores import session  # noqa: PLC0415 - who does not use this cloud does not load its SDK

    return session.connect(spec, cluster, width)
