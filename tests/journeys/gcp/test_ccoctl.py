"""What ccoctl made under this name is shown as ccoctl's, taken over as a whole, and taken down; what it made under another is not touched."""

from __future__ import annotations

import json
from typing import Any

import pytest

from cwiictl import oidc
from cwiictl.sandbox.gcp.world import PROJECT
from tests.journeys.cuts import after
from tests.journeys.gcp import by_hand
from tests.journeys.gcp.ground import DISCOVERY, JWKS, NAME, NOTHING, POOLS, GcpGround, principal
from tests.journeys.ground import a_key, public_pem

ADOPT = ("--adopt", "ccoctl")
WORDS = "Created By OpenShift ccoctl"
PERMISSIONS = (
    "storage.buckets.get",
    "storage.buckets.create",
)  # one less than the request has by now
WORKLOADS = (
    (
        "openshift-ingress-gcp",
        "openshift-ingress-operator",
        ("ingress-operator",),
        "roles/dns.admin",
    ),
    (
        "openshift-image-registry-gcs",
        "openshift-image-registry",
        ("registry", "cluster-image-registry-operator"),
        "",
    ),
    (
        "openshift-machine-api-gcp",
        "openshift-machine-api",
        ("machine-api-controllers",),
        "roles/compute.admin",
    ),  # a request that this release no longer has
)
CUSTOM = "cwiisandbox_openshiftimageregistrygcs"


def ids(name: str = NAME) -> list[str]:
    """Of its service accounts, which end with chance."""
    return [
        f"{name[:12]}-{request[:11].rstrip('-')}-{'bcdfg'[number]}x2w{number}"
        for number, (request, *_) in enumerate(WORKLOADS)
    ]


def ccoctl(ground: GcpGround, name: str = NAME) -> None:
    """`ccoctl gcp create-all`, call by call: a bucket that anybody may list, documents without a type, nothing but words for a mark."""
    issuer = f"https://storage.googleapis.com/{name}-oidc"
    by_hand.a_pool(ground, name, WORDS)
    _published(ground, f"{name}-oidc", issuer)
    by_hand.a_provider(ground, name, name, WORDS, oidc={"issuerUri": issuer})
    if not any(
        each["name"].endswith(CUSTOM) for each in ground.custom_roles()
    ):  # the project's, of all clusters
        by_hand.a_role(
            ground,
            CUSTOM,
            PERMISSIONS,
            title=f"{PROJECT}-openshift-image-registry-gcs",
            description=f"{WORDS} for service account",
        )
    for (request, namespace, accounts, role), id_ in zip(WORKLOADS, ids(name), strict=True):
        title = f"{name[:50]}-{request[:49]}"
        email = by_hand.an_account(ground, id_, title, f"{WORDS} for service account {title}")
        by_hand.granted(
            ground, role or f"projects/{PROJECT}/roles/{CUSTOM}", f"serviceAccount:{email}"
        )
        members = [
            principal(f"system:serviceaccount:{namespace}:{account}", name) for account in accounts
        ]
        by_hand.trust(ground, email, [{"role": by_hand.IMPERSONATE, "members": members}])


def _published(ground: GcpGround, bucket: str, issuer: str) -> None:
    key = oidc.public_key(public_pem(a_key(0)), "the key")
    documents: dict[str, Any] = {
        DISCOVERY: oidc.discovery(issuer, f"{issuer}/{JWKS}"),
        JWKS: {
            "keys": [
                {"use": "sig", "kty": "RSA", "kid": key.kid, "alg": "RS256", "n": key.n, "e": key.e}
            ]
        },
    }
    by_hand.a_bucket(ground, bucket, {})
    by_hand.may(ground, bucket, {"role": "roles/storage.objectViewer", "members": ["allUsers"]})
    for path, document in documents.items():
        by_hand.upload(ground, bucket, path, json.dumps(document), "application/octet-stream")


THINGS = {
    f"gcp/bucket/{NAME}-oidc",
    f"gcp/pool/{NAME}",
    f"gcp/provider/{NAME}/{NAME}",
    *(f"gcp/service-account/{id_}" for id_ in ids()[:2]),
}
LEFT = {f"gcp/service-account/{ids()[2]}"}


@pytest.fixture
def made(ground: GcpGround) -> GcpGround:
    ground.keys()
    ccoctl(ground)
    ground.fresh()
    return ground


def test_it_is_shown_as_ccoctls_and_nothing_is_written_without_being_told(made: GcpGround) -> None:
    before = made.clouds()

    for done in (made.status(), made.create_all("--dry-run"), made.create_all()):
        assert done.code == 4, done.out
        foreign = {
            one["thing"]: one["remedy"]
            for one in done.data["things"]
            if one["condition"] == "foreign"
        }
        assert foreign.keys() == THINGS
        assert set(foreign.values()) == {"choose another name, or take it over with --adopt ccoctl"}
    assert made.mutating() == []
    assert made.clouds() == before
    assert made.delete("--yes").data["things"] == []  # nor is it ours to delete
    assert made.clouds() == before


