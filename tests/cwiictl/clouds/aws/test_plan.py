"""What a cluster needs in AWS follows from what was asked, to the letter, and with no call to anybody."""

from __future__ import annotations

from typing import Any

import pytest

from cwiictl.clouds.aws import plan, policy
from cwiictl.clouds.aws.partitions import partition
from cwiictl.clouds.aws.resources.bucket import Bucket
from cwiictl.clouds.aws.resources.role import Role, trust
from cwiictl.clouds.aws.spec import Ask, Spec
from cwiictl.clouds.aws.stores import Stores
from cwiictl.engine.plain import checksum
from cwiictl.engine.resource import Known, Plan
from cwiictl.engine.run import foretold
from cwiictl.errors import BadInput, Conflict
from cwiictl.issuer.key import KeyState, SigningKey
from tests.contracts.shelf import Shelf, World
from tests.examples import ACCOUNT, a_bucket, a_cluster, a_role, a_workload

ALLOWED = Ask(policy.canonical(policy.allow("ec2:DescribeInstances", Resource="*")))


def the_stores(region: str = "us-east-1") -> Any:
    """Places that nobody comes to."""
    shelves = {kind: Shelf(World(), f"aws/{kind}") for kind in ("buckets", "documents", "key_sets", "issuers", "providers", "roles")}
    places: Any = shelves
    return Stores(ACCOUNT, "somebody", partition(region), **places)


def whole(region: str = "us-east-1", *workloads: Any) -> Plan:
    spec, cluster, stores = Spec(region), a_cluster(), the_stores(region)
    store: Any = Shelf(World(), "local/key")
    issuer = plan.host(spec, cluster, stores, SigningKey("signing-key", store), "published")
    roles = plan.identities(spec, cluster, stores, [(w, ALLOWED) for w in workloads], issuer.name)
    return Plan([issuer, *plan.trusting(cluster, stores, issuer), *roles])


def role(spec: Spec | None = None, issuer: str = "https://issuer.example.org", asked: Ask = ALLOWED, **workload: Any) -> Role:
    (found,) = plan.identities(spec or Spec("us-east-1"), a_cluster(), the_stores(), [(a_workload(**workload), asked)], issuer)
    return found


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
    assert wants["aws/buckets/demo-oidc"].policy["Statement"][0]["Resource"] == f"{arn}s3:::demo-oidc/*"
    state = wants["aws/roles/demo-kube-system-cloud-credentials"]
    assert state.arn.startswith(f"{arn}iam::{ACCOUNT}:role/demo-")
    assert state.trust["Statement"][0]["Principal"]["Federated"] == f"{arn}iam::{ACCOUNT}:oidc-provider/{url.removeprefix('https://')}"
    assert wants["aws/documents/demo-oidc/.well-known/openid-configuration"].body["jwks_uri"] == f"{url}/keys.json"


def test_a_role_trusts_exactly_its_service_accounts() -> None:
    found = role(service_accounts=("one", "two")).want(Known())

    assert found.trust["Statement"] == [
        {
            "Effect": "Allow",
            "Action": "sts:AssumeRoleWithWebIdentity",
            "Principal": {"Federated": f"arn:aws:iam::{ACCOUNT}:oidc-provider/issuer.example.org"},
            "Condition": {"StringEquals": {"issuer.example.org:sub": ["system:serviceaccount:kube-system:one", "system:serviceaccount:kube-system:two"]}},
        }
    ]


def test_an_issuer_under_a_path_is_trusted_with_its_path() -> None:
    found = trust("arn:aws:iam::123456789012:oidc-provider/host.example.org/a/b", ("x",))

    assert found["Statement"][0]["Condition"] == {"StringEquals": {"host.example.org/a/b:sub": "x"}}


def test_a_provider_that_is_named_is_the_one_that_is_trusted() -> None:
    arn = f"arn:aws:iam::{ACCOUNT}:oidc-provider/theirs.example.org"

    assert role(Spec("us-east-1", provider=arn)).want(Known()).trust["Statement"][0]["Principal"] == {"Federated": arn}


def test_a_boundary_is_wanted_where_it_is_given() -> None:
    arn = "arn:aws:iam::aws:policy/PowerUserAccess"

    assert role(Spec("us-east-1", boundary=arn)).want(Known()).boundary == arn


def test_what_iam_would_not_take_is_refused_before_it_is_asked() -> None:
    with pytest.raises(BadInput, match=r"trust policy of kube-system/cloud-credentials would be .* IAM takes 2048"):
        role(service_accounts=tuple(f"account-{number:03}" for number in range(50)))
    wide = Ask(policy.canonical(policy.allow([f"ec2:Action{number:04}" for number in range(800)], Resource="*")))
    with pytest.raises(BadInput, match="IAM takes 10240"):
        role(asked=wide)


def test_two_requests_never_share_a_role_though_their_names_are_cut_alike() -> None:
    found = whole("us-east-1", a_workload(name="a" * 100 + "1"), a_workload(name="a" * 100 + "2"))

    assert sum(address.startswith("aws/roles/") for address in found) == 2


def test_a_plan_does_not_depend_on_the_order_of_requests() -> None:
    one, two = a_workload(name="one"), a_workload(name="two")

    assert checksum(foretold(whole("us-east-1", one, two))) == checksum(foretold(whole("us-east-1", two, one)))


def test_a_role_waits_for_nothing_and_a_provider_for_the_readable_issuer() -> None:
    found = whole("us-east-1", a_workload())

    assert found["aws/roles/demo-kube-system-cloud-credentials"].needs == ()
    (provider,) = (found[address] for address in found if address.startswith("aws/providers/"))
    assert [need.address for need in provider.needs] == [f"aws/issuers/https://{provider.name}"]


def test_bindings_are_for_the_roles_that_are_there() -> None:
    there, failed = role(name="there"), role(name="failed", token_path="/token")
    known = Known()
    known.learn(there, a_role(arn=there.arn))

    (binding,) = plan.bindings([there, failed], known)

    assert binding.workload.name == "there"
    assert binding.data == {
        "credentials": "[default]\nsts_regional_endpoints = regional\n"
        f"role_arn = {there.arn}\nweb_identity_token_file = /var/run/secrets/openshift/serviceaccount/token\n"
    }


@pytest.mark.parametrize(("region", "word"), [("eu-west-1", "--region eu-west-1"), ("", "--name")])
def test_a_bucket_elsewhere_stands_against_all_writing(region: str, word: str) -> None:
    bucket = Bucket("demo-oidc", the_stores().buckets, a_cluster(), "aws", "us-east-1")
    found = Known()
    assert bucket.objection(found) is None
    found.learn(bucket, a_bucket())
    assert bucket.objection(found) is None

    found.learn(bucket, a_bucket(region=region))

    problem = bucket.objection(found)
    assert isinstance(problem, Conflict)
    assert word in problem.remedy


def test_the_key_is_no_part_of_the_checksum() -> None:
    wants = foretold(whole())

    assert isinstance(wants["local/key/signing-key"], KeyState)
    assert wants["local/key/signing-key"].kid == ""
