"""A private bucket behind CloudFront, in both the ways in which it is done."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tests.cwiictl.sandbox.visitor import ALL_BLOCKED, BUCKET, HOST, REGION, Visitor

if TYPE_CHECKING:
    from types_boto3_cloudfront.type_defs import DistributionTypeDef

UNCACHED = "4135ea2d-6df8-44a3-9df3-4b5a84be39ad"


class Clock:
    def __init__(self) -> None:
        self.now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


def config(*, control: str = "", identity: str = "", **changes: Any) -> Any:
    access = f"origin-access-identity/cloudfront/{identity}" if identity else ""
    origin: Any = {
        "Id": "bucket",
        "DomainName": HOST,
        "S3OriginConfig": {"OriginAccessIdentity": access},
        "OriginAccessControlId": control,
    }
    methods: Any = {
        "Quantity": 2,
        "Items": ["HEAD", "GET"],
        "CachedMethods": {"Quantity": 2, "Items": ["HEAD", "GET"]},
    }
    behaviour = {
        "TargetOriginId": "bucket",
        "ViewerProtocolPolicy": "https-only",
        "CachePolicyId": UNCACHED,
        "AllowedMethods": methods,
    }
    own: Any = {
        "CallerReference": "cwii",
        "Comment": "ours",
        "Enabled": True,
        "Origins": {"Quantity": 1, "Items": [origin]},
        "DefaultCacheBehavior": behaviour,
    }
    return {**own, **changes}


def service_policy(arn: str, operator: str = "StringEquals", **changes: Any) -> str:
    statement = {
        "Effect": "Allow",
        "Principal": {"Service": "cloudfront.amazonaws.com"},
        "Action": "s3:GetObject",
        "Resource": f"arn:aws:s3:::{BUCKET}/*",
        "Condition": {operator: {"AWS:SourceArn": arn}},
    }
    return json.dumps({"Version": "2012-10-17", "Statement": [{**statement, **changes}]})


def identity_policy(name: str) -> str:
    """To the letter what ccoctl writes."""
    statement = {
        "Sid": "1",
        "Effect": "Allow",
        "Principal": {
            "AWS": f"arn:aws:iam::cloudfront:user/CloudFront Origin Access Identity {name}"
        },
        "Action": "s3:GetObject",
        "Resource": f"arn:aws:s3:::{BUCKET}/*",
    }
    return json.dumps(
        {
            "Version": "2008-10-17",
            "Id": "PolicyForCloudFrontPrivateContent",
            "Statement": [statement],
        }
    )


@dataclass
class Front:
    """Somebody with a closed bucket that has one object in it."""

    visitor: Visitor
    clock: Clock

    def __post_init__(self) -> None:
        self.visitor.s3.create_bucket(
            Bucket=BUCKET, CreateBucketConfiguration={"LocationConstraint": REGION}
        )
        self.visitor.s3.put_public_access_block(
            Bucket=BUCKET,
            PublicAccessBlockConfiguration=ALL_BLOCKED,  # pyright: ignore[reportArgumentType] - a plain dict, where the stubs have a type of their own
        )
        self.visitor.s3.put_object(
            Bucket=BUCKET, Key="keys.json", Body=b"{}", ContentType="application/json"
        )

    def control(self, name: str = "cwii") -> str:
        asked: Any = {
            "Name": name,
            "SigningProtocol": "sigv4",
            "SigningBehavior": "always",
            "OriginAccessControlOriginType": "s3",
        }
        made: Any = self.visitor.cloudfront.create_origin_access_control(
            OriginAccessControlConfig=asked
        )
        return made["OriginAccessControl"]["Id"]

    def identity(self, comment: str = "ours") -> str:
        asked: Any = {"CallerReference": "cwii", "Comment": comment}
        made: Any = self.visitor.cloudfront.create_cloud_front_origin_access_identity(
            CloudFrontOriginAccessIdentityConfig=asked
        )
        return made["CloudFrontOriginAccessIdentity"]["Id"]

    def distribution(self, **wanted: Any) -> DistributionTypeDef:
        tagged: Any = {
            "DistributionConfig": config(**wanted),
            "Tags": {"Items": [{"Key": "k", "Value": "v"}]},
        }
        return self.visitor.cloudfront.create_distribution_with_tags(
            DistributionConfigWithTags=tagged
        )["Distribution"]

    def update(self, name: str, **changes: Any) -> DistributionTypeDef:
        found: Any = self.visitor.cloudfront.get_distribution_config(Id=name)
        changed: Any = {**found["DistributionConfig"], **changes}
        return self.visitor.cloudfront.update_distribution(
            Id=name, IfMatch=found["ETag"], DistributionConfig=changed
        )["Distribution"]

    def etag(self, name: str) -> str:
        return self.visitor.cloudfront.get_distribution(Id=name)["ETag"]

    def read(self, domain: str, path: str = "/keys.json", method: str = "GET") -> int:
        return self.visitor.get(f"https://{domain}{path}", method).status

    def deploy(self) -> None:
        self.clock.now += 2
