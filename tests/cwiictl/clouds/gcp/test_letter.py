"""What is wanted of Google Cloud, to the letter; what is compared and shown of it; and what is said, to the letter, where it cannot be."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from cwiictl.clouds.gcp.resources import (
    api,
    bucket,
    custom_role,
    policy,
    pool,
    principal,
    provider,
    reach,
    service_account,
)
from cwiictl.clouds.gcp.resources.api import IDENTITIES, STORAGE, Api, ApiState
from cwiictl.clouds.gcp.resources.bucket import CLOSED, HIDDEN, READABLE, Bucket, BucketState
from cwiictl.clouds.gcp.resources.custom_role import CustomRole, CustomRoleState, SharedRoleState
from cwiictl.clouds.gcp.resources.document import JWKS, PATHS
from cwiictl.clouds.gcp.resources.principal import Subject, SubjectState
from cwiictl.engine.plain import plain
from cwiictl.engine.resource import Known
from cwiictl.errors import BadInput, Conflict
from tests.cwiictl.clouds.fields import apart_of
from tests.cwiictl.clouds.gcp.things import ADDRESS, POOL, STORE, an_account, told
from tests.cwiictl.clouds.gcp.told import NUMBER, PROJECT
from tests.examples import a_cluster


def a_bucket(**changes: Any) -> Bucket:
    asked: dict[str, Any] = {"cluster": a_cluster(), "project": NUMBER, "location": "us"}
    return Bucket("demo", STORE, **{**asked, **changes})


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
    assert ("keys.json", frozenset({".well-known/openid-configuration", "keys.json"})) == (
        JWKS,
        PATHS,
    )
    names = ("cloudresourcemanager", "iam", "iamcredentials", "sts")
    assert (tuple(f"{name}.googleapis.com" for name in names), "storage.googleapis.com") == (
        IDENTITIES,
        STORAGE,
    )


def test_a_role_is_wanted_launched_and_undeleted_and_bears_a_mark_only_if_it_is_one_workloads() -> (
    None
):
    shared = CustomRole("cwii_x", STORE, "A title", "A sentence.", frozenset({"a.b.c"}))

    assert plain(shared.want(Known())) == {
        "id": "", "title": "A title", "description": "A sentence.", "permissions": ["a.b.c"], "stage": "GA", "deleted": False,
    }  # fmt: skip
    assert type(shared.want(Known())) is SharedRoleState
    assert type(replace(shared, shared=False).want(Known())) is CustomRoleState


@pytest.mark.parametrize(("asker", "begin"), [("request", "OpenShift"), ("webhook", "Kubernetes")])
def test_a_service_account_says_for_whom_it_is(asker: Any, begin: str) -> None:
    found = an_account(asker=asker)

    assert found.sentence == f"{begin} identity for kube-system/cloud-credentials."
    assert found.member == f"serviceAccount:demo-x@{PROJECT}.iam.gserviceaccount.com"
    assert (
        found.project.named
        == f"iam.googleapis.com/projects/{NUMBER}/locations/global/workloadIdentityPools/demo/providers/demo-provider"
    )
    assert found.want(Known()).disabled is False


# --- what is compared and shown ---


def test_of_what_is_found_these_are_no_drift_or_in_no_checksum() -> None:
    assert apart_of(
        api, bucket, custom_role, policy, pool, principal, provider, reach, service_account
    ) == {
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
        "ProviderState.word": "aside",
        "ReachState": "markless",
        "ServiceAccountState.unique_id": "assigned",
    }


def test_what_is_only_looked_at_is_worth_no_line() -> None:
    turned, subject = Api(STORAGE, STORE, PROJECT), Subject("x", STORE)

    assert (turned.quiet, subject.quiet, POOL.quiet) == (True, True, False)
    assert (turned.want(Known()), subject.want(Known())) == (ApiState(on=True), SubjectState())


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

    assert (
        refusal.problem
        == f"the project {PROJECT} has turned off sts.googleapis.com, storage.googleapis.com"
    )
    turn = f"turn it on with gcloud services enable sts.googleapis.com storage.googleapis.com --project {PROJECT}, or run with --enable-apis"
    assert refusal.remedy == turn
    assert not any(replace(each, enable=True).objection(found) for each in apis)
