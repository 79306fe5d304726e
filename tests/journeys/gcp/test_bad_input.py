"""What cannot be meant: one sentence of what, one of what to do, exit code 2, and nothing written here or in Google Cloud."""

from __future__ import annotations

import re
import subprocess

import pytest

from cwiictl.sandbox.gcp.world import PROJECT
from tests.examples import a_gcp_object, text, two_gcp_requests
from tests.journeys.gcp.ground import NAME, NOTHING, GcpGround
from tests.journeys.ground import PROGRAMS, Done

TOLD = re.compile(r"Error: (?P<what>[^\n]+)[.?]\n  (?P<remedy>[^\n]+)[.?]\n")
UPLOADED = ("--key-storage-method", "pool-jwk-file")


def refused(ground: GcpGround, done: Done, *words: str, reads: bool = False) -> None:
    """In two sentences that hold these words; whatever was there is there, and nothing else."""
    assert done.code == 2, done.err
    assert done.out == ""
    assert TOLD.fullmatch(done.err), done.err
    for word in words:
        assert word.lower() in done.err.lower(), done.err
    if reads:
        assert ground.mutating() == []
    else:
        assert ground.asked() == []
    assert "out" not in ground.files()


LABELS = ",".join(f"k{number}=v" for number in range(51))
PLACES = [
    (("--name", "A_B"), ("'A_B'", "lower-case")),
    (
        ("--name", "abc"),
        (
            "'abc' is no name of a workload identity pool",
            "--workload-identity-pool and --workload-identity-provider",
        ),
    ),
    (
        ("--name", "gcp-demo"),
        ("'gcp-demo' is no name of a workload identity pool", "not with gcp-"),
    ),
    (("--name", "1demo"), ("'1demo' is no name of a workload identity pool",)),
    (("--name", "a" * 33), ("is no name of a workload identity pool", "4 to 32")),
    (("--name", "my-google"), ("no bucket can be called my-google-oidc", "--gcs-bucket")),
    (("--project", ""), ("Google Cloud needs --project",)),
    (("--project", "My Project"), ("'My Project'", "--project", "the id of a project")),
    (("--project", "123456789012"), ("'123456789012'", "the id of a project")),
    (("--region", "../x"), ("'../x'", "--region")),
    (
        ("--region", "europe-wset1"),
        ("no location 'europe-wset1'", "did you mean --region europe-west1?"),
    ),
    (("--workload-identity-pool", "gcp-pool"), ("'gcp-pool'", "--workload-identity-pool")),
    (("--workload-identity-provider", "a_b"), ("'a_b'", "--workload-identity-provider")),
    (
        ("--key-storage-method", "pool-jwks-file"),
        ("'pool-jwks-file' is not known", "did you mean --key-storage-method pool-jwk-file?"),
    ),
    (
        (*UPLOADED, "--gcs-bucket", "house"),
        ("--gcs-bucket and --key-storage-method pool-jwk-file exclude one another",),
    ),
    (("--gcs-bucket", "Has_Capitals"), ("'Has_Capitals'", "the name of a bucket")),
    (("--gcs-bucket", "goog-bucket"), ("'goog-bucket'", "the name of a bucket")),
    (("--universe-domain", "https://x"), ("https://x", "universe")),
    (("--user-tags", "Team=a"), ("Google Cloud takes no label with the key Team", "lower-case")),
    (("--user-tags", "team=A b"), ("Google Cloud takes no label with the value A b",)),
    (("--user-tags", "goog-x=a"), ("no label with the key goog-x",)),
    (("--user-tags", "name=a"), ("no label with the key name",)),
    (("--user-tags", LABELS), ("there are 51 tags", "50 labels")),
    (("--cloud", "gpc"), ("'gpc'", "did you mean --cloud gcp?")),
    (
        ("--subscription-id", "1234"),
        ("--subscription-id is for Azure", "add --cloud azure, or leave --subscription-id out"),
    ),
    (("--issuer-url", "http://x"), ("http://x", "https")),
]


@pytest.mark.parametrize(
    ("arguments", "words"), PLACES, ids=[" ".join(arguments)[:40] for arguments, _ in PLACES]
)
def test_what_is_said_wrongly_is_refused_before_the_first_call(
    ground: GcpGround, arguments: tuple[str, ...], words: tuple[str, ...]
) -> None:
    refused(ground, ground.create_all(*arguments, "-o", "text"), *words)


