"""The issuer behind CloudFront, and in places of the user's own."""

from __future__ import annotations

import json
from typing import Any

import pytest

from cwiictl.clouds.aws.resources.bucket import PRIVATE, BucketState
from cwiictl.engine.resource import Known
from cwiictl.engine.run import foretold
from cwiictl.errors import BadInput, Conflict
from cwiictl.issuer.documents import Hosting, IssuerState
from tests.cwiictl.clouds.aws.planned import statement, whole
from tests.examples import a_workload


def test_behind_cloudfront_the_bucket_is_for_one_distribution_and_roles_wait_for_its_name() -> None:
    found = whole("us-east-1", a_workload(), private=True)
    wants: Any = foretold(found)

    (only,) = wants["aws/bucket_policies/demo-oidc"].policy["Statement"]
    assert only["Principal"] == {"Service": "cloudfront.amazonaws.com"}
    assert only["Condition"] == {
        "StringEquals": {"AWS:SourceArn": "<arn of aws/distributions/demo-oidc>"}
    }
    block = wants["aws/buckets/demo-oidc"].public_access
    assert (block.block_acls, block.ignore_acls, block.block_policy, block.restrict) == (
        True,
        True,
        True,
        True,
    )
    assert found["aws/issuers/demo-oidc.cloudfront"].late
    assert found["aws/providers/demo-oidc.cloudfront"].late
    thing = found["aws/roles/demo-kube-system-cloud-credentials"]
    assert [need.address for need in thing.needs] == ["aws/distributions/demo-oidc"]
    assert statement(wants[thing.address])["Principal"]["Federated"].endswith(
        ":oidc-provider/<domain of aws/distributions/demo-oidc>"
    )


def test_a_late_providers_place_is_where_its_issuer_came_to_be() -> None:
    found = whole("us-east-1", private=True)
    provider, issuer, known = (
        found["aws/providers/demo-oidc.cloudfront"],
        found["aws/issuers/demo-oidc.cloudfront"],
        Known(),
    )
    state: Any = IssuerState(url="https://d1.cloudfront.net")
    known.learn(issuer, state)

    assert provider.place(known) == "d1.cloudfront.net"
    assert provider.want(known).url == "https://d1.cloudfront.net"


def test_a_bucket_of_the_users_own_keeps_its_access_its_policy_and_its_tags() -> None:
    found = whole("us-east-1", bucket="theirs", prefix="clusters/prod")
    wants: Any = foretold(found)

    assert not any(address.startswith("aws/bucket_policies/") for address in found)
    assert "aws/issuers/https://theirs.s3.us-east-1.amazonaws.com/clusters/prod" in found
    assert "aws/key_sets/theirs/clusters/prod/keys.json" in found
    bucket = found["aws/buckets/theirs"]
    assert bucket.brought
    closed = BucketState(
        region="us-east-1", public_access=PRIVATE, tags={"Name": "theirs"}, stranger="payroll.csv"
    )
    assert bucket.differing(wants[bucket.address], closed) == ()
    there, missing = Known(), Known()
    there.learn(bucket, closed)
    assert bucket.objection(there) is None
    assert isinstance(bucket.objection(missing), BadInput)


def test_whoever_brings_a_bucket_is_told_the_statement_that_opens_it() -> None:
    opened = whole("us-gov-west-1", bucket="theirs", prefix="clusters/prod")
    wants: Any = foretold(opened)
    (issuer,) = (want for want in wants.values() if isinstance(want, IssuerState))
    statement = json.loads(issuer.remedy.partition("the statement ")[2])
    assert statement["Principal"] == "*"
    assert statement["Resource"] == [
        f"arn:aws-us-gov:s3:::theirs/clusters/prod/{key}"
        for key in (".well-known/openid-configuration", "keys.json")
    ]

    (ours,) = (want for want in foretold(whole()).values() if isinstance(want, IssuerState))
    assert ours.remedy == ""


def test_a_bucket_with_dots_has_no_certificate_and_so_needs_a_host_of_its_own() -> None:
    with pytest.raises(BadInput, match="certificate") as raised:
        whole("us-east-1", bucket="my.documents")
    assert "--issuer-url" in raised.value.remedy

    found = whole(
        "us-east-1", bucket="my.documents", how=Hosting("published", "https://issuer.example.org")
    )
    assert "aws/issuers/https://issuer.example.org" in found


def test_what_lies_in_a_bucket_that_is_not_ours_is_not_published_with_it() -> None:
    bucket, found = whole()["aws/buckets/demo-oidc"], Known()
    found.learn(
        bucket, BucketState(region="us-east-1", public_access=PRIVATE, stranger="payroll.csv")
    )

    problem = bucket.objection(found)

    assert isinstance(problem, Conflict)
    assert "payroll.csv" in problem.problem
