"""The bucket that serves the issuer's two documents, to everybody or to CloudFront alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from cwiictl import names
from cwiictl.clouds.aws import policy
from cwiictl.clouds.aws.policy import Policy
from cwiictl.clouds.aws.resources.distribution import Distribution
from cwiictl.engine.resource import Known, Resource, State, part
from cwiictl.model import Cluster


@dataclass(frozen=True)
class PublicAccess:
    """What S3 blocks, whatever a policy or an access list says. Blocking access lists is always right: nothing here needs one."""

    block_acls: bool = True
    ignore_acls: bool = True
    block_policy: bool = True
    restrict: bool = True


PRIVATE = PublicAccess()
READABLE = PublicAccess(block_policy=False, restrict=False)


@dataclass(frozen=True, kw_only=True)
class BucketState(State):
    region: str
    public_access: PublicAccess
    tags: Mapping[str, str] = part()


@dataclass(frozen=True)
class Bucket(Resource[BucketState]):
    cluster: Cluster
    region: str
    access: PublicAccess = READABLE

    def want(self, known: Known) -> BucketState:  # noqa: ARG002 - it follows from what was asked
        return BucketState(region=self.region, public_access=self.access, tags=names.tags(self.cluster))


@dataclass(frozen=True, kw_only=True)
class BucketPolicyState(State):
    markless: ClassVar[bool] = True
    policy: Policy


@dataclass(frozen=True)
class BucketPolicy(Resource[BucketPolicyState]):
    """Who may read the bucket: everybody, or one distribution."""

    bucket: Bucket
    partition: str
    reader: Distribution | None = None

    def want(self, known: Known) -> BucketPolicyState:
        documents = {"Action": "s3:GetObject", "Resource": f"arn:{self.partition}:s3:::{self.bucket.name}/*"}
        if self.reader is None:
            return BucketPolicyState(policy=policy.canonical({"Sid": "AllowReadPublicAccess", "Effect": "Allow", "Principal": "*", **documents}))
        source = {"StringEquals": {"AWS:SourceArn": known[self.reader].arn}}
        principal = {"Service": "cloudfront.amazonaws.com"}
        return BucketPolicyState(
            policy=policy.canonical({"Sid": "AllowReadCloudFront", "Effect": "Allow", "Principal": principal, "Condition": source, **documents})
        )
