"""What is wanted of Google Cloud, to the letter; what is compared and shown of it; and what is said, to the letter, where it cannot be."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from cwiictl.clouds.gcp.resources import api, bucket, custom_role, policy, pool, principal, provider, reach, room, service_account
from cwiictl.clouds.gcp.resources.api import IDENTITIES, STORAGE, Api, ApiState
from cwiictl.clouds.gcp.resources.bucket import CLOSED, HIDDEN, READABLE, Bucket, BucketState
from cwiictl.clouds.gcp.resources.custom_role import CustomRole, CustomRoleState, SharedRoleState
from cwiictl.clouds.gcp.resources.document import JWKS, PATHS
from cwiictl.clouds.gcp.resources.grant import Condition
from cwiictl.clouds.gcp.resources.policy import Grant as Given
from cwiictl.clouds.gcp.resources.policy import Granted, Policy, PolicyState, Principal
from cwiictl.clouds.gcp.resources.pool import Believed, Pool, PoolState
from cwiictl.clouds.gcp.resources.principal import Subject, SubjectState
from cwiictl.clouds.gcp.resources.provider import ProviderState
from cwiictl.clouds.gcp.resources.reach import Reach, ReachState
from cwiictl.clouds.gcp.resources.service_account import Project, ServiceAccount, ServiceAccountState
from cwiictl.clouds.gcp.universes import universe
from cwiictl.engine.plain import plain
from cwiictl.engine.resource import Difference, Known, Mark
from cwiictl.errors import BadInput, Conflict
from tests.contracts.shelf import Shelf, World
from tests.cwiictl.clouds.fields import apart_of
from tests.cwiictl.clouds.gcp.told import NUMBER, PROJECT
from tests.examples import a_cluster, a_workload

STORE: Any = Shelf(World(), "gcp/things")
OURS = Mark("demo")
POOL = Pool("demo", STORE, a_cluster(), "demo-provider")
ADDRESS = "gcp/things/demo"
LONG = frozenset(f"project-with-a-long-name-{n}" for n in range(10))


def told(thing: Any, have: Any) -> Any:
    found = Known()
    if have:
        found.learn(thing, have)
    return thing.objection(found)


def a_bucket(**changes: Any) -> Bucket:
    asked: dict[str, Any] = {"cluster": a_cluster(), "project": NUMBER, "location": "us"}
    return Bucket("demo", STORE, **{**asked, **changes})


def an_account(**workload: Any) -> ServiceAccount:
    project = Project(PROJECT, NUMBER, "demo", "demo-provider", universe(""), "demo")
    return ServiceAccount("demo-x", STORE, a_workload(**workload), project, POOL, "demo-x")


# --- what is wanted ---


def test_a_bucket_is_wanted_readable_by_everybody_by_its_policy_alone_or_closed() -> None:
    assert plain(a_bucket(clouds=frozenset({"aws"})).want(Known())) == {
        "location": "us",
        "project": NUMBER,
        "access": {"uniform": True, "public": True, "prevention": "inherited"},
        "labels": {"Name": "demo", "cwii.dev/trusted-by-aws": "true"},
    }
    assert plain(CLOSED) == {"uniform": True, "public": False, "prevention": "enforced"}
    assert plain(a_bucket(access=None).want(Known()))["labels"] == {}


def test_the_documents_and_the_apis_are_these() -> None:
    assert ("keys.json", frozenset({".well-known/openid-configuration", "keys.json"})) == (JWKS, PATHS)
    names = ("cloudresourcemanager", "iam", "iamcredentials", "sts")
    assert (tuple(f"{name}.googleapis.com" for name in names), "storage.googleapis.com") == (IDENTITIES, STORAGE)


def test_a_role_is_wanted_launched_and_undeleted_and_bears_a_mark_only_if_it_is_one_workloads() -> None:
    shared = CustomRole("cwii_x", STORE, "A title", "A sentence.", frozenset({"a.b.c"}))

    assert plain(shared.want(Known())) == {
        "id": "", "title": "A title", "description": "A sentence.", "permissions": ["a.b.c"], "stage": "GA", "deleted": False,
    }  # fmt: skip
    assert type(shared.want(Known())) is SharedRoleState
    assert type(replace(shared, shared=False).want(Known())) is CustomRoleState


def test_a_pool_and_a_provider_are_wanted_on_with_a_title_that_fits() -> None:
    want = replace(POOL, cluster=a_cluster("p" * 50)).want(Known())

    assert (want.title, want.provider) == ("p" * 32, "demo-provider")
    assert plain(POOL.want(Known())) == {"title": "demo", "description": "Kubernetes cluster demo.", "disabled": False, "deleted": False, "scopes": []}
    assert plain(ProviderState(title="t", description="d", issuer="i", audiences=frozenset())) == {
        "title": "t", "description": "d", "issuer": "i", "audiences": [], "mapping": {"google.subject": "assertion.sub"}, "condition": "",
        "disabled": False, "deleted": False, "keys": "issuer",
    }  # fmt: skip


@pytest.mark.parametrize(("asker", "begin"), [("request", "OpenShift"), ("webhook", "Kubernetes")])
def test_a_service_account_says_for_whom_it_is(asker: Any, begin: str) -> None:
    found = an_account(asker=asker)

    assert found.sentence == f"{begin} identity for kube-system/cloud-credentials."
    assert found.member == f"serviceAccount:demo-x@{PROJECT}.iam.gserviceaccount.com"
    assert found.project.named == f"iam.googleapis.com/projects/{NUMBER}/locations/global/workloadIdentityPools/demo/providers/demo-provider"
    assert found.want(Known()).disabled is False


# --- what is compared and shown ---


def test_of_what_is_found_these_are_no_drift_or_in_no_checksum() -> None:
    assert apart_of(api, bucket, custom_role, policy, pool, principal, provider, reach, service_account) == {
        "ApiState": "markless",
        "BucketState.location": "not compared",
        "BucketState.project": "not compared",
        "BucketState.labels": "part",
        "BucketState.stranger": "bookkeeping",
        "CustomRoleState.id": "assigned",
        "SharedRoleState": "markless",
        "SharedRoleState.id": "assigned",
        "PolicyState": "markless",
        "PolicyState.of": "not compared",
        "PolicyState.exact": "not compared",
        "PolicyState.etag": "aside",
        "PoolState.scopes": "not compared",
        "PoolState.provider": "bookkeeping",
        "PoolState.others": "bookkeeping",
        "SubjectState": "markless",
        "ProviderState.uploads": "aside",
        "ReachState": "markless",
        "ServiceAccountState.unique_id": "assigned",
    }


def test_what_is_only_looked_at_is_worth_no_line() -> None:
    turned, subject = Api(STORAGE, STORE, PROJECT), Subject("x", STORE)

    assert (turned.quiet, subject.quiet, POOL.quiet) == (True, True, False)
    assert (turned.want(Known()), subject.want(Known())) == (ApiState(on=True), SubjectState())


def test_a_pool_is_one_clusters_and_brought_only_if_it_was_named() -> None:
    assert (POOL.exclusive, POOL.brought, replace(POOL, named=True).brought) == (True, False, True)


def test_a_provider_beside_the_clusters_own_is_drift_in_a_pool_of_ours() -> None:
    strange, own = Believed("other", "https://else.example.org"), Believed("demo-provider", "https://x")
    have = replace(POOL.want(Known()), others=frozenset({own}))

    assert POOL.differing(POOL.want(Known()), have) == ()
    there = frozenset({"other, which believes https://else.example.org"})
    assert POOL.differing(POOL.want(Known()), replace(have, others=frozenset({own, strange}))) == (Difference("providers", there, frozenset[str]()),)
    assert str(Believed("saml", "")) == "saml"


def test_no_scope_is_ever_taken_off_and_each_new_one_is_put_beside() -> None:
    one, two = frozenset({"one"}), frozenset({"two"})
    reached = Reach("demo", STORE, POOL, one)

    assert reached.differing(ReachState(scopes=one), ReachState(scopes=one | two)) == ()
    assert reached.differing(ReachState(scopes=one), ReachState(scopes=two)) == (Difference("scopes", two, one | two),)


# --- room in a description ---


@pytest.mark.parametrize("scopes", [frozenset[str](), frozenset({"one"}), frozenset({"one", "two"})])
def test_a_sentence_of_all_the_room_stays_and_a_longer_one_ends_in_dots(scopes: frozenset[str]) -> None:
    left = room.left("demo", scopes)

    assert room.fitted("a" * left, "demo", scopes) == "a" * left
    assert room.fitted("a" * (left + 1), "demo", scopes) == "a" * (left - 3) + "..."
    assert room.fitted("  b" + " " * left, "demo", scopes) == "  b...", "with no space before them"


def test_there_is_room_for_the_longest_mark_and_where_there_is_none_for_a_sentence_there_is_none() -> None:
    mark = "cwii.dev/cluster/demo=adopted cwii.dev/origin=create-identity-provider"

    assert room.left("demo") == 256 - len(f" {mark}")
    assert room.fitted("A sentence.", "demo", LONG) == ""


# --- what is said where it cannot be ---

HAVE = BucketState(location="us", project=NUMBER, access=READABLE)


@pytest.mark.parametrize(
    ("changes", "have", "kind", "problem", "remedy"),
    [
        ({"access": None}, None, BadInput, "there is no bucket demo of yours", "make it, or name another with --gcs-bucket"),
        (
            {}, replace(HAVE, project=""), Conflict, f"{ADDRESS} belongs to somebody else in the world, where no two buckets have one name",
            "choose another --name, or name a bucket of yours with --gcs-bucket",
        ),
        (
            {"access": None}, replace(HAVE, project=""), Conflict, f"{ADDRESS} belongs to somebody else in the world, where no two buckets have one name",
            "name one of yours with --gcs-bucket",
        ),
        ({}, replace(HAVE, project="9"), Conflict, f"{ADDRESS} is in the project 9", "choose another --name, or give that --project"),
        (
            {}, replace(HAVE, stranger=HIDDEN), Conflict, f"{ADDRESS} is there already, and who runs this may not see what it would publish",
            "choose another --name",
        ),
        (
            {}, replace(HAVE, stranger="diary.txt"), Conflict, f"{ADDRESS} holds diary.txt, which is not the issuer's",
            "choose another --name, or move it elsewhere first",
        ),
        (
            {"access": None}, replace(HAVE, access=CLOSED), BadInput, f"{ADDRESS} lets nobody read it anonymously, and it is yours",
            "grant allUsers roles/storage.legacyObjectReader on it, or serve the documents from a host of your own, with --issuer-url",
        ),
    ],
)  # fmt: skip
def test_a_bucket_that_cannot_be_the_issuers_is_refused_in_these_words(
    changes: dict[str, Any], have: BucketState | None, kind: type, problem: str, remedy: str
) -> None:
    refusal = told(a_bucket(**changes), have)

    assert (type(refusal), refusal.problem, refusal.remedy) == (kind, problem, remedy)


def test_apis_that_are_off_are_told_once_and_by_all_their_names() -> None:
    found, apis = Known(), [Api(name, STORE, PROJECT) for name in (*IDENTITIES, STORAGE)]
    for each in apis:
        found.learn(each, ApiState(on=each.name not in {"sts.googleapis.com", STORAGE}))

    (refusal,) = (problem for each in apis if (problem := each.objection(found)))

    assert refusal.problem == f"the project {PROJECT} has turned off sts.googleapis.com, storage.googleapis.com"
    turn = f"turn it on with gcloud services enable sts.googleapis.com storage.googleapis.com --project {PROJECT}, or run with --enable-apis"
    assert refusal.remedy == turn
    assert not any(replace(each, enable=True).objection(found) for each in apis)


THEIRS = replace(POOL, named=True)


def a_pool(**changes: Any) -> PoolState:
    return replace(PoolState(title="theirs", description="Ours to say."), **changes)


@pytest.mark.parametrize(
    ("have", "problem", "remedy"),
    [
        (
            a_pool(deleted=True), "is deleted, and it is yours",
            "gcloud iam workload-identity-pools undelete demo --location=global, or give another --workload-identity-pool",
        ),
        (
            a_pool(disabled=True), "is disabled, and it is yours",
            "gcloud iam workload-identity-pools update demo --location=global --no-disabled, or give another --workload-identity-pool",
        ),
        (
            a_pool(others=frozenset({Believed("b", ""), Believed("a", "https://a")})),
            "has the provider a, which believes https://a: whoever that is could say to be any of the cluster's workloads",
            "let the cluster have a pool of its own: leave --workload-identity-pool out, or give a name that is free",
        ),
        (
            a_pool(description="d" * (room.left("demo") + 1)), "has no room in its description for the mark of the cluster",
            "make the description shorter by 1 bytes, or give another --workload-identity-pool",
        ),
    ],
)  # fmt: skip
def test_a_pool_of_the_users_own_that_cannot_be_used_is_refused_in_these_words(have: PoolState, problem: str, remedy: str) -> None:
    refusal = told(THEIRS, have)

    assert (refusal.problem, refusal.remedy) == (f"{ADDRESS} {problem}", remedy)
    assert told(POOL, have) is None, "ours is put right"
    assert told(THEIRS, replace(have, owner=OURS)) is None, "we made it"
    assert told(THEIRS, replace(have, owner=Mark("another"))) is None, "it is refused as what it is"


def test_a_pool_of_the_users_own_with_just_enough_room_is_used_and_its_mark_is_not_put_there_twice() -> None:
    left = room.left("demo")

    assert told(THEIRS, None) is None
    assert told(THEIRS, a_pool(description="d" * left)) is None
    assert told(THEIRS, a_pool(description="d" * (left + 1), owner=Mark("demo", "brought"))) is None
    assert told(THEIRS, a_pool(deleted=True, owner=Mark("demo", "brought"))) is not None
    assert THEIRS.differing(THEIRS.want(Known()), a_pool(disabled=True)) == ()


def filled(spare: int) -> frozenset[str]:
    """One project whose name leaves so many bytes for a sentence on a thing of the cluster's."""
    return frozenset({"p" * (room.left("demo", {"p"}) + 1 - spare)})


