"""CloudFront's calls: distributions with versions and states, and the two kinds of access to a private bucket."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.cwiictl.sandbox.front import Clock, Front, config
from tests.cwiictl.sandbox.visitor import ACCOUNT, Visitor, refusal

Enter = Callable[..., Visitor]


@pytest.fixture
def front(enter: Enter) -> Front:
    clock = Clock()
    return Front(enter(clock=clock), clock)


def refused(call: Callable[[], Any]) -> tuple[str, int]:
    with pytest.raises(ClientError) as caught:
        call()
    return refusal(caught.value)


def test_a_distribution_comes_back_with_what_it_was_made_with_and_what_cloudfront_adds(
    front: Front,
) -> None:
    control = front.control()
    made = front.distribution(control=control)
    found: Any = front.visitor.cloudfront.get_distribution(Id=made["Id"])["Distribution"]
    assert (found["ARN"], found["Status"]) == (
        f"arn:aws:cloudfront::{ACCOUNT}:distribution/{made['Id']}",
        "InProgress",
    )
    assert found["DomainName"].endswith(".cloudfront.net")
    assert found["DistributionConfig"]["Origins"]["Items"][0]["OriginAccessControlId"] == control
    assert found["DistributionConfig"]["DefaultCacheBehavior"]["AllowedMethods"]["Items"] == [
        "HEAD",
        "GET",
    ]
    assert (
        found["DistributionConfig"]["PriceClass"],
        found["DistributionConfig"]["HttpVersion"],
    ) == ("PriceClass_All", "http2")
    assert front.visitor.cloudfront.list_tags_for_resource(Resource=made["ARN"])["Tags"] == {
        "Items": [{"Key": "k", "Value": "v"}]
    }


def test_what_it_gives_back_it_takes_again_unchanged(front: Front) -> None:
    made: Any = front.distribution(control=front.control())
    assert front.update(made["Id"])["DistributionConfig"] == made["DistributionConfig"]


def test_it_is_deployed_after_a_while_and_after_every_change_again(front: Front) -> None:
    name = front.distribution()["Id"]
    states: list[str] = []
    for step in (front.deploy, lambda: front.update(name, Comment="new"), front.deploy):
        step()
        states.append(front.visitor.cloudfront.get_distribution(Id=name)["Distribution"]["Status"])
    assert states == ["Deployed", "InProgress", "Deployed"]


def test_how_long_that_takes_can_be_changed_while_it_runs(front: Front) -> None:
    front.visitor.sandbox.faults.deploy = 0.0
    assert front.distribution()["Status"] == "Deployed"


def test_a_change_needs_the_version_that_it_changes(front: Front) -> None:
    made: Any = front.distribution()
    old = front.etag(made["Id"])
    front.update(made["Id"], Comment="new")
    update = front.visitor.cloudfront.update_distribution
    assert refused(
        lambda: update(Id=made["Id"], IfMatch=old, DistributionConfig=made["DistributionConfig"])
    ) == ("PreconditionFailed", 412)
    assert refused(
        lambda: update(Id=made["Id"], DistributionConfig=made["DistributionConfig"])
    ) == ("InvalidIfMatchVersion", 400)


def test_it_is_deleted_only_when_it_is_disabled_everywhere(front: Front) -> None:
    name = front.distribution()["Id"]
    delete = lambda: front.visitor.cloudfront.delete_distribution(Id=name, IfMatch=front.etag(name))
    assert refused(delete) == ("DistributionNotDisabled", 409)
    front.deploy()
    assert refused(delete) == ("DistributionNotDisabled", 409)
    front.update(name, Enabled=False)
    assert refused(delete) == ("DistributionNotDisabled", 409)
    front.deploy()
    assert refused(lambda: front.visitor.cloudfront.delete_distribution(Id=name, IfMatch="E1")) == (
        "PreconditionFailed",
        412,
    )
    assert refused(lambda: front.visitor.cloudfront.delete_distribution(Id=name)) == (
        "InvalidIfMatchVersion",
        400,
    )
    delete()
    assert refused(lambda: front.visitor.cloudfront.get_distribution(Id=name)) == (
        "NoSuchDistribution",
        404,
    )


def test_a_caller_reference_is_used_once(front: Front) -> None:
    front.distribution()
    assert refused(front.distribution) == ("DistributionAlreadyExists", 409)
    assert refused(
        lambda: front.visitor.cloudfront.create_distribution(DistributionConfig=config())
    ) == ("DistributionAlreadyExists", 409)


def test_a_long_list_has_pages(front: Front) -> None:
    made = {front.distribution(CallerReference=str(number))["Id"] for number in range(5)}
    pages = list(
        front.visitor.cloudfront.get_paginator("list_distributions").paginate(
            PaginationConfig={"PageSize": 2}
        )
    )
    found: list[Any] = [one for page in pages for one in page["DistributionList"].get("Items", [])]
    assert (len(pages), {one["Id"] for one in found}) == (3, made)
    assert found[0]["Origins"]["Items"][0]["Id"] == "bucket"


def test_tags_are_added_and_taken_away(front: Front) -> None:
    arn = front.distribution()["ARN"]
    front.visitor.cloudfront.tag_resource(
        Resource=arn, Tags={"Items": [{"Key": "new", "Value": "1"}, {"Key": "empty"}]}
    )
    front.visitor.cloudfront.untag_resource(Resource=arn, TagKeys={"Items": ["k"]})
    found: Any = front.visitor.cloudfront.list_tags_for_resource(Resource=arn)
    assert {tag["Key"]: tag["Value"] for tag in found["Tags"]["Items"]} == {"new": "1", "empty": ""}
    assert refused(lambda: front.visitor.cloudfront.list_tags_for_resource(Resource=arn + "X")) == (
        "NoSuchResource",
        404,
    )


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"control": "E123"}, "InvalidOriginAccessControl"),
        ({"identity": "E123"}, "InvalidOriginAccessIdentity"),
        ({"control": "E1", "identity": "E2"}, "IllegalOriginAccessConfiguration"),
        ({"Aliases": {"Quantity": 2, "Items": ["a.example.org"]}}, "InconsistentQuantities"),
        (
            {
                "Origins": {
                    "Quantity": 1,
                    "Items": [
                        {
                            "Id": "bucket",
                            "DomainName": "x",
                            "S3OriginConfig": {"OriginAccessIdentity": ""},
                        }
                    ],
                }
            },
            "InvalidArgument",
        ),
        (
            {
                "DefaultCacheBehavior": {
                    "TargetOriginId": "nobody",
                    "ViewerProtocolPolicy": "https-only",
                }
            },
            "NoSuchOrigin",
        ),
        (
            {
                "DefaultCacheBehavior": {
                    "TargetOriginId": "bucket",
                    "ViewerProtocolPolicy": "https-only",
                }
            },
            "InvalidArgument",
        ),
        (
            {
                "DefaultCacheBehavior": {
                    "TargetOriginId": "bucket",
                    "ViewerProtocolPolicy": "https-only",
                    "CachePolicyId": "x",
                }
            },
            "NoSuchCachePolicy",
        ),
    ],
)
def test_a_configuration_that_cannot_work_is_refused(
    front: Front, changes: dict[str, Any], code: str
) -> None:
    assert refused(lambda: front.distribution(**changes))[0] == code


def test_a_control_has_a_name_of_its_own_and_stays_while_it_is_used(front: Front) -> None:
    control = front.control()
    assert refused(front.control) == ("OriginAccessControlAlreadyExists", 409)
    name = front.distribution(control=control)["Id"]
    etag: Any = front.visitor.cloudfront.get_origin_access_control(Id=control)["ETag"]
    delete = lambda: front.visitor.cloudfront.delete_origin_access_control(Id=control, IfMatch=etag)
    assert refused(delete) == ("OriginAccessControlInUse", 409)
    front.update(name, Enabled=False)
    front.deploy()
    front.visitor.cloudfront.delete_distribution(Id=name, IfMatch=front.etag(name))
    assert refused(lambda: front.visitor.cloudfront.delete_origin_access_control(Id=control)) == (
        "InvalidIfMatchVersion",
        400,
    )
    delete()
    assert refused(lambda: front.visitor.cloudfront.get_origin_access_control(Id=control)) == (
        "NoSuchOriginAccessControl",
        404,
    )


def test_controls_are_listed_with_all_that_they_are(front: Front) -> None:
    control = front.control("mine")
    found: Any = front.visitor.cloudfront.list_origin_access_controls()["OriginAccessControlList"]
    assert [(one["Id"], one["Name"], one["SigningBehavior"]) for one in found["Items"]] == [
        (control, "mine", "always")
    ]


def test_an_identity_is_the_same_for_the_same_request(front: Front) -> None:
    identity = front.identity()
    assert front.identity() == identity
    assert refused(lambda: front.identity("another's")) == (
        "CloudFrontOriginAccessIdentityAlreadyExists",
        409,
    )
    found: Any = front.visitor.cloudfront.list_cloud_front_origin_access_identities()[
        "CloudFrontOriginAccessIdentityList"
    ]
    assert [(one["Id"], one["Comment"]) for one in found["Items"]] == [(identity, "ours")]


def test_an_identity_stays_while_it_is_used(front: Front) -> None:
    identity = front.identity()
    etag: Any = front.visitor.cloudfront.get_cloud_front_origin_access_identity(Id=identity)["ETag"]
    delete = lambda: front.visitor.cloudfront.delete_cloud_front_origin_access_identity(
        Id=identity, IfMatch=etag
    )
    name = front.distribution(identity=identity)["Id"]
    assert refused(delete) == ("CloudFrontOriginAccessIdentityInUse", 409)
    front.update(name, Origins=config(CallerReference="")["Origins"])
    delete()
    assert refused(delete) == ("NoSuchCloudFrontOriginAccessIdentity", 404)
