"""cluster.yaml says all that options say, and lists workloads; create-identity makes one workload from options."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.examples import ACCOUNT
from tests.journeys.conftest import Enter
from tests.journeys.ground import HOST, INGRESS, NAME, NOTHING, PERMISSIONS, PROVIDER, REGISTRY, Done, Ground

BILLING = f"{NAME}-shop-billing"
MANAGED = "arn:aws:iam::aws:policy/AmazonS3ReadOnlyAccess"
POLICY = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": ["s3:GetObject"], "Resource": "arn:aws:s3:::shop/*"}]}
IDENTITY = ("-n", "shop", "--service-account", "billing", "--service-account", "billing-jobs", "--managed-policy-arn", MANAGED)
FILE = ("--file", "cluster.yaml")


def cluster(**words: Any) -> str:
    told = {"apiVersion": "cwii.dev/v1", "kind": "Cluster", "name": NAME, "clouds": {"aws": {"region": "us-east-1"}}, "outputDir": "out"}
    return yaml.safe_dump({**told, **words}, sort_keys=False)


WORKLOAD = {"name": "billing", "namespace": "shop", "serviceAccounts": ["billing", "billing-jobs"], "aws": {"managedPolicyArns": [MANAGED]}}


def identity(ground: Ground, *arguments: str | Path) -> Done:
    form = () if {"-o", "--output"} & set(arguments) else ("-o", "json")
    return ground.cwiictl("create-identity", *ground.where, *IDENTITY, *arguments, *form)


# --- the file ---


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ((), {}),
        (("--user-tags", "team=infra,costs=42"), {"tags": {"team": "infra", "costs": "42"}}),
        (
            ("--aws-account", ACCOUNT, "--role-path", "/clusters/", "--max-session-duration", "7200"),
            {"clouds": {"aws": {"region": "us-east-1", "account": ACCOUNT, "rolePath": "/clusters/", "maxSessionDuration": 7200}}},
        ),
        (("--create-private-s3-bucket",), {"clouds": {"aws": {"region": "us-east-1", "createPrivateS3Bucket": True}}}),
        (("--permissions-boundary-arn", MANAGED), {"clouds": {"aws": {"region": "us-east-1", "permissionsBoundaryArn": MANAGED}}}),
        (("--issuer-url", "https://id.example.org"), {"issuer": {"url": "https://id.example.org"}}),
        (("--issuer-url", "https://id.example.org", "--issuer-exists"), {"issuer": {"url": "https://id.example.org", "exists": True}}),
    ],
    ids=["plain", "tags", "roles", "private", "boundary", "own host", "exists"],
)
def test_the_file_and_the_options_are_the_same_plan(ground: Ground, options: tuple[str, ...], words: dict[str, Any]) -> None:
    ground.write("cluster.yaml", cluster(credentialsRequests={"dir": "requests"}, **words))
    told = ground.create_all("--dry-run", *options)

    read = ground.cwiictl("create-all", *FILE, "--dry-run", "-o", "json")

    assert (told.code, read.code) == (0, 0), told.err + read.err
    assert read.data["checksum"] == told.data["checksum"]
    assert read.data == told.data
    assert ground.mutating() == []


def test_a_workload_of_the_file_is_made_trusted_for_what_the_webhook_projects_and_left_over_when_it_goes(ground: Ground) -> None:
    ground.write("cluster.yaml", cluster(workloads=[WORKLOAD, {**WORKLOAD, "name": "own", "serviceAccounts": ["own"], "aws": {"policy": POLICY}}]))

    done = ground.cwiictl("create-all", *FILE, "--bits", "2048", "-o", "json")

    assert done.code == 0, done.out
    roles = ground.clouds()["roles"]
    assert roles[BILLING]["managed"] == [MANAGED]
    assert roles[BILLING]["inline"] == {}
    assert roles[BILLING]["trust"]["Statement"][0]["Condition"]["StringEquals"] == {
        f"{HOST}:sub": ["system:serviceaccount:shop:billing", "system:serviceaccount:shop:billing-jobs"],
        f"{HOST}:aud": "sts.amazonaws.com",
    }
    assert list(roles[f"{NAME}-shop-own"]["inline"]) == [f"{NAME}-shop-own"]
    assert ground.clouds()["providers"][PROVIDER]["audiences"] == ["sts.amazonaws.com"]
    ground.fresh()
    assert ground.cwiictl("status", *FILE, "-o", "json").but("as wanted") == {}
    ground.write("cluster.yaml", cluster(workloads=[WORKLOAD]))
    assert ground.cwiictl("status", *FILE, "-o", "json").but("as wanted") == {f"aws/role/{NAME}-shop-own": "left over"}
    assert ground.mutating() == []


def test_a_run_for_workloads_alone_leaves_what_others_are_left_over_the_audience_of_their_tokens(ground: Ground) -> None:
    """Whoever forgot the requests has a list of what is left over to read, and not a cluster without its clouds."""
    ground.keys()
    ground.create_all()
    with ground.aws("iam") as iam:
        iam.add_client_id_to_open_id_connect_provider(OpenIDConnectProviderArn=PROVIDER, ClientID="mallory")
    ground.write("cluster.yaml", cluster(workloads=[WORKLOAD]))

    done = ground.cwiictl("create-all", *FILE, "-o", "json")

    assert done.code == 0, done.err
    assert {thing for thing, condition in done.things.items() if condition == "left over"} == {f"aws/role/{INGRESS}", f"aws/role/{REGISTRY}"}
    (told,) = [thing for thing in done.data["things"] if thing["thing"] == f"aws/oidc-provider/{HOST}"]
    assert [(each["have"], each["want"]) for each in told["differences"]] == [(["mallory", "sts.amazonaws.com"], ["sts.amazonaws.com"])]
    assert ground.clouds()["providers"][PROVIDER]["audiences"] == ["openshift", "sts.amazonaws.com"]
    with ground.aws("sts") as sts:
        role = f"arn:aws:iam::{ACCOUNT}:role/{INGRESS}"
        assert sts.assume_role_with_web_identity(RoleArn=role, RoleSessionName="pod", WebIdentityToken=ground.token(aud="openshift"))["Credentials"]
    ground.fresh()
    assert ground.cwiictl("create-all", *FILE, "-o", "json").but("as wanted", "left over") == {}
    assert ground.mutating() == []


def test_the_command_line_has_the_last_word(ground: Ground) -> None:
    ground.write("cluster.yaml", cluster(credentialsRequests={"dir": "requests"}, name="other", outputDir="elsewhere"))

    read = ground.cwiictl("create-all", *FILE, "--name", NAME, "--output-dir", "out", "--dry-run", "-o", "json")

    assert read.data["checksum"] == ground.create_all("--dry-run").data["checksum"]


def test_the_shipped_example_can_be_planned(ground: Ground) -> None:
    shutil.copy(Path(__file__).parents[2] / "templates" / "cluster.example.yaml", ground.folder / "cluster.yaml")
    text = (ground.folder / "cluster.yaml").read_text(encoding="utf-8")

    done = ground.cwiictl("create-all", *FILE, "--aws-account", ACCOUNT, "--dry-run", "-o", "json")

    assert done.code == 0, done.err
    assert {"aws/role/example-shop-billing", "aws/role/example-shop-invoices"} <= set(done.things)
    assert ACCOUNT in text


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (cluster(regoin="x"), ("cluster.yaml:8", "regoin")),
        (cluster(workload=[]), ("workload", "workloads")),
        (cluster(workloads=[{**WORKLOAD, "asw": {}}]), ("asw", "aws")),
        (cluster(workloads=[WORKLOAD, WORKLOAD]), ("shop/billing", "twice")),
        (cluster(workloads=[{**WORKLOAD, "aws": {}}]), ("asks AWS for nothing",)),
        (cluster(workloads=[{**WORKLOAD, "aws": {"managedPolicyArns": ["ReadOnly"]}}]), ("ReadOnly", "ARN")),
        (cluster().replace("cwii.dev/v1", "cwii.dev/v9"), ("cwii.dev/v9",)),
        (cluster(), ("nobody asks for an identity",)),
    ],
    ids=range(8),
)
def test_what_the_file_says_wrongly_is_told_with_its_place_before_any_call(ground: Ground, text: str, words: tuple[str, ...]) -> None:
    ground.write("cluster.yaml", text)

    done = ground.cwiictl("create-all", *FILE)

    assert done.code == 2
    assert all(word.lower() in done.err.lower() for word in words), done.err
    assert ground.asked() == []


# --- one workload ---


@pytest.fixture
def made(ground: Ground) -> Ground:
    ground.keys()
    ground.create_all()
    ground.fresh()
    return ground


def test_one_identity_is_made_and_its_service_accounts_are_printed(made: Ground) -> None:
    done = identity(made, "-o", "yaml")

    assert done.code == 0, done.err
    accounts = list(yaml.safe_load_all(done.out))
    assert [(each["kind"], each["metadata"]["namespace"], each["metadata"]["name"]) for each in accounts] == [
        ("ServiceAccount", "shop", "billing"),
        ("ServiceAccount", "shop", "billing-jobs"),
    ]
    assert {json.dumps(each["metadata"]["annotations"]) for each in accounts} == {
        json.dumps(
            {
                "cwii.dev/aws-inject": "true",
                "cwii.dev/aws-role-arn": f"arn:aws:iam::{ACCOUNT}:role/{BILLING}",
                "cwii.dev/aws-audience": "sts.amazonaws.com",
            }
        )
    }
    assert made.mutating() == ["iam:AttachRolePolicy", "iam:CreateRole"]
    role = made.clouds()["roles"][BILLING]
    assert role["tags"]["cwii.dev/origin"] == "create-identity"
    assert role["tags"][f"cwii.dev/cluster/{NAME}"] == "owned"
    made.fresh()
    assert identity(made).things[f"aws/role/{BILLING}"] == "as wanted"
    assert made.mutating() == []


def test_it_is_never_left_over_to_create_all_and_goes_with_the_cluster(made: Ground) -> None:
    identity(made)

    seen = made.status()
    assert (seen.code, seen.but("as wanted")) == (0, {f"aws/role/{BILLING}": "present"})
    assert "made by create-identity" in seen.out
    pruned = made.create_all("--prune", "--yes")
    assert (pruned.code, pruned.but("as wanted")) == (0, {})
    assert BILLING in made.clouds()["roles"]

    gone = made.delete("--yes")
    assert {gone.things[f"aws/role/{role}"] for role in (BILLING, INGRESS, REGISTRY)} == {"dropped"}
    assert made.clouds() == NOTHING


def test_the_service_accounts_are_written_to_a_file(made: Ground) -> None:
    done = identity(made, "--write", "accounts/billing.yaml")

    assert done.code == 0, done.err
    written = made.folder / "accounts" / "billing.yaml"
    assert list(yaml.safe_load_all(written.read_text(encoding="utf-8"))) == list(yaml.safe_load_all(done.data["manifest"]))
    assert written.stat().st_mode & 0o777 == 0o644


def test_the_service_accounts_are_applied_with_kubectl(made: Ground) -> None:
    kubectl = made.write("bin/kubectl", '#!/bin/sh\necho "$@" > applied.arguments\ncat > applied.yaml\n')
    kubectl.chmod(0o755)
    path = f"{kubectl.parent}:{made.sandbox.environment()['PATH']}"

    done = made.cwiictl("create-identity", *made.where, *IDENTITY, "--apply", "-o", "json", PATH=path)

    assert done.code == 0, done.err
    assert (made.folder / "applied.arguments").read_text(encoding="utf-8") == "apply --filename -\n"
    assert (made.folder / "applied.yaml").read_text(encoding="utf-8") == done.data["manifest"]


def test_a_policy_from_a_file_is_its_inline_policy(made: Ground) -> None:
    made.write("policy.json", json.dumps(POLICY))

    done = made.cwiictl("create-identity", *made.where, "-n", "shop", "--service-account", "a", "--identity", "billing", "--policy-file", "policy.json")

    assert done.code == 0, done.err
    assert list(made.clouds()["roles"][BILLING]["inline"]) == [BILLING]
    assert made.clouds()["roles"][BILLING]["trust"]["Statement"][0]["Condition"]["StringEquals"][f"{HOST}:sub"] == "system:serviceaccount:shop:a"


def test_a_dry_run_of_it_shows_the_plan_and_makes_nothing(made: Ground) -> None:
    done = identity(made, "--dry-run")

    assert done.code == 0
    assert done.things == {f"aws/role/{BILLING}": "missing", PERMISSIONS: "as wanted"}
    assert made.mutating() == []
    assert identity(made, "--expect", done.data["checksum"]).code == 0


def test_a_token_for_what_the_webhook_projects_is_worth_its_credentials_and_one_for_another_audience_is_not(made: Ground) -> None:
    identity(made)
    role = f"arn:aws:iam::{ACCOUNT}:role/{BILLING}"
    with made.aws("sts") as sts:
        good, bad = (made.token(sub="system:serviceaccount:shop:billing-jobs", aud=aud) for aud in ("sts.amazonaws.com", "openshift"))
        assert sts.assume_role_with_web_identity(RoleArn=role, RoleSessionName="pod", WebIdentityToken=good)["Credentials"]
        with pytest.raises(sts.exceptions.ClientError, match="AccessDenied"):
            sts.assume_role_with_web_identity(RoleArn=role, RoleSessionName="pod", WebIdentityToken=bad)


def test_with_a_private_bucket_it_trusts_the_provider_that_is_there(enter: Enter) -> None:
    """And not the one that would be there if the bucket were public."""
    ground = enter(deploy=0.2)
    assert ground.create_all("--create-private-s3-bucket").code == 0
    (provider,) = ground.clouds()["providers"]

    done = identity(ground)

    assert done.code == 0, done.out
    assert ground.clouds()["roles"][BILLING]["trust"]["Statement"][0]["Principal"] == {"Federated": provider}


@pytest.mark.parametrize(
    ("told", "named"),
    [
        ((), f"IAM has no OIDC provider of {NAME}, so nobody"),
        (("--issuer-url", "https://issuer.example.com", "--issuer-exists"), "IAM has no OIDC provider issuer.example.com, so nobody"),
    ],
    ids=["by mark", "by url"],
)
def test_without_a_provider_nobody_could_assume_its_role_and_none_is_made(ground: Ground, told: tuple[str, ...], named: str) -> None:
    done = identity(ground, *told, "-o", "text")

    assert done.code == 2
    assert named in done.out + done.err
    assert "create-identity-provider" in done.out + done.err
    assert ground.clouds() == NOTHING


def test_identities_of_a_provider_that_is_named_and_not_there_are_refused(ground: Ground) -> None:
    """As ccoctl's users name it."""
    arn = f"arn:aws:iam::{ACCOUNT}:oidc-provider/issuer.example.com"

    done = ground.cwiictl("create-identities", *ground.where, *ground.asking, "--identity-provider-arn", arn)

    assert done.code == 2
    assert "IAM has no OIDC provider issuer.example.com" in done.out + done.err
    assert ground.clouds() == NOTHING


