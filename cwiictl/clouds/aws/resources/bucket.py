"""The bucket that serves the issuer's two documents, to everybody or to CloudFront alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from cwiictl import names
from cwiictl.clouds.aws import policy
from cwiictl.clouds.aws.policy import Policy
from cwiictl.clouds.aws.resources.distribution import Distribution
from cwiictl.clouds.aws.resources.document import KEYS
from cwiictl.engine.resource import Difference, Known, Resource, State, differences, part
from cwiictl.errors import BadInput, Conflict, Problem
from cwiictl.model import Cluster


@dataclass(frozen=True)
class PublicAccess:
    """What S3 blocks, whatever a policy or an access list says. Blocking access lists is always right: nothing here needs one."""

    block_acls: bool = True
    ignore_acls: bool = True
    block_policy: bool = True
    restrict: bool = True


EVERYBODY = {"Effect": "Allow", "Principal": "*"}
PRIVATE = PublicAccess()
READABLE = PublicAccess(block_policy=False, restrict=False)


@dataclass(frozen=True, kw_only=True)
class BucketState(State):
    region: str  # empty if S3 does not say: then it is somebody else's
    public_access: PublicAccess | None  # None if that is not ours to say
    tags: Mapping[str, str] = part()
    stranger: str = field(
        default="", compare=False, metadata={"bookkeeping": True}
    )  # something in it that is not ours, while it is not


@dataclass(frozen=True)
class Bucket(Resource[BucketState]):
    cluster: Cluster
    region: str
    access: PublicAccess | None = READABLE  # None for a bucket of the user's own
    clouds: frozenset[str] = frozenset()  # others, that trust its issuer

    @property
    def brought(self) -> bool:
        return self.access is None

    def want(self, known: Known) -> BucketState:  # noqa: ARG002 - it follows from what was asked
        trusted = names.trusted(self.clouds)
        return BucketState(
            region=self.region,
            public_access=self.access,
            tags=trusted if self.brought else {**names.tags(self.cluster), **trusted},
        )

    def differing(self, want: BucketState, have: BucketState) -> tuple[Difference, ...]:
        return tuple(
            d for d in differences(want, have) if d.field != "public_access" or want.public_access
        )

    def objection(self, found: Known) -> Problem | None:
        """The issuer's address is made of the region, and so is all that believes it. What lies in a bucket is not published with it."""
        have = found.get(self)
        if have is None:
            gone = BadInput(
                f"there is no bucket {self.name} of yours",
                remedy="make it, or name another with --s3-bucket",
            )
            return gone if self.brought else None
        if not have.region:
            return taken(self.address, brought=self.brought)
        if have.region != self.region:
            kind = BadInput if have.owner and have.owner.cluster == self.cluster.name else Conflict
            return kind(
                f"{self.address} is in {have.region}, and a bucket does not move",
                remedy=f"give --region {have.region}, or another --name",
            )
        if have.stranger and not self.brought:
            return Conflict(
                f"{self.address} holds {have.stranger}, which is not the issuer's",
                remedy="choose another --name, or move it elsewhere first",
            )
        return None


def taken(address: str, *, brought: bool) -> Conflict:
    """Whoever may not look at a bucket is told so as if a permission were lacking. Here none would help."""
    other = (
        "name one of yours with --s3-bucket"
        if brought
        else "choose another --name, or name a bucket of yours with --s3-bucket"
    )
    return Conflict(
        f"{address} belongs to somebody else in the world, where no two buckets have one name",
        remedy=other,
    )


@dataclass(frozen=True, kw_only=True)
class BucketPolicyState(State):
    markless: ClassVar[bool] = True
    policy: Policy


@dataclass(frozen=True)
class BucketPolicy(Resource[BucketPolicyState]):
    """Who may read the two documents, and nothing else in the bucket: everybody, or one distribution."""

    bucket: Bucket
    partition: str
    reader: Distribution | None = None

    def want(self, known: Known) -> BucketPolicyState:
        documents = reading(self.partition, self.bucket.name)
        if self.reader is None:
            return BucketPolicyState(
                policy=policy.canonical({"Sid": "AllowReadPublicAccess", **EVERYBODY, **documents})
            )
        source = {"StringEquals": {"AWS:SourceArn": known[self.reader].arn}}
        principal = {"Service": "cloudfront.amazonaws.com"}
        return BucketPolicyState(
            policy=policy.canonical(
                {
                    "Sid": "AllowReadCloudFront",
                    "Effect": "Allow",
                    "Principal": principal,
                    "Condition": source,
                    **documents,
                }
            )
        )


def reading(partition: str, bucket: str, folder: str = "") -> dict[str, Any]:
    """The part of a statement that names the two documents."""
    return {
        "Action": "s3:GetObject",
        "Resource": [f"arn:{partition}:s3:::{bucket}/{folder}{key}" for key in sorted(KEYS)],
    }
