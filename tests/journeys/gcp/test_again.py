"""create-all over what is there: nothing to do, something removed by hand, and a new release of the cluster."""

from __future__ import annotations

from cwiictl.sandbox.gcp.world import PROJECT
from tests.examples import a_gcp_object, text, two_gcp_requests
from tests.journeys import again
from tests.journeys.gcp import by_hand
from tests.journeys.gcp.conftest import Enter
from tests.journeys.gcp.ground import (
    ACCOUNTS,
    BUCKET,
    BUCKETS,
    DISCOVERY,
    INGRESS,
    ISSUER,
    JWKS,
    LEFT,
    NOTHING,
    REGISTRY,
    SHARED,
    GcpGround,
)
from tests.journeys.gcp.release import twenty_gcp_requests
from tests.journeys.ground import a_key, public_pem

KEY_SET, DOCUMENT, POLICY = (
    f"gcp/key-set/{BUCKET}/{JWKS}",
    f"gcp/document/{BUCKET}/{DISCOVERY}",
    f"gcp/policy/{PROJECT}",
)
ROLES = 16  # of Google's, each looked at once, whoever asks for it
CONSTANT = 40  # requests of a second run that do not grow with what is asked for


def account(ground: GcpGround, title: str) -> str:
    """As the commands call it."""
    return f"gcp/service-account/{ground.account(title).partition('@')[0]}"


def test_a_second_run_writes_nothing_anywhere(enter: Enter) -> None:
    ground = enter()
    ground.requests(twenty_gcp_requests())
    assert ground.create_all().code == 0
    etag = ground.policy()["etag"]

    assert again.writes_nothing(ground, 33) <= 20 + ROLES + CONSTANT
    assert ground.policy()["etag"] == etag


def test_status_finds_all_as_wanted_and_asks_nothing_but_reads(ground: GcpGround) -> None:
    again.found(ground)


def test_status_of_nothing_finds_all_of_it_missing(ground: GcpGround) -> None:
    """But for the project's policy, which is there, and to which something is to be added."""
    again.missing(ground, NOTHING, POLICY)


def test_a_service_account_that_was_made_anew_has_all_that_the_dead_one_had(
    ground: GcpGround,
) -> None:
    """Its e-mail is the same and it is another, to which nothing was granted: what the dead one was granted goes."""
    ground.create_all()
    everything = ground.everything()
    lost = [account(ground, title) for title in (INGRESS, REGISTRY)]
    for title in (INGRESS, REGISTRY):
        by_hand.gone(ground, f"{ACCOUNTS}/{ground.account(title)}")
    members = [member for binding in ground.bindings() for member in binding["members"]]
    assert len(members) == 2
    assert all(member.startswith("deleted:serviceAccount:") for member in members)

    seen = ground.status()
    ground.fresh()
    done = ground.create_all()

    assert seen.code == 3
    assert seen.but("as wanted") == {**dict.fromkeys(lost, "missing"), POLICY: "drifted"}
    assert done.code == 0, done.err
    assert done.but("as wanted") == {**dict.fromkeys(lost, "created"), POLICY: "repaired"}
    assert ground.mutating().count("resourcemanager.projects.setIamPolicy") == 1
    assert ground.everything() == everything
    assert ground.status().code == 0


def test_what_was_removed_by_hand_is_made_again(ground: GcpGround) -> None:
    """Of an object that is not there, Cloud Storage says to who may not list them that they may not read it: so the issuer is there, and unreadable."""
    ground.create_all()
    everything = ground.everything()
    by_hand.remove(ground, BUCKET, JWKS)
    (ground.folder / "out" / "manifests" / "cluster-authentication-02-config.yaml").unlink()
    (ground.folder / "out" / "serviceaccount-signer.public").unlink()

    done = ground.create_all()

    assert done.code == 0, done.err
    assert done.but("as wanted") == {
        "local/key/signing-key": "repaired",
        KEY_SET: "created",
        f"issuer/{ISSUER}": "repaired",
    }
    assert ground.everything() == everything