def test_where_two_providers_bear_the_clusters_mark_it_must_be_said_which(made: Ground) -> None:
    with made.aws("iam") as iam:
        (ours,) = made.clouds()["providers"].values()
        tags = [{"Key": key, "Value": value} for key, value in ours["tags"].items()]
        iam.create_open_id_connect_provider(Url="https://a.example.com", ClientIDList=["sts.amazonaws.com"], ThumbprintList=["A" * 40], Tags=tags)

    done = identity(made)

    assert done.code == 2
    assert "IAM has 2 OIDC providers of" in done.out + done.err
    assert BILLING not in made.clouds()["roles"]
    assert identity(made, "--issuer-url", f"https://{HOST}", "--issuer-exists").code == 0
    assert made.clouds()["roles"][BILLING]["trust"]["Statement"][0]["Principal"] == {"Federated": PROVIDER}


def test_a_provider_that_was_made_a_moment_ago_is_waited_for(enter: Enter) -> None:
    """As in ccoctl's two commands, one after the other."""
    ground = enter(lag=1.5)
    made = ground.cwiictl("create-identity-provider", *ground.where, "--output-dir", "out", "--bits", "2048")
    assert made.code == 0, made.err

    done = ground.cwiictl("create-identities", *ground.where, *ground.asking)

    assert done.code == 0, done.err


