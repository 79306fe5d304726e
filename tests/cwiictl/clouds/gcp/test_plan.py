"""What a cluster needs in Google Cloud follows from what was asked, to the letter, and with no call to anybody."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import fields, replace
from typing import Any

import pytest

from cwiictl import names
from cwiictl.clouds.gcp import connect, plan
from cwiictl.clouds.gcp.permissions import COMMANDS, ENABLE, WRITE, Grant, least, making
from cwiictl.clouds.gcp.resources.api import IDENTITIES, STORAGE, Api, ApiState
from cwiictl.clouds.gcp.resources.bucket import CLOSED, HIDDEN, READABLE, Bucket, BucketState
from cwiictl.clouds.gcp.resources.custom_role import CustomRole, CustomRoleState, SharedRoleState
from cwiictl.clouds.gcp.resources.former import FormerKeys
from cwiictl.clouds.gcp.resources.policy import Condition, Policy, PolicyState, after
from cwiictl.clouds.gcp.resources.policy import Grant as Given
from cwiictl.clouds.gcp.resources.pool import Pool, PoolState
from cwiictl.clouds.gcp.resources.provider import ProviderState
from cwiictl.clouds.gcp.resources.reach import Reach, ReachState
from cwiictl.clouds.gcp.resources.service_account import ServiceAccount, ServiceAccountState
from cwiictl.clouds.gcp.spec import Ask, Role
from cwiictl.clouds.permissions import PermissionsState
from cwiictl.engine.plain import checksum
from cwiictl.engine.resource import Known, Mark, Plan, Resource
from cwiictl.engine.run import foretold
from cwiictl.errors import BadInput, Conflict, Denied
from cwiictl.issuer.documents import DocumentState, Hosting, Issuer, KeySet, KeySetState
from cwiictl.issuer.elsewhere import Nowhere, Unread
from cwiictl.issuer.home import Home
from cwiictl.issuer.key import SigningKey
from cwiictl.model import Cluster
from tests.contracts.shelf import Shelf, Thing, World
from tests.cwiictl.clouds.gcp.told import NUMBER, OTHER, PROJECT, a_spec, the_stores
from tests.examples import a_cluster, a_workload

VIEWER = Ask((Role("roles/viewer"),), request="a-request")
DIRECT = Ask((Role("roles/viewer"),), direct=True)
POWERS = Ask(permissions=frozenset({"dns.changes.create", "dns.changes.get"}), request="powers")
HOME = Home("https://storage.googleapis.com/demo-oidc")
SUBJECT = "system:serviceaccount:kube-system:operator"
PRINCIPAL = f"principal://iam.googleapis.com/projects/{NUMBER}/locations/global/workloadIdentityPools/demo/subject/{SUBJECT}"
NAMED = f"iam.googleapis.com/projects/{NUMBER}/locations/global/workloadIdentityPools/demo/providers/demo"
OWN, LENT = Mark("demo"), Mark("demo", "brought")


def a_key() -> SigningKey:
    store: Any = Shelf(World(), "local/key")
    return SigningKey("signing-key", store)


def hosted(how: Hosting | None = None, cluster: Cluster | None = None, world: str = "", **told: Any) -> Issuer:
    return plan.host(a_spec(domain=world, **told), cluster or a_cluster(), the_stores(world), a_key(), how or Hosting("published"))


def planned(*asks: tuple[Any, Ask], made: dict[str, str] | None = None, **told: Any) -> Plan:
    return Plan(plan.identities(a_spec(**told), a_cluster(), the_stores(made=made), asks, HOME))


def trusted(issuer: Issuer | None = None, askers: Any = (), **told: Any) -> list[Any]:
    return [thing for thing in _trusted(issuer, askers, **told) if not isinstance(thing, FormerKeys)]


def _trusted(issuer: Issuer | None = None, askers: Any = (), **told: Any) -> list[Any]:
    return list(plan.trusting(a_spec(**told), a_cluster(), the_stores(), issuer or hosted(**told), askers))


def only(kind: type[Any], things: Plan) -> Any:
    (thing,) = (thing for thing in things.values() if isinstance(thing, kind))
    return thing


def wanted(resource: Resource[Any]) -> Any:
    return foretold(Plan([resource]))[resource.address]


# --- the issuer ---


def test_the_issuer_is_a_bucket_whose_objects_everybody_may_read_and_nobody_list() -> None:
    issuer = hosted()
    wants: Any = foretold(Plan([issuer]))

    assert issuer.home.text == "https://storage.googleapis.com/demo-oidc"
    want = wants["gcp/buckets/demo-oidc"]
    assert (want.access, want.location, want.project, want.labels) == (READABLE, "us", NUMBER, {"Name": "demo"})
    assert wants["gcp/documents/demo-oidc/.well-known/openid-configuration"].body["jwks_uri"] == f"{issuer.home.text}/keys.json"
    assert "gcp/key_sets/demo-oidc/keys.json" in wants
    assert f"gcp/apis/{STORAGE}" in wants


def test_a_universe_has_an_issuer_of_its_own() -> None:
    assert hosted(world="example.goog").home.text == "https://storage.example.goog/demo-oidc"


def test_keys_in_the_provider_leave_the_issuer_a_name_whose_bucket_nobody_else_can_take() -> None:
    issuer = hosted(key_storage="pool-jwk-file")
    things = Plan([issuer])

    assert isinstance(issuer, Unread)
    assert issuer.quiet
    assert issuer.home.text == "https://storage.googleapis.com/demo-oidc"
    assert wanted(only(Bucket, things)).access == CLOSED
    assert not [thing for thing in things.values() if isinstance(thing, KeySet)]
    elsewhere = hosted(Hosting("published", "https://kubernetes.default.svc"), key_storage="pool-jwk-file")
    assert elsewhere.home.text == "https://kubernetes.default.svc"
    assert elsewhere.behind == ()
    with pytest.raises(BadInput, match="aws could not read") as raised:
        hosted(Hosting("published", clouds=frozenset({"aws"})), key_storage="pool-jwk-file")
    assert "--issuer-in" in raised.value.remedy


def test_who_is_read_by_nobody_is_not_waited_for() -> None:
    issuer, known = hosted(key_storage="pool-jwk-file"), Known()
    have = Nowhere().get([issuer.name])[issuer.name]

    assert issuer.differing(issuer.want(known), have) == ()
    assert Nowhere().put(issuer.name, issuer.want(known), None) == have
    assert Nowhere().owned("demo") == {}


@pytest.mark.parametrize(("told", "brings"), [({}, False), ({"bucket": "theirs"}, True), ({"key_storage": "pool-jwk-file"}, True)])
def test_a_place_that_was_named_is_one_for_the_documents_wherever_the_url_leads(told: dict[str, Any], *, brings: bool) -> None:
    assert plan.brings(a_spec(**told)) == brings


def a_bucket(**changes: Any) -> BucketState:
    state: dict[str, Any] = {"location": "EU", "project": NUMBER, "access": READABLE, "labels": {"Name": "demo", "more": "theirs"}}
    return BucketState(**{**state, **changes})


def judged(bucket: Bucket, have: BucketState | None) -> Any:
    known = Known()
    if have:
        known.learn(bucket, have)
    return bucket.objection(known)


def test_where_a_bucket_is_does_not_matter_and_what_others_may_do_with_it_does() -> None:
    bucket = only(Bucket, Plan([hosted()]))
    want = wanted(bucket)

    assert bucket.differing(want, a_bucket()) == ()
    assert [d.field for d in bucket.differing(want, a_bucket(access=CLOSED))] == ["access"]
    assert [d.field for d in bucket.differing(want, a_bucket(labels={}))] == ["labels"]


@pytest.mark.parametrize(
    ("changes", "word"),
    [({"project": ""}, "somebody else"), ({"project": "9"}, "in the project 9"), ({"stranger": HIDDEN}, "may not see"), ({"stranger": "cat.jpg"}, "cat.jpg")],
)
def test_a_bucket_that_is_not_ours_to_publish_in_is_refused(changes: dict[str, Any], word: str) -> None:
    bucket = only(Bucket, Plan([hosted()]))

    problem = judged(bucket, a_bucket(**changes))
    assert isinstance(problem, Conflict)
    assert word in problem.problem
    assert judged(bucket, a_bucket()) is None
    assert judged(bucket, None) is None


def test_a_bucket_of_the_users_own_must_be_there_and_stays_as_it_is() -> None:
    bucket = only(Bucket, Plan([hosted(bucket="theirs")]))

    assert bucket.brought
    assert wanted(bucket).labels == {}
    assert bucket.differing(wanted(bucket), a_bucket(access=CLOSED)) == ()
    assert "--gcs-bucket" in judged(bucket, None).remedy
    assert judged(bucket, a_bucket(stranger="cat.jpg", project="9")) is None
    assert "--issuer-url" in judged(bucket, a_bucket(access=CLOSED)).remedy
    fronted = only(Bucket, Plan([hosted(Hosting("published", "https://issuer.example.org"), bucket="theirs")]))
    assert judged(fronted, a_bucket(access=CLOSED)) is None


def test_another_issuers_document_in_the_users_bucket_is_another_s() -> None:
    issuer, known = hosted(bucket="theirs"), Known()
    discovery = issuer.behind[0]
    known.learn(discovery, DocumentState(body={"issuer": "https://other.example.org"}))

    problem = discovery.objection(known)
    assert isinstance(problem, Conflict)
    assert "--gcs-bucket" in problem.remedy


def test_other_clouds_that_trust_the_issuer_are_written_on_its_bucket() -> None:
    bucket = only(Bucket, Plan([hosted(Hosting("published", clouds=frozenset({"aws"})))]))
    assert wanted(bucket).labels == {"Name": "demo", "cwii.dev/trusted-by-aws": "true"}


# --- trust ---


def test_the_provider_believes_the_issuer_for_the_audiences_of_all_who_will_ever_ask() -> None:
    """An identity of another command comes to the same provider, which that does not write."""
    (provider,) = trusted(askers=("request",))
    want, audiences = wanted(provider), {"openshift", f"//{NAMED}", f"https://{NAMED}", "sts.googleapis.com"}

    assert provider.name == "demo/demo"
    assert (want.issuer, want.audiences, want.mapping, want.condition) == (HOME.text, audiences, {"google.subject": "assertion.sub"}, "")
    (named,) = trusted(pool="pool", provider="provider")
    assert named.name == "pool/provider"


def test_every_field_of_the_provider_and_its_pool_is_kept_right() -> None:
    (provider,) = trusted()
    want, pool = wanted(provider), provider.pool
    drifted: dict[str, Any] = {
        "issuer": "x",
        "audiences": frozenset({"x"}),
        "mapping": {},
        "condition": "x",
        "disabled": True,
        "deleted": True,
        "keys": "uploaded",
    }
    words: dict[str, Any] = {"title": "x", "description": "x"}
    assert {f.name for f in fields(ProviderState) if f.compare} == {*drifted, *words}
    assert all([d.field for d in provider.differing(want, replace(want, **{name: value}))] == [name] for name, value in {**drifted, **words}.items())
    drifted = {"disabled": True, "deleted": True, **words}
    assert {f.name for f in fields(PoolState) if f.compare} == drifted.keys()
    assert all([d.field for d in pool.differing(wanted(pool), replace(wanted(pool), **{name: value}))] == [name] for name, value in drifted.items())
    assert pool.differing(wanted(pool), replace(wanted(pool), scopes=frozenset({OTHER}))) == ()


def test_keys_that_are_uploaded_are_the_providers_and_added_or_replaced_as_published_ones_are() -> None:
    provider, key_set = trusted(hosted(Hosting("add"), key_storage="pool-jwk-file"), key_storage="pool-jwk-file")

    assert isinstance(key_set, KeySet)
    assert key_set.address == "gcp/provider_keys/demo/demo"
    assert (key_set.parent, key_set.keys) == (provider, "add")
    assert provider.differing(wanted(provider), replace(wanted(provider), keys="issuer")) == ()
    _, elsewhere = trusted(hosted(Hosting("replace")), key_storage="pool-jwk-file")
    assert elsewhere.keys == "replace"


@pytest.mark.parametrize("storage", ["pool-jwk-file", "public-bucket"])
def test_whoever_changes_where_the_keys_are_does_not_change_the_key_unseen(storage: str) -> None:
    """Of two places those are asked that hold keys."""
    (before,) = (thing for thing in _trusted(key_storage=storage) if isinstance(thing, FormerKeys))
    found, now = Known(), before.now
    assert now is not None
    assert before.name == ("demo-oidc/keys.json" if storage == "pool-jwk-file" else "demo/demo")
    found.learn(before, KeySetState(kids=frozenset()))
    assert before.objection(found) is None, "there was none before"
    found.learn(before, KeySetState(kids=frozenset({"another"})))
    assert isinstance(before.objection(found), BadInput)
    found.learn(now, KeySetState(kids=frozenset({"ours"})))
    assert before.objection(found) is None, "what is there already is judged there"


def test_a_pool_of_the_users_own_stays_as_it_is_and_one_that_we_made_under_a_given_name_is_ours() -> None:
    pool = trusted(pool="theirs")[0].pool
    theirs = PoolState(title="x", description="x")

    assert pool.brought
    assert not trusted()[0].pool.brought
    for owner in (None, LENT, Mark("other")):
        assert pool.differing(wanted(pool), replace(theirs, owner=owner)) == ()
    assert [d.field for d in pool.differing(wanted(pool), replace(theirs, owner=OWN))] == ["title", "description"]


def test_apis_that_are_off_are_named_by_one_of_them_and_turned_on_only_if_that_was_asked_for() -> None:
    stores = the_stores()
    known, enabling = Known(), Known()
    for name in (*IDENTITIES, STORAGE):
        for enable, where in ((False, known), (True, enabling)):
            where.learn(Api(name, stores.apis, PROJECT, enable), ApiState(on=name not in {"sts.googleapis.com", STORAGE}))

    problems = [problem for name in (*IDENTITIES, STORAGE) if (problem := Api(name, stores.apis, PROJECT).objection(known))]
    assert [problem.problem for problem in problems] == [f"the project {PROJECT} has turned off sts.googleapis.com, {STORAGE}"]
    assert f"gcloud services enable sts.googleapis.com {STORAGE} --project {PROJECT}" in problems[0].remedy
    assert not any(Api(name, stores.apis, PROJECT, enable=True).objection(enabling) for name in (*IDENTITIES, STORAGE))
    assert Api(STORAGE, stores.apis, PROJECT).quiet


# --- identities ---


def test_a_workload_has_a_service_account_that_its_service_accounts_may_act_as() -> None:
    account: ServiceAccount = only(ServiceAccount, planned((a_workload(), VIEWER)))
    want = wanted(account)

    assert account.name == names.service_account(a_cluster(), "a-request")
    assert want.email == f"{account.name}@{PROJECT}.iam.gserviceaccount.com"
    assert want.title == "demo-a-request"
    assert want.principals == {PRINCIPAL}
    assert want.description == "OpenShift identity for kube-system/cloud-credentials."


def test_what_ccoctl_made_for_a_request_is_found_by_its_title_and_for_no_other_workload() -> None:
    made = {"demo-a-request": "demo-a-request-x7x2p", names.account_title(a_cluster(), "kube-system/cloud-credentials"): "wrong"}

    assert only(ServiceAccount, planned((a_workload(), VIEWER), made=made)).name == "demo-a-request-x7x2p"
    other = only(ServiceAccount, planned((a_workload(), replace(VIEWER, request="")), made=made))
    assert other.name == names.service_account(a_cluster(), "kube-system/cloud-credentials")


def test_a_workload_may_name_its_service_account() -> None:
    assert only(ServiceAccount, planned((a_workload(), Ask(account="their-own")))).name == "their-own"


def test_no_field_of_a_service_account_drifts_unseen_but_the_scopes_that_it_had() -> None:
    account: ServiceAccount = only(ServiceAccount, planned((a_workload(), Ask((Role("roles/viewer", (OTHER,)),)))))
    want = wanted(account)

    assert want.scopes == {OTHER}
    drifted: dict[str, Any] = {"principals": frozenset({"x"}), "disabled": True, "title": "x", "description": "x", "email": "x", "scopes": frozenset({"x"})}
    assert {f.name for f in fields(ServiceAccountState) if f.compare} == drifted.keys()
    assert all([d.field for d in account.differing(want, replace(want, **{name: value}))] == [name] for name, value in drifted.items())
    assert account.differing(want, replace(want, scopes=frozenset({OTHER, "third-project"}), unique_id="1")) == ()


def test_there_is_one_policy_for_each_project_whoever_is_granted_something_in_it() -> None:
    everywhere = Ask((Role("roles/viewer"), Role("roles/viewer", (OTHER,), Condition("c", "true"))), request="everywhere")
    wants: Any = foretold(planned((a_workload(name="a"), VIEWER), (a_workload(name="b"), everywhere)))

    assert {address for address in wants if address.startswith("gcp/policies/")} == {f"gcp/policies/{PROJECT}", f"gcp/policies/{OTHER}"}
    mine, theirs = wants[f"gcp/policies/{PROJECT}"], wants[f"gcp/policies/{OTHER}"]
    assert len(mine.of) == 2
    assert mine.of == theirs.of, "so that what one of them no longer has there goes"
    assert {(grant.role, grant.condition) for grant in theirs.grants} == {("roles/viewer", Condition("c", "true"))}
    assert len(mine.grants) == 2


@pytest.mark.parametrize(("role", "places"), [(f"projects/{OTHER}/roles/theirs", ()), (f"projects/{PROJECT}/roles/ours", (PROJECT, OTHER))])
def test_a_role_of_a_project_is_given_in_no_other(role: str, places: tuple[str, ...]) -> None:
    with pytest.raises(BadInput, match=f"{role} is a role of the project .*, and cannot be given in"):
        planned((a_workload(), Ask((Role(role, places),))))
    planned((a_workload(), Ask((Role(f"projects/{OTHER}/roles/theirs", (OTHER,)), Role("organizations/1/roles/x", (OTHER,))))))


def test_what_ours_have_and_nobody_asks_for_is_told_and_nothing_else() -> None:
    granted: Policy = only(Policy, planned((a_workload(), DIRECT)))
    want = wanted(granted)
    mine, soon = Given("roles/editor", PRINCIPAL), Given("roles/dns.admin", PRINCIPAL, Condition("soon", "true"))
    have = PolicyState(
        grants=want.grants | {mine, soon, Given("roles/owner", "user:somebody@example.org"), Given("roles/editor", f"deleted:{PRINCIPAL}?uid=1")}
    )

    assert granted.remarks(want, have) == (f"{PRINCIPAL} has roles/dns.admin if soon, roles/editor too: not asked for, and kept without --exact-roles",)
    assert granted.remarks(want, want) == ()
    assert granted.remarks(replace(want, exact=True), have) == (), "these go"


def test_roles_are_granted_to_the_service_accounts_themselves_if_there_is_none_of_googles() -> None:
    things = planned((a_workload(), DIRECT))
    want = wanted(only(Policy, things))

    assert not [thing for thing in things.values() if isinstance(thing, ServiceAccount)]
    assert want.grants == {Given("roles/viewer", PRINCIPAL)}
    assert want.of == {PRINCIPAL}
    assert only(Policy, things).likes[0].address == "gcp/pools/demo", "no policy takes a member of a pool that is not there"


def test_where_else_the_pools_members_reach_is_written_on_it_before() -> None:
    things = planned((a_workload(), replace(DIRECT, roles=(Role("roles/viewer", (OTHER,)),))))
    reach: Reach = only(Reach, things)

    assert wanted(reach).scopes == {OTHER}
    there: Any = things[f"gcp/policies/{OTHER}"]
    assert there.reaches == (reach,)
    assert reach.differing(wanted(reach), ReachState(scopes=frozenset({OTHER, "third-project"}))) == ()
    assert [d.want for d in reach.differing(wanted(reach), ReachState(scopes=frozenset({"third-project"})))] == [{OTHER, "third-project"}]
    known = Known()
    assert there.want(known) == PolicyState(grants=frozenset()), "nothing is granted that could not be found again"


def test_a_custom_role_is_shared_by_all_who_ask_for_the_same_unless_each_is_to_have_its_own() -> None:
    two = ((a_workload(name="a"), POWERS), (a_workload(name="b"), replace(POWERS, request="others")))
    shared: CustomRole = only(CustomRole, planned(*two))
    own = [thing for thing in planned(*two, separate=True).values() if isinstance(thing, CustomRole)]

    assert isinstance(wanted(shared), SharedRoleState)
    assert wanted(shared).markless
    assert wanted(shared).permissions == POWERS.permissions
    assert len(own) == 2
    assert all(type(wanted(role)) is CustomRoleState and not wanted(role).markless for role in own)
    want = wanted(only(Policy, planned(*two)))
    assert {grant.role for grant in want.grants} == {f"<id of gcp/custom_roles/{shared.name}>"}


def test_the_policy_takes_what_it_can_get_of_its_members() -> None:
    things = planned((a_workload(name="a"), VIEWER), (a_workload(name="b"), POWERS))
    policy: Policy = only(Policy, things)
    one, other = policy.members
    known = Known()
    known.learn(one, wanted(one))

    assert policy.want(known).of == {one.member}
    known.learn(other, wanted(other))
    want = policy.want(known)
    assert want.grants == {Given("roles/viewer", one.member)}
    assert want.of == {one.member}, "of whom not all can be granted nothing is taken away"


MINE, OTHERS = "serviceAccount:mine@p.iam.gserviceaccount.com", "user:somebody@example.org"


def a_policy(*grants: Given, exact: bool = False) -> PolicyState:
    return PolicyState(grants=frozenset(grants), of=frozenset({MINE}), exact=exact)


def test_only_our_members_change_in_a_policy_and_of_them_only_what_we_gave() -> None:
    viewer, by_hand, ours = Given("roles/viewer", MINE), Given("roles/owner", MINE), Given("projects/p/roles/cwii_0123456789ab", MINE)
    theirs = frozenset({Given("roles/viewer", OTHERS), Given("projects/p/roles/cwii_0123456789ab", OTHERS), Given("roles/viewer", f"deleted:{OTHERS}?uid=1")})
    dead = Given("roles/viewer", f"deleted:{MINE}?uid=7")

    assert after(a_policy(viewer), theirs | {by_hand, ours, dead}) == theirs | {viewer, by_hand}
    assert after(a_policy(viewer, exact=True), theirs | {by_hand, ours, dead}) == theirs | {viewer}


def test_a_condition_makes_another_grant() -> None:
    when = Condition("t", "true")
    ours = "projects/p/roles/cwii_0123456789ab"
    assert after(a_policy(Given(ours, MINE, when)), frozenset({Given(ours, MINE)})) == {Given(ours, MINE, when)}
    assert after(a_policy(Given("roles/viewer", MINE, when)), frozenset({Given("roles/viewer", MINE)})) == {
        Given("roles/viewer", MINE),
        Given("roles/viewer", MINE, when),
    }


def test_of_a_policy_only_our_part_is_shown() -> None:
    policy: Policy = only(Policy, planned((a_workload(), VIEWER)))
    viewer, theirs = Given("roles/viewer", MINE), Given("roles/viewer", OTHERS)

    assert policy.differing(a_policy(viewer), PolicyState(grants=frozenset({viewer, theirs}))) == ()
    (told,) = policy.differing(a_policy(viewer), PolicyState(grants=frozenset({theirs})))
    assert (told.field, told.have, told.want) == ("grants", frozenset(), {viewer})


def test_a_role_that_google_does_not_have_is_found_before_anything_is_written() -> None:
    with pytest.raises(BadInput, match="has no role roles/nobody"):
        planned((a_workload(), Ask((Role("roles/nobody"),))))


def test_a_subject_that_google_does_not_take_is_found_before_anything_is_written() -> None:
    fits, longer = "a" * (127 - len("system:serviceaccount:kube-system:")), "a" * (128 - len("system:serviceaccount:kube-system:"))

    planned((a_workload(service_accounts=(fits,)), VIEWER))
    with pytest.raises(BadInput, match="127 bytes"):
        planned((a_workload(service_accounts=("a", longer)), VIEWER))


@pytest.mark.parametrize(
    ("cluster", "told", "word"),
    [
        (Cluster("abc"), {}, "workload identity pool"),
        (Cluster("gcp-prod"), {}, "workload identity pool"),
        (Cluster("1abc"), {}, "workload identity pool"),
        (Cluster("a" * 33), {}, "workload identity pool"),
        (Cluster("a" * 33), {"pool": "pool"}, "workload identity pool"),
        (Cluster("a" * 47), {"pool": "pool", "provider": "prov"}, "label"),
        (Cluster("google"), {}, "bucket"),
        (Cluster("demo", {"Team": "x"}), {}, "label with the key Team"),
        (Cluster("demo", {"name": "x"}), {}, "label with the key name"),
        (Cluster("demo", {"cwii-dev_cluster_x": "owned"}), {}, "label with the key"),
        (Cluster("demo", {"team": "A b"}), {}, "label with the value"),
        (Cluster("demo", {f"t{number}": "" for number in range(51)}), {}, "51 tags"),
    ],
)
def test_what_google_would_refuse_of_a_cluster_is_found_before_anybody_is_asked(cluster: Cluster, told: dict[str, Any], word: str) -> None:
    with pytest.raises(BadInput, match=word):
        connect(a_spec(**told), cluster, 1)
    plan.judged(a_spec(pool="pool", provider="prov"), Cluster("a" * 46, {"team": "payments"}))


# --- permissions, walk, checksum ---


def test_permissions_are_asked_of_each_project() -> None:
    asked: list[tuple[Grant, ...]] = []
    place: Any = Shelf(World(), "gcp/permissions")

    def permissions_of(grants: tuple[Grant, ...]) -> Any:
        asked.append(grants)
        return place

    stores = replace(the_stores(), permissions=permissions_of)
    far = Ask((Role("roles/viewer", (OTHER,)),), POWERS.permissions)
    things = Plan(plan.identities(a_spec(), a_cluster(), stores, [(a_workload(), far)], HOME))

    permissions = list(plan.permitted(stores, tuple(things.values())))
    assert [each.name for each in permissions] == ["somebody", f"somebody at {OTHER}"]
    assert {grant.permissions for grant in asked[0]} == {WRITE["pool"], WRITE["account"], WRITE["role"], WRITE["policy"]}
    assert asked[1] == (Grant(WRITE["policy"], OTHER),)
    known = Known()
    known.learn(permissions[0], PermissionsState(lacking=("iam.roles.create",)))
    assert isinstance(permissions[0].objection(known), Denied)
    for thing in permissions[0].things:
        known.learn(thing, Thing(value=""))
    assert permissions[0].objection(known) is None, "who lacks what nothing needs today is not stopped"
    known.learn(permissions[0], PermissionsState(lacking=("iam.roles.create", *WRITE["policy"])))
    (policy,) = (thing for thing in permissions[0].shared if isinstance(thing, Policy))
    for role in policy.roles:
        known.learn(role, wanted(role))
    known.learn(policy, PolicyState(grants=policy.want(known).grants))
    assert permissions[0].objection(known) is None
    known.learn(policy, PolicyState(grants=frozenset()))
    told = permissions[0].objection(known)
    assert isinstance(told, Denied), "it is there always, and is to be written all the same"
    assert "iam.roles.create" not in told.problem


@pytest.mark.parametrize("command", list(COMMANDS))
def test_the_least_role_of_a_command_holds_what_it_needs_and_nothing_twice(command: str) -> None:
    role = least(command, a_spec(), a_cluster())
    told = role["includedPermissions"]

    assert told == sorted(set(told))
    assert role["title"] == f"cwiictl {command} demo"
    assert all("*" not in permission for permission in told)
    assert ("serviceusage.services.enable" in least("create", a_spec(enable=True), a_cluster())["includedPermissions"]) is True
    assert "serviceusage.services.enable" not in told
    assert {grant.permissions for grant in making({"api": (PROJECT,)})} == set(ENABLE.values())


def test_of_a_bucket_that_is_yet_to_be_made_only_its_making_is_asked() -> None:
    assert list(making({"bucket": (PROJECT,)})) == [Grant(("storage.buckets.create",), PROJECT)]


def test_what_trusts_goes_before_what_hosts_and_roles_before_who_has_them() -> None:
    walk = plan.walk(the_stores())
    kinds = [store.kind for store in walk]

    assert kinds.index("gcp/buckets") < kinds.index("gcp/pools") < kinds.index("gcp/service_accounts") < kinds.index("gcp/policies")


def test_a_plan_can_be_told_by_its_checksum() -> None:
    one, other = (checksum(foretold(planned((a_workload(), asked)))) for asked in (VIEWER, POWERS))
    assert one != other
    assert one == checksum(foretold(planned((a_workload(), VIEWER))))


# --- what was made before ---


def standing(have: ProviderState | None, url: str = "", **told: Any) -> Home:
    stores = the_stores()

    def get(places: Collection[str]) -> Mapping[str, ProviderState]:
        return dict.fromkeys(places, have) if have else {}

    store: Any = stores.providers
    store.get = get
    return plan.standing(a_spec(**told), a_cluster(), stores, url)


def a_provider(**changes: Any) -> ProviderState:
    state: dict[str, Any] = {"title": "demo", "description": "", "issuer": "https://i.example.org", "audiences": frozenset({"openshift"}), "owner": OWN}
    return ProviderState(**{**state, **changes})


def test_the_issuer_that_was_made_before_is_as_the_clusters_provider_says() -> None:
    assert standing(a_provider()).text == "https://i.example.org"
    assert standing(a_provider(), "https://i.example.org").text == "https://i.example.org"
    assert standing(a_provider(owner=None), provider="prov").text == "https://i.example.org"
    with pytest.raises(BadInput, match="and not https://other"):
        standing(a_provider(), "https://other.example.org")
    for have in (None, a_provider(deleted=True), a_provider(owner=None), a_provider(owner=Mark("other"))):
        with pytest.raises(BadInput, match="no provider demo/demo"):
            standing(have)


# --- what workloads are told ---


def bound(asked: Ask, **told: Any) -> Any:
    spec = a_spec(**told)
    things = Plan(plan.identities(spec, a_cluster(), the_stores(spec.domain), [(a_workload(), asked)], HOME))
    known = Known()
    for address, want in foretold(things).items():
        known.learn(things[address], want)
    (binding,) = plan.bindings(things.values(), known)
    assert list(plan.bindings(things.values(), Known())) == []
    return binding


def test_a_workload_is_told_ccoctls_credentials_to_the_letter() -> None:
    binding = bound(VIEWER)
    email = f"{names.service_account(a_cluster(), 'a-request')}@{PROJECT}.iam.gserviceaccount.com"

    assert list(binding.data) == ["service_account.json"]
    told = json.loads(binding.data["service_account.json"])
    assert list(told.items()) == [
        ("type", "external_account"),
        ("audience", f"//{NAMED}"),
        ("subject_token_type", "urn:ietf:params:oauth:token-type:jwt"),
        ("token_url", "https://sts.googleapis.com/v1/token"),
        ("service_account_impersonation_url", f"https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/{email}:generateAccessToken"),
        ("credential_source", {"file": "/var/run/secrets/openshift/serviceaccount/token", "format": {"type": "text"}}),
    ]
    assert binding.annotations == {
        "cwii.dev/gcp-inject": "true",
        "cwii.dev/gcp-audience": f"//{NAMED}",
        "cwii.dev/gcp-service-account": email,
        "cloud.google.com/workload-identity-provider": NAMED.removeprefix("iam.googleapis.com/"),
        "cloud.google.com/service-account-email": email,
    }


def test_who_has_no_service_account_is_told_of_none() -> None:
    binding = bound(DIRECT)

    assert "service_account_impersonation_url" not in json.loads(binding.data["service_account.json"])
    assert binding.annotations == {"cwii.dev/gcp-inject": "true", "cwii.dev/gcp-audience": f"//{NAMED}"}


def test_in_another_universe_hosts_are_others_and_names_the_same() -> None:
    told = json.loads(bound(VIEWER, domain="example.goog").data["service_account.json"])

    assert told["token_url"] == "https://sts.example.goog/v1/token"
    assert told["service_account_impersonation_url"].startswith("https://iamcredentials.example.goog/")
    assert (told["universe_domain"], told["audience"]) == ("example.goog", f"//{NAMED}")


@pytest.mark.parametrize("owner", [None, Mark("demo", "brought"), Mark("demo", "adopted")])
def test_nobody_has_roles_without_a_service_account_in_a_pool_that_is_not_the_clusters_own(owner: Mark | None) -> None:
    """Nobody could tell later which of them were ours."""
    found = planned((a_workload(), DIRECT))
    (policy,) = (thing for thing in found.values() if isinstance(thing, Policy))
    (pool,) = (thing for thing in found.values() if isinstance(thing, Pool))
    there = Known()
    there.learn(pool, PoolState(title="demo", description="", owner=owner))

    assert isinstance(policy.objection(there), BadInput)
    there.learn(pool, PoolState(title="demo", description="", owner=Mark("demo")))
    assert policy.objection(there) is None
    assert policy.objection(Known()) is None
