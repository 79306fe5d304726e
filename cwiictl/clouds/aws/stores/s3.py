"""S3: the bucket of the issuer."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from cwiictl import names
from cwiictl.clouds.aws import policy
from cwiictl.clouds.aws.resources.bucket import BucketPolicyState, BucketState, PublicAccess, taken
from cwiictl.clouds.aws.resources.document import KEYS
from cwiictl.clouds.aws.stores.errors import absent, code, denied, status, told
from cwiictl.clouds.aws.stores.tags import complete, listed, read, retagged
from cwiictl.engine.resource import Mark, changed
from cwiictl.errors import Conflict, Failed, NotYet
from cwiictl.model import Cluster

if TYPE_CHECKING:
    from types_boto3_s3 import S3Client

PATIENCE = 120.0
OPEN = PublicAccess(block_acls=False, ignore_acls=False, block_policy=False, restrict=False)


class Buckets:
    """The documents in it are its children: they go with it, and whatever else lies in it keeps it from going."""

    kind, bulk, patience = "aws/bucket", False, PATIENCE

    def __init__(self, s3: S3Client, cluster: str, places: Callable[[str], Iterable[str]]) -> None:
        self.s3, self.cluster, self.places = (
            s3,
            cluster,
            places,
        )  # where else documents of a cluster were put

    @told("s3")
    def get(self, buckets: Collection[str], /) -> Mapping[str, BucketState]:
        found = {bucket: self._read(bucket) for bucket in buckets}
        return {bucket: state for bucket, state in found.items() if state}

    @told("s3")
    def put(self, bucket: str, want: BucketState, have: BucketState | None, /) -> BucketState:
        if have is None:
            have = self._create(bucket, want)
        fields = changed(want, have)
        if want.public_access and "public_access" in fields:
            self.s3.put_public_access_block(
                Bucket=bucket, PublicAccessBlockConfiguration=_blocking(want.public_access)
            )
        self._tag(bucket, want, have)
        return want

    @told("s3")
    def drop(self, bucket: str, /) -> None:
        try:
            for key in self._vacated(bucket):
                self.s3.delete_object(Bucket=bucket, Key=key)
            self.s3.delete_bucket(Bucket=bucket)
        except ClientError as e:
            if code(e) == "BucketNotEmpty":
                raise Failed(
                    f"aws/bucket/{bucket} holds versions of objects that S3 does not list",
                    remedy="empty it with the console or the AWS CLI and run again",
                ) from e
            if not absent(e):
                raise

    @told("s3")
    def inspect(self, bucket: str, /) -> None:
        try:
            self._vacated(bucket)
        except ClientError as e:
            if not absent(e):
                raise

    def _vacated(self, bucket: str) -> list[str]:
        """What lies in it, if that is all ours."""
        keys = self._keys(bucket)
        if strange := [key for key in keys if key not in KEYS]:
            raise Conflict(
                f"aws/bucket/{bucket} holds what is not ours, such as {strange[0]}",
                remedy="move it elsewhere and run again",
            )
        return keys

    def _keys(self, bucket: str) -> list[str]:
        return [
            item.get("Key", "")
            for item in self.s3.list_objects_v2(Bucket=bucket, MaxKeys=len(KEYS) + 1).get(
                "Contents", []
            )
        ]

    @told("s3")
    def owned(self, cluster: str, /) -> Mapping[str, Mark]:
        ours = names.bucket(Cluster(names.own(cluster)))
        found = {
            bucket: self._mark(bucket, cluster)
            for bucket in {ours, *(place.partition("/")[0] for place in self.places(cluster))}
        }
        return {bucket: mark for bucket, mark in found.items() if mark and mark.cluster == cluster}

    def _mark(self, bucket: str, cluster: str) -> Mark | None:
        try:
            return names.mark(self._tags(bucket), cluster)
        except ClientError as e:
            if absent(e) or (status(e) == 403 and not self._in_account(bucket)):
                return None
            raise

    def _create(self, bucket: str, want: BucketState) -> BucketState:
        """With its mark. What it is born with is what S3 says afterwards, not what we suppose."""
        place = {} if want.region == "us-east-1" else {"LocationConstraint": want.region}
        birth: Any = {**place, "Tags": listed(want)}
        try:
            self.s3.create_bucket(Bucket=bucket, CreateBucketConfiguration=birth)
        except ClientError as e:
            if code(e) == "BucketAlreadyExists":
                raise taken(f"{self.kind}/{bucket}", brought=False) from e
            if code(e) == "BucketAlreadyOwnedByYou":
                raise NotYet(f"aws/bucket/{bucket} is being made already") from e
            raise
        state = self._read(bucket)
        if state is None:
            raise NotYet(f"aws/bucket/{bucket} was made and does not show yet")
        return state

    def _tag(self, bucket: str, want: BucketState, have: BucketState) -> None:
        """S3 replaces all tags at once, so those of others are given back with ours."""
        add, take = retagged(want, have)
        if add or take:
            kept = {key: value for key, value in complete(have).items() if key not in take}
            tags: list[Any] = [
                {"Key": k, "Value": v}
                for k, v in {**kept, **{t["Key"]: t["Value"] for t in add}}.items()
            ]
            if tags:
                self.s3.put_bucket_tagging(Bucket=bucket, Tagging={"TagSet": tags})
            else:
                self.s3.delete_bucket_tagging(Bucket=bucket)

    def _read(self, bucket: str) -> BucketState | None:
        try:
            region = self.s3.head_bucket(Bucket=bucket).get("BucketRegion", "")
        except ClientError as e:
            if absent(e):
                return None
            if status(e) == 403 and not self._in_account(bucket):
                return BucketState(region="", public_access=PublicAccess())
            raise
        tags = self._tags(bucket)
        owner = names.mark(tags, self.cluster)
        stranger = "" if owner and owner.cluster == self.cluster else self._stranger(bucket)
        return BucketState(
            region=region or "us-east-1",
            public_access=self._blocked(bucket),
            tags=names.apart(tags, owner),
            owner=owner,
            stranger=stranger,
        )

    def _in_account(self, bucket: str) -> bool:
        """Told apart from a stranger's of that name, which we may not look at either."""
        try:
            return any(
                found.get("Name") == bucket
                for found in self.s3.list_buckets(Prefix=bucket).get("Buckets", [])
            )
        except ClientError as e:
            if denied(e):
                return False
            raise

    def _stranger(self, bucket: str) -> str:
        return next((key for key in self._keys(bucket) if key not in KEYS), "")

    def _tags(self, bucket: str) -> dict[str, str]:
        try:
            return read(self.s3.get_bucket_tagging(Bucket=bucket)["TagSet"])
        except ClientError as e:
            if code(e) == "NoSuchTagSet":
                return {}
            raise

    def _blocked(self, bucket: str) -> PublicAccess:
        try:
            block = self.s3.get_public_access_block(Bucket=bucket)["PublicAccessBlockConfiguration"]
        except ClientError as e:
            if code(e) == "NoSuchPublicAccessBlockConfiguration":
                return OPEN
            raise
        return PublicAccess(
            block_acls=block.get("BlockPublicAcls", False),
            ignore_acls=block.get("IgnorePublicAcls", False),
            block_policy=block.get("BlockPublicPolicy", False),
            restrict=block.get("RestrictPublicBuckets", False),
        )


