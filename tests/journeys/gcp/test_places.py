"""Where an issuer can be: where an organisation lets nobody publish, in the provider alone, at a host of the user's own, or of another cluster."""

from __future__ import annotations

import json

import pytest

from cwiictl import oidc
from cwiictl.sandbox.gcp import GOOGLE, Gcp
from cwiictl.sandbox.gcp.world import PROJECT, Project
from tests.journeys.gcp import by_hand, pod
from tests.journeys.gcp.by_hand import labels
from tests.journeys.gcp.ground import (
    BUCKET,
    DISCOVERY,
    ISSUER,
    JWKS,
    LEFT,
    NAME,
    POOL,
    POOLS,
    PROVIDER,
    GcpGround,
)
from tests.journeys.ground import a_key, public_pem

UPLOADED = ("--key-storage-method", "pool-jwk-file")
OWN = "https://id.example.org"


def project(ground: GcpGround) -> Project:
    """As its organisation rules it, of which Google's APIs here know nothing."""
    place = ground.sandbox._places.find("iam.googleapis.com")  # pyright: ignore[reportPrivateUsage] - the double is looked into from here alone
    assert isinstance(place, Gcp)
    return place._realms[GOOGLE].world.projects[PROJECT]  # pyright: ignore[reportPrivateUsage] - the double is looked into from here alone


def believed(ground: GcpGround, iss: str = ISSUER) -> bool:
    return by_hand.exchanged(ground, ground.token(iss=iss)).ok


@pytest.mark.parametrize("rule", ["forbids_public", "domains_only"])
def test_where_nobody_may_publish_it_is_explained_with_the_way_on_which_works(
    ground: GcpGround, rule: str
) -> None:
    ground.keys()
    setattr(project(ground), rule, True)

    done = ground.create_all()

    assert done.code == 1, done.out
    (told,) = [each for each in done.data["things"] if each["thing"] == f"gcp/bucket/{BUCKET}"]
    assert told["condition"] == "unfinished"  # it is there, and nobody may read it
    assert f"Google does not let gcp/bucket/{BUCKET} be read by everybody: " in told["problem"]
    assert {"forbids_public": "public access prevention", "domains_only": "permitted customer"}[
        rule
    ] in told["problem"]
    assert "--key-storage-method pool-jwk-file" in told["remedy"]
    assert "--issuer-url" in told["remedy"]
    assert f"gcp/provider/{POOL}/{PROVIDER}" in done.but(
        "created", "repaired", "as wanted"
    )  # nobody is to believe what nobody can read

    on = ground.create_all(*UPLOADED)
    assert on.code == 0, on.out
    assert ground.clouds()["buckets"][BUCKET]["prevention"] == "enforced"
    assert pod.access(ground, ground.token())
    assert ground.delete("--yes").code == 0
    assert ground.clouds() == LEFT


def test_keys_in_the_provider_leave_an_empty_closed_bucket_so_that_nobody_has_its_name(
    ground: GcpGround,
) -> None:
    ground.keys()
    assert ground.create_all(*UPLOADED).code == 0

    bucket = ground.clouds()["buckets"][BUCKET]
    assert (bucket["objects"], bucket["prevention"], bucket["uniform"]) == ({}, "enforced", True)
    assert all("allUsers" not in each["members"] for each in bucket["policy"])
    oidc_ = ground.iam("GET", f"{POOLS}/{POOL}/providers/{PROVIDER}")["oidc"]
    assert oidc_["issuerUri"] == ISSUER
    assert [key["kid"] for key in json.loads(oidc_["jwksJson"])["keys"]] == [
        oidc.public_key(public_pem(a_key(0)), "a key").kid
    ]
    ground.fresh()
    assert ground.create_all(*UPLOADED).but("as wanted") == {}
    assert ground.status(*UPLOADED).code == 0
    assert ground.mutating() == []
    assert ground.delete("--yes").code == 0
    assert ground.clouds() == LEFT