def test_delete_also_where_nothing_can_be_is_refused(ground: GcpGround) -> None:
    refused(
        ground,
        ground.delete("--also", "projects/x", "--yes", "-o", "text"),
        "--also 'projects/x'",
        "the id of a project",
    )


# --- the requests ---

LONG = "s" * 63
ASKED = [
    (
        a_gcp_object("a", "n", "s", predefinedRoles=["dns.admin"]),
        ("'dns.admin' is not the name of a role", "did you mean roles/dns.admin?"),
        False,
    ),
    (
        a_gcp_object("a", "n", "s", predefinedRoles=["roles/a b"]),
        ("'roles/a b' is not the name of a role",),
        False,
    ),
    (
        a_gcp_object("a", "n", "s", permissions=["storage.*"]),
        ("'storage.*' is not a permission of Google Cloud", "there is no *"),
        False,
    ),
    (a_gcp_object("a", "n", "s", predefinedRoles=[]), ("asks Google Cloud for nothing",), False),
    (a_gcp_object("a", "n", "s", predefinedRoles="roles/viewer"), ("providerSpec",), False),
    (
        a_gcp_object("a", LONG, "s", f"{'a' * 50}", predefinedRoles=["roles/viewer"]),
        ("longer than the 127 bytes", "shorter ServiceAccount"),
        True,
    ),
    (
        a_gcp_object("a", "n", "s", predefinedRoles=["roles/dns.admn"]),
        ("there is no role 'roles/dns.admn'", "did you mean roles/dns.admin"),
        True,
    ),
]


@pytest.mark.parametrize(
    ("asked", "words", "reads"),
    ASKED,
    ids=["no roles/", "no role", "a star", "nothing", "no list", "a long subject", "nearly a role"],
)
def test_requests_that_cannot_be_followed_are_refused_before_the_first_write(
    ground: GcpGround, asked: dict[str, object], words: tuple[str, ...], *, reads: bool
) -> None:
    """What only Google knows is asked of it."""
    ground.requests({"a.yaml": text(asked), **two_gcp_requests()})

    refused(ground, ground.create_all("-o", "text"), *words, reads=reads)
    assert ground.clouds() == NOTHING


# --- who asks ---


@pytest.mark.parametrize("command", ["create-all", "status", "delete"])
def test_without_credentials_nothing_is_asked(ground: GcpGround, command: str) -> None:
    nobody = {
        name: value
        for name, value in ground.sandbox.environment().items()
        if not name.startswith(("GOOGLE_APPLICATION", "CLOUDSDK_AUTH"))
    }
    arguments = [
        str(PROGRAMS / "cwiictl"),
        command,
        *ground.where,
        *(() if command == "delete" else ground.asking),
    ]
    ran = subprocess.run(
        arguments,
        cwd=ground.folder,
        env={**nobody, "HOME": str(ground.folder)},
        capture_output=True,
        text=True,
        check=False,
    )

    refused(
        ground,
        Done(ran.returncode, ran.stdout, ran.stderr),
        "there are no Google credentials to act with",
        "gcloud auth application-default login",
    )


def test_credentials_that_are_none_or_that_google_does_not_know_are_told_as_such(
    ground: GcpGround,
) -> None:
    broken = ground.write("broken.json", '{"type": "service_account"}')
    refused(
        ground,
        ground.create_all("-o", "text", GOOGLE_APPLICATION_CREDENTIALS=str(broken)),
        "the Google credentials are not whole",
        "gcloud auth",
    )
    ground.sandbox.faults.expired = True
    refused(
        ground,
        ground.create_all("-o", "text"),
        "does not accept the credentials",
        "gcloud auth application-default login",
        reads=True,
    )


def test_credentials_of_another_universe_are_refused_before_anything_is_asked_there(
    ground: GcpGround,
) -> None:
    done = ground.create_all("--universe-domain", "apis-sandbox.goog", "-o", "text")

    refused(
        ground,
        done,
        "are of the universe googleapis.com, and --universe-domain says apis-sandbox.goog",
    )


@pytest.mark.parametrize("command", ["create-all", "status", "delete"])
def test_a_project_that_the_caller_does_not_see_is_named(ground: GcpGround, command: str) -> None:
    where = [word if word != PROJECT else "nobodys-project" for word in ground.where]
    done = ground.cwiictl(command, *where, *(("--yes",) if command == "delete" else ground.asking))

    assert done.code == 2
    assert "Google does not show the project nobodys-project" in done.err
    assert "--project" in done.err
    assert ground.mutating() == []
    assert "out" not in ground.files()
    assert NAME not in str(ground.clouds()["pools"])
