"""One issuer for two clouds: hosted in either, trusted by both, and kept as long as one of them trusts it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import yaml

from cwiictl.sandbox import Sandbox, Settings
from cwiictl.sandbox.azure.world import SUBSCRIPTION, TENANT
from tests.examples import ACCOUNT, two_azure_requests, two_requests
from tests.journeys import ground as aws
from tests.journeys.azure import ground as azure
from tests.journeys.azure.ground import AzureGround
from tests.journeys.ground import NAME, Done, Ground

BOTH = (
    "--cloud",
    "aws",
    "--cloud",
    "azure",
    "--name",
    NAME,
    "--aws-region",
    "us-east-1",
    "--azure-region",
    "eastus",
    "--subscription-id",
    SUBSCRIPTION,
)
AWS, AZURE = Ground.where, AzureGround.where
HOSTS = {"aws": aws.ISSUER, "azure": azure.ISSUER}
ASKING = ("--credentials-requests-dir", "requests", "--output-dir", "out")


class Both(AzureGround):
    """The same sandbox, seen from both sides."""

    where = BOTH

    @property
    def of_aws(self) -> dict[str, Any]:
        return Ground.clouds(self)

    @property
    def of_azure(self) -> dict[str, Any]:
        return AzureGround.clouds(self)

    def believed(self, issuer: str) -> tuple[bool, bool]:
        """Whether a token of the cluster is worth something in AWS, and in Azure."""
        token = self.token(iss=issuer)
        with self.aws("sts") as sts:
            try:
                sts.assume_role_with_web_identity(
                    RoleArn=f"arn:aws:iam::{ACCOUNT}:role/{aws.INGRESS}",
                    RoleSessionName="pod",
                    WebIdentityToken=token,
                )
                in_aws = True
            except sts.exceptions.ClientError:
                in_aws = False
        identity = self.arm("GET", self.identity(azure.INGRESS))
        form = {
            "grant_type": "client_credentials",
            "client_id": identity["properties"]["clientId"] if identity else SUBSCRIPTION,
            "client_assertion_type": "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
            "client_assertion": token,
            "scope": "https://management.azure.com/.default",
        }
        return in_aws, self.session.post(
            f"https://login.microsoftonline.com/{TENANT}/oauth2/v2.0/token", data=form, timeout=30
        ).ok


@pytest.fixture
def ground(tmp_path: Path) -> Iterator[Both]:
    with ExitStack() as stack:
        ground = Both(stack.enter_context(Sandbox(Settings(deploy=0.2))), tmp_path)
        azures = {f"azure-{name}": content for name, content in two_azure_requests().items()}
        ground.requests({**two_requests(), **azures})
        ground.keys()
        yield ground


@pytest.fixture
def made(ground: Both) -> Callable[[str], Both]:
    def make(host: str) -> Both:
        done = ground.create_all("--issuer-in", host)
        assert done.code == 0, done.out
        return ground

    return make


def test_prune_does_not_drop_what_serves_an_issuer_that_another_cloud_may_still_trust(
    made: Callable[[str], Both],
) -> None:
    """Whoever took the bucket's name would be believed by Azure."""
    ground = made("aws")
    bucket = f"aws/bucket/{aws.BUCKET}"
    moved = (
        *AWS,
        *ASKING,
        "--issuer-url",
        "https://elsewhere.example.org",
        "--move-issuer",
        "--prune",
    )

    shown = ground.cwiictl("create-all", *moved, "--dry-run", "-o", "json")
    assert shown.things[bucket] == "kept"
    ground.cwiictl("create-all", *moved, "--yes")

    assert (
        bucket in ground.cwiictl("status", *AWS, *ASKING, "--issuer-in", "aws", "-o", "json").things
    )
    assert ground.believed(aws.ISSUER)[1]


