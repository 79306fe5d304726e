"""AWS's other partitions: their hosts, their ARNs, and what they do not have."""

from __future__ import annotations

import json
from typing import Any

import pytest
from botocore.exceptions import ProxyConnectionError

from cwiictl.sandbox.aws.partitions import PARTITIONS
from cwiictl.sandbox.places import CLOUDS
from tests.cwiictl.sandbox.visitor import (
    ACCOUNT,
    SUBJECT,
    Visitor,
    discovery,
    key_set,
    token,
    trust,
)

REGIONS = [
    ("cn-northwest-1", "aws-cn", "amazonaws.com.cn"),
    ("us-gov-east-1", "aws-us-gov", "amazonaws.com"),
    ("eusc-de-east-1", "aws-eusc", "amazonaws.eu"),
    ("us-iso-west-1", "aws-iso", "c2s.ic.gov"),
    ("us-isob-east-1", "aws-iso-b", "sc2s.sgov.gov"),
    ("eu-isoe-west-1", "aws-iso-e", "cloud.adc-e.uk"),
    ("us-isof-south-1", "aws-iso-f", "csp.hci.ic.gov"),
]


@pytest.mark.parametrize(("region", "partition", "suffix"), REGIONS)
def test_a_cluster_is_trusted_in_every_partition(
    visitor: Visitor, region: str, partition: str, suffix: str
) -> None:
    there = Visitor(visitor.sandbox, region=region)
    host = f"b-oidc.s3.{region}.{suffix}"
    read = {
        "Effect": "Allow",
        "Principal": "*",
        "Action": "s3:GetObject",
        "Resource": f"arn:{partition}:s3:::b-oidc/*",
    }
    there.s3.create_bucket(
        Bucket="b-oidc",
        CreateBucketConfiguration={"LocationConstraint": region},  # pyright: ignore[reportArgumentType] - the stubs' words are literals, and this is a text
    )
    there.s3.put_public_access_block(
        Bucket="b-oidc",
        PublicAccessBlockConfiguration={"BlockPublicPolicy": False, "RestrictPublicBuckets": False},
    )
    there.s3.put_bucket_policy(
        Bucket="b-oidc", Policy=json.dumps({"Version": "2012-10-17", "Statement": [read]})
    )
    there.s3.put_object(
        Bucket="b-oidc", Key=".well-known/openid-configuration", Body=discovery(f"https://{host}")
    )
    there.s3.put_object(Bucket="b-oidc", Key="keys.json", Body=key_set(k1=0))
    provider = there.iam.create_open_id_connect_provider(
        Url=f"https://{host}", ClientIDList=["sts.amazonaws.com"]
    )["OpenIDConnectProviderArn"]
    document = trust(
        Principal={"Federated": provider}, Condition={"StringEquals": {f"{host}:sub": SUBJECT}}
    )
    role: Any = there.iam.create_role(
        RoleName="r",
        AssumeRolePolicyDocument=document,
        PermissionsBoundary=f"arn:{partition}:iam::aws:policy/ReadOnlyAccess",
    )
    assert provider == f"arn:{partition}:iam::{ACCOUNT}:oidc-provider/{host}"
    assert role["Role"]["Arn"] == f"arn:{partition}:iam::{ACCOUNT}:role/r"
    web_token = token(iss=f"https://{host}")
    session = there.sts.assume_role_with_web_identity(
        RoleArn=role["Role"]["Arn"], RoleSessionName="someone", WebIdentityToken=web_token
    )
    assert session["AssumedRoleUser"]["Arn"].startswith(f"arn:{partition}:sts:")
    assert there.sts.get_caller_identity()["Arn"] == f"arn:{partition}:iam::{ACCOUNT}:user/sandbox"
    assert [one["RoleName"] for one in there.iam.list_roles()["Roles"]] == ["r"]
    assert visitor.iam.list_roles()["Roles"] == []


@pytest.mark.parametrize(
    "region", [region for region, partition, _ in REGIONS if partition not in {"aws", "aws-cn"}]
)
def test_cloudfront_is_not_everywhere(visitor: Visitor, region: str) -> None:
    """Some SDKs send GovCloud's clients to the world's CloudFront, which does not know them."""
    there = Visitor(visitor.sandbox, region=region)
    with pytest.raises(
        (ProxyConnectionError, there.cloudfront.exceptions.ClientError),
        match=r"Failed to connect to proxy|InvalidClientTokenId",
    ):
        there.cloudfront.list_distributions()


def test_china_has_a_cloudfront_of_its_own(visitor: Visitor) -> None:
    there = Visitor(visitor.sandbox, region="cn-north-1")
    asked: Any = {
        "Name": "n",
        "SigningProtocol": "sigv4",
        "SigningBehavior": "always",
        "OriginAccessControlOriginType": "s3",
    }
    there.cloudfront.create_origin_access_control(OriginAccessControlConfig=asked)
    here: Any = visitor.cloudfront.list_origin_access_controls()["OriginAccessControlList"]
    assert here["Quantity"] == 0
    assert visitor.sandbox.record[0].host == "cloudfront.cn-northwest-1.amazonaws.com.cn"


def test_the_door_has_a_suffix_for_every_partition() -> None:
    known = {suffix for suffixes in CLOUDS for suffix in suffixes}
    assert {suffix for one in PARTITIONS for suffix in (one.suffix, one.edge) if suffix} <= known