def test_from_the_provider_into_the_bucket_and_back_its_tokens_are_believed_all_the_time(
    ground: GcpGround,
) -> None:
    ground.keys()
    for where in (UPLOADED, (), UPLOADED):
        done = ground.create_all(*where)
        assert done.code == 0, done.out
        assert believed(ground)
        assert (
            "jwksJson" in ground.iam("GET", f"{POOLS}/{POOL}/providers/{PROVIDER}")["oidc"]
        ) is bool(where)
        assert ground.status(*where).code == 0


def test_an_issuer_that_nobody_serves_may_have_any_name_when_the_provider_has_its_keys(
    ground: GcpGround,
) -> None:
    ground.keys()
    done = ground.create_all(*UPLOADED, "--issuer-url", OWN)

    assert done.code == 0, done.out
    assert ground.clouds()["buckets"] == {}
    assert (believed(ground, iss=OWN), believed(ground), believed(ground, iss=f"{OWN}/")) == (
        True,
        False,
        False,
    )
    moved = ground.create_all(*UPLOADED, "-o", "text")
    assert moved.code == 2
    assert (
        f"the files in out are of the issuer {OWN}, and this run would make another"
        in moved.err.lower()
    )
    moved = ground.create_all(
        *UPLOADED,
        "--output-dir",
        "elsewhere",
        "--public-key-file",
        "out/serviceaccount-signer.public",
        "-o",
        "text",
    )
    assert moved.code == 2
    assert f"the issuer of cluster {NAME} is {OWN}, and this run would make another" in moved.err
    assert ground.delete("--yes").code == 0
    assert ground.clouds() == LEFT


def test_an_issuer_that_is_there_is_trusted_and_nothing_of_it_is_written(ground: GcpGround) -> None:
    """Another cluster's bucket, by its address."""
    ground.keys()
    by_hand.a_bucket(ground, "elsewhere-oidc", labels("elsewhere"), public=True)
    url = "https://storage.googleapis.com/elsewhere-oidc"
    key = oidc.public_key(public_pem(a_key(0)), "the key")
    keys = {
        "keys": [
            {"use": "sig", "kty": "RSA", "kid": key.kid, "alg": "RS256", "n": key.n, "e": key.e}
        ]
    }
    by_hand.upload(
        ground,
        "elsewhere-oidc",
        DISCOVERY,
        json.dumps(oidc.discovery(url, f"{url}/{JWKS}")),
        "application/json",
    )
    by_hand.upload(ground, "elsewhere-oidc", JWKS, json.dumps(keys), "application/json")
    before = ground.clouds()["buckets"]
    exists = ("--issuer-url", url, "--issuer-exists")

    done = ground.create_all(*exists)

    assert done.code == 0, done.out
    assert ground.clouds()["buckets"] == before
    assert (believed(ground, iss=url), believed(ground)) == (True, False)
    ground.fresh()
    assert ground.create_all(*exists).but("as wanted") == {}
    assert ground.mutating() == []
    assert ground.delete("--yes").code == 0
    assert ground.clouds() == {**LEFT, "buckets": before}


def test_a_bucket_that_serves_a_host_of_the_users_own_has_that_hosts_name_in_its_documents(
    ground: GcpGround,
) -> None:
    """It is the user's to serve: it may be closed, and nobody is to believe it before it can be read."""
    by_hand.a_bucket(ground, "house-bucket", {"team": "house"})

    done = ground.create_all("--gcs-bucket", "house-bucket", "--issuer-url", OWN)

    assert done.code == 1, done.out
    assert done.things[f"issuer/{OWN}"] == "failed"
    assert "have that host serve what was published, and run again" in done.out
    assert json.loads(by_hand.content(ground, "house-bucket", DISCOVERY))["issuer"] == OWN
    assert not any(each.get("providers") for each in ground.clouds()["pools"].values())