def test_a_cloud_by_itself_does_not_write_over_what_tells_of_the_issuer_that_another_hosts(
    ground: Both,
) -> None:
    assert ground.cwiictl("create-all", *AZURE, *ASKING, "-o", "json").code == 0
    before = ground.tree()
    ground.fresh()

    done = ground.cwiictl("create-all", *AWS, *ASKING, "-o", "text")

    assert done.code == 2
    assert (
        f"The files in out are of the issuer {azure.ISSUER}, and this run would make another: {aws.ISSUER}."
        in done.err
    )
    assert (ground.tree(), ground.mutating()) == (before, [])
    assert (
        ground.cwiictl(
            "create-all",
            *AWS,
            *ASKING,
            "--issuer-url",
            azure.ISSUER,
            "--issuer-exists",
            "-o",
            "json",
        ).code
        == 0
    )


@pytest.mark.parametrize(
    ("region", "remedy"),
    [
        (("--azure-region", "eastsu"), "did you mean --azure-region eastus?"),
        (("--azure-region", "westeurope"), "give --azure-region eastus, or another --name"),
        (("--aws-region", "eu-west-1"), "give --aws-region us-east-1, or another --name"),
    ],
    ids=["misspelt", "changed", "changed in AWS"],
)
def test_another_region_than_the_clusters_is_refused_with_the_flag_of_its_cloud(
    made: Callable[[str], Both], region: tuple[str, str], remedy: str
) -> None:
    ground = made("aws")
    before = ground.everything(), ground.of_aws
    ground.fresh()

    for command in ("create-all", "status"):
        done = ground.cwiictl(command, *BOTH, *ASKING, *region, "--issuer-in", "aws", "-o", "json")
        assert remedy in {one.get("remedy") for one in done.data["things"]}, done.out
        assert done.code == 2

    assert ground.mutating() == []
    assert (ground.everything(), ground.of_aws) == before


def hosting(of: str) -> set[str]:
    return {
        "aws": {f"aws/bucket/{aws.BUCKET}"},
        "azure": {
            f"azure/storage-account/{azure.GROUP}/{azure.ACCOUNT}",
            f"azure/container/{azure.ACCOUNT}/{azure.CONTAINER}",
        },
    }[of]


@pytest.mark.parametrize(("host", "other"), [("aws", "azure"), ("azure", "aws")])
def test_one_issuer_is_trusted_by_both_clouds_and_a_second_run_is_silent(
    made: Callable[[str], Both], host: str, other: str
) -> None:
    ground = made(host)

    assert ground.believed(HOSTS[host]) == (True, True)
    assert ground.believed(HOSTS[other]) == (False, False)
    assert bool(ground.of_aws["buckets"]) is (host == "aws")
    assert bool(ground.of_azure["accounts"]) is (host == "azure")
    ground.fresh()
    again, status = ground.create_all("--issuer-in", host), ground.status("--issuer-in", host)
    assert (again.code, again.but("as wanted")) == (0, {})
    assert (status.code, status.but("as wanted")) == (0, {})
    assert ground.mutating() == []


def test_the_secrets_of_both_lie_side_by_side_and_one_issuer_is_told(
    made: Callable[[str], Both],
) -> None:
    """A request of each cloud may name one Secret: then it holds what both say."""
    tree = made("aws").tree()

    manifests = {
        path.rpartition("/")[2]: yaml.safe_load(content)
        for path, (_, content) in tree.items()
        if path.startswith("manifests/")
    }
    secret = manifests["openshift-ingress-operator-cloud-credentials-credentials.yaml"][
        "stringData"
    ]
    assert f"role_arn = arn:aws:iam::{ACCOUNT}:role/{aws.INGRESS}" in secret["credentials"]
    assert secret["azure_tenant_id"] == TENANT
    assert (
        manifests["cluster-authentication-02-config.yaml"]["spec"]["serviceAccountIssuer"]
        == aws.ISSUER
    )
    assert manifests["azure-ad-pod-identity-webhook-config.yaml"]["stringData"] == {
        "azure_tenant_id": TENANT
    }


