"""What Google Cloud is told, and what a request may ask of it: right from birth, or refused with what to do."""

from __future__ import annotations

import json
from typing import Any

import pytest

from cwiictl.audiences import ASKERS, GCP
from cwiictl.clouds.gcp.resources.grant import Condition
from cwiictl.clouds.gcp.section import WISHES, ask_of
from cwiictl.clouds.gcp.spec import KIND, Ask, Role, ask
from cwiictl.documents import documents
from cwiictl.errors import BadInput
from tests.cwiictl.clouds.gcp.told import OTHER, PROJECT, a_spec
from tests.examples import a_cluster, a_request


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("project", "123456789012"),
        ("project", "Some-Project"),
        ("project", "short"),
        ("region", "europe/west1"),
        ("pool", "abc"),
        ("pool", "gcp-prod"),
        ("pool", "a" * 33),
        ("pool", "1abc"),
        ("provider", "with.dot"),
        ("bucket", "ab"),
        ("bucket", "google-docs"),
        ("bucket", "my-google"),
        ("bucket", "Upper"),
        ("bucket", "uPPer"),
        ("also", "other-project,x"),
        ("domain", "not a domain"),
        ("key_storage", "pool-jwk"),
    ],
)
def test_what_does_not_look_like_what_it_must_be_is_refused(field: str, value: str) -> None:
    with pytest.raises(BadInput) as raised:
        a_spec(**{field: value})
    assert value.rsplit(",", maxsplit=1)[-1] in raised.value.problem
    assert raised.value.remedy


@pytest.mark.parametrize(
    ("told", "meant"),
    [
        ("europewest1", "did you mean --region europe-west1?"),
        ("us-centrl1", "did you mean --region us-central1?"),
        ("moon", "such as us, eu or europe-west1"),
    ],
)
def test_a_location_that_google_does_not_have_is_told_with_the_one_that_may_be_meant(
    told: str, meant: str
) -> None:
    with pytest.raises(BadInput, match=f"has no location '{told}'") as raised:
        a_spec(region=told)

    assert meant in raised.value.remedy
    assert "--gcs-bucket" in raised.value.remedy
    with pytest.raises(BadInput, match="has no location"):
        a_spec(region=told, key_storage="pool-jwk-file")  # a bucket has the documents all the same
    assert a_spec(region=told, bucket="mine").region == told  # which is there
    assert (
        a_spec(region=told, domain="universe.example").region == told
    )  # elsewhere they are called otherwise


def test_what_is_not_said_has_ccoctls_defaults() -> None:
    told, named = (
        a_spec(),
        a_spec(pool="pool", provider="provider", region="EU", also=f"{OTHER}, {PROJECT}"),
    )

    assert (told.region, told.domain, told.uploaded, told.elsewhere) == (
        "us",
        "googleapis.com",
        False,
        (),
    )
    assert (told.pool_of(a_cluster()), told.provider_of(a_cluster())) == ("demo", "demo")
    assert (named.pool_of(a_cluster()), named.provider_of(a_cluster()), named.region) == (
        "pool",
        "provider",
        "eu",
    )
    assert named.elsewhere == (OTHER, PROJECT)
    assert a_spec(key_storage="pool-jwk-file").uploaded


def test_a_bucket_for_keys_that_the_provider_has_is_refused() -> None:
    with pytest.raises(BadInput, match="exclude one another"):
        a_spec(bucket="theirs", key_storage="pool-jwk-file")


def test_there_are_audiences_for_each_who_asks_and_not_more_than_a_provider_takes() -> None:
    assert GCP.keys() == set(ASKERS)
    assert GCP["request"] == {"openshift"}
    assert "//iam.googleapis.com/{provider}" in GCP["webhook"]
    assert len(GCP["request"] | GCP["webhook"]) <= 10


# --- requests ---


def asked(**spec: Any) -> Ask:
    return ask(a_request({"kind": KIND, **spec}, kind=KIND))


def test_a_request_asks_for_roles_and_for_what_it_says_in_so_many_words() -> None:
    found = asked(
        predefinedRoles=["roles/viewer", "roles/viewer"],
        permissions=["storage.buckets.get"],
        skipServiceCheck=True,
    )

    assert found == Ask(
        (Role("roles/viewer"),), frozenset({"storage.buckets.get"}), request="a-request"
    )


