"""cluster.yaml says all that options say, and lists workloads; create-identity makes one workload from options."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.examples import ACCOUNT
from tests.journeys import asked
from tests.journeys.asked import BILLING, MANAGED, POLICY
from tests.journeys.ground import HOST, INGRESS, NAME, PROVIDER, REGISTRY, Ground

FILE = ("--file", "cluster.yaml")


def cluster(**words: Any) -> str:
    told = {
        "apiVersion": "cwii.dev/v1",
        "kind": "Cluster",
        "name": NAME,
        "clouds": {"aws": {"region": "us-east-1"}},
        "outputDir": "out",
    }
    return yaml.safe_dump({**told, **words}, sort_keys=False)


WORKLOAD = {
    "name": "billing",
    "namespace": "shop",
    "serviceAccounts": ["billing", "billing-jobs"],
    "aws": {"managedPolicyArns": [MANAGED]},
}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ((), {}),
        (("--user-tags", "team=infra,costs=42"), {"tags": {"team": "infra", "costs": "42"}}),
        (
            (
                "--aws-account",
                ACCOUNT,
                "--role-path",
                "/clusters/",
                "--max-session-duration",
                "7200",
            ),
            {
                "clouds": {
                    "aws": {
                        "region": "us-east-1",
                        "account": ACCOUNT,
                        "rolePath": "/clusters/",
                        "maxSessionDuration": 7200,
                    }
                }
            },
        ),
        (
            ("--create-private-s3-bucket",),
            {"clouds": {"aws": {"region": "us-east-1", "createPrivateS3Bucket": True}}},
        ),
        (
            ("--permissions-boundary-arn", MANAGED),
            {"clouds": {"aws": {"region": "us-east-1", "permissionsBoundaryArn": MANAGED}}},
        ),
        (("--issuer-url", "https://id.example.org"), {"issuer": {"url": "https://id.example.org"}}),
        (
            ("--issuer-url", "https://id.example.org", "--issuer-exists"),
            {"issuer": {"url": "https://id.example.org", "exists": True}},
        ),
    ],
    ids=["plain", "tags", "roles", "private", "boundary", "own host", "exists"],
)
def test_the_file_and_the_options_are_the_same_plan(
    ground: Ground, options: tuple[str, ...], words: dict[str, Any]
) -> None:
    ground.write("cluster.yaml", cluster(credentialsRequests={"dir": "requests"}, **words))
    told = ground.create_all("--dry-run", *options)

    read = ground.cwiictl("create-all", *FILE, "--dry-run", "-o", "json")

    assert (told.code, read.code) == (0, 0), told.err + read.err
    assert read.data["checksum"] == told.data["checksum"]
    assert read.data == told.data
    assert ground.mutating() == []


def test_a_workload_of_the_file_is_made_trusted_for_what_the_webhook_projects_and_left_over_when_it_goes(
    ground: Ground,
) -> None:
    ground.write(
        "cluster.yaml",
        cluster(
            workloads=[
                WORKLOAD,
                {**WORKLOAD, "name": "own", "serviceAccounts": ["own"], "aws": {"policy": POLICY}},
            ]
        ),
    )

    done = ground.cwiictl("create-all", *FILE, "--bits", "2048", "-o", "json")

    assert done.code == 0, done.out
    roles = ground.clouds()["roles"]
    assert roles[BILLING]["managed"] == [MANAGED]
    assert roles[BILLING]["inline"] == {}
    assert roles[BILLING]["trust"]["Statement"][0]["Condition"]["StringEquals"] == {
        f"{HOST}:sub": [
            "system:serviceaccount:shop:billing",
            "system:serviceaccount:shop:billing-jobs",
        ],
        f"{HOST}:aud": "sts.amazonaws.com",
    }
    assert list(roles[f"{NAME}-shop-own"]["inline"]) == [f"{NAME}-shop-own"]
    assert ground.clouds()["providers"][PROVIDER]["audiences"] == ["sts.amazonaws.com"]
    ground.fresh()
    assert ground.cwiictl("status", *FILE, "-o", "json").but("as wanted") == {}
    ground.write("cluster.yaml", cluster(workloads=[WORKLOAD]))
    assert ground.cwiictl("status", *FILE, "-o", "json").but("as wanted") == {
        f"aws/role/{NAME}-shop-own": "left over"
    }
    assert ground.mutating() == []


def test_a_run_for_workloads_alone_leaves_what_others_are_left_over_the_audience_of_their_tokens(
    ground: Ground,
) -> None:
    """Whoever forgot the requests has a list of what is left over to read, and not a cluster without its clouds."""
    ground.keys()
    ground.create_all()
    with ground.aws("iam") as iam:
        iam.add_client_id_to_open_id_connect_provider(
            OpenIDConnectProviderArn=PROVIDER, ClientID="mallory"
        )
    ground.write("cluster.yaml", cluster(workloads=[WORKLOAD]))

    done = ground.cwiictl("create-all", *FILE, "-o", "json")

    assert done.code == 0, done.err
    assert {thing for thing, condition in done.things.items() if condition == "left over"} == {
        f"aws/role/{INGRESS}",
        f"aws/role/{REGISTRY}",
    }
    (told,) = [
        thing for thing in done.data["things"] if thing["thing"] == f"aws/oidc-provider/{HOST}"
    ]
    assert [(each["have"], each["want"]) for each in told["differences"]] == [
        (["mallory", "sts.amazonaws.com"], ["sts.amazonaws.com"])
    ]
    assert ground.clouds()["providers"][PROVIDER]["audiences"] == ["openshift", "sts.amazonaws.com"]
    with ground.aws("sts") as sts:
        role = f"arn:aws:iam::{ACCOUNT}:role/{INGRESS}"
        assert sts.assume_role_with_web_identity(
            RoleArn=role, RoleSessionName="pod", WebIdentityToken=ground.token(aud="openshift")
        )["Credentials"]
    ground.fresh()
    assert ground.cwiictl("create-all", *FILE, "-o", "json").but("as wanted", "left over") == {}
    assert ground.mutating() == []


def test_the_command_line_has_the_last_word(ground: Ground) -> None:
    ground.write(
        "cluster.yaml",
        cluster(credentialsRequests={"dir": "requests"}, name="other", outputDir="elsewhere"),
    )

    read = ground.cwiictl(
        "create-all", *FILE, "--name", NAME, "--output-dir", "out", "--dry-run", "-o", "json"
    )

    assert read.data["checksum"] == ground.create_all("--dry-run").data["checksum"]


def test_the_shipped_example_can_be_planned(ground: Ground) -> None:
    shutil.copy(
        Path(__file__).parents[2] / "templates" / "cluster.example.yaml",
        ground.folder / "cluster.yaml",
    )
    text = (ground.folder / "cluster.yaml").read_text(encoding="utf-8")

    done = ground.cwiictl("create-all", *FILE, "--aws-account", ACCOUNT, "--dry-run", "-o", "json")

    assert done.code == 0, done.err
    assert {"aws/role/example-shop-billing", "aws/role/example-shop-invoices"} <= set(done.things)
    assert ACCOUNT in text


OF_GOOGLE = {key: value for key, value in WORKLOAD.items() if key != "aws"} | {
    "gcp": {"predefinedRoles": ["roles/storage.objectViewer"]}
}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (cluster(regoin="x"), ("cluster.yaml:8", "regoin")),
        (cluster(workload=[]), ("workload", "workloads")),
        (cluster(workloads=[{**WORKLOAD, "asw": {}}]), ("asw", "aws")),
        (cluster(workloads=[WORKLOAD, WORKLOAD]), ("shop/billing", "twice")),
        (cluster(workloads=[{**WORKLOAD, "aws": {}}]), ("asks AWS for nothing",)),
        (
            cluster(workloads=[{**WORKLOAD, "aws": {"managedPolicyArns": ["ReadOnly"]}}]),
            ("ReadOnly", "ARN"),
        ),
        (cluster().replace("cwii.dev/v1", "cwii.dev/v9"), ("cwii.dev/v9",)),
        (cluster(), ("nobody asks for an identity",)),
        (
            cluster(workloads=[OF_GOOGLE]),
            ("nobody asks aws for an identity", "or a cluster.yaml that does"),
        ),
    ],
    ids=range(9),
)
def test_what_the_file_says_wrongly_is_told_with_its_place_before_any_call(
    ground: Ground, text: str, words: tuple[str, ...]
) -> None:
    asked.refused(ground, text, words)


@pytest.mark.parametrize(
    ("clouds", "words"),
    [
        (
            {"aws": {}},
            (
                "AWS needs --region",
                "Give --region REGION, or write clouds.aws.region in cluster.yaml.",
            ),
        ),
        (
            {"aws": {"region": "US_EAST"}},
            ("AWS has no region 'US_EAST'", "such as us-east-1 with clouds.aws.region."),
        ),
        (
            {"aws": {"region": "us-east-1"}, "azure": {"region": "eastus"}},
            ("Azure needs --subscription-id", "clouds.azure.subscriptionId in cluster.yaml"),
        ),
        (
            {
                "aws": {"region": "us-east-1"},
                "gcp": {"project": "some-project", "region": "nowhere"},
            },
            ("no location 'nowhere'", "with clouds.gcp.region"),
        ),
    ],
    ids=["missing", "wrong", "missing of two", "wrong of two"],
)
def test_what_the_file_says_of_a_cloud_is_told_in_the_files_words(
    ground: Ground, clouds: dict[str, Any], words: tuple[str, ...]
) -> None:
    asked.refused(ground, cluster(clouds=clouds), words)
