"""create-all over what is there: nothing to do, something removed by hand, and a new release of the cluster."""

from __future__ import annotations

from tests.examples import an_azure_object, text, two_azure_requests
from tests.journeys import again
from tests.journeys.azure.conftest import Enter
from tests.journeys.azure.ground import (
    ACCOUNT,
    CONTAINER,
    GROUP,
    INGRESS,
    ISSUER,
    NAME,
    NOTHING,
    REGISTRY,
    WHOLE,
    AzureGround,
)
from tests.journeys.azure.release import a_dozen_azure_requests
from tests.journeys.ground import a_key, public_pem

KEY_SET = f"azure/key-set/{ACCOUNT}/{CONTAINER}/openid/v1/jwks"
DOCUMENT = f"azure/document/{ACCOUNT}/{CONTAINER}/.well-known/openid-configuration"
SITE_OF_DOCUMENTS = (
    f"{WHOLE}/resourceGroups/{GROUP}/providers/Microsoft.Storage/storageAccounts/{ACCOUNT}"
)
CONSTANT = 36  # requests of a second run that do not grow with what is asked for


def test_a_second_run_writes_nothing_anywhere(enter: Enter) -> None:
    ground = enter()
    ground.requests(a_dozen_azure_requests())
    assert ground.create_all().code == 0

    assert again.writes_nothing(ground, 40) <= 12 + CONSTANT


def test_status_finds_all_as_wanted_and_asks_nothing_but_reads(ground: AzureGround) -> None:
    again.found(ground)


def test_status_of_nothing_finds_all_of_it_missing(ground: AzureGround) -> None:
    again.missing(ground, NOTHING)


def test_an_identity_that_was_made_anew_has_all_that_the_dead_one_had(ground: AzureGround) -> None:
    """Its name is the same and its principal another, to which nothing was given: what the dead one was given goes."""
    ground.create_all()
    clouds, tree = ground.everything()
    for title in (INGRESS, REGISTRY):
        ground.arm("DELETE", ground.identity(title))
    assert {each["principal"] for each in ground.clouds()["assignments"]} == {"somebody"}

    seen = ground.status()
    done = ground.create_all()

    lost = [
        f"azure/{kind}/{GROUP}/{title}"
        for kind in ("identity", "role-assignments")
        for title in (REGISTRY, INGRESS)
    ]
    assert seen.code == 3
    assert sorted(seen.but("as wanted")) == sorted(lost)
    assert done.code == 0, done.err
    assert {thing: done.things[thing] for thing in lost} == dict.fromkeys(
        lost[:2], "created"
    ) | dict.fromkeys(lost[2:], "repaired")
    assert sorted(done.but("as wanted")) == sorted(lost)
    assert ground.everything() == (clouds, tree)
    assert ground.status().code == 0


def test_what_was_removed_by_hand_is_made_again(ground: AzureGround) -> None:
    ground.create_all()
    everything = ground.everything()
    with ground.writing():
        assert ground.blob("DELETE", "openid/v1/jwks").status_code == 202
    (ground.folder / "out" / "manifests" / "cluster-authentication-02-config.yaml").unlink()
    (ground.folder / "out" / "serviceaccount-signer.public").unlink()

    done = ground.create_all()

    assert done.code == 0, done.err
    assert done.but("as wanted") == {
        "local/key/signing-key": "repaired",
        KEY_SET: "created",
        f"issuer/{ISSUER}": "created",
        f"azure/lent-role/{ACCOUNT}/{CONTAINER}": "given back",
    }
    assert ground.everything() == everything


def test_a_storage_account_that_was_deleted_is_made_again_with_all_that_was_in_it(
    ground: AzureGround,
) -> None:
    ground.create_all()
    everything = ground.everything()
    ground.arm("DELETE", SITE_OF_DOCUMENTS)

    done = ground.create_all()

    assert done.code == 0, done.err
    made = [
        f"azure/storage-account/{GROUP}/{ACCOUNT}",
        f"azure/container/{ACCOUNT}/{CONTAINER}",
        DOCUMENT,
        KEY_SET,
    ]
    assert {thing: done.things[thing] for thing in made} == dict.fromkeys(made, "created")
    assert ground.everything() == everything


