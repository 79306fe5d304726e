"""create-identity: one workload, from options."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from tests.examples import ACCOUNT
from tests.journeys import asked
from tests.journeys.asked import BILLING, MANAGED, POLICY
from tests.journeys.conftest import Enter
from tests.journeys.ground import (
    HOST,
    INGRESS,
    NAME,
    NOTHING,
    PERMISSIONS,
    PROVIDER,
    REGISTRY,
    Done,
    Ground,
)

IDENTITY = (
    "-n",
    "shop",
    "--service-account",
    "billing",
    "--service-account",
    "billing-jobs",
    "--managed-policy-arn",
    MANAGED,
)


def identity(ground: Ground, *arguments: str | Path) -> Done:
    form = () if {"-o", "--output"} & set(arguments) else ("-o", "json")
    return ground.cwiictl("create-identity", *ground.where, *IDENTITY, *arguments, *form)


@pytest.fixture
def made(ground: Ground) -> Ground:
    ground.keys()
    ground.create_all()
    ground.fresh()
    return ground


def test_one_identity_is_made_and_its_service_accounts_are_printed(made: Ground) -> None:
    done = identity(made, "-o", "yaml")

    accounts = asked.printed(done)
    assert {json.dumps(each["metadata"]["annotations"]) for each in accounts} == {
        json.dumps(
            {
                "cwii.dev/aws-inject": "true",
                "cwii.dev/aws-role-arn": f"arn:aws:iam::{ACCOUNT}:role/{BILLING}",
                "cwii.dev/aws-audience": "sts.amazonaws.com",
                "eks.amazonaws.com/role-arn": f"arn:aws:iam::{ACCOUNT}:role/{BILLING}",
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
    assert list(yaml.safe_load_all(written.read_text(encoding="utf-8"))) == list(
        yaml.safe_load_all(done.data["manifest"])
    )
    assert written.stat().st_mode & 0o777 == 0o644


def test_the_service_accounts_are_applied_with_kubectl(made: Ground) -> None:
    kubectl = made.write(
        "bin/kubectl", '#!/bin/sh\necho "$@" > applied.arguments\ncat > applied.yaml\n'
    )
    kubectl.chmod(0o755)
    path = f"{kubectl.parent}:{made.sandbox.environment()['PATH']}"

    done = made.cwiictl(
        "create-identity", *made.where, *IDENTITY, "--apply", "-o", "json", PATH=path
    )

    assert done.code == 0, done.err
    assert (made.folder / "applied.arguments").read_text(encoding="utf-8") == "apply --filename -\n"
    assert (made.folder / "applied.yaml").read_text(encoding="utf-8") == done.data["manifest"]


REQUESTS_OWN = (
    "-n",
    "openshift-image-registry",
    "--service-account",
    "x",
    "--identity",
    "installer-cloud-credentials",
    "--managed-policy-arn",
    MANAGED,
)


def test_it_does_not_narrow_what_create_all_has_made_unless_it_is_told_to_take_that_over(
    made: Ground,
) -> None:
    def single(ground: Ground, *words: str) -> Done:
        return ground.cwiictl("create-identity", *ground.where, *REQUESTS_OWN, *words, "-o", "json")

    asked.kept_apart(made, f"aws/role/{REGISTRY}", Ground.create_all, single, "create-all")
    assert made.status().things[f"aws/role/{REGISTRY}"] == "foreign"


@pytest.mark.parametrize("whose", ["aws", ACCOUNT])
@pytest.mark.parametrize("words", [("--dry-run",), ()], ids=["dry run", "run"])
@pytest.mark.parametrize("flag", ["--managed-policy-arn", "--permissions-boundary-arn"])
def test_a_policy_that_is_not_there_is_told_before_anything_is_made(
    made: Ground, flag: str, words: tuple[str, ...], whose: str
) -> None:
    nonsense = f"arn:aws:iam::{whose}:policy/Nonsense"

    done = identity(made, flag, nonsense, *words)

    assert done.code == 2
    assert f"AWS has no policy {nonsense}" in done.out
    assert made.mutating() == []


def test_a_policy_that_may_not_be_looked_for_is_believed(made: Ground) -> None:
    made.sandbox.faults.deny = {"iam:GetPolicy"}

    assert identity(made).code == 0
    made.sandbox.faults.deny = set()
    assert made.clouds()["roles"][BILLING]["managed"] == [MANAGED]


def test_what_a_failed_run_has_made_is_told_with_what_to_run(made: Ground) -> None:
    made.sandbox.faults.deny = {"iam:AttachRolePolicy", "iam:SimulatePrincipalPolicy"}

    done = identity(made, "-o", "yaml")

    asked.unfinished(done, f"aws/role/{BILLING}", "iam:AttachRolePolicy")
    assert BILLING in made.clouds()["roles"]
    assert identity(made).things[f"aws/role/{BILLING}"] == "failed"  # by this run it was not made
    made.sandbox.faults.deny = set()
    assert identity(made).things[f"aws/role/{BILLING}"] in {"repaired", "as wanted"}


def test_a_dry_run_prints_its_service_accounts_alone_to_kubectl_and_the_plan_to_people(
    made: Ground,
) -> None:
    done = identity(made, "--dry-run", "-o", "yaml")

    first = asked.printed(done)
    assert "cwii.dev/aws-role-arn" in first[0]["metadata"]["annotations"]
    assert f"  missing     aws/role/{BILLING}\n" in done.err
    assert "--expect" in done.err
    assert made.mutating() == []
    assert asked.printed(identity(made, "-o", "yaml")) == first


def test_a_policy_from_a_file_is_its_inline_policy(made: Ground) -> None:
    made.write("policy.json", json.dumps(POLICY))

    done = made.cwiictl(
        "create-identity",
        *made.where,
        "-n",
        "shop",
        "--service-account",
        "a",
        "--identity",
        "billing",
        "--policy-file",
        "policy.json",
    )

    assert done.code == 0, done.err
    assert list(made.clouds()["roles"][BILLING]["inline"]) == [BILLING]
    assert (
        made.clouds()["roles"][BILLING]["trust"]["Statement"][0]["Condition"]["StringEquals"][
            f"{HOST}:sub"
        ]
        == "system:serviceaccount:shop:a"
    )


def test_a_dry_run_of_it_shows_the_plan_and_makes_nothing(made: Ground) -> None:
    done = identity(made, "--dry-run")

    assert done.code == 0
    assert done.things == {f"aws/role/{BILLING}": "missing", PERMISSIONS: "as wanted"}
    assert made.mutating() == []
    assert identity(made, "--expect", done.data["checksum"]).code == 0


def test_a_token_for_what_the_webhook_projects_is_worth_its_credentials_and_one_for_another_audience_is_not(
    made: Ground,
) -> None:
    identity(made)
    role = f"arn:aws:iam::{ACCOUNT}:role/{BILLING}"
    with made.aws("sts") as sts:
        good, bad = (
            made.token(sub="system:serviceaccount:shop:billing-jobs", aud=aud)
            for aud in ("sts.amazonaws.com", "openshift")
        )
        assert sts.assume_role_with_web_identity(
            RoleArn=role, RoleSessionName="pod", WebIdentityToken=good
        )["Credentials"]
        with pytest.raises(sts.exceptions.ClientError, match="AccessDenied"):
            sts.assume_role_with_web_identity(
                RoleArn=role, RoleSessionName="pod", WebIdentityToken=bad
            )


def test_with_a_private_bucket_it_trusts_the_provider_that_is_there(enter: Enter) -> None:
    """And not the one that would be there if the bucket were public."""
    ground = enter(deploy=0.2)
    assert ground.create_all("--create-private-s3-bucket").code == 0
    (provider,) = ground.clouds()["providers"]

    done = identity(ground)

    assert done.code == 0, done.out
    assert ground.clouds()["roles"][BILLING]["trust"]["Statement"][0]["Principal"] == {
        "Federated": provider
    }


@pytest.mark.parametrize(
    ("told", "named"),
    [
        ((), f"IAM has no OIDC provider of {NAME}, so nobody"),
        (
            ("--issuer-url", "https://issuer.example.com", "--issuer-exists"),
            "IAM has no OIDC provider issuer.example.com, so nobody",
        ),
    ],
    ids=["by mark", "by url"],
)
def test_without_a_provider_nobody_could_assume_its_role_and_none_is_made(
    ground: Ground, told: tuple[str, ...], named: str
) -> None:
    done = identity(ground, *told, "-o", "text")

    assert done.code == 2
    assert named in done.out + done.err
    assert "create-identity-provider" in done.out + done.err
    assert ground.clouds() == NOTHING


def test_identities_of_a_provider_that_is_named_and_not_there_are_refused(ground: Ground) -> None:
    """As ccoctl's users name it."""
    arn = f"arn:aws:iam::{ACCOUNT}:oidc-provider/issuer.example.com"

    done = ground.cwiictl(
        "create-identities", *ground.where, *ground.asking, "--identity-provider-arn", arn
    )

    assert done.code == 2
    assert "IAM has no OIDC provider issuer.example.com" in done.out + done.err
    assert ground.clouds() == NOTHING