@pytest.mark.parametrize(
    "spec", [{}, {"predefinedRoles": []}, {"predefinedRoles": "roles/viewer"}, {"permissions": [1]}]
)
def test_a_request_that_asks_for_nothing_is_a_mistake(spec: dict[str, Any]) -> None:
    with pytest.raises(BadInput, match="a-request") as raised:
        asked(**spec)
    assert "predefinedRoles" in raised.value.remedy


@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        ("viewer", "did you mean roles/viewer?"),
        ("roles/a b", "write it like"),
        ("", "write it like"),
    ],
)
def test_a_role_that_is_no_role_is_refused(name: str, remedy: str) -> None:
    with pytest.raises(BadInput) as raised:
        asked(predefinedRoles=[name])
    assert remedy in raised.value.remedy


@pytest.mark.parametrize(
    "name",
    [
        "storage.buckets.get",
        "iam.googleapis.com/workloadIdentityPools.create",
        "compute.instances.setTags",
        "a-b.c.d",
    ],
)
def test_a_permission_is_a_service_a_thing_and_a_verb(name: str) -> None:
    assert asked(permissions=[name]).permissions == {name}


@pytest.mark.parametrize(
    "name",
    [
        "storage.*",
        "storage.buckets.*",
        "storage",
        "storage.get",
        "Storage.buckets.get",
        "storage.buckets.get ",
    ],
)
def test_nothing_else_is_a_permission(name: str) -> None:
    with pytest.raises(BadInput, match="is not a permission"):
        asked(permissions=[name])


# --- cluster.yaml ---


def told(**section: Any) -> Ask:
    (document,) = documents("cluster.yaml", json.dumps(section).encode())
    return ask_of(document)


def test_a_workload_may_ask_for_nothing_for_it_may_be_known_elsewhere() -> None:
    assert told() == Ask()


def test_a_workload_says_which_roles_where_and_when() -> None:
    when = {"title": "short", "expression": "request.time < timestamp('2030-01-01T00:00:00Z')"}
    found = told(
        predefinedRoles=[
            "roles/viewer",
            {"role": "roles/storage.objectViewer", "projects": [OTHER], "condition": when},
        ]
    )

    condition = Condition("short", when["expression"])
    assert found.roles == (
        Role("roles/viewer"),
        Role("roles/storage.objectViewer", (OTHER,), condition),
    )


def test_projects_of_a_workload_are_those_of_its_roles_that_name_none() -> None:
    found = told(
        predefinedRoles=["roles/viewer", {"role": "roles/viewer", "projects": [PROJECT]}],
        projects=[OTHER],
    )

    assert [role.projects for role in found.roles] == [(OTHER,), (PROJECT,)]
    with pytest.raises(BadInput, match="no role is to hold there"):
        told(permissions=["a.b.c"], projects=[OTHER])
    with pytest.raises(BadInput, match="not the id of a project"):
        told(predefinedRoles=["roles/viewer"], projects=["123"])


def test_a_workload_has_a_service_account_of_ours_or_of_its_own_naming_or_none() -> None:
    assert (told().direct, told().account) == (False, "")
    assert (told(serviceAccount=True).direct, told(serviceAccount=True).account) == (False, "")
    assert (told(serviceAccount=False).direct, told(serviceAccount=False).account) == (True, "")
    assert (told(serviceAccount="their-own").direct, told(serviceAccount="their-own").account) == (
        False,
        "their-own",
    )
    for name in ("", "short", "Upper-case", "a" * 31, "ends-"):
        with pytest.raises(BadInput, match="no id of a service account"):
            told(serviceAccount=name)


def test_wishes_are_keys_of_the_section() -> None:
    values = {"predefinedRoles": ["roles/viewer"], "projects": [OTHER], "permissions": ["a.b.c"]}
    given = {wish.key: values[wish.key] for wish in WISHES}

    assert told(**given) == Ask((Role("roles/viewer", (OTHER,)),), frozenset({"a.b.c"}))
