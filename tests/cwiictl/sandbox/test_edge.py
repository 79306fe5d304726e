"""What CloudFront shows of a private bucket, and to whom."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.cwiictl.sandbox.front import Clock, Front, identity_policy, service_policy
from tests.cwiictl.sandbox.visitor import (
    BUCKET,
    HOST,
    SUBJECT,
    Visitor,
    discovery,
    key_set,
    refusal,
    token,
    trust,
)

Enter = Callable[..., Visitor]


@pytest.fixture
def front(enter: Enter) -> Front:
    clock = Clock()
    return Front(enter(clock=clock), clock)


def shown(front: Front, operator: str = "StringEquals", **changes: Any) -> str:
    """The domain of a distribution that may read the bucket."""
    made = front.distribution(control=front.control(), **changes)
    front.visitor.s3.put_bucket_policy(Bucket=BUCKET, Policy=service_policy(made["ARN"], operator))
    return made["DomainName"]


@pytest.mark.parametrize("operator", ["StringEquals", "ArnEquals", "ArnLike", "StringLike"])
def test_a_closed_bucket_is_shown_to_everybody_through_its_own_distribution(
    front: Front, operator: str
) -> None:
    domain = shown(front, operator)
    front.deploy()
    answer = front.visitor.get(f"https://{domain}/keys.json")
    assert (
        answer.status,
        answer.body,
        answer.headers["content-type"],
        answer.headers["x-cache"],
    ) == (200, b"{}", "application/json", "Miss from cloudfront")
    assert front.read(domain, method="HEAD") == 200
    assert front.read(HOST) == 403


def test_nothing_is_shown_before_it_is_deployed_nor_when_it_is_disabled(front: Front) -> None:
    domain = shown(front)
    assert front.read(domain) == 403
    front.deploy()
    assert front.read(domain) == 200
    found: Any = front.visitor.cloudfront.list_distributions()["DistributionList"]
    front.update(found["Items"][0]["Id"], Enabled=False)
    assert front.read(domain) == 200  # the edges have not heard of it
    front.deploy()
    assert front.read(domain) == 403


@pytest.mark.parametrize(
    "changes",
    [
        {
            "Condition": {
                "StringEquals": {
                    "AWS:SourceArn": "arn:aws:cloudfront::123456789012:distribution/E0000000000000"
                }
            }
        },
        {"Condition": {"StringEquals": {"AWS:SourceAccount": "210987654321"}}},
        {"Action": "s3:PutObject"},
        {"Resource": f"arn:aws:s3:::{BUCKET}/elsewhere/*"},
        {"Principal": {"Service": "ec2.amazonaws.com"}},
        {"Effect": "Deny"},
    ],
)
def test_a_policy_that_says_something_else_shows_nothing(
    front: Front, changes: dict[str, Any]
) -> None:
    made = front.distribution(control=front.control())
    front.visitor.s3.put_bucket_policy(Bucket=BUCKET, Policy=service_policy(made["ARN"], **changes))
    front.deploy()
    assert front.read(made["DomainName"]) == 403


def test_a_distribution_without_access_sees_what_the_public_sees(front: Front) -> None:
    made = front.distribution()
    front.visitor.s3.put_bucket_policy(Bucket=BUCKET, Policy=service_policy(made["ARN"]))
    front.deploy()
    assert front.read(made["DomainName"]) == 403


def test_what_is_missing_is_not_told(front: Front) -> None:
    domain = shown(front)
    front.deploy()
    answer = front.visitor.get(f"https://{domain}/missing")
    assert (
        answer.status,
        b"<Code>AccessDenied</Code>" in answer.body,
        answer.headers["x-cache"],
    ) == (403, True, "Error from cloudfront")


def test_only_get_and_head_come_through(front: Front) -> None:
    domain = shown(front)
    front.deploy()
    assert front.read(domain, method="DELETE") == 403
    assert front.visitor.s3.head_object(Bucket=BUCKET, Key="keys.json")["ContentLength"] == 2


def test_a_prefix_and_a_front_page_are_found(front: Front) -> None:
    front.visitor.s3.put_object(Bucket=BUCKET, Key="here/page", Body=b"page")
    origin = {
        "Id": "bucket",
        "DomainName": HOST,
        "OriginPath": "/here",
        "S3OriginConfig": {"OriginAccessIdentity": ""},
        "OriginAccessControlId": front.control(),
    }
    made = front.distribution(Origins={"Quantity": 1, "Items": [origin]}, DefaultRootObject="page")
    front.visitor.s3.put_bucket_policy(Bucket=BUCKET, Policy=service_policy(made["ARN"]))
    front.deploy()
    assert [front.read(made["DomainName"], path) for path in ("/", "/page", "/keys.json")] == [
        200,
        200,
        403,
    ]


def test_what_ccoctl_has_made_is_shown_through_its_identity(front: Front) -> None:
    identity = front.identity()
    front.visitor.s3.put_bucket_policy(Bucket=BUCKET, Policy=identity_policy(identity))
    made = front.distribution(identity=identity)
    front.deploy()
    assert (front.read(made["DomainName"]), front.read(HOST)) == (200, 403)


def test_s3_does_not_take_an_identity_that_it_has_not_heard_of(front: Front) -> None:
    front.visitor.sandbox.faults.lag = 10.0
    identity = front.identity()
    for name in ("E0000000000000", identity):
        with pytest.raises(ClientError) as caught:
            front.visitor.s3.put_bucket_policy(Bucket=BUCKET, Policy=identity_policy(name))
        assert refusal(caught.value) == ("MalformedPolicy", 400)
    front.clock.now += 10
    front.visitor.s3.put_bucket_policy(Bucket=BUCKET, Policy=identity_policy(identity))


def test_its_name_is_known_for_as_long_as_there_is_one(front: Front) -> None:
    made = front.distribution()
    assert front.read(made["DomainName"]) == 403
    front.update(made["Id"], Enabled=False)
    front.deploy()
    front.visitor.cloudfront.delete_distribution(Id=made["Id"], IfMatch=front.etag(made["Id"]))
    for domain in (made["DomainName"], "d0000000000000.cloudfront.net"):
        with pytest.raises(OSError, match="502"):
            front.read(domain)


def test_an_issuer_behind_cloudfront_is_believed(front: Front) -> None:
    domain = shown(front)
    front.deploy()
    issuer = f"https://{domain}"
    front.visitor.s3.put_object(
        Bucket=BUCKET, Key=".well-known/openid-configuration", Body=discovery(issuer)
    )
    front.visitor.s3.put_object(Bucket=BUCKET, Key="keys.json", Body=key_set(k1=0))
    made = front.visitor.iam.create_open_id_connect_provider(
        Url=issuer, ClientIDList=["sts.amazonaws.com"]
    )
    document = trust(
        Principal={"Federated": made["OpenIDConnectProviderArn"]},
        Condition={"StringEquals": {f"{domain}:sub": SUBJECT}},
    )
    front.visitor.iam.create_role(RoleName="r", AssumeRolePolicyDocument=document)
    now = int(front.clock.now)
    front.visitor.assume(token(iss=issuer, iat=now - 5, exp=now + 600))
