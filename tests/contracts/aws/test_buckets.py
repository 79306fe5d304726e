"""Buckets and their policies, through the real SDK on the sandbox, keep what every store promises."""

from __future__ import annotations

from typing import Any

import pytest

from cwiictl.clouds.aws import policy
from cwiictl.clouds.aws.resources.bucket import (
    PRIVATE,
    READABLE,
    BucketPolicyState,
    BucketState,
    PublicAccess,
)
from cwiictl.clouds.aws.stores.s3 import BucketPolicies, Buckets
from cwiictl.errors import Conflict, NotYet
from tests.contracts.aws.ground import BUCKET, CLUSTER, InBucket, nowhere
from tests.contracts.store import Specimen, StoreContract


def reading(*keys: str) -> policy.Policy:
    return policy.canonical(
        policy.allow(
            "s3:GetObject", Principal="*", Resource=[f"arn:aws:s3:::{BUCKET}/{key}" for key in keys]
        )
    )


class TestBuckets(StoreContract):
    @pytest.fixture(params=["us-east-1", "eu-west-1"])
    def specimen(self, clients: dict[str, Any], request: pytest.FixtureRequest) -> Specimen:
        store: Any = Buckets(clients["s3"], CLUSTER, nowhere)
        want = BucketState(region=request.param, public_access=READABLE, tags={"Name": CLUSTER})
        other = BucketState(region=request.param, public_access=PRIVATE, tags={"Name": "another"})
        return Specimen(store, BUCKET, want, other, unknown="unknown-oidc")

    def test_a_bucket_without_a_block_blocks_nothing(
        self, specimen: Specimen, clients: dict[str, Any]
    ) -> None:
        specimen.put(specimen.want, specimen.mark)
        clients["s3"].delete_public_access_block(Bucket=BUCKET)

        assert specimen.get().public_access == PublicAccess(
            block_acls=False, ignore_acls=False, block_policy=False, restrict=False
        )

    def test_a_bucket_goes_with_its_documents_and_with_nothing_else(
        self, specimen: Specimen, clients: dict[str, Any]
    ) -> None:
        specimen.put(specimen.want, specimen.mark)
        for name in (".well-known/openid-configuration", "keys.json", "theirs"):
            clients["s3"].put_object(Bucket=BUCKET, Key=name, Body=b"x")

        with pytest.raises(Conflict, match="theirs"):
            specimen.drop()
        assert len(clients["s3"].list_objects_v2(Bucket=BUCKET)["Contents"]) == 3
        clients["s3"].delete_object(Bucket=BUCKET, Key="theirs")
        specimen.drop()

        assert specimen.get() is None

    def test_what_lies_in_a_bucket_that_is_not_ours_is_told(
        self, specimen: Specimen, clients: dict[str, Any]
    ) -> None:
        specimen.put(specimen.want, None)
        clients["s3"].put_object(Bucket=BUCKET, Key="keys.json", Body=b"x")
        assert specimen.get().stranger == ""

        clients["s3"].put_object(Bucket=BUCKET, Key="payroll.csv", Body=b"x")

        assert specimen.get().stranger == "payroll.csv"
        specimen.put(specimen.want, specimen.mark)
        assert specimen.get().stranger == ""


class TestBucketPolicies(InBucket):
    @pytest.fixture
    def specimen(self, clients: dict[str, Any], bucket: None) -> Specimen:  # noqa: ARG002 - it must be there first
        clients["s3"].delete_public_access_block(Bucket=BUCKET)
        store: Any = BucketPolicies(clients["s3"])
        want, other = (
            BucketPolicyState(policy=reading("keys.json")),
            BucketPolicyState(policy=reading("keys.json", "more")),
        )
        return Specimen(store, BUCKET, want, other, bears=(), stays=True)

    def test_a_bucket_without_one_and_no_bucket_have_none(
        self, specimen: Specimen, clients: dict[str, Any]
    ) -> None:
        assert specimen.store.get([BUCKET, "nowhere-oidc"]) == {}
        specimen.put(specimen.want, None)
        clients["s3"].delete_bucket_policy(Bucket=BUCKET)

        assert specimen.store.get([BUCKET]) == {}

    def test_while_public_access_is_blocked_it_is_not_yet(
        self, specimen: Specimen, clients: dict[str, Any]
    ) -> None:
        """For a moment after the bucket's own block was lifted, or because the account has one."""
        blocks = dict.fromkeys(
            ("BlockPublicAcls", "IgnorePublicAcls", "BlockPublicPolicy", "RestrictPublicBuckets"),
            True,
        )
        clients["s3"].put_public_access_block(Bucket=BUCKET, PublicAccessBlockConfiguration=blocks)

        with pytest.raises(NotYet, match="public access is blocked") as raised:
            specimen.store.put(BUCKET, specimen.want, None)
        assert "--create-private-s3-bucket" in raised.value.remedy
