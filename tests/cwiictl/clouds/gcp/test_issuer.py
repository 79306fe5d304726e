"""Where the issuer's documents are in Google Cloud, and who believes them."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import pytest

from cwiictl.clouds.gcp import plan
from cwiictl.clouds.gcp.resources.api import IDENTITIES, STORAGE, Api, ApiState
from cwiictl.clouds.gcp.resources.bucket import CLOSED, HIDDEN, READABLE, Bucket, BucketState
from cwiictl.clouds.gcp.resources.former import FormerKeys
from cwiictl.clouds.gcp.resources.pool import PoolState
from cwiictl.clouds.gcp.resources.provider import ProviderState
from cwiictl.engine.resource import Known, Mark, Plan
from cwiictl.engine.run import foretold
from cwiictl.errors import BadInput, Conflict
from cwiictl.issuer.documents import DocumentState, Hosting, Issuer, KeySet, KeySetState
from cwiictl.issuer.elsewhere import Nowhere, Unread
from cwiictl.issuer.key import SigningKey
from cwiictl.model import Cluster
from tests.contracts.shelf import Shelf, World
from tests.cwiictl.clouds.gcp.planned import HOME, LENT, NAMED, OWN, only, wanted
from tests.cwiictl.clouds.gcp.told import NUMBER, OTHER, PROJECT, a_spec, the_stores
from tests.examples import a_cluster


def a_key() -> SigningKey:
    store: Any = Shelf(World(), "local/key")
    return SigningKey("signing-key", store)


def hosted(
    how: Hosting | None = None, cluster: Cluster | None = None, world: str = "", **told: Any
) -> Issuer:
    return plan.host(
        a_spec(domain=world, **told),
        cluster or a_cluster(),
        the_stores(world),
        a_key(),
        how or Hosting("published"),
    )


def trusted(issuer: Issuer | None = None, askers: Any = (), **told: Any) -> list[Any]:
    return [
        thing for thing in _trusted(issuer, askers, **told) if not isinstance(thing, FormerKeys)
    ]


def _trusted(issuer: Issuer | None = None, askers: Any = (), **told: Any) -> list[Any]:
    return list(
        plan.trusting(a_spec(**told), a_cluster(), the_stores(), issuer or hosted(**told), askers)
    )


def test_the_issuer_is_a_bucket_whose_objects_everybody_may_read_and_nobody_list() -> None:
    issuer = hosted()
    wants: Any = foretold(Plan([issuer]))

    assert issuer.home.text == "https://storage.googleapis.com/demo-oidc"
    want = wants["gcp/buckets/demo-oidc"]
    assert (want.access, want.location, want.project, want.labels) == (
        READABLE,
        "us",
        NUMBER,
        {"Name": "demo"},
    )
    assert (
        wants["gcp/documents/demo-oidc/.well-known/openid-configuration"].body["jwks_uri"]
        == f"{issuer.home.text}/keys.json"
    )
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
    elsewhere = hosted(
        Hosting("published", "https://kubernetes.default.svc"), key_storage="pool-jwk-file"
    )
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


@pytest.mark.parametrize(
    ("told", "brings"),
    [({}, False), ({"bucket": "theirs"}, True), ({"key_storage": "pool-jwk-file"}, True)],
)
def test_a_place_that_was_named_is_one_for_the_documents_wherever_the_url_leads(
    told: dict[str, Any], *, brings: bool
) -> None:
    assert plan.brings(a_spec(**told)) == brings


def a_bucket(**changes: Any) -> BucketState:
    state: dict[str, Any] = {
        "location": "EU",
        "project": NUMBER,
        "access": READABLE,
        "labels": {"Name": "demo", "more": "theirs"},
    }
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
    [
        ({"project": ""}, "somebody else"),
        ({"project": "9"}, "in the project 9"),
        ({"stranger": HIDDEN}, "may not see"),
        ({"stranger": "cat.jpg"}, "cat.jpg"),
    ],
)
def test_a_bucket_that_is_not_ours_to_publish_in_is_refused(
    changes: dict[str, Any], word: str
) -> None:
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
    fronted = only(
        Bucket, Plan([hosted(Hosting("published", "https://issuer.example.org"), bucket="theirs")])
    )
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


def test_the_provider_believes_the_issuer_for_the_audiences_of_all_who_will_ever_ask() -> None:
    """An identity of another command comes to the same provider, which that does not write."""
    (provider,) = trusted(askers=("request",))
    want, audiences = (
        wanted(provider),
        {"openshift", f"//{NAMED}", f"https://{NAMED}", "sts.googleapis.com"},
    )

    assert provider.name == "demo/demo"
    assert (want.issuer, want.audiences, want.mapping, want.condition) == (
        HOME.text,
        audiences,
        {"google.subject": "assertion.sub"},
        "",
    )
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
    assert all(
        [d.field for d in provider.differing(want, replace(want, **{name: value}))] == [name]
        for name, value in {**drifted, **words}.items()
    )
    drifted = {"disabled": True, "deleted": True, **words}
    assert {f.name for f in fields(PoolState) if f.compare} == drifted.keys()
    assert all(
        [d.field for d in pool.differing(wanted(pool), replace(wanted(pool), **{name: value}))]
        == [name]
        for name, value in drifted.items()
    )
    assert pool.differing(wanted(pool), replace(wanted(pool), scopes=frozenset({OTHER}))) == ()


def test_keys_that_are_uploaded_are_the_providers_and_added_or_replaced_as_published_ones_are() -> (
    None
):
    provider, key_set = trusted(
        hosted(Hosting("add"), key_storage="pool-jwk-file"), key_storage="pool-jwk-file"
    )

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


def test_a_pool_of_the_users_own_stays_as_it_is_and_one_that_we_made_under_a_given_name_is_ours() -> (
    None
):
    pool = trusted(pool="theirs")[0].pool
    theirs = PoolState(title="x", description="x")

    assert pool.brought
    assert not trusted()[0].pool.brought
    for owner in (None, LENT, Mark("other")):
        assert pool.differing(wanted(pool), replace(theirs, owner=owner)) == ()
    assert [d.field for d in pool.differing(wanted(pool), replace(theirs, owner=OWN))] == [
        "title",
        "description",
    ]


def test_apis_that_are_off_are_named_by_one_of_them_and_turned_on_only_if_that_was_asked_for() -> (
    None
):
    stores = the_stores()
    known, enabling = Known(), Known()
    for name in (*IDENTITIES, STORAGE):
        for enable, where in ((False, known), (True, enabling)):
            where.learn(
                Api(name, stores.apis, PROJECT, enable),
                ApiState(on=name not in {"sts.googleapis.com", STORAGE}),
            )

    problems = [
        problem
        for name in (*IDENTITIES, STORAGE)
        if (problem := Api(name, stores.apis, PROJECT).objection(known))
    ]
    assert [problem.problem for problem in problems] == [
        f"the project {PROJECT} has turned off sts.googleapis.com, {STORAGE}"
    ]
    assert (
        f"gcloud services enable sts.googleapis.com {STORAGE} --project {PROJECT}"
        in problems[0].remedy
    )
    assert not any(
        Api(name, stores.apis, PROJECT, enable=True).objection(enabling)
        for name in (*IDENTITIES, STORAGE)
    )
    assert Api(STORAGE, stores.apis, PROJECT).quiet
