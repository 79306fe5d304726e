"""What machines read is one document; what people read is a line per thing; and nothing that is secret is in either."""

from __future__ import annotations

import json

import pytest

from cwiictl.installers import INSTALLERS
from cwiictl.sandbox.aws.keyring import SECRET
from tests.examples import an_object, text, two_requests
from tests.journeys.conftest import Enter
from tests.journeys.ground import BUCKET, HOST, INGRESS, PERMISSIONS, REGISTRY, Ground

THINGS = [
    f"aws/bucket-policy/{BUCKET}",
    f"aws/bucket/{BUCKET}",
    f"aws/document/{BUCKET}/.well-known/openid-configuration",
    f"aws/key-set/{BUCKET}/keys.json",
    f"aws/oidc-provider/{HOST}",
    f"aws/role/{REGISTRY}",
    f"aws/role/{INGRESS}",
    f"issuer/https://{HOST}",
    "local/key/signing-key",
]


def test_json_of_every_command_is_one_document_and_nothing_else(ground: Ground) -> None:
    form = ("-o", "json")
    runs = {
        "create-key-pair": ground.cwiictl(
            "create-key-pair", "--output-dir", "out", "--bits", "2048", *form
        ),
        "a dry run": ground.create_all("--dry-run"),
        "create-identity-provider": ground.cwiictl(
            "create-identity-provider", *ground.where, "--output-dir", "out", *form
        ),
        "create-identities": ground.cwiictl(
            "create-identities", *ground.where, *ground.asking, *form
        ),
        "create-all": ground.create_all(),
        "status": ground.status(),
        "delete --dry-run": ground.delete("--dry-run"),
        "delete": ground.delete("--yes"),
    }

    for command, done in runs.items():
        assert done.code == 0, f"{command}: {done.err}"
        assert set(done.data) == {
            "callers",
            "checksum",
            "exitCode",
            "interrupted",
            "things",
            "skipped",
            "files",
            "written",
            "outdated",
        }, command
        assert done.data["exitCode"] == done.code
        if command != "create-key-pair":
            assert done.data["callers"] == [
                {
                    "cloud": "aws",
                    "account": "123456789012",
                    "caller": "arn:aws:iam::123456789012:user/sandbox",
                }
            ]


def test_what_went_wrong_is_in_the_document_too(ground: Ground) -> None:
    with ground.aws("s3") as s3:
        s3.create_bucket(Bucket=BUCKET)

    done = ground.create_all()

    assert done.code == done.data["exitCode"] == 4
    (told,) = [thing for thing in done.data["things"] if thing["condition"] == "foreign"]
    assert set(told) >= {"problem", "remedy"}


def test_beside_what_machines_read_there_is_one_line_for_each_thing_that_changes(
    ground: Ground,
) -> None:
    first = ground.create_all()
    assert sorted(first.err.splitlines()) == sorted(f"created {thing}" for thing in THINGS)

    assert ground.create_all().err == ""
    assert ground.status().err == ""

    with ground.aws("iam") as iam:
        iam.update_role_description(RoleName=INGRESS, Description="another")
    assert ground.create_all().err == f"repaired aws/role/{INGRESS}\n"

    gone = ground.delete("--yes")
    assert sorted(gone.err.splitlines()) == sorted(
        f"dropped {thing}"
        for thing in THINGS
        if thing.startswith(("aws/bucket/", "aws/oidc", "aws/role"))
    )


def test_people_see_whose_account_it_is_first(ground: Ground) -> None:
    done = ground.create_all("-o", "text")

    lines = done.out.splitlines()
    assert lines[0] == "aws: account 123456789012, as arn:aws:iam::123456789012:user/sandbox"
    told = sorted([*([thing, "created"] for thing in THINGS), [PERMISSIONS, "as", "wanted"]])
    assert [line.split() for line in lines[1:11]] == [
        [*condition, thing] for thing, *condition in told
    ]
    assert lines[11] == "9 created, 1 as wanted."
    assert "\x1b" not in done.out + done.err


@pytest.mark.parametrize("command", ["create_all", "delete"])
def test_people_are_told_of_each_thing_once_where_nothing_moves(
    ground: Ground, command: str
) -> None:
    made = ground.create_all("-o", "text")

    done = made if command == "create_all" else ground.delete("--yes", "-o", "text")

    every = [word for line in (done.out + done.err).splitlines() for word in line.split()]
    assert {
        every.count(thing)
        for thing in (f"aws/bucket/{BUCKET}", f"aws/role/{INGRESS}", f"aws/oidc-provider/{HOST}")
    } == {1}, done.out + done.err