class BucketPolicies:
    """A child of its bucket: it bears no mark, and goes when the bucket goes."""

    kind, bulk, patience = "aws/bucket-policy", False, 60.0

    def __init__(self, s3: S3Client) -> None:
        self.s3 = s3

    @told("s3")
    def get(self, buckets: Collection[str], /) -> Mapping[str, BucketPolicyState]:
        found = {bucket: self._read(bucket) for bucket in buckets}
        return {bucket: state for bucket, state in found.items() if state}

    @told("s3")
    def put(
        self, bucket: str, want: BucketPolicyState, _have: BucketPolicyState | None, /
    ) -> BucketPolicyState:
        try:
            self.s3.put_bucket_policy(Bucket=bucket, Policy=policy.dump(want.policy))
        except ClientError as e:
            if status(e) == 403 and "BlockPublic" in str(
                e
            ):  # for a moment after the bucket's own block was lifted, or for good
                raise NotYet(
                    f"AWS does not let aws/bucket/{bucket} be read by everybody: public access is blocked, maybe for the account or the organization",
                    remedy="allow public bucket policies there, or use --create-private-s3-bucket",
                ) from e
            raise
        return replace(want, owner=None)

    def drop(self, _bucket: str, /) -> None:
        """Goes with its bucket."""

    def owned(self, _cluster: str, /) -> Mapping[str, Mark]:
        return {}

    def _read(self, bucket: str) -> BucketPolicyState | None:
        try:
            return BucketPolicyState(
                policy=policy.read(self.s3.get_bucket_policy(Bucket=bucket)["Policy"])
            )
        except ClientError as e:
            if code(e) == "NoSuchBucketPolicy" or absent(e):
                return None
            raise


def _blocking(access: PublicAccess) -> Any:
    return {
        "BlockPublicAcls": access.block_acls,
        "IgnorePublicAcls": access.ignore_acls,
        "BlockPublicPolicy": access.block_policy,
        "RestrictPublicBuckets": access.restrict,
    }
