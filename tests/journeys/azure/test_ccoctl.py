"""What ccoctl made under this name is shown as ccoctl's, taken over as a whole, and taken down; what it made under another is not touched."""

from __future__ import annotations

import json
from typing import Any

import pytest

from cwiictl import oidc
from tests.journeys import cuts
from tests.journeys.azure import by_hand
from tests.journeys.azure.by_hand import CONTRIBUTOR, group_id, identity_id
from tests.journeys.azure.ground import (
    ACCOUNT,
    CONTAINER,
    GROUP,
    INGRESS,
    NAME,
    NOTHING,
    REGISTRY,
    SITE,
    AzureGround,
)
from tests.journeys.ground import a_key, public_pem

ADOPT = ("--adopt", "ccoctl")
OLD = (
    "openshift-machine-api-azure-cloud-credentials"  # of a request that this release no longer has
)
STORAGE = (
    "Microsoft.Storage/storageAccounts/read",
    "Microsoft.Storage/storageAccounts/listKeys/action",
)
WORKLOADS = (
    ("openshift-ingress-operator", "cloud-credentials", ("ingress-operator",), ()),
    (
        "openshift-image-registry",
        "installer-cloud-credentials",
        ("registry", "cluster-image-registry-operator"),
        STORAGE,
    ),
    ("openshift-machine-api", "azure-cloud-credentials", ("machine-api-controllers",), ()),
)


def tags(name: str) -> dict[str, str]:
    return {f"openshift.io_cloud-credential-operator_{name}": "owned"}


def ccoctl(ground: AzureGround, name: str = NAME) -> None:
    """`ccoctl azure create-all`, call by call: random GUIDs, bare names of ServiceAccounts, an account whose keys are on, a container that anybody may list."""
    group, site = f"{name}-oidc", name
    issuer = f"https://{name}.blob.core.windows.net/{name}"
    by_hand.a_group(ground, group, tags(name))
    _published(ground, name, issuer)
    by_hand.a_group(ground, site, tags(name))
    for namespace, secret, accounts, actions in WORKLOADS:
        title = f"{name}-{namespace}-{secret}"[:128]
        principal = by_hand.an_identity(ground, title, group, tags(name))
        role = (
            by_hand.a_role(ground, title, f"Custom role for OpenShift. Owned by: {name}", actions)
            if actions
            else CONTRIBUTOR
        )
        by_hand.assigned(ground, group_id(site), role, principal)
        for account in accounts:
            credential = {
                "issuer": issuer,
                "subject": f"system:serviceaccount:{namespace}:{account}",
                "audiences": ["openshift"],
            }
            ground.arm(
                "PUT",
                f"{identity_id(title, group)}/federatedIdentityCredentials/{account}",
                {"properties": credential},
            )


def _published(ground: AzureGround, name: str, issuer: str) -> None:
    key = oidc.public_key(public_pem(a_key(0)), "the key")
    documents: dict[str, Any] = {
        ".well-known/openid-configuration": oidc.discovery(issuer, f"{issuer}/openid/v1/jwks"),
        "openid/v1/jwks": {
            "keys": [
                {"use": "sig", "kty": "RSA", "kid": key.kid, "alg": "RS256", "n": key.n, "e": key.e}
            ]
        },
    }
    by_hand.an_account(ground, name, f"{name}-oidc", tags(name), allowBlobPublicAccess=True)
    by_hand.a_container(ground, name, name, f"{name}-oidc", "Container")
    for path, document in documents.items():
        by_hand.upload(
            ground,
            (name, name),
            path,
            json.dumps(document).encode(),
            f"{name}-oidc",
            tags={"openshift.io_cloud-credential-operator": name},
        )


THINGS = {
    f"azure/resource-group/{GROUP}",
    f"azure/resource-group/{SITE}",
    f"azure/storage-account/{GROUP}/{ACCOUNT}",
    f"azure/identity/{GROUP}/{INGRESS}",
    f"azure/identity/{GROUP}/{REGISTRY}",
    f"azure/custom-role/{REGISTRY}",
}
CONTAINED = f"azure/container/{ACCOUNT}/{CONTAINER}"
LEFT = {f"azure/identity/{GROUP}/{NAME}-{OLD}", f"azure/role-assignments/{GROUP}/{NAME}-{OLD}"}


@pytest.fixture
def made(ground: AzureGround) -> AzureGround:
    ground.keys()
    ccoctl(ground)
    ground.fresh()
    return ground