def test_projects_are_taken_as_long_as_there_is_room_to_write_them_and_not_a_byte_longer() -> None:
    assert (room.left("demo", filled(0)), room.left("demo", filled(-1))) == (0, -1)
    assert told(Reach("demo", STORE, POOL, filled(0)), None) is None
    refusal = told(Reach("demo", STORE, POOL, LONG), ReachState(scopes=frozenset({"one"})))
    assert refusal.problem == f"{ADDRESS} has no room to say of 11 other projects that roles are given there without a service account"
    assert refusal.remedy == "give those workloads service accounts, each of which has room of its own (serviceAccount: true)"
    assert told(Reach("demo", STORE, POOL, filled(-1)), None) is not None


def test_a_service_account_of_too_many_projects_is_refused_by_what_would_help() -> None:
    have = ServiceAccountState(email="e", title="t", description="d", principals=frozenset(), scopes=LONG)
    now, before = told(replace(an_account(), scopes=filled(-1)), have), told(replace(an_account(), scopes=frozenset({"one"})), have)

    sentence = "kube-system/cloud-credentials is given roles in more projects than can be written on its service account"
    assert (now.problem, before.problem) == (f"a file: {sentence}", f"a file: {sentence}")
    assert now.remedy == "give it roles in fewer projects, or split what it does over two workloads"
    assert before.remedy == f"delete {an_account().email}, which bears those of earlier runs: it is made anew"
    assert told(replace(an_account(), scopes=filled(0)), None) is None
    assert told(replace(an_account(), scopes=filled(0)), replace(have, scopes=filled(0))) is None
    assert told(replace(an_account(source=""), scopes=LONG), None).problem == f"kube-system/cloud-credentials: {sentence}"


