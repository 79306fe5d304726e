"""What a cluster needs in AWS follows from what was asked, to the letter, and with no call to anybody."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from cwiictl.clouds.aws import clearance, connect, policy, telling
from cwiictl.clouds.aws.resources.bucket import READABLE, Bucket, BucketState
from cwiictl.clouds.aws.resources.managed_policy import ManagedPolicy, ManagedPolicyState
from cwiictl.clouds.aws.resources.oidc_provider import OidcProvider, OidcProviderState
from cwiictl.clouds.aws.resources.role import RoleState, trust
from cwiictl.clouds.aws.spec import Ask, Spec
from cwiictl.clouds.permissions import Permissions, PermissionsState
from cwiictl.engine.plain import checksum
from cwiictl.engine.resource import Known
from cwiictl.engine.run import foretold
from cwiictl.errors import BadInput, Conflict, Denied
from cwiictl.issuer.key import KeyState
from cwiictl.model import Cluster
from tests.cwiictl.clouds.aws.planned import role, statement, the_stores, wanted, whole
from tests.examples import ACCOUNT, a_cluster, a_role, a_workload


def the_role(**changes: Any) -> RoleState:
    return a_role(**{"managed": frozenset[str](), "session": 3600, **changes})


@pytest.mark.parametrize(
    ("region", "url", "arn"),
    [
        ("us-east-1", "https://demo-oidc.s3.us-east-1.amazonaws.com", "arn:aws:"),
        ("cn-north-1", "https://demo-oidc.s3.cn-north-1.amazonaws.com.cn", "arn:aws-cn:"),
        ("us-gov-west-1", "https://demo-oidc.s3.us-gov-west-1.amazonaws.com", "arn:aws-us-gov:"),
        ("eusc-de-east-1", "https://demo-oidc.s3.eusc-de-east-1.amazonaws.eu", "arn:aws-eusc:"),
    ],
)
def test_addresses_follow_the_region_and_its_partition(region: str, url: str, arn: str) -> None:
    found = whole(region, a_workload())
    wants: Any = foretold(found)

    assert f"aws/issuers/{url}" in found
    assert f"aws/providers/{url.removeprefix('https://')}" in found
    assert wants["aws/bucket_policies/demo-oidc"].policy["Statement"] == [
        {
            "Sid": "AllowReadPublicAccess",
            "Effect": "Allow",
            "Principal": "*",
            "Action": "s3:GetObject",
            "Resource": [
                f"{arn}s3:::demo-oidc/.well-known/openid-configuration",
                f"{arn}s3:::demo-oidc/keys.json",
            ],
        }
    ], "whatever else lies there is not published"
    state = wants["aws/roles/demo-kube-system-cloud-credentials"]
    assert state.arn.startswith(f"{arn}iam::{ACCOUNT}:role/demo-")
    assert (
        state.trust["Statement"][0]["Principal"]["Federated"]
        == f"{arn}iam::{ACCOUNT}:oidc-provider/{url.removeprefix('https://')}"
    )
    assert (
        wants["aws/documents/demo-oidc/.well-known/openid-configuration"].body["jwks_uri"]
        == f"{url}/keys.json"
    )


def test_a_role_trusts_exactly_its_service_accounts() -> None:
    found = role(service_accounts=("one", "two")).want(Known())

    assert found.trust["Statement"] == [
        {
            "Effect": "Allow",
            "Action": "sts:AssumeRoleWithWebIdentity",
            "Principal": {"Federated": f"arn:aws:iam::{ACCOUNT}:oidc-provider/issuer.example.org"},
            "Condition": {
                "StringEquals": {
                    "issuer.example.org:sub": [
                        "system:serviceaccount:kube-system:one",
                        "system:serviceaccount:kube-system:two",
                    ]
                }
            },
        }
    ]


def test_an_issuer_under_a_path_is_trusted_with_its_path() -> None:
    found = trust("arn:aws:iam::123456789012:oidc-provider/host.example.org/a/b", a_workload())

    assert found["Statement"][0]["Condition"] == {
        "StringEquals": {"host.example.org/a/b:sub": "system:serviceaccount:kube-system:operator"}
    }


def test_a_provider_that_is_named_is_the_one_that_is_trusted() -> None:
    arn = f"arn:aws:iam::{ACCOUNT}:oidc-provider/theirs.example.org"

    assert role(Spec("us-east-1", provider=arn)).want(Known()).trust["Statement"][0][
        "Principal"
    ] == {"Federated": arn}


def test_a_boundary_is_wanted_where_it_is_given() -> None:
    arn = "arn:aws:iam::aws:policy/PowerUserAccess"

    assert role(Spec("us-east-1", boundary=arn)).want(Known()).boundary == arn


def test_what_iam_would_not_take_is_refused_before_it_is_asked() -> None:
    with pytest.raises(
        BadInput, match=r"trust policy of kube-system/cloud-credentials would be .* IAM takes 2048"
    ):
        role(service_accounts=tuple(f"account-{number:03}" for number in range(50)))
    wide = Ask(
        policy.canonical(
            policy.allow([f"ec2:Action{number:04}" for number in range(800)], Resource="*")
        )
    )
    with pytest.raises(BadInput, match="one statement is longer than the 6144 characters"):
        role(asked=wide)


def test_two_requests_never_share_a_role_though_their_names_are_cut_alike() -> None:
    found = whole("us-east-1", a_workload(name="a" * 100 + "1"), a_workload(name="a" * 100 + "2"))

    assert sum(address.startswith("aws/roles/") for address in found) == 2


def test_a_plan_does_not_depend_on_the_order_of_requests() -> None:
    one, two = a_workload(name="one"), a_workload(name="two")

    assert checksum(foretold(whole("us-east-1", one, two))) == checksum(
        foretold(whole("us-east-1", two, one))
    )


def test_a_role_waits_for_nothing_and_a_provider_for_the_readable_issuer() -> None:
    found = whole("us-east-1", a_workload())

    assert found["aws/roles/demo-kube-system-cloud-credentials"].needs == ()
    (provider,) = (found[address] for address in found if address.startswith("aws/providers/"))
    assert [need.address for need in provider.needs] == [f"aws/issuers/https://{provider.name}"]


def test_bindings_are_for_the_roles_that_are_there() -> None:
    there, failed = role(name="there"), role(name="failed", token_path="/token")
    known = Known()
    arn = f"arn:aws:iam::{ACCOUNT}:role/{there.name}"
    known.learn(there, the_role(arn=arn))

    (binding,) = telling.bindings([there, failed], known)

    assert binding.workload.name == "there"
    assert binding.data == {
        "credentials": "[default]\nsts_regional_endpoints = regional\n"
        f"role_arn = {arn}\nweb_identity_token_file = /var/run/secrets/openshift/serviceaccount/token\n"
    }


@pytest.mark.parametrize(("region", "word"), [("eu-west-1", "--region eu-west-1"), ("", "--name")])
def test_a_bucket_elsewhere_stands_against_all_writing(region: str, word: str) -> None:
    bucket = Bucket("demo-oidc", the_stores().buckets, a_cluster(), "us-east-1")
    found = Known()
    assert bucket.objection(found) is None
    found.learn(bucket, BucketState(region="us-east-1", public_access=READABLE))
    assert bucket.objection(found) is None

    found.learn(bucket, BucketState(region=region, public_access=READABLE))

    problem = bucket.objection(found)
    assert isinstance(problem, Conflict)
    assert word in problem.remedy


def test_the_key_is_no_part_of_the_checksum() -> None:
    wants = foretold(whole())

    assert isinstance(wants["local/key/signing-key"], KeyState)
    assert wants["local/key/signing-key"].kid == ""


def test_whose_tokens_the_webhook_projects_is_trusted_for_its_audience_alone() -> None:
    asked, projected = wanted(role()), wanted(role(asker="webhook"))

    assert statement(asked)["Condition"] == {
        "StringEquals": {"issuer.example.org:sub": "system:serviceaccount:kube-system:operator"}
    }
    assert statement(projected)["Condition"] == {
        "StringEquals": {
            "issuer.example.org:sub": "system:serviceaccount:kube-system:operator",
            "issuer.example.org:aud": "sts.amazonaws.com",
        }
    }


@pytest.mark.parametrize(
    ("askers", "audiences"),
    [
        (["webhook"], {"sts.amazonaws.com"}),
        (["request"], {"openshift", "sts.amazonaws.com"}),
        (["request", "webhook"], {"openshift", "sts.amazonaws.com"}),
    ],
)
def test_a_provider_believes_tokens_for_whom_they_are_made_and_for_nobody_else(
    askers: list[Any], audiences: set[str]
) -> None:
    wants: Any = foretold(
        whole("us-east-1", *(a_workload(name=asker, asker=asker) for asker in askers))
    )

    (provider,) = (want for address, want in wants.items() if address.startswith("aws/providers/"))
    assert provider.audiences == audiences


@pytest.mark.parametrize(
    ("there", "told"),
    [
        ({"sts.amazonaws.com"}, None),
        ({"openshift", "sts.amazonaws.com"}, None),
        ({"openshift", "vault", "sts.amazonaws.com"}, {"vault", "sts.amazonaws.com"}),
    ],
)
def test_an_audience_that_tokens_of_the_cluster_may_be_for_stays_where_it_is_and_no_other(
    there: set[str], told: set[str] | None
) -> None:
    made = whole("us-east-1", a_workload(asker="webhook"))
    (provider,) = (thing for thing in made.values() if isinstance(thing, OidcProvider))
    wants: Any = foretold(made)
    want: OidcProviderState = wants[provider.address]

    differing = provider.differing(want, replace(want, audiences=frozenset(there)))

    assert [(each.have, each.want) for each in differing] == (
        [(told, {"sts.amazonaws.com"})] if told else []
    )


def test_a_lacking_permission_stands_against_a_run_only_if_something_is_missing() -> None:
    found = whole("us-east-1", a_workload())
    (asked,) = clearance.permitted(the_stores(), tuple(found.values()))
    seen = Known()
    assert isinstance(asked, Permissions)
    assert asked.objection(seen) is None, "who could not be asked lacks nothing until AWS says so"
    seen.learn(asked, PermissionsState(lacking=("iam:CreateRole",)))

    problem = asked.objection(seen)
    assert isinstance(problem, Denied)
    assert "iam:CreateRole" in problem.problem
    for thing in asked.things:
        assert asked.objection(seen) is not None
        seen.learn(thing, the_role())
    assert asked.objection(seen) is None
    assert asked.differing(PermissionsState(), PermissionsState(lacking=("x",))) == ()


def test_a_policy_of_ours_is_wanted_as_it_is_asked_for() -> None:
    store: Any = the_stores().policies
    grants = policy.canonical(policy.allow("s3:*", Resource="*"))

    found = ManagedPolicy("demo-1", store, a_cluster(), "arn:x", grants).want(Known())

    assert found == ManagedPolicyState(arn="arn:x", policy=grants, tags={"Name": "demo"})


def test_a_tag_that_is_awss_own_is_refused_before_the_first_call() -> None:
    with pytest.raises(BadInput, match="AWS takes no tag with the key AWS:team"):
        connect(Spec("us-east-1"), Cluster("demo", {"AWS:team": "shop"}), 4)
