"""The CloudFront distribution through which everybody reads a bucket that nobody else may read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from cwiictl import names
from cwiictl.engine.resource import Known, Resource, State, assigned, part
from cwiictl.model import Cluster

CACHING_DISABLED = "4135ea2d-6df8-44a3-9df3-4b5a84be39ad"  # a policy of CloudFront's own: a new key is seen at once


@dataclass(frozen=True, kw_only=True)
class OriginAccessState(State):
    """How CloudFront signs what it asks of the bucket. It has no tags: its description is its mark."""

    signing: str = "always"
    protocol: str = "sigv4"
    id: str = assigned()


@dataclass(frozen=True)
class OriginAccess(Resource[OriginAccessState]):
    """CloudFront's own identity towards the bucket (origin access control)."""

    def want(self, known: Known) -> OriginAccessState:  # noqa: ARG002 - it follows from what was asked
        return OriginAccessState()


@dataclass(frozen=True, kw_only=True)
class OriginIdentityState(State):
    """Of the older way, which is only ever found: nothing of it is ours to say."""


@dataclass(frozen=True, kw_only=True)
class DistributionState(State):
    origin: str
    access: str
    enabled: bool = True
    viewers: str = "https-only"
    caching: str = CACHING_DISABLED
    tags: Mapping[str, str] = part()
    domain: str = assigned()
    arn: str = assigned()


@dataclass(frozen=True)
class Distribution(Resource[DistributionState]):
    """Made in a moment, deployed in minutes: who needs only its name does not wait for it."""

    cluster: Cluster
    origin: str
    access: OriginAccess

    def want(self, known: Known) -> DistributionState:
        return DistributionState(
            origin=self.origin, access=known[self.access].id, tags=names.tags(self.cluster)
        )