def test_it_is_shown_as_ccoctls_and_nothing_is_written_without_being_told(
    made: AzureGround,
) -> None:
    before = made.clouds()

    for done in (made.status(), made.create_all("--dry-run"), made.create_all()):
        assert done.code == 4
        foreign = {
            one["thing"]: one["remedy"]
            for one in done.data["things"]
            if one["condition"] == "foreign"
        }
        assert foreign.keys() == THINGS - {f"azure/resource-group/{SITE}"} | {
            CONTAINED
        }  # the installation's group is lent
        assert set(foreign.values()) == {"choose another name, or take it over with --adopt ccoctl"}
    assert made.mutating() == []
    assert made.clouds() == before
    assert made.delete("--yes").data["things"] == []  # nor is it ours to delete
    assert made.clouds() == before


def test_all_of_it_is_taken_over_in_one_run_repaired_and_taken_down(made: AzureGround) -> None:
    done = made.create_all(*ADOPT)

    assert done.code == 0, done.out
    assert set(done.but("as wanted", "repaired", "given back")) == LEFT
    clouds = made.clouds()
    account, container = (
        clouds["accounts"][ACCOUNT],
        clouds["accounts"][ACCOUNT]["containers"][CONTAINER],
    )
    assert (account["minimumTlsVersion"], account["allowSharedKeyAccess"], container["public"]) == (
        "TLS1_2",
        False,
        "Blob",
    )
    assert {each["contentType"] for each in container["documents"].values()} == {"application/json"}
    assert list(clouds["identities"][INGRESS]["credentials"]) == ["ingress-operator"]
    assert all(
        each["tags"][f"cwii.dev_cluster_{NAME}"] == "owned"
        for each in (clouds["groups"][GROUP], account, *clouds["identities"].values())
    )
    assert len(clouds["assignments"]) == len(WORKLOADS)
    assert list(clouds["roles"]) == [REGISTRY]

    made.fresh()
    again = made.create_all()  # from now on it is ours
    assert (again.code, set(again.but("as wanted"))) == (0, LEFT)
    assert made.mutating() == []

    gone = made.delete("--yes", "--delete-oidc-resource-group")
    assert gone.code == 0, gone.out
    assert {**made.clouds(), "groups": {}} == NOTHING
    assert list(made.clouds()["groups"]) == [SITE]


def test_what_it_made_under_another_name_is_untouched(made: AzureGround) -> None:
    ccoctl(made, f"{NAME}2")
    before = made.clouds()

    assert made.create_all(*ADOPT).code == 0
    assert made.delete("--yes", "--delete-oidc-resource-group").code == 0

    left = made.clouds()
    for kind in ("accounts", "identities", "roles"):
        assert left[kind] == {
            name: thing for name, thing in before[kind].items() if name.startswith(f"{NAME}2")
        }
    assert len(left["assignments"]) == len(WORKLOADS)


@pytest.mark.parametrize("writes", cuts.after([1, 2, 3, 6]))
def test_a_takeover_that_is_killed_goes_on_when_it_is_run_again(
    made: AzureGround, writes: int
) -> None:
    made.killed(writes, "create-all", *made.where, *made.asking, *ADOPT)

    done = made.create_all(*ADOPT)

    assert done.code == 0, done.out
    pruned = made.create_all("--prune", "--yes")
    assert pruned.code == 0, pruned.out
    assert {pruned.things[thing] for thing in LEFT} == {"dropped"}
    assert made.status().code == 0


@pytest.mark.parametrize("how", [(), ADOPT], ids=["shown", "taken over"])
def test_what_is_in_another_region_is_not_taken_over(
    made: AzureGround, how: tuple[str, ...]
) -> None:
    before = made.clouds()

    for done in (
        made.create_all(*how, "--region", "westeurope"),
        made.create_all(*how, "--region", "westeurope", "--dry-run"),
    ):
        assert done.code == 4
        remedies = {one["thing"]: one["remedy"] for one in done.data["things"] if "remedy" in one}
        for thing in (
            f"azure/storage-account/{GROUP}/{ACCOUNT}",
            f"azure/identity/{GROUP}/{INGRESS}",
            f"azure/identity/{GROUP}/{REGISTRY}",
        ):
            assert remedies[thing] == "give --region eastus, or another --name"

    assert made.mutating() == []
    assert made.clouds() == before