def gone(done: Done, *kept: str) -> None:
    assert done.code == 0, done.out
    groups = {
        thing for thing in done.things if thing.startswith("azure/resource-group/")
    }  # which go only if that is asked for
    assert {
        thing for thing, condition in done.things.items() if condition == "kept"
    } - groups == set(kept)
    assert done.but("dropped", "kept") == {}


def test_azure_is_taken_down_and_the_issuer_that_aws_trusts_is_kept_until_both_go(
    made: Callable[[str], Both],
) -> None:
    ground = made("azure")

    done = ground.cwiictl("delete", *AZURE, "--yes", "-o", "json")
    gone(done, *hosting("azure"))
    assert "aws may still trust it" in done.out
    assert (ground.of_azure["identities"], ground.of_azure["assignments"]) == ({}, [])
    assert ground.believed(azure.ISSUER) == (True, False)
    gone(ground.cwiictl("delete", *AZURE, "--yes", "-o", "json"), *hosting("azure"))

    ground.fresh()
    both = ground.delete("--yes")
    gone(both)
    assert ground.of_aws == aws.NOTHING
    assert ground.of_azure["accounts"] == {}
    order = [seen.action for seen in ground.sandbox.record[ground.before :] if seen.mutating]
    assert order.index("iam:DeleteOpenIDConnectProvider") < order.index(
        "Microsoft.Storage/storageAccounts/delete"
    )


def test_azures_identities_go_and_a_bucket_that_aws_hosts_stays(
    made: Callable[[str], Both],
) -> None:
    ground = made("aws")

    gone(ground.cwiictl("delete", *AZURE, "--yes", "-o", "json"))

    assert ground.of_azure["identities"] == {}
    assert ground.believed(aws.ISSUER) == (True, False)


def test_aws_goes_first_and_its_bucket_stays_for_azure_unless_the_issuer_is_named(
    made: Callable[[str], Both],
) -> None:
    ground = made("aws")

    done = ground.cwiictl("delete", *AWS, "--yes", "-o", "json")
    assert done.code == 0, done.out
    assert done.things[f"aws/bucket/{aws.BUCKET}"] == "kept"
    assert "azure may still trust it" in done.out
    assert ground.of_aws["roles"] == {}
    assert ground.believed(aws.ISSUER) == (False, True)

    done = ground.cwiictl("delete", *AWS, "--yes", "--issuer", "-o", "json")
    assert done.code == 0, done.out
    assert ground.of_aws == aws.NOTHING
    assert ground.believed(aws.ISSUER) == (False, False)


def test_one_by_one_the_last_is_told_the_command_that_lets_the_issuer_go(
    made: Callable[[str], Both],
) -> None:
    """Who takes down a cloud cannot see in another whether the issuer is trusted there."""
    ground = made("aws")

    first = ground.cwiictl("delete", *AWS, "--yes", "-o", "json")
    (told,) = first.data["hints"]
    command = told.partition(": cwiictl ")[2].split()
    assert command == ["delete", *AWS, "--issuer"]
    status = ground.cwiictl("status", *AWS, "--output-dir", "out", "-o", "json")
    assert status.remarks == {
        f"aws/bucket/{aws.BUCKET}": [
            "azure may trust it too: delete keeps it, unless azure goes with it or --issuer is given"
        ]
    }

    last = ground.cwiictl("delete", *AZURE, "--yes")
    assert f"The issuer {aws.ISSUER} is in aws, and stays." in last.out
    assert f"cwiictl {' '.join(command)}\n" in last.out
    done = ground.cwiictl(*command, "--yes", "-o", "json")
    assert (done.code, done.things) == (0, {f"aws/bucket/{aws.BUCKET}": "dropped"})
    assert ground.of_aws == aws.NOTHING