def test_people_see_what_has_drifted_from_what_to_what(ground: Ground) -> None:
    ground.create_all()
    with ground.aws("iam") as iam:
        iam.update_role_description(RoleName=INGRESS, Description="another")

    done = ground.status("-o", "text")

    assert done.code == 3
    assert ["drifted", f"aws/role/{INGRESS}"] in [line.split() for line in done.out.splitlines()]
    assert (
        "description: another -> OpenShift role for openshift-ingress-operator/cloud-credentials"
        in " ".join(done.out.split())
    )
    assert "1 drifted" in done.out


def test_requests_that_are_not_followed_are_told_with_the_reason(ground: Ground) -> None:
    preview = an_object("preview", "n", "s")
    preview["metadata"]["annotations"] = {
        "release.openshift.io/feature-set": "TechPreviewNoUpgrade"
    }
    gone = an_object("gone", "n", "t")
    gone["metadata"]["annotations"] = {"release.openshift.io/delete": "true"}
    azure = an_object("azure", "n", "u")
    azure["spec"]["providerSpec"]["kind"] = "AzureProviderSpec"
    ground.requests(
        {
            **two_requests(),
            "more.yaml": text(
                preview,
                gone,
                azure,
                {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "else"}},
            ),
        }
    )

    done = ground.create_all()

    assert done.code == 0, done.err
    assert {skipped["name"] for skipped in done.data["skipped"]} == {
        "preview",
        "gone",
        "azure",
        "else",
    }
    assert all(skipped["why"] for skipped in done.data["skipped"])
    assert len(ground.clouds()["roles"]) == 2
    assert "preview: it belongs to the feature set" in ground.status("-o", "text").out
    assert ground.status("--enable-tech-preview").but("as wanted") == {
        "aws/role/demo-n-s": "missing"
    }


@pytest.mark.parametrize("weather", ["good", "bad"])
def test_debug_shows_every_call_and_no_secret_token_query_or_body(
    enter: Enter, weather: str
) -> None:
    ground = enter(failures=0.0 if weather == "good" else 0.1, seed=5)
    ground.keys()
    with ground.aws("sts") as sts, ground.aws("iam") as iam:
        ground.sandbox.faults.rate = 0.0
        trust = '{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"AWS":"123456789012"},"Action":"sts:AssumeRole"}]}'
        iam.create_role(RoleName="other", AssumeRolePolicyDocument=trust)
        session = sts.assume_role(
            RoleArn="arn:aws:iam::123456789012:role/other", RoleSessionName="monday"
        )["Credentials"]
    if weather == "bad":
        ground.sandbox.faults.rate = 0.1
    login = {
        "AWS_ACCESS_KEY_ID": session["AccessKeyId"],
        "AWS_SECRET_ACCESS_KEY": session["SecretAccessKey"],
        "AWS_SESSION_TOKEN": session["SessionToken"],
    }

    runs = [
        ground.create_all("--debug", **login),
        ground.status("--debug"),
        ground.delete("--yes", "--debug", **login),
    ]

    told = "".join(done.out + done.err for done in runs).replace(
        "GetAccountAuthorizationDetails", ""
    )  # a call that is called so
    assert [done.code for done in runs] == [0, 0, 0]
    for call in (
        "iam:CreateRole 200",
        "s3:PutObject 200",
        "sts:GetCallerIdentity 200",
        "iam:DeleteRole 200",
    ):
        assert call in told
    pem = ground.tree()["serviceaccount-signer.private"][1].decode()
    secrets = [
        SECRET,
        session["SecretAccessKey"],
        session["SessionToken"],
        "PRIVATE KEY",
        *pem.splitlines()[8:-1],
    ]  # the lines before are the modulus
    assert [secret for secret in secrets if secret in told] == []
    assert [
        word
        for word in (
            "X-Amz-Signature",
            "Authorization",
            "AssumeRolePolicyDocument",
            "RoleName=",
            "Action=",
        )
        if word in told
    ] == []
    json.loads(runs[0].out)


def test_debug_shows_where_an_error_comes_from(ground: Ground) -> None:
    done = ground.create_all("--name", "A_B", "--debug")

    assert done.code == 2
    assert "Traceback" in done.err
    assert "BadInput" in done.err