def test_all_of_it_is_taken_over_in_one_run_repaired_and_taken_down(made: GcpGround) -> None:
    done = made.create_all(*ADOPT)

    assert done.code == 0, done.out
    assert set(done.but("as wanted", "repaired", "created")) == LEFT
    assert {thing for thing, how in done.things.items() if how == "created"} == {
        "gcp/custom-role/cwii_420a67fd3863"
    }
    clouds = made.clouds()
    bucket = clouds["buckets"][f"{NAME}-oidc"]
    assert [each["role"] for each in bucket["policy"] if "allUsers" in each["members"]] == [
        by_hand.READER
    ]  # which lists nothing
    assert {each["contentType"] for each in bucket["objects"].values()} == {"application/json"}
    assert bucket["labels"][f"cwii-dev_cluster_{NAME}"] == "owned"
    assert len(clouds["accounts"]) == len(WORKLOADS)  # its own, and none made beside them
    assert all(
        "cwii.dev/cluster/demo=owned" in each["description"]
        for each in (clouds["pools"][NAME], *clouds["accounts"].values())
    )
    assert (
        len(
            [
                each
                for each in clouds["policies"][PROJECT]
                if each["role"].endswith("cwii_420a67fd3863")
            ]
        )
        == 1
    )

    made.fresh()
    again = made.create_all()  # from now on it is ours
    assert (again.code, set(again.but("as wanted"))) == (0, LEFT), again.out
    assert made.mutating() == []

    gone = made.delete("--yes")
    assert gone.code == 0, gone.out
    assert {**made.clouds(), "roles": {}} == NOTHING


def test_what_it_made_under_another_name_is_untouched(made: GcpGround) -> None:
    """Whose name begins alike, so that its titles do."""
    ccoctl(made, f"{NAME}-2")
    before = made.clouds()

    assert made.create_all(*ADOPT).code == 0
    assert made.delete("--yes").code == 0

    left = made.clouds()
    theirs = {f"{id_}@{PROJECT}.iam.gserviceaccount.com" for id_ in ids(f"{NAME}-2")}
    assert left["accounts"] == {email: before["accounts"][email] for email in theirs}
    for kind, name in (("buckets", f"{NAME}-2-oidc"), ("pools", f"{NAME}-2")):
        assert left[kind] == {name: before[kind][name]}
    members = {member for each in left["policies"][PROJECT] for member in each["members"]}
    assert members == {f"serviceAccount:{email}" for email in theirs}
    assert len(left["policies"][PROJECT]) == len(WORKLOADS)


@pytest.mark.parametrize("writes", after([1, 2, 4, 6, 9]))
def test_a_takeover_that_is_killed_goes_on_when_it_is_run_again(
    made: GcpGround, writes: int
) -> None:
    made.killed(writes, "create-all", *made.where, *made.asking, *ADOPT)

    done = made.create_all(*ADOPT)

    assert done.code == 0, done.out
    pruned = made.create_all("--prune", "--yes")
    assert pruned.code == 0, pruned.out
    assert {pruned.things[thing] for thing in LEFT} == {"dropped"}
    assert made.status().code == 0
    assert len(made.clouds()["accounts"]) == len(WORKLOADS) - 1


def test_keys_that_it_put_into_the_provider_are_taken_over_too(ground: GcpGround) -> None:
    """Of `--key-storage-method pool-jwk-file` it makes no bucket."""
    ground.keys()
    key = oidc.public_key(public_pem(a_key(0)), "the key")
    keys = json.dumps(
        {
            "keys": [
                {"use": "sig", "kty": "RSA", "kid": key.kid, "alg": "RS256", "n": key.n, "e": key.e}
            ]
        }
    )
    by_hand.a_pool(ground, NAME, WORDS)
    by_hand.a_provider(ground, NAME, NAME, WORDS, oidc={"jwksJson": keys})
    ground.fresh()
    uploaded = ("--key-storage-method", "pool-jwk-file")
    assert {
        thing for thing, how in ground.create_all(*uploaded).things.items() if how == "foreign"
    } == {f"gcp/pool/{NAME}", f"gcp/provider/{NAME}/{NAME}"}
    assert ground.mutating() == []

    done = ground.create_all(*uploaded, *ADOPT)

    assert done.code == 0, done.out
    assert done.things[f"gcp/provider-keys/{NAME}/{NAME}"] == "as wanted"
    assert ground.iam("GET", f"{POOLS}/{NAME}/providers/{NAME}")["oidc"]["jwksJson"] == keys
    assert ground.status(*uploaded).code == 0