# --- grants ---


def a_policy(**changes: Any) -> Policy:
    asked: dict[str, Any] = {"granted": ()}
    return Policy(PROJECT, STORE, **{**asked, **changes})


def test_a_principal_in_a_pool_of_others_is_refused_in_these_words() -> None:
    who, found = Principal(a_workload(), an_account().project), Known()
    found.learn(THEIRS, a_pool())

    for place in (THEIRS, Reach("demo", STORE, THEIRS, frozenset())):
        refusal = a_policy(principals=(who,), reaches=(place,)).objection(found)
        assert isinstance(refusal, BadInput)
        assert refusal.problem == f"kube-system/cloud-credentials is to have roles without a service account, and {ADDRESS} is not the cluster's own"
        assert refusal.remedy == "give it a service account, or let the cluster have a pool of its own"
    assert a_policy(reaches=(THEIRS,)).objection(found) is None, "nobody is granted anything there"


def test_principals_are_granted_nothing_until_every_place_that_they_reach_is_written() -> None:
    who, known = Principal(a_workload(), an_account().project), Known()
    (member,) = who.members
    reached = Reach("far", STORE, POOL, frozenset({"one"}))
    policy = a_policy(granted=(Granted("roles/viewer", member),), principals=(who,), reaches=(POOL, reached))
    known.learn(POOL, a_pool())

    assert (policy.want(known).grants, policy.want(known).of) == (frozenset(), frozenset())
    known.learn(reached, ReachState())
    assert (policy.want(known).grants, policy.want(known).of) == ({Given("roles/viewer", member)}, {member})
    assert policy.want(known).exact is False


def test_what_nobody_asked_for_is_told_in_order_with_its_condition() -> None:
    one, two = "serviceAccount:one", "serviceAccount:two"
    when = Condition("nights", "true", "by night")
    have = frozenset({Given("roles/b", two), Given("roles/owner", one), Given("roles/a", two, when), Given("roles/x", "user:else")})

    assert a_policy().remarks(PolicyState(grants=frozenset(), of=frozenset({one, two})), PolicyState(grants=have)) == (
        "serviceAccount:one has roles/owner too: not asked for, and kept without --exact-roles",
        "serviceAccount:two has roles/a if nights, roles/b too: not asked for, and kept without --exact-roles",
    )
    assert Condition("t", "e").description == ""
