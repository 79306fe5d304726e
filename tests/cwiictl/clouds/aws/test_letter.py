"""What is wanted of AWS, to the letter; what is compared and shown of it; and what is said, to the letter, where it cannot be."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from cwiictl import names
from cwiictl.clouds.aws import policy
from cwiictl.clouds.aws.resources import (
    bucket,
    distribution,
    instance_profile,
    managed_policy,
    oidc_provider,
    role,
)
from cwiictl.clouds.aws.resources.bucket import (
    PRIVATE,
    READABLE,
    Bucket,
    BucketPolicy,
    BucketState,
    reading,
)
from cwiictl.clouds.aws.resources.distribution import Distribution, OriginAccess
from cwiictl.clouds.aws.resources.document import KEYS
from cwiictl.clouds.aws.resources.managed_policy import LIMIT, MOST, parts
from cwiictl.clouds.aws.resources.oidc_provider import OidcProvider, OidcProviderState
from cwiictl.clouds.aws.resources.role import Account, Role
from cwiictl.engine.plain import plain
from cwiictl.engine.resource import Difference, Known, Mark
from cwiictl.errors import BadInput, Conflict
from cwiictl.issuer.home import Home
from tests.contracts.shelf import Shelf, World
from tests.cwiictl.clouds.fields import apart_of
from tests.examples import ACCOUNT, a_cluster, a_role, a_workload

STORE: Any = Shelf(World(), "aws/things")
ARN = f"arn:aws:iam::{ACCOUNT}:"
TAGS = {"Name": "demo"}


def a_bucket(**changes: Any) -> Bucket:
    asked: dict[str, Any] = {"cluster": a_cluster(), "region": "eu-west-1"}
    return Bucket("demo-oidc", STORE, **{**asked, **changes})


def a_role_for(**changes: Any) -> Role:
    home = Home("https://issuer.example.org")
    asked: dict[str, Any] = {
        "cluster": a_cluster(),
        "workload": a_workload(),
        "account": Account(ARN, "", "", "/"),
        "home": home,
        "grants": None,
    }
    return Role("demo-role", STORE, **{**asked, **changes})


def told(thing: Any, have: Any) -> Any:
    found = Known()
    if have:
        found.learn(thing, have)
    return thing.objection(found)


# --- what is wanted ---


def test_a_bucket_is_wanted_with_its_region_its_access_and_its_tags() -> None:
    assert plain(a_bucket(clouds=frozenset({"gcp"})).want(Known())) == {
        "region": "eu-west-1",
        "public_access": {
            "block_acls": True,
            "ignore_acls": True,
            "block_policy": False,
            "restrict": False,
        },
        "tags": {**TAGS, "cwii.dev/trusted-by-gcp": "true"},
    }
    assert plain(PRIVATE) == {
        "block_acls": True,
        "ignore_acls": True,
        "block_policy": True,
        "restrict": True,
    }
    assert plain(a_bucket(access=None, clouds=frozenset({"gcp"})).want(Known())) == {
        "region": "eu-west-1",
        "public_access": None,
        "tags": {"cwii.dev/trusted-by-gcp": "true"},
    }


def a_distribution() -> tuple[Distribution, Known]:
    known, access = Known(), OriginAccess("demo-oac", STORE)
    known.learn(access, replace(access.want(Known()), id="E7"))
    found = Distribution("demo", STORE, a_cluster(), "demo-oidc.s3.eu-west-1.amazonaws.com", access)
    known.learn(found, replace(found.want(known), arn="arn:aws:cloudfront::1:distribution/E8"))
    return found, known


def test_cloudfront_signs_what_it_asks_and_serves_everybody_over_tls_with_no_cache() -> None:
    found, known = a_distribution()

    assert plain(known[found.access]) == {"signing": "always", "protocol": "sigv4", "id": "E7"}
    assert plain(found.want(known)) == {
        "origin": "demo-oidc.s3.eu-west-1.amazonaws.com",
        "access": "E7",
        "enabled": True,
        "viewers": "https-only",
        "caching": "4135ea2d-6df8-44a3-9df3-4b5a84be39ad",  # CloudFront's own CachingDisabled
        "tags": TAGS,
        "domain": "",
        "arn": "",
    }


def test_a_bucket_behind_cloudfront_is_read_by_that_distribution_alone() -> None:
    found, known = a_distribution()

    (statement,) = (
        BucketPolicy("demo-oidc", STORE, a_bucket(), "aws", found).want(known).policy["Statement"]
    )

    assert statement == {
        "Sid": "AllowReadCloudFront",
        "Effect": "Allow",
        "Principal": {"Service": "cloudfront.amazonaws.com"},
        "Condition": {"StringEquals": {"AWS:SourceArn": "arn:aws:cloudfront::1:distribution/E8"}},
        **reading("aws", "demo-oidc"),
    }


def test_the_documents_are_the_two_that_ccoctls_users_know_wherever_they_lie() -> None:
    assert {".well-known/openid-configuration", "keys.json"} == KEYS
    assert reading("aws", "theirs", "demo/") == {
        "Action": "s3:GetObject",
        "Resource": [
            "arn:aws:s3:::theirs/demo/.well-known/openid-configuration",
            "arn:aws:s3:::theirs/demo/keys.json",
        ],
    }


@pytest.mark.parametrize(("asker", "begin"), [("request", "OpenShift"), ("webhook", "Kubernetes")])
def test_a_role_says_for_whom_it_is(asker: Any, begin: str) -> None:
    want = a_role_for(workload=a_workload(asker=asker)).want(Known())

    assert (want.description, want.arn, want.session) == (
        f"{begin} role for kube-system/cloud-credentials",
        f"{ARN}role/demo-role",
        3600,
    )
    assert want.tags == TAGS


def a_provider(**changes: Any) -> OidcProvider:
    asked: dict[str, Any] = {
        "audiences": frozenset({"openshift"}),
        "spared": frozenset({"sts", "a", "openshift"}),
    }
    return OidcProvider("issuer", STORE, a_cluster(), AN_ISSUER, **{**asked, **changes})


class AnIssuer:
    """As much of one as a provider asks of it."""

    address, url, late = "aws/issuers/x", "https://issuer.example.org/a", False


AN_ISSUER: Any = AnIssuer()


def test_a_provider_is_found_by_its_issuer_and_says_where_the_documents_were_lent_a_place() -> None:
    known = Known()
    known.learn(AN_ISSUER, AN_ISSUER)
    lent, own = a_provider(lent="s3/theirs").want(known), a_provider().want(known)

    assert a_provider().place(known) == "issuer.example.org/a"
    assert (own.url, own.tags, own.spared) == (
        "https://issuer.example.org/a",
        TAGS,
        ("a", "openshift", "sts"),
    )
    assert lent.tags == {**TAGS, names.DOCUMENTS_KEY: "s3/theirs"}


# --- what is compared and shown ---


def test_of_what_is_found_these_are_no_drift_and_in_no_checksum() -> None:
    found = apart_of(bucket, distribution, instance_profile, managed_policy, oidc_provider, role)

    assert found == {
        "BucketState.tags": "part",
        "BucketState.stranger": "bookkeeping",
        "BucketPolicyState": "markless",
        "OriginAccessState.id": "assigned",
        "DistributionState.tags": "part",
        "DistributionState.domain": "assigned",
        "DistributionState.arn": "assigned",
        "InstanceProfileState.tags": "part",
        "ManagedPolicyState.tags": "part",
        "OidcProviderState.tags": "part",
        "OidcProviderState.spared": "aside",
        "RoleState.tags": "part",
    }


def test_a_bucket_of_the_users_own_is_not_opened_or_closed() -> None:
    have = BucketState(region="eu-west-1", public_access=PRIVATE)

    assert a_bucket(access=None).differing(a_bucket(access=None).want(Known()), have) == ()
    assert a_bucket().differing(a_bucket().want(Known()), have) == (
        Difference("public_access", PRIVATE, READABLE),
        Difference("tags", {}, TAGS),
    )


def test_no_audience_is_taken_away_that_tokens_may_be_for_and_every_other_is() -> None:
    want = OidcProviderState(url="u", audiences=frozenset({"openshift"}))

    assert (
        a_provider().differing(want, replace(want, audiences=frozenset({"openshift", "sts"}))) == ()
    )
    (difference,) = a_provider().differing(
        want, replace(want, audiences=frozenset({"openshift", "else"}))
    )
    assert difference.field == "audiences"
    assert a_provider().differing(want, replace(want, audiences=frozenset())), (
        "what is wanted is not spared"
    )


# --- long policies ---


def a_statement(length: int) -> dict[str, object]:
    """So many characters of a policy."""
    shortest = len(policy.dump(policy.canonical(policy.allow("s3:", Resource="*"))))
    return policy.allow(f"s3:{'a' * (length - shortest)}", Resource="*")


def test_a_policy_may_be_as_long_as_iam_takes_it_and_not_a_character_longer() -> None:
    assert (LIMIT, MOST) == (6144, 10)
    assert len(list(parts(policy.canonical(a_statement(6144)), "a file"))) == 1
    with pytest.raises(BadInput) as refused:
        list(parts(policy.canonical(a_statement(6145)), "a file"))
    assert (
        refused.value.problem
        == "a file: one statement is longer than the 6144 characters that a policy may have"
    )
    assert refused.value.remedy == "split its actions over two statements"


@pytest.mark.parametrize(("spare", "several"), [(0, 1), (1, 2)])
def test_two_statements_that_fit_into_one_policy_to_the_character_are_in_one(
    spare: int, several: int
) -> None:
    one = a_statement(3000)
    room = 6144 - len(policy.dump(policy.canonical(one, policy.allow("s3:", Resource="*"))))
    both = policy.canonical(one, policy.allow(f"s3:{'b' * (room + spare)}", Resource="*"))

    assert len(list(parts(both, "a file"))) == several


# --- what is said where it cannot be ---

HAVE = BucketState(region="eu-west-1", public_access=READABLE)
ADDRESS = "aws/things/demo-oidc"


@pytest.mark.parametrize(
    ("changes", "have", "kind", "problem", "remedy"),
    [
        ({"access": None}, None, BadInput, "there is no bucket demo-oidc of yours", "make it, or name another with --s3-bucket"),
        (
            {}, replace(HAVE, region=""), Conflict, f"{ADDRESS} belongs to somebody else in the world, where no two buckets have one name",
            "choose another --name, or name a bucket of yours with --s3-bucket",
        ),
        (
            {"access": None}, replace(HAVE, region=""), Conflict, f"{ADDRESS} belongs to somebody else in the world, where no two buckets have one name",
            "name one of yours with --s3-bucket",
        ),
        (
            {}, replace(HAVE, region="us-east-1"), Conflict, f"{ADDRESS} is in us-east-1, and a bucket does not move",
            "give --region us-east-1, or another --name",
        ),
        (
            {}, replace(HAVE, region="us-east-1", owner=Mark("demo")), BadInput, f"{ADDRESS} is in us-east-1, and a bucket does not move",
            "give --region us-east-1, or another --name",
        ),
        (
            {}, replace(HAVE, stranger="diary.txt"), Conflict, f"{ADDRESS} holds diary.txt, which is not the issuer's",
            "choose another --name, or move it elsewhere first",
        ),
    ],
)  # fmt: skip
def test_a_bucket_that_cannot_be_the_issuers_is_refused_in_these_words(
    changes: dict[str, Any], have: BucketState | None, kind: type, problem: str, remedy: str
) -> None:
    refusal = told(a_bucket(**changes), have)

    assert (type(refusal), refusal.problem, refusal.remedy) == (kind, problem, remedy)


def test_a_bucket_that_can_be_the_issuers_is_not_refused() -> None:
    assert told(a_bucket(), None) is None
    assert told(a_bucket(), HAVE) is None
    assert told(a_bucket(access=None), replace(HAVE, stranger="diary.txt")) is None, (
        "it is not emptied by us"
    )


def test_a_role_under_another_path_is_refused_in_these_words() -> None:
    refusal = told(
        a_role_for(),
        a_role(arn=f"{ARN}role/teams/demo-role", managed=frozenset[str](), session=3600),
    )

    assert isinstance(refusal, Conflict)
    assert (
        refusal.problem
        == f"aws/things/demo-role has the ARN {ARN}role/teams/demo-role, and a role does not move"
    )
    assert refusal.remedy == "give its path with --role-path, or another --name"