def test_a_cloud_that_is_added_later_trusts_the_issuer_that_is_there(ground: Both) -> None:
    assert ground.cwiictl("create-all", *AWS, *ASKING, "--bits", "2048").code == 0
    before = ground.of_aws
    exists = ("--issuer-url", aws.ISSUER, "--issuer-exists", *ASKING)

    done = ground.cwiictl("create-all", *AZURE, *exists, "-o", "json")

    assert done.code == 0, done.out
    assert ground.of_azure["accounts"] == {}
    assert ground.believed(aws.ISSUER) == (True, True)
    assert ground.of_aws == before
    ground.fresh()
    assert ground.cwiictl("create-all", *AZURE, *exists, "-o", "json").but("as wanted") == {}
    assert ground.mutating() == []
    gone(ground.cwiictl("delete", *AZURE, "--yes", "-o", "json"))
    assert ground.of_aws == before


def test_what_the_files_tell_of_another_cloud_stays_as_one_run_for_both_would_write_it(
    ground: Both,
) -> None:
    installers = ("--installer", "openshift", "--installer", "kubeadm")
    assert ground.cwiictl("create-all", *AWS, *ASKING, *installers, "--bits", "2048").code == 0
    alone = told(ground)
    assert ground.cwiictl("create-all", *BOTH, *ASKING, *installers).code == 0
    of_both = told(ground)
    assert of_both != alone

    for where in (AWS, AZURE):
        exists = ("--issuer-url", aws.ISSUER, "--issuer-exists") if where == AZURE else ()
        done = ground.cwiictl("create-all", *where, *ASKING, *installers, *exists)
        assert done.code == 0, done.out
        assert told(ground) == of_both


def test_a_run_that_fails_takes_nothing_from_the_files(ground: Both) -> None:
    assert ground.create_all("--installer", "openshift", "--installer", "kubeadm").code == 0
    before = told(ground)
    with ground.aws("iam") as iam:
        iam.delete_role_policy(RoleName=aws.INGRESS, PolicyName=aws.INGRESS)
    ground.sandbox.faults.deny = {"iam:PutRolePolicy"}

    assert ground.create_all("--installer", "openshift", "--installer", "kubeadm").code == 1

    assert told(ground) == before


def told(ground: Both) -> dict[str, Any]:
    """All objects of the output folder, by file."""
    files = (path for path in (ground.folder / "out").rglob("*.yaml"))
    return {str(path): list(yaml.safe_load_all(path.read_text())) for path in files}


def test_killed_in_the_middle_both_are_finished_by_the_next_run(ground: Both) -> None:
    ground.killed(9, "create-all", *BOTH, *ASKING, "--issuer-in", "azure")

    done = ground.create_all("--issuer-in", "azure")

    assert done.code == 0, done.out
    assert ground.believed(azure.ISSUER) == (True, True)
    gone(ground.delete("--yes"))


def test_the_help_tells_what_is_for_all_clouds_and_what_is_for_each(ground: Both) -> None:
    told = ground.cwiictl("create-all", "--help").out

    whole, of_aws, of_azure = (
        told.index(title) for title in ("\nOptions:", "\nOptions of AWS:", "\nOptions of Azure:")
    )
    assert whole < of_aws < of_azure
    assert "--aws-region" in told[of_aws:of_azure]
    assert "--s3-bucket" in told[of_aws:of_azure]
    assert "--subscription-id" in told[of_azure:]
    assert "--create-private-storage-account" in told[of_azure:]
    assert all(
        flag in told[whole:of_aws]
        for flag in ("--region", "--issuer-in", "--name", "--credentials-requests-dir")
    )
    assert told[whole:].count("  --region ") == 1
    assert max(map(len, told.splitlines())) <= 116


def test_the_policies_of_two_clouds_are_one_document_and_a_command_is_told_which_policy_is_its(
    ground: Ground,
) -> None:
    both = ground.cwiictl("permissions", "delete", *BOTH)
    assert set(both.data) == {"aws", "azure"}

    done = ground.cwiictl("permissions", "create-all", *BOTH)
    assert (done.code, done.err) == (
        2,
        "Error: There is no policy for 'create-all'.\n  Did you mean create?\n",
    )