def test_where_two_providers_bear_the_clusters_mark_it_must_be_said_which(made: Ground) -> None:
    with made.aws("iam") as iam:
        (ours,) = made.clouds()["providers"].values()
        tags = [{"Key": key, "Value": value} for key, value in ours["tags"].items()]
        iam.create_open_id_connect_provider(
            Url="https://a.example.com",
            ClientIDList=["sts.amazonaws.com"],
            ThumbprintList=["A" * 40],
            Tags=tags,
        )

    done = identity(made)

    assert done.code == 2
    assert "IAM has 2 OIDC providers of" in done.out + done.err
    assert BILLING not in made.clouds()["roles"]
    assert identity(made, "--issuer-url", f"https://{HOST}", "--issuer-exists").code == 0
    assert made.clouds()["roles"][BILLING]["trust"]["Statement"][0]["Principal"] == {
        "Federated": PROVIDER
    }


def test_a_provider_that_was_made_a_moment_ago_is_waited_for(enter: Enter) -> None:
    """As in ccoctl's two commands, one after the other."""
    ground = enter(lag=1.5)
    made = ground.cwiictl(
        "create-identity-provider", *ground.where, "--output-dir", "out", "--bits", "2048"
    )
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
        iam.create_open_id_connect_provider(
            Url="https://evil.example.com",
            ClientIDList=["sts.amazonaws.com"],
            ThumbprintList=["A" * 40],
            Tags=tags,
        )

    done = identity(made, "--expect", seen)

    assert done.code == 2
    assert BILLING not in made.clouds()["roles"]


def test_a_trust_that_is_too_long_is_found_before_the_first_call_where_the_issuer_is_named(
    ground: Ground,
) -> None:
    accounts = [
        word for number in range(30) for word in ("--service-account", f"{'a' * 50}-{number}")
    ]

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
