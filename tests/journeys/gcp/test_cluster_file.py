"""cluster.yaml says all that options say, and lists workloads; create-identity makes one workload from options, with a service account or without."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from cwiictl import names
from cwiictl.model import Cluster
from cwiictl.sandbox.gcp.world import PROJECT, SECOND
from tests.journeys import asked
from tests.journeys.gcp import by_hand, pod
from tests.journeys.gcp.ground import (
    AUDIENCE,
    LEFT,
    NAME,
    NOTHING,
    POOL,
    PROVIDER,
    WHOLE,
    GcpGround,
    principal,
)
from tests.journeys.ground import Done

FILE = ("--file", "cluster.yaml")
BILLING = (
    f"{names.service_account(Cluster(NAME), 'shop/billing')}@{PROJECT}.iam.gserviceaccount.com"
)
IDENTITY = (
    "-n",
    "shop",
    "--service-account",
    "billing",
    "--service-account",
    "billing-jobs",
    "--predefined-role",
    "roles/dns.admin",
)
WORKLOAD = {
    "name": "billing",
    "namespace": "shop",
    "serviceAccounts": ["billing", "billing-jobs"],
    "gcp": {"predefinedRoles": ["roles/dns.admin"]},
}


def cluster(section: dict[str, Any] | None = None, **words: Any) -> str:
    told = {
        "apiVersion": "cwii.dev/v1",
        "kind": "Cluster",
        "name": NAME,
        "clouds": {"gcp": {"project": PROJECT, **(section or {})}},
        "outputDir": "out",
    }
    return yaml.safe_dump({**told, **words}, sort_keys=False)


def identity(ground: GcpGround, *arguments: str) -> Done:
    form = () if {"-o", "--output"} & set(arguments) else ("-o", "json")
    return ground.cwiictl("create-identity", *ground.where, *IDENTITY, *arguments, *form)


# --- the file ---


@pytest.mark.parametrize(
    ("options", "section", "words"),
    [
        (
            ("--user-tags", "team=infra,costs=42", "--region", "europe-west1"),
            {"region": "europe-west1"},
            {"tags": {"team": "infra", "costs": "42"}},
        ),
        (
            (
                "--workload-identity-pool",
                "house-pool",
                "--workload-identity-provider",
                "house-provider",
                "--gcs-bucket",
                "house-bucket",
            ),
            {
                "workloadIdentityPool": "house-pool",
                "workloadIdentityProvider": "house-provider",
                "gcsBucket": "house-bucket",
            },
            {},
        ),
        (
            (
                "--key-storage-method",
                "pool-jwk-file",
                "--enable-apis",
                "--separate-roles",
                "--exact-roles",
                "--issuer-url",
                "https://id.example.org",
            ),
            {
                "keyStorageMethod": "pool-jwk-file",
                "enableApis": True,
                "separateRoles": True,
                "exactRoles": True,
            },
            {"issuer": {"url": "https://id.example.org"}},
        ),
    ],
    ids=["plain", "house", "keys"],
)
def test_the_file_and_the_options_are_the_same_plan(
    ground: GcpGround, options: tuple[str, ...], section: dict[str, Any], words: dict[str, Any]
) -> None:
    by_hand.a_bucket(ground, "house-bucket", public=True)
    before = ground.clouds()
    ground.fresh()
    ground.write("cluster.yaml", cluster(section, credentialsRequests={"dir": "requests"}, **words))
    told, plain = ground.create_all("--dry-run", *options), ground.create_all("--dry-run")

    read = ground.cwiictl("create-all", *FILE, "--dry-run", "-o", "json")

    assert (told.code, read.code) == (0, 0), told.err + read.err
    assert read.data == told.data
    assert read.data["checksum"] == told.data["checksum"] != plain.data["checksum"] != ""
    assert ground.mutating() == []
    assert ground.clouds() == before


def test_only_the_plan_that_was_expected_is_acted_on(ground: GcpGround) -> None:
    ground.write("cluster.yaml", cluster(credentialsRequests={"dir": "requests"}))
    checksum = ground.cwiictl("create-all", *FILE, "--dry-run", "-o", "json").data["checksum"]
    other = ground.create_all("--dry-run", "--separate-roles").data["checksum"]

    assert ground.create_all("--expect", other).code == 2
    assert ground.mutating() == []
    assert ground.create_all("--expect", checksum).code == 0
    assert (
        ground.create_all("--dry-run").data["checksum"] == checksum
    )  # what is there changes no plan


def test_a_workload_of_the_file_is_trusted_for_what_the_webhook_projects_and_left_over_when_it_goes(
    ground: GcpGround,
) -> None:
    own = {
        **WORKLOAD,
        "name": "own",
        "serviceAccounts": ["own"],
        "gcp": {"permissions": ["compute.disks.get"]},
    }
    ground.write("cluster.yaml", cluster(workloads=[WORKLOAD, own]))

    done = ground.cwiictl("create-all", *FILE, "--bits", "2048", "--separate-roles", "-o", "json")

    assert done.code == 0, done.out
    made = ground.clouds()
    (trusted,) = made["accounts"][BILLING]["bindings"]
    assert trusted["members"] == [
        principal(f"system:serviceaccount:shop:{account}")
        for account in ("billing", "billing-jobs")
    ]
    audiences = made["pools"][POOL]["providers"][PROVIDER]["oidc"]["allowedAudiences"]
    assert sorted(audiences) == sorted(
        [AUDIENCE, f"https:{AUDIENCE}", "sts.googleapis.com", "openshift"]
    )
    (role,) = made["roles"]
    assert {each["role"]: each["members"] for each in made["policies"][PROJECT]} == {
        "roles/dns.admin": [f"serviceAccount:{BILLING}"],
        f"projects/{PROJECT}/roles/{role}": [
            f"serviceAccount:{next(email for email in made['accounts'] if email != BILLING)}"
        ],
    }
    ground.fresh()
    assert ground.cwiictl("status", *FILE, "--separate-roles", "-o", "json").but("as wanted") == {}
    ground.write("cluster.yaml", cluster(workloads=[WORKLOAD]))
    left = ground.cwiictl("status", *FILE, "--separate-roles", "-o", "json")
    assert left.code == 3
    own_ = names.service_account(Cluster(NAME), "shop/own")
    assert {thing for thing, how in left.things.items() if how == "left over"} == {
        f"gcp/service-account/{own_}",
        f"gcp/custom-role/{role}",
    }
    assert ground.mutating() == []


def test_without_a_service_account_each_of_its_own_is_given_the_roles_with_their_conditions_and_may_have_one_later(
    ground: GcpGround,
) -> None:
    ground.keys()
    condition = {
        "title": "till then",
        "expression": "request.time < timestamp('2100-01-01T00:00:00Z')",
    }
    asked: dict[str, Any] = {
        "predefinedRoles": ["roles/dns.admin", {"role": "roles/browser", "condition": condition}],
        "permissions": ["compute.disks.get"],
    }
    ground.write(
        "cluster.yaml", cluster(workloads=[{**WORKLOAD, "gcp": {**asked, "serviceAccount": False}}])
    )
    done = ground.cwiictl("create-all", *FILE, "-o", "json")
    assert done.code == 0, done.out

    made = ground.clouds()
    members = [
        principal(f"system:serviceaccount:shop:{account}")
        for account in ("billing", "billing-jobs")
    ]
    (custom,) = made["roles"]
    wanted = [
        ("roles/dns.admin", None),
        ("roles/browser", condition),
        (f"projects/{PROJECT}/roles/{custom}", None),
    ]
    assert sorted(
        (each["role"], each.get("condition")) for each in made["policies"][PROJECT]
    ) == sorted(wanted, key=str)
    assert all(sorted(each["members"]) == members for each in made["policies"][PROJECT])
    assert made["accounts"] == {}
    secret = "out/manifests/shop-billing-credentials.yaml"
    token = ground.token(sub="system:serviceaccount:shop:billing-jobs", aud=[AUDIENCE])
    assert pod.may(
        ground,
        pod.access(ground, token, secret),
        "dns.changes.create",
        "compute.disks.get",
        "compute.disks.create",
    ) == {
        "dns.changes.create",
        "compute.disks.get",
    }

    ground.write("cluster.yaml", cluster(workloads=[{**WORKLOAD, "gcp": asked}]))
    assert ground.cwiictl("create-all", *FILE).code == 0
    assert list(ground.clouds()["accounts"]) == [BILLING]
    assert pod.may(
        ground, pod.access(ground, token, secret), "dns.changes.create", "compute.disks.create"
    ) == {"dns.changes.create"}
    assert ground.delete("--yes").code == 0
    assert {**ground.clouds(), "roles": {}} == NOTHING


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (cluster({"regoin": "x"}), ("cluster.yaml", "regoin", "region")),
        (
            cluster({"project": "My Project"}, workloads=[WORKLOAD]),
            ("My Project", "clouds.gcp.project"),
        ),
        (cluster(workloads=[{**WORKLOAD, "gcp": {"rolls": []}}]), ("rolls",)),
        (
            cluster(workloads=[{**WORKLOAD, "gcp": {"predefinedRoles": ["dns.admin"]}}]),
            ("'dns.admin' is not the name of a role", "roles/dns.admin"),
        ),
        (
            cluster(workloads=[{**WORKLOAD, "gcp": {"projects": [SECOND]}}]),
            ("no role is to hold there",),
        ),
        (
            cluster(
                workloads=[
                    {**WORKLOAD, "gcp": {"predefinedRoles": ["roles/viewer"], "projects": ["A B"]}}
                ]
            ),
            ("'A B' is not the id of a project",),
        ),
        (
            cluster(workloads=[{**WORKLOAD, "gcp": {"permissions": ["disks.*"]}}]),
            ("'disks.*' is not a permission",),
        ),
        (
            cluster(workloads=[{**WORKLOAD, "gcp": {"serviceAccount": "x"}}]),
            ("'x' is no id of a service account",),
        ),
        (
            cluster(
                workloads=[
                    {
                        **WORKLOAD,
                        "gcp": {
                            "predefinedRoles": [
                                {"role": "roles/viewer", "condition": {"title": "x"}}
                            ]
                        },
                    }
                ]
            ),
            ("expression",),
        ),
        (
            cluster(
                workloads=[
                    {
                        **WORKLOAD,
                        "gcp": {
                            "predefinedRoles": [
                                {
                                    "role": "roles/viewer",
                                    "condition": {"title": "x", "expression": "true"},
                                }
                            ]
                        },
                    }
                ]
            ),
            ("cluster.yaml:", "no condition on the basic role roles/viewer"),
        ),
    ],
    ids=range(10),
)
def test_what_the_file_says_wrongly_is_told_with_its_place_before_any_call(
    ground: GcpGround, text: str, words: tuple[str, ...]
) -> None:
    asked.refused(ground, text, words)


# --- one workload ---


@pytest.fixture
def made(ground: GcpGround) -> GcpGround:
    ground.keys()
    assert ground.create_all().code == 0
    ground.fresh()
    return ground


def test_one_identity_is_made_and_its_service_accounts_are_printed_with_annotations_and_it_goes_with_the_cluster(
    made: GcpGround,
) -> None:
    done = identity(made, "-o", "yaml")

    accounts = asked.printed(done)
    for each in accounts:
        assert each["metadata"]["annotations"] == {
            "cloud.google.com/service-account-email": BILLING,
            "cloud.google.com/workload-identity-provider": f"{WHOLE}/providers/{PROVIDER}",
            "cwii.dev/gcp-audience": AUDIENCE,
            "cwii.dev/gcp-inject": "true",
            "cwii.dev/gcp-service-account": BILLING,
        }
    assert made.clouds()["accounts"][BILLING]["description"].endswith(
        "cwii.dev/cluster/demo=owned cwii.dev/origin=create-identity"
    )
    made.fresh()
    assert identity(made).but("as wanted") == {}
    assert made.mutating() == []

    shown = made.status()
    assert (shown.code, list(shown.but("as wanted").values())) == (
        0,
        ["present"],
    )  # it is never left over to create-all
    pruned = made.create_all("--prune", "--yes")
    assert (pruned.code, pruned.but("as wanted")) == (0, {})
    assert BILLING in made.clouds()["accounts"]
    gone = made.delete("--yes")
    assert [
        how for thing, how in gone.things.items() if thing.startswith("gcp/service-account/")
    ] == ["dropped"] * 3
    assert made.clouds() == LEFT


def test_create_all_does_not_change_what_it_has_made_unless_it_is_told_to_take_that_over(
    made: GcpGround,
) -> None:
    made.write("cluster.yaml", cluster(workloads=[{**WORKLOAD, "serviceAccounts": ["billing"]}]))

    def whole(ground: GcpGround, *words: str) -> Done:
        return ground.cwiictl("create-all", *FILE, *words, "-o", "json")

    asked.kept_apart(
        made, f"gcp/service-account/{BILLING.partition('@')[0]}", identity, whole, "create-identity"
    )


def test_the_projects_policy_is_not_drifted_for_what_is_new_and_is_for_what_somebody_took_away(
    made: GcpGround,
) -> None:
    policy = f"gcp/policy/{PROJECT}"
    assert identity(made, "--dry-run").things[policy] == "incomplete"
    assert identity(made).things[policy] == "updated"

    by_hand.revoked(made, "roles/dns.admin", f"serviceAccount:{BILLING}")
    assert identity(made, "--dry-run").things[policy] == "drifted"
    assert identity(made).things[policy] == "repaired"


def test_without_an_issuer_of_the_cluster_nobody_is_made_that_would_believe_a_stranger(
    ground: GcpGround,
) -> None:
    """A pool and a provider of its names may be anybody's."""
    for theirs in (False, True):
        if theirs:
            by_hand.a_pool(ground)
            by_hand.a_provider(ground)
        ground.fresh()
        done = identity(ground, "-o", "text")

        assert done.code == 2
        assert "create-identity-provider" in done.err
        assert ground.mutating() == []


def test_an_identity_of_a_cluster_with_another_issuer_is_told_which_that_is(
    made: GcpGround,
) -> None:
    done = identity(made, "--issuer-url", "https://oidc.example.org", "-o", "text")

    assert done.code == 2
    assert "--issuer-url https://storage.googleapis.com/demo-oidc" in done.err
    assert made.mutating() == []