def test_a_bucket_that_was_deleted_is_made_again_with_all_that_was_in_it(ground: GcpGround) -> None:
    ground.create_all()
    everything = ground.everything()
    for name in (JWKS, DISCOVERY):
        by_hand.remove(ground, BUCKET, name)
    ground.rest("DELETE", "storage", f"{BUCKETS}/{BUCKET}")

    done = ground.create_all()

    assert done.code == 0, done.err
    made = [f"gcp/bucket/{BUCKET}", DOCUMENT, KEY_SET, f"issuer/{ISSUER}"]
    assert done.but("as wanted") == dict.fromkeys(made, "created")
    assert ground.everything() == everything


def test_what_a_cluster_has_left_it_finds_again(ground: GcpGround) -> None:
    """Google keeps the names of what was deleted for weeks: the pool comes back, with its provider, and the shared role never went."""
    ground.create_all()
    everything = ground.everything()
    assert ground.delete("--yes").code == 0
    assert ground.clouds() == LEFT
    ground.fresh()

    done = ground.create_all()

    assert done.code == 0, done.out
    assert done.things[f"gcp/custom-role/{SHARED}"] == "as wanted"
    assert "iam.workloadIdentityPools.undelete" in ground.mutating()
    assert "iam.workloadIdentityPools.create" not in ground.mutating()
    assert ground.everything() == everything


def test_an_upgrade_from_an_empty_folder_with_the_public_key_alone_leaves_one_workload_over(
    ground: GcpGround,
) -> None:
    """One request is new, one is gone, one asks for more; and what is left over goes only when that is asked for."""
    ground.keys("first")
    ground.create_all("--output-dir", "first")
    ground.write("cluster.pub", public_pem(a_key(0)))
    new = text(
        a_gcp_object("velero", "velero", "cloud-credentials", predefinedRoles=["roles/viewer"])
    )
    more = two_gcp_requests()["ingress.yaml"].replace(
        "    - roles/dns.admin\n", "    - roles/dns.admin\n    - roles/dns.reader\n"
    )
    ground.requests({"velero.yaml": new, "ingress.yaml": more})
    key = ("--public-key-file", "cluster.pub")
    email, left = ground.account(REGISTRY), account(ground, REGISTRY)

    ground.fresh()
    done = ground.create_all(*key)
    assert done.code == 0, done.err
    assert done.but("as wanted") == {
        account(ground, "demo-velero"): "created",
        POLICY: "repaired",
        left: "left over",
    }
    assert done.fields == {POLICY: ["grants"]}
    assert ground.mutating() == [
        "iam.serviceAccounts.create",
        "iam.serviceAccounts.setIamPolicy",
        "resourcemanager.projects.setIamPolicy",
    ]
    assert sorted(ground.tree()) == [
        "manifests/cluster-authentication-02-config.yaml",
        "manifests/openshift-ingress-operator-cloud-credentials-credentials.yaml",
        "manifests/velero-cloud-credentials-credentials.yaml",
        "webhook.yaml",
    ]
    assert ground.status(*key).but("as wanted") == {left: "left over"}

    ground.fresh()
    refused = ground.create_all(*key, "--prune")
    assert refused.code == 2
    assert "--yes" in refused.err
    assert ground.mutating() == []

    before = ground.clouds()
    pruned = ground.create_all(*key, "--prune", "--yes")
    assert pruned.code == 0, pruned.err
    assert pruned.but("as wanted") == {left: "dropped"}
    before["accounts"].pop(email)
    before["policies"][PROJECT] = [
        each
        for each in before["policies"][PROJECT]
        if each["members"] != [f"serviceAccount:{email}"]
    ]
    assert ground.clouds() == before
    assert ground.status(*key).code == 0


def test_what_create_identity_made_is_never_left_over_to_create_all(ground: GcpGround) -> None:
    ground.create_all()
    billing = ("-n", "shop", "--service-account", "billing", "--predefined-role", "roles/viewer")
    made = ground.cwiictl("create-identity", *ground.where, *billing)
    assert made.code == 0, made.err
    name = account(ground, "demo shop/billing")

    pruned = ground.create_all("--prune", "--yes")
    assert (pruned.code, pruned.but("as wanted")) == (0, {})
    assert ground.account("demo shop/billing")

    gone = ground.delete("--yes")  # but it is the cluster's, and goes with it
    assert gone.things[name] == "dropped"
    assert ground.clouds() == LEFT
