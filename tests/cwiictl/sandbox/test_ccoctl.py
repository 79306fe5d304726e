"""What ccoctl makes with its private bucket, call by call, and how it takes it down again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.cwiictl.sandbox.front import UNCACHED, Clock, Front, identity_policy
from tests.cwiictl.sandbox.visitor import ALL_BLOCKED, BUCKET, HOST, Visitor, refusal

NAME = "cwii"
KEY = f"openshift.io/cloud-credential-operator/{NAME}"
TAGS: Any = [{"Key": KEY, "Value": "owned"}, {"Key": "Name", "Value": NAME}]


@pytest.fixture
def front(enter: Callable[..., Visitor]) -> Front:
    clock = Clock()
    return Front(enter(clock=clock), clock)


def make(front: Front) -> tuple[str, Any]:
    """The identity's id and the distribution."""
    cloudfront, s3 = front.visitor.cloudfront, front.visitor.s3
    s3.put_bucket_tagging(Bucket=BUCKET, Tagging={"TagSet": TAGS})
    wanted: Any = {"CallerReference": NAME, "Comment": KEY}
    made: Any = cloudfront.create_cloud_front_origin_access_identity(
        CloudFrontOriginAccessIdentityConfig=wanted
    )
    identity = made["CloudFrontOriginAccessIdentity"]["Id"]
    s3.put_bucket_policy(Bucket=BUCKET, Policy=identity_policy(identity))
    s3.put_public_access_block(Bucket=BUCKET, PublicAccessBlockConfiguration=ALL_BLOCKED)  # pyright: ignore[reportArgumentType] - a plain dict, where the stubs have a type of their own
    tagged: Any = {"DistributionConfig": config(identity), "Tags": {"Items": TAGS}}
    return identity, cloudfront.create_distribution_with_tags(DistributionConfigWithTags=tagged)[
        "Distribution"
    ]


def config(identity: str) -> dict[str, Any]:
    methods: Any = {
        "Quantity": 2,
        "Items": ["HEAD", "GET"],
        "CachedMethods": {"Quantity": 2, "Items": ["HEAD", "GET"]},
    }
    behaviour = {
        "TargetOriginId": f"https://{HOST}",
        "CachePolicyId": UNCACHED,
        "ViewerProtocolPolicy": "https-only",
        "AllowedMethods": methods,
    }
    access = {"OriginAccessIdentity": f"origin-access-identity/cloudfront/{identity}"}
    return {
        "CallerReference": NAME,
        "Comment": KEY,
        "Enabled": True,
        "Origins": {
            "Quantity": 1,
            "Items": [{"Id": f"https://{HOST}", "DomainName": HOST, "S3OriginConfig": access}],
        },
        "DefaultCacheBehavior": behaviour,
        "ViewerCertificate": {"CloudFrontDefaultCertificate": True},
    }


def test_what_it_makes_is_shown_and_bears_its_tags(front: Front) -> None:
    _, made = make(front)
    assert made["Status"] == "InProgress"
    front.deploy()
    assert (front.read(made["DomainName"]), front.read(HOST)) == (200, 403)
    assert front.visitor.cloudfront.list_tags_for_resource(Resource=made["ARN"])["Tags"] == {
        "Items": TAGS
    }


def test_a_second_run_is_told_of_the_first_one(front: Front) -> None:
    make(front)
    with pytest.raises(ClientError) as caught:
        make(front)
    assert refusal(caught.value) == ("DistributionAlreadyExists", 409)


def test_it_is_taken_down_as_it_does_it(front: Front) -> None:
    identity, made = make(front)
    cloudfront = front.visitor.cloudfront
    front.deploy()
    front.update(made["Id"], Enabled=False)
    front.deploy()
    cloudfront.delete_distribution(Id=made["Id"], IfMatch=front.etag(made["Id"]))
    listed: Any = cloudfront.list_cloud_front_origin_access_identities()[
        "CloudFrontOriginAccessIdentityList"
    ]
    assert [(one["Id"], one["Comment"]) for one in listed["Items"]] == [(identity, KEY)]
    etag: Any = cloudfront.get_cloud_front_origin_access_identity(Id=identity)["ETag"]
    cloudfront.delete_cloud_front_origin_access_identity(Id=identity, IfMatch=etag)
    left: Any = (
        cloudfront.list_distributions()["DistributionList"],
        cloudfront.list_cloud_front_origin_access_identities(),
    )
    assert (left[0]["Quantity"], left[1]["CloudFrontOriginAccessIdentityList"]["Quantity"]) == (
        0,
        0,
    )