def test_whoever_may_write_already_is_lent_nothing(ground: AzureGround) -> None:
    ground.create_all()
    with ground.writing():
        ground.blob("DELETE", "openid/v1/jwks")
        ground.fresh()

        done = ground.create_all()

        assert done.code == 0, done.err
        assert ground.mutating() == [
            "Microsoft.Storage/storageAccounts/blobServices/containers/blobs/write"
        ]


def test_an_upgrade_from_an_empty_folder_with_the_public_key_alone_leaves_one_workload_over(
    ground: AzureGround,
) -> None:
    """One request is new, one is gone, one asks for more; and what is left over goes only when that is asked for."""
    ground.keys("first")
    ground.create_all("--output-dir", "first")
    ground.write("cluster.pub", public_pem(a_key(0)))
    new = text(
        an_azure_object("velero", "velero", "cloud-credentials", roleBindings=[{"role": "Reader"}])
    )
    more = two_azure_requests()["ingress.yaml"].replace(
        "    - role: Contributor\n", "    - role: Contributor\n    - role: DNS Zone Contributor\n"
    )
    ground.requests({"velero.yaml": new, "ingress.yaml": more})
    key = ("--public-key-file", "cluster.pub")
    velero = f"{NAME}-velero-cloud-credentials"
    left = {
        f"azure/custom-role/{REGISTRY}",
        *(f"azure/{kind}/{GROUP}/{REGISTRY}" for kind in ("identity", "role-assignments")),
    }

    ground.fresh()
    done = ground.create_all(*key)
    assert done.code == 0, done.err
    assert done.but("as wanted") == {
        **{
            f"azure/{kind}/{GROUP}/{velero}": "created" for kind in ("identity", "role-assignments")
        },
        f"azure/role-assignments/{GROUP}/{INGRESS}": "repaired",
        **dict.fromkeys(left, "left over"),
    }
    assert done.fields == {f"azure/role-assignments/{GROUP}/{INGRESS}": ["grants"]}
    assert len(ground.mutating()) == 4
    assert sorted(ground.tree()) == [
        "manifests/azure-ad-pod-identity-webhook-config.yaml",
        "manifests/cluster-authentication-02-config.yaml",
        "manifests/openshift-ingress-operator-cloud-credentials-credentials.yaml",
        "manifests/velero-cloud-credentials-credentials.yaml",
        "webhook.yaml",
    ]
    assert ground.status(*key).but("as wanted") == dict.fromkeys(left, "left over")

    ground.fresh()
    refused = ground.create_all(*key, "--prune")
    assert (refused.code, ground.mutating()) == (2, [])
    assert "--yes" in refused.err

    before = ground.clouds()
    pruned = ground.create_all(*key, "--prune", "--yes")
    assert pruned.code == 0, pruned.err
    assert {pruned.things[each] for each in left} == {"dropped"}
    assert len(ground.mutating()) == len(left)
    before["identities"].pop(REGISTRY)
    before["roles"].pop(REGISTRY)
    before["assignments"] = [
        each for each in before["assignments"] if each["principal"] != REGISTRY
    ]
    assert ground.clouds() == before
    assert ground.status(*key).code == 0


def test_what_create_identity_made_is_never_left_over_to_create_all(ground: AzureGround) -> None:
    ground.create_all()
    billing = ("-n", "shop", "--service-account", "billing", "--role", "Reader")
    made = ground.cwiictl("create-identity", *ground.where, *billing)
    assert made.code == 0, made.err

    pruned = ground.create_all("--prune", "--yes")
    assert (pruned.code, pruned.but("as wanted")) == (0, {})
    assert f"{NAME}-shop-billing" in ground.clouds()["identities"]

    gone = ground.delete("--yes")  # but it is the cluster's, and goes with it
    assert gone.things[f"azure/identity/{GROUP}/{NAME}-shop-billing"] == "dropped"
    assert ground.clouds()["assignments"] == []