def test_the_plan_that_was_expected_names_whom_the_roles_trust(made: Ground) -> None:
    """Whoever puts another provider in the place of the one that was seen does not get the roles."""
    seen = identity(made, "--dry-run").data["checksum"]
    with made.aws("iam") as iam:
        (ours,) = made.clouds()["providers"].values()
        tags = [{"Key": key, "Value": value} for key, value in ours["tags"].items()]
        iam.delete_open_id_connect_provider(OpenIDConnectProviderArn=PROVIDER)
        iam.create_open_id_connect_provider(Url="https://evil.example.com", ClientIDList=["sts.amazonaws.com"], ThumbprintList=["A" * 40], Tags=tags)

    done = identity(made, "--expect", seen)

    assert done.code == 2
    assert BILLING not in made.clouds()["roles"]


def test_a_trust_that_is_too_long_is_found_before_the_first_call_where_the_issuer_is_named(ground: Ground) -> None:
    accounts = [word for number in range(30) for word in ("--service-account", f"{'a' * 50}-{number}")]

    done = ground.cwiictl(
        "create-identity",
        *ground.where,
        "-n",
        "shop",
        *accounts,
        "--managed-policy-arn",
        MANAGED,
        "--issuer-url",
        "https://issuer.example.com",
        "--issuer-exists",
    )

    assert done.code == 2
    assert ground.clouds() == NOTHING
