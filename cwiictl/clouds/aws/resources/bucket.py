"""The bucket that serves the issuer's two documents to everybody."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from cwiictl import names
from cwiictl.clouds.aws import policy
from cwiictl.clouds.aws.policy import Policy
from cwiictl.engine.resource import Known, Resource, State, part
from cwiictl.errors import Conflict, Problem
from cwiictl.model import Cluster


@dataclass(frozen=True)
class PublicAccess:
    """What S3 blocks, whatever a policy or an access list says. Blocking access lists is always right: nothing here needs one."""

    block_acls: bool = True
    ignore_acls: bool = True
    block_policy: bool = True
    restrict: bool = True


@dataclass(frozen=True, kw_only=True)
class BucketState(State):
    region: str  # empty if S3 does not say: then it is somebody else's
    public_access: PublicAccess
    policy: Policy | None
    tags: Mapping[str, str] = part()


@dataclass(frozen=True)
class Bucket(Resource[BucketState]):
    cluster: Cluster
    partition: str
    region: str

    def want(self, known: Known) -> BucketState:  # noqa: ARG002 - it follows from what was asked
        return BucketState(
            region=self.region,
            public_access=PublicAccess(block_policy=False, restrict=False),
            policy=policy.canonical(
                policy.allow("s3:GetObject", Sid="AllowReadPublicAccess", Principal="*", Resource=f"arn:{self.partition}:s3:::{self.name}/*"),
            ),
            tags=names.tags(self.cluster),
        )

    def objection(self, found: Known) -> Problem | None:
        """The issuer's address is made of the region, and so is all that believes it."""
        have = found.get(self)
        if have is None or have.region == self.region:
            return None
        if not have.region:
            return Conflict(f"{self.address} belongs to somebody else in the world", remedy="choose another --name")
        return Conflict(f"{self.address} is in {have.region}, and a bucket does not move", remedy=f"give --region {have.region}, or another --name")