@pytest.mark.soak  # it is waited for
def test_public_access_that_is_blocked_for_the_account_is_told_in_these_words(
    ground: Ground,
) -> None:
    with ground.aws("s3control") as control:
        control.put_public_access_block(
            AccountId="123456789012",
            PublicAccessBlockConfiguration={
                "BlockPublicAcls": True,
                "IgnorePublicAcls": True,
                "BlockPublicPolicy": True,
                "RestrictPublicBuckets": True,
            },
        )

    done = ground.create_all()

    assert done.code == 1
    assert done.things[f"aws/bucket-policy/{BUCKET}"] == "failed"
    (told,) = [thing for thing in done.data["things"] if thing["condition"] == "failed"]
    assert "public access is blocked, maybe for the account" in told["problem"]
    assert told["remedy"]
    assert done.things[f"aws/role/{INGRESS}"] == "created"  # it needs no bucket
    assert done.things[f"aws/oidc-provider/{HOST}"] == "not tried"
    assert sorted(path for path in ground.tree() if path.startswith("manifests/")) == [
        "manifests/openshift-image-registry-installer-cloud-credentials-credentials.yaml",
        "manifests/openshift-ingress-operator-cloud-credentials-credentials.yaml",
    ]

    with ground.aws("s3control") as control:
        control.delete_public_access_block(AccountId="123456789012")
    assert ground.create_all().code == 0
    assert ground.status().code == 0


def test_what_was_written_is_told_from_what_was_as_it_was_and_from_what_tells_of_things_that_are_gone(
    ground: Ground,
) -> None:
    planned, first = ground.create_all("--dry-run"), ground.create_all()
    assert planned.data["files"] == first.data["files"] == first.data["written"]
    assert planned.data["written"] == first.data["written"]

    shown = ground.create_all("--dry-run", "-o", "text", "--expect", planned.data["checksum"])
    assert shown.code == 0
    assert ground.create_all("--dry-run", "--expect", "another").code == 2
    assert "would be written" not in shown.out
    again = ground.create_all("-o", "text")
    assert "  as it was   out/serviceaccount-signer.private" in again.out
    assert "written" not in again.out

    ground.requests(
        {name: content for name, content in two_requests().items() if "ingress" in content}
    )
    pruned = ground.create_all("--prune", "--yes")
    registry = "out/manifests/openshift-image-registry-installer-cloud-credentials-credentials.yaml"
    assert (pruned.data["written"], pruned.data["outdated"]) == ([], [registry])

    ground.write(
        "cluster.yaml",
        "apiVersion: cwii.dev/v1\nkind: Cluster\nname: demo\noutputDir: out\nclouds: {aws: {region: us-east-1}}\n",
    )
    gone = ground.cwiictl("delete", "--file", "cluster.yaml", "--yes")
    assert "These tell of what is gone, and are yours to remove; " in gone.out
    assert all(
        (ground.folder / path.strip()).exists()
        for path in gone.out.rpartition("anew:")[2].splitlines()
        if path
    )
    assert "cluster-authentication-02-config.yaml" in gone.out


def test_who_writes_for_kubeadm_alone_gets_no_copy_of_the_key_for_another_installer(
    ground: Ground,
) -> None:
    planned, done = (
        ground.create_all("--installer", "kubeadm", *how) for how in (("--dry-run",), ())
    )

    assert planned.data["files"] == done.data["files"] == done.data["written"]
    assert {f"out/{path}" for path in ground.tree()} == set(done.data["files"])
    assert not any("tls/" in path for path in done.data["files"])
    assert ground.status().code == 0


def test_for_all_installers_at_once_it_is_written_once_and_then_known(ground: Ground) -> None:
    every = [word for name in INSTALLERS for word in ("--installer", name)]
    planned, done, again = (ground.create_all(*every, *how) for how in (("--dry-run",), (), ()))

    assert (planned.code, done.code, again.code) == (0, 0, 0)
    assert planned.data["files"] == done.data["files"] == done.data["written"]
    assert {f"out/{path}" for path in ground.tree()} == set(done.data["files"])
    assert {
        path.split("/")[0] for path in ground.tree() if path.endswith("README.txt")
    } == INSTALLERS.keys() - {"openshift"}
    assert again.data["written"] == []
