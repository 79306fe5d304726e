"""What a cluster needs in AWS follows from what was asked, to the letter, and with no call to anybody."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cwiictl.clouds.aws import plan, policy
from cwiictl.clouds.aws.partitions import partition
from cwiictl.clouds.aws.resources.bucket import PRIVATE, READABLE, Bucket, BucketState
from cwiictl.clouds.aws.resources.managed_policy import LIMIT, ManagedPolicy, ManagedPolicyState, parts
from cwiictl.clouds.aws.resources.oidc_provider import OidcProvider, OidcProviderState
from cwiictl.clouds.aws.resources.role import Role, RoleState, trust
from cwiictl.clouds.aws.spec import Ask, Spec
from cwiictl.clouds.aws.stores import Stores
from cwiictl.clouds.permissions import Permissions, PermissionsState
from cwiictl.engine.plain import checksum
from cwiictl.engine.resource import Known, Plan
from cwiictl.engine.run import foretold
from cwiictl.errors import BadInput, Conflict, Denied
from cwiictl.issuer.documents import Hosting, IssuerState
from cwiictl.issuer.home import Home
from cwiictl.issuer.key import KeyState, SigningKey
from tests.contracts.shelf import Shelf, World
from tests.examples import ACCOUNT, a_cluster, a_role, a_workload

ALLOWED = Ask(policy.canonical(policy.allow("ec2:DescribeInstances", Resource="*")))


def the_stores(region: str = "us-east-1") -> Any:
    """Places that nobody comes to."""
    kinds = {f.name for f in fields(Stores)} - {"account", "caller", "close", "partition", "permissions"}
    places: Any = {kind: Shelf(World(), f"aws/{kind}") for kind in kinds}
    asked: Any = Shelf(World(), "aws/permissions")
    return Stores(ACCOUNT, "somebody", lambda: None, partition(region), lambda _grants: asked, **places)


def the_role(**changes: Any) -> RoleState:
    return a_role(**{"managed": frozenset[str](), "session": 3600, **changes})


def whole(region: str = "us-east-1", *workloads: Any, asked: Ask = ALLOWED, how: Hosting | None = None, **told: Any) -> Plan:
    spec, cluster, stores = Spec(region, **told), a_cluster(), the_stores(region)
    store: Any = Shelf(World(), "local/key")
    issuer = plan.host(spec, cluster, stores, SigningKey("signing-key", store), how or Hosting("published"))
    roles = plan.identities(spec, cluster, stores, [(w, asked) for w in workloads], issuer.home)
    return Plan([issuer, *plan.trusting(spec, cluster, stores, issuer, [w.asker for w in workloads]), *roles])


def role(spec: Spec | None = None, asked: Ask = ALLOWED, **workload: Any) -> Role:
    home = Home("https://issuer.example.org")
    (found,) = plan.identities(spec or Spec("us-east-1"), a_cluster(), the_stores(), [(a_workload(**workload), asked)], home)
    return found


def wanted(found: Role) -> RoleState:
    """With all that it holds foretold."""
    wants: Any = foretold(Plan([found]))
    return wants[found.address]


def statement(state: RoleState) -> dict[str, Any]:
    (only,) = state.trust["Statement"]
    return only


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
            "Resource": [f"{arn}s3:::demo-oidc/.well-known/openid-configuration", f"{arn}s3:::demo-oidc/keys.json"],
        }
    ], "whatever else lies there is not published"
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
    found = trust("arn:aws:iam::123456789012:oidc-provider/host.example.org/a/b", a_workload())

    assert found["Statement"][0]["Condition"] == {"StringEquals": {"host.example.org/a/b:sub": "system:serviceaccount:kube-system:operator"}}


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
    with pytest.raises(BadInput, match="one statement is longer than the 6144 characters"):
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
    arn = f"arn:aws:iam::{ACCOUNT}:role/{there.name}"
    known.learn(there, the_role(arn=arn))

    (binding,) = plan.bindings([there, failed], known)

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

    assert statement(asked)["Condition"] == {"StringEquals": {"issuer.example.org:sub": "system:serviceaccount:kube-system:operator"}}
    assert statement(projected)["Condition"] == {
        "StringEquals": {"issuer.example.org:sub": "system:serviceaccount:kube-system:operator", "issuer.example.org:aud": "sts.amazonaws.com"}
    }


@pytest.mark.parametrize(
    ("askers", "audiences"),
    [(["webhook"], {"sts.amazonaws.com"}), (["request"], {"openshift", "sts.amazonaws.com"}), (["request", "webhook"], {"openshift", "sts.amazonaws.com"})],
)
def test_a_provider_believes_tokens_for_whom_they_are_made_and_for_nobody_else(askers: list[Any], audiences: set[str]) -> None:
    wants: Any = foretold(whole("us-east-1", *(a_workload(name=asker, asker=asker) for asker in askers)))

    (provider,) = (want for address, want in wants.items() if address.startswith("aws/providers/"))
    assert provider.audiences == audiences


@pytest.mark.parametrize(
    ("there", "told"),
    [({"sts.amazonaws.com"}, None), ({"openshift", "sts.amazonaws.com"}, None), ({"openshift", "vault", "sts.amazonaws.com"}, {"vault", "sts.amazonaws.com"})],
)
def test_an_audience_that_tokens_of_the_cluster_may_be_for_stays_where_it_is_and_no_other(there: set[str], told: set[str] | None) -> None:
    made = whole("us-east-1", a_workload(asker="webhook"))
    (provider,) = (thing for thing in made.values() if isinstance(thing, OidcProvider))
    wants: Any = foretold(made)
    want: OidcProviderState = wants[provider.address]

    differing = provider.differing(want, replace(want, audiences=frozenset(there)))

    assert [(each.have, each.want) for each in differing] == ([(told, {"sts.amazonaws.com"})] if told else [])


# --- where a role is not as wanted ---


def differing(have: RoleState, **told: Any) -> set[str]:
    thing = role(Spec("us-east-1", **told))
    return {difference.field for difference in thing.differing(wanted(thing), have)}


OTHERS: list[tuple[str, dict[str, Any]]] = [
    ("description", {"description": "another"}),
    ("trust", {"trust": policy.canonical(policy.allow("sts:AssumeRole", Principal={"AWS": "*"}))}),
    ("policy", {"policy": policy.canonical(policy.allow("*", Resource="*"))}),
    ("policy", {"policy": None}),
    ("others", {"others": frozenset({"theirs"})}),
    ("managed", {"managed": frozenset({"arn:aws:iam::aws:policy/AdministratorAccess"})}),
    ("session", {"session": 43200}),
    ("tags", {"tags": {"Name": "another"}}),
]


@pytest.mark.parametrize(("field", "change"), OTHERS)
def test_every_field_of_a_role_is_looked_at(field: str, change: dict[str, Any]) -> None:
    """Each further policy is power that nobody asked for."""
    have = wanted(role())

    assert differing(have) == set()
    assert differing(RoleState(**{**{f.name: getattr(have, f.name) for f in fields(have)}, **change})) == {field}


def test_a_boundary_that_nobody_asked_us_for_is_left_and_another_than_asked_for_is_not() -> None:
    guarded = wanted(role(Spec("us-east-1", boundary=BOUNDARY)))

    assert differing(guarded) == set()
    assert differing(guarded, boundary=BOUNDARY) == set()
    assert differing(guarded, boundary="arn:aws:iam::aws:policy/Another") == {"boundary"}
    assert differing(wanted(role()), boundary=BOUNDARY) == {"boundary"}


def test_a_role_under_another_path_is_not_moved() -> None:
    thing, found = role(Spec("us-east-1", path="/clusters/")), Known()
    assert wanted(thing).arn == f"arn:aws:iam::{ACCOUNT}:role/clusters/{thing.name}"
    assert thing.objection(found) is None
    found.learn(thing, wanted(thing))
    assert thing.objection(found) is None

    found.learn(thing, wanted(role()))

    problem = thing.objection(found)
    assert isinstance(problem, Conflict)
    assert "--role-path" in problem.remedy


# --- policies that are too long for a role ---

BOUNDARY = "arn:aws:iam::aws:policy/PowerUserAccess"
ACTIONS = st.integers(1, 150).map(lambda size: [f"ec2:SomeLongerAction{number:04}" for number in range(size)])
RESOURCES = st.integers(0, 9).map("arn:aws:ec2:*:*:volume/{}".format)
STATEMENTS: st.SearchStrategy[Any] = st.fixed_dictionaries({"Effect": st.sampled_from(["Allow", "Deny"]), "Action": ACTIONS, "Resource": RESOURCES})


@given(st.lists(STATEMENTS, min_size=1, max_size=25))
def test_a_long_policy_is_split_and_nothing_of_it_is_lost(statements: list[Any]) -> None:
    grants = policy.canonical(*statements)

    split = list(parts(grants, "a file"))

    assert all(len(policy.dump(one)) <= LIMIT for one in split)
    assert policy.canonical(*(each for one in split for each in one["Statement"])) == grants
    pairs = pairwise(split)
    assert all(len(policy.dump(policy.canonical(*one["Statement"], other["Statement"][0]))) > LIMIT for one, other in pairs), "as few as can be"


def a_long_one(statements: int) -> Ask:
    """Each of its statements nearly fills a policy."""
    several = (policy.allow([f"s{one}:Action{number:04}" for number in range(350)], Resource="*") for one in range(statements))
    return Ask(policy.canonical(*several))


def test_a_policy_that_fits_stays_in_the_role_and_a_longer_one_becomes_policies_of_ours_that_the_role_waits_for() -> None:
    short, long = role(), role(asked=a_long_one(3))

    assert (wanted(short).policy, short.parts) == (ALLOWED.policy, ())
    assert [part.name for part in long.parts] == [f"{long.name}-{number}" for number in (1, 2, 3)]
    state = wanted(long)
    assert state.policy is None
    assert state.managed == {f"arn:aws:iam::{ACCOUNT}:policy/{long.name}-{number}" for number in (1, 2, 3)}
    assert long.needs == long.parts


def test_a_role_has_at_most_ten_managed_policies_with_those_that_were_asked_for() -> None:
    asked = a_long_one(10)
    assert len(role(asked=asked).parts) == 10

    for more in (Ask(asked.policy, frozenset({BOUNDARY})), a_long_one(11), Ask(None, frozenset(f"arn:aws:iam::aws:policy/P{n}" for n in range(11)))):
        with pytest.raises(BadInput, match="more than the 10 managed policies"):
            role(asked=more)


# --- CloudFront, and places of the user's own ---


def test_behind_cloudfront_the_bucket_is_for_one_distribution_and_roles_wait_for_its_name() -> None:
    found = whole("us-east-1", a_workload(), private=True)
    wants: Any = foretold(found)

    (only,) = wants["aws/bucket_policies/demo-oidc"].policy["Statement"]
    assert only["Principal"] == {"Service": "cloudfront.amazonaws.com"}
    assert only["Condition"] == {"StringEquals": {"AWS:SourceArn": "<arn of aws/distributions/demo-oidc>"}}
    block = wants["aws/buckets/demo-oidc"].public_access
    assert (block.block_acls, block.ignore_acls, block.block_policy, block.restrict) == (True, True, True, True)
    assert found["aws/issuers/demo-oidc.cloudfront"].late
    assert found["aws/providers/demo-oidc.cloudfront"].late
    thing = found["aws/roles/demo-kube-system-cloud-credentials"]
    assert [need.address for need in thing.needs] == ["aws/distributions/demo-oidc"]
    assert statement(wants[thing.address])["Principal"]["Federated"].endswith(":oidc-provider/<domain of aws/distributions/demo-oidc>")


def test_a_late_providers_place_is_where_its_issuer_came_to_be() -> None:
    found = whole("us-east-1", private=True)
    provider, issuer, known = found["aws/providers/demo-oidc.cloudfront"], found["aws/issuers/demo-oidc.cloudfront"], Known()
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
    closed = BucketState(region="us-east-1", public_access=PRIVATE, tags={"Name": "theirs"}, stranger="payroll.csv")
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
    assert statement["Resource"] == [f"arn:aws-us-gov:s3:::theirs/clusters/prod/{key}" for key in (".well-known/openid-configuration", "keys.json")]

    (ours,) = (want for want in foretold(whole()).values() if isinstance(want, IssuerState))
    assert ours.remedy == ""


def test_a_bucket_with_dots_has_no_certificate_and_so_needs_a_host_of_its_own() -> None:
    with pytest.raises(BadInput, match="certificate") as raised:
        whole("us-east-1", bucket="my.documents")
    assert "--issuer-url" in raised.value.remedy

    found = whole("us-east-1", bucket="my.documents", how=Hosting("published", "https://issuer.example.org"))
    assert "aws/issuers/https://issuer.example.org" in found


def test_what_lies_in_a_bucket_that_is_not_ours_is_not_published_with_it() -> None:
    bucket, found = whole()["aws/buckets/demo-oidc"], Known()
    found.learn(bucket, BucketState(region="us-east-1", public_access=PRIVATE, stranger="payroll.csv"))

    problem = bucket.objection(found)

    assert isinstance(problem, Conflict)
    assert "payroll.csv" in problem.problem


# --- permissions ---


def test_a_lacking_permission_stands_against_a_run_only_if_something_is_missing() -> None:
    found = whole("us-east-1", a_workload())
    (asked,) = plan.permitted(the_stores(), tuple(found.values()))
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
