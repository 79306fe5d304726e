"""Amazon Web Services: an S3 bucket for the issuer, an IAM OIDC provider that believes it, a role per workload."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cwiictl.clouds.aws.section import WISHES, Section, ask_of
from cwiictl.clouds.aws.spec import KIND, Spec, ask
from cwiictl.loading import behind, loading
from cwiictl.model import Cluster

if TYPE_CHECKING:
    from cwiictl.clouds.aws.actors import acting
    from cwiictl.clouds.aws.belief import believed, believers, exchanges
    from cwiictl.clouds.aws.clearance import leaving, permitted
    from cwiictl.clouds.aws.permissions import least
    from cwiictl.clouds.aws.plan import (
        brings,
        host,
        identities,
        standing,
        trusted,
        trusting,
        uploads,
        walk,
    )
    from cwiictl.clouds.aws.recognition import recognised
    from cwiictl.clouds.aws.stores import Stores
    from cwiictl.clouds.aws.telling import bindings

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

name = "aws"
title = "AWS"
FORMATS = ()
TELLS = ("credentials", "cwii.dev/aws-", "eks.amazonaws.com/")


__getattr__ = behind(
    __name__, "plan", "permissions", "belief", "actors", "recognition", "clearance", "telling"
)


def connect(spec: Spec, cluster: Cluster, width: int) -> Stores:
    from cwiictl.clouds.aws.plan import judged  # noqa: PLC0415 - who does not use this cloud does not load its plan

    judged(spec, cluster)
    with loading(name, title):
        from cwiictl.clouds.aws.stores import session  # noqa: PLC0415 - nor its SDK

    return session.connect(spec, cluster, width)
