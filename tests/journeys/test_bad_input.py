"""What cannot be meant: one sentence of what, one of what to do, exit code 2, and nothing written here or in any cloud."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.examples import an_entry, an_object, text, two_requests
from tests.journeys.conftest import Enter
from tests.journeys.ground import NAME, PERMISSIONS, Done, Ground, a_key, private_pem

BOMB = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{after}: &{after} [{','.join([f'*{name}'] * 9)}]\n" for name, after in zip("abcdefgh", "bcdefghi", strict=True)
)  # fmt: skip
TOLD = re.compile(r"Error: (?P<what>[^\n]+)[.?]\n  (?P<remedy>[^\n]+)[.?]\n")
WHO = ["sts:GetCallerIdentity"]
LONG = [f"ec2:Action{number}" for number in range(300)]


def refused(ground: Ground, done: Done, *words: str, asked: list[str] | None = None) -> None:
    """In two sentences that hold these words; whatever lay on the ground still lies there, and nothing else."""
    assert done.code == 2, done.err
    assert done.out == ""
    told = TOLD.fullmatch(done.err)
    assert told, done.err
    for word in words:
        assert word.lower() in done.err.lower()
    assert ground.asked() == (asked or [])
    assert "out" not in ground.files()


def test_the_sentences_are_looked_for_in_the_right_place(ground: Ground) -> None:
    refused(ground, ground.create_all("--name", "A_B", "-o", "text"), "'A_B'", "lower-case")


# --- what was said on the command line ---


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--cloud", "asw"), ("'asw'", "did you mean --cloud aws?")),
        (("--cloud", "oracle"), ("'oracle'", "--cloud aws")),
        (("--region", "eu-wets-1"), ("'eu-wets-1'", "eu-west-1")),
        (("--region", "nowhere"), ("'nowhere'", "--region")),
        (("--region", "../x"), ("'../x'", "--region")),
        (("--region", ""), ("--region",)),
        (("--name", "../x"), ("'../x'", "lower-case")),
        (("--name", ""), ("has no name", "--name")),
        (("--name", "x" * 51), ("x" * 51, "50")),
        (("--aws-account", "12"), ("'12'", "twelve digits")),
        (("--permissions-boundary-arn", "boundary"), ("'boundary'", "ARN")),
        (("--add-key", "--replace-keys"), ("exclude one another",)),
        (("--public-key-file", "nowhere.pub"), ("nowhere.pub", "cannot be read")),
        (("--public-key-file", "requests"), ("requests", "cannot be read")),
        (("--public-key-file", "private.pem"), ("private key", "public")),
        (("--public-key-file", "requests/ingress.yaml"), ("no key in PEM form",)),
        (("--credentials-requests-dir", "nowhere"), ("nowhere", "cannot be read")),
        (("--credentials-requests-dir", "private.pem"), ("private.pem", "cannot be read")),
    ],
)
def test_what_is_said_wrongly_is_refused_before_any_call(
    ground: Ground, arguments: tuple[str, ...], words: tuple[str, ...]
) -> None:
    ground.write("private.pem", private_pem(a_key(0)))

    refused(ground, ground.create_all(*arguments, "-o", "text"), *words)


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("--cloud", "aws"),
        ("--cloud", "aws", "--name", NAME),
        ("--bits", "1024"),
        ("--bits", "many"),
        ("--concurrency", "0"),
        ("--output", "xml"),
        ("--no-such-option",),
        ("argument",),
    ],
)
@pytest.mark.parametrize(
    "command", ["create-all", "create-identity-provider", "create-identities", "status", "delete"]
)
def test_what_is_missing_or_unknown_is_refused_by_every_command(
    ground: Ground, command: str, arguments: tuple[str, ...]
) -> None:
    done = ground.cwiictl(command, *arguments)

    assert done.code == 2
    assert "Error" in done.err
    assert ground.asked() == []
    assert "out" not in ground.files()


def test_aws_without_a_region_says_so(ground: Ground) -> None:
    done = ground.cwiictl("create-all", "--cloud", "aws", "--name", NAME, *ground.asking)

    refused(ground, done, "AWS needs --region", "--region REGION")


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("no-such-command",),
        ("sandbox",),
        ("sandbox", "run"),
        ("sandbox", "run", "--failures", "2", "--", "true"),
    ],
)
def test_no_command_is_told_as_help_or_an_error_and_never_as_a_trace(
    ground: Ground, arguments: tuple[str, ...]
) -> None:
    done = ground.cwiictl(*arguments)

    assert done.code in {0, 2}
    assert done.out or done.err


# --- the requests ---


REQUESTS: list[tuple[str, tuple[str, ...]]] = [
    ("a: [", ("a.yaml:2:1",)),
    ("a: b: c", ("a.yaml",)),
    ("\tx: 1", ("a.yaml",)),
    ("a: 1\na: 2", ("a.yaml",)),
    ("!!python/object/apply:os.system [touch out]", ("a.yaml",)),
    (BOMB, ("a.yaml",)),
    ("# " + "x" * (1 << 20), ("a.yaml", "longer")),
    ("[" * 10_000, ("a.yaml",)),
    ("just a text", ("a.yaml",)),
    ("kind: CredentialsRequest\napiVersion: v1", ("a.yaml", "apiVersion")),
    (text(an_object("a", "../x", "s")), ("'../x'",)),
    (text(an_object("a", "n", "../x")), ("'../x'",)),
    (text(an_object("../x", "n", "s", "a")), ("'../x'",)),
    (text(an_object("a", "n", "s", "../x")), ("'../x'",)),
    (text(an_object("a", "n", "s", serviceAccountNames=[])), ("ServiceAccount",)),
    (text(an_object("a", "n", "s", "x", "x")), ("twice",)),
    (text(an_object("a", "n", "s", cloudTokenPath="token")), ("'token'", "absolute")),
    (text(an_object("a", "n", "s"), an_object("b", "n", "s")), ("n/s", "twice")),
    (text(an_object("a", "n", "s"), an_object("a", "n", "t")), ("the name a", "twice")),
    (text(an_object("a", "n", "b-c"), an_object("b", "n-b", "c")), ("n-b-c",)),
    (text(an_object("a", "n", "s", entries=[an_entry(resource="")])), ("asks AWS for nothing",)),
    (
        text(
            an_object(
                "a", "n", "s", entries=[{"effect": "Maybe", "action": ["a:b"], "resource": "*"}]
            )
        ),
        ("Maybe",),
    ),
    (
        text(an_object("a", "n", "s", *(f"account-{number}" for number in range(60)))),
        ("trust policy", "2048"),
    ),
    (
        text(
            an_object(
                "a",
                "n",
                "s",
                entries=[an_entry(*(f"ec2:Action{number}" for number in range(1000)))],
            )
        ),
        ("one statement", "6144", "two statements"),
    ),
    (
        text(an_object("a", "n", "s", entries=[an_entry(*LONG) for _ in range(12)])),
        ("n/s", "10 managed policies"),
    ),
    (
        text(an_object("a", "n", "s")).replace("AWSProviderSpec", "OracleProviderSpec"),
        ("OracleProviderSpec",),
    ),
]


@pytest.mark.parametrize(
    ("content", "words"),
    REQUESTS,
    ids=range(len(REQUESTS)),
)
def test_requests_that_cannot_be_followed_are_refused(
    ground: Ground, content: str, words: tuple[str, ...]
) -> None:
    ground.requests({"a.yaml": content, **two_requests()})

    done = ground.create_all("-o", "text")

    refused(ground, done, *words, asked=WHO if ground.asked() else [])


def test_a_request_that_is_a_link_to_nowhere_is_not_passed_over(ground: Ground) -> None:
    (ground.folder / "requests" / "a.yaml").symlink_to("nowhere")

    refused(ground, ground.create_all("-o", "text"), "a.yaml")


# --- the output directory ---


def a_file(place: Path) -> None:
    place.write_text("theirs")


def a_link(place: Path) -> None:
    (place.parent / "elsewhere").mkdir()
    place.symlink_to("elsewhere")


def a_link_to_nowhere(place: Path) -> None:
    place.symlink_to("nowhere")


def a_link_inside(place: Path) -> None:
    (place.parent / "elsewhere").mkdir()
    place.mkdir()
    (place / "manifests").symlink_to("../elsewhere")


def a_link_for_a_file(place: Path) -> None:
    (place / "manifests").mkdir(parents=True)
    (place / "manifests" / "cluster-authentication-02-config.yaml").symlink_to("/dev/null")


@pytest.mark.parametrize("arguments", [(), ("--dry-run",)], ids=["", "dry run"])
@pytest.mark.parametrize(
    "make", [a_file, a_link, a_link_to_nowhere, a_link_inside, a_link_for_a_file]
)
def test_an_output_directory_that_is_none_is_refused_before_any_call(
    ground: Ground, make: Callable[[Path], None], arguments: tuple[str, ...]
) -> None:
    make(ground.folder / "out")
    before = ground.files()

    done = ground.create_all("-o", "text", *arguments)

    assert done.code == 2, done.err
    assert TOLD.fullmatch(done.err)
    assert "--output-dir" in done.err
    assert ground.asked() == []
    assert ground.files() == before


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_an_output_directory_that_may_not_be_written_is_refused_before_any_call(
    ground: Ground,
) -> None:
    (ground.folder / "out").mkdir(mode=0o500)

    done = ground.create_all("-o", "text")

    assert done.code == 2
    assert "cannot be written" in done.err
    assert ground.asked() == []


def test_a_place_where_nothing_can_be_made_is_refused_before_any_call(ground: Ground) -> None:
    """Root too cannot write there, so this is tried wherever the tests run."""
    refused(ground, ground.create_all("--output-dir", "/proc/out", "-o", "text"), "/proc/out")


# --- who asks ---

NONE = {"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": ""}


@pytest.mark.parametrize("moment", ["yesterday", "2026-01-31", "2026-01-31T15:04:05"])
def test_a_moment_names_its_zone(ground: Ground, moment: str) -> None:
    refused(
        ground,
        ground.cwiictl("status", "--former-issuer", "--since", moment),
        f"--since {moment} is no moment",
        "2026-01-31T15:04:05Z",
    )


def test_since_when_is_asked_of_the_former_issuer_alone(ground: Ground) -> None:
    refused(
        ground,
        ground.cwiictl("status", "--webhook", "--since", "2026-01-31T15:04:05Z"),
        "--since is of --former-issuer",
    )


@pytest.mark.parametrize("command", ["create-all", "status", "delete"])
def test_without_credentials_nothing_is_asked(ground: Ground, command: str) -> None:
    asking = () if command == "delete" else ground.asking
    done = ground.cwiictl(command, *ground.where, *asking, **NONE)

    refused(ground, done, "no AWS credentials", "log in")


def test_a_profile_that_is_not_there_is_named(ground: Ground) -> None:
    refused(ground, ground.create_all("-o", "text", AWS_PROFILE="nobody", **NONE), "nobody")


def test_expired_credentials_are_told_as_such(enter: Enter) -> None:
    ground = enter(expired=True)

    refused(
        ground,
        ground.create_all("-o", "text"),
        "no longer",
        "ExpiredToken",
        "Log in again",
        asked=WHO,
    )


def test_credentials_that_aws_does_not_know_are_told_as_such(ground: Ground) -> None:
    done = ground.create_all("-o", "text", AWS_ACCESS_KEY_ID="AKIAREALREALREALREAL")

    refused(ground, done, "does not accept the credentials", "InvalidClientTokenId", asked=WHO)


def test_credentials_that_expire_on_the_way_are_told_as_such(ground: Ground) -> None:
    ground.create_all()
    ground.sandbox.faults.expired = True

    done = ground.status()

    assert done.code == 2


@pytest.mark.parametrize("command", ["create-all", "status", "delete"])
def test_another_account_than_the_pinned_one_is_refused_before_anything_else(
    ground: Ground, command: str
) -> None:
    asking = ("--yes",) if command == "delete" else ground.asking
    done = ground.cwiictl(command, *ground.where, *asking, "--aws-account", "210987654321")

    refused(ground, done, "123456789012", "--aws-account says 210987654321", asked=WHO)


def test_the_pinned_account_is_let_through(ground: Ground) -> None:
    assert ground.create_all("--aws-account", "123456789012").code == 0


# --- the plan that was expected ---


def test_a_dry_run_shows_whole_documents_and_leaves_nothing_anywhere(ground: Ground) -> None:
    before = ground.files()

    done = ground.create_all("--dry-run")

    assert done.code == 0
    assert done.but("missing") == {PERMISSIONS: "as wanted"}
    assert all(
        thing["want"] for thing in done.data["things"] if thing["thing"].startswith("aws/role/")
    )
    assert ground.mutating() == []
    assert ground.files() == before


def test_only_the_plan_that_was_expected_is_acted_on(ground: Ground) -> None:
    checksum = ground.create_all("--dry-run").data["checksum"]
    ground.fresh()

    refused(
        ground,
        ground.create_all("-o", "text", "--expect", "0" * 16),
        checksum,
        "--dry-run",
        asked=WHO,
    )
    assert ground.mutating() == []

    done = ground.create_all("--expect", checksum)
    assert done.code == 0, done.err
    assert done.data["checksum"] == checksum
    assert (
        ground.create_all("--expect", checksum).code == 0
    )  # of what is wanted, not of what is there


@pytest.mark.parametrize("change", ["name", "region", "request", "boundary"])
def test_another_plan_has_another_checksum(ground: Ground, change: str) -> None:
    checksum = ground.create_all("--dry-run").data["checksum"]
    if change == "request":
        ground.requests(
            {
                "a.yaml": two_requests()["ingress.yaml"].replace(
                    "route53:ListHostedZones", "route53:*"
                )
            }
        )
    other = {
        "name": ("--name", "other"),
        "region": ("--region", "eu-west-1"),
        "request": (),
        "boundary": ("--permissions-boundary-arn", "arn:aws:iam::aws:policy/ReadOnlyAccess"),
    }[change]

    assert ground.create_all("--dry-run", *other).data["checksum"] != checksum


def test_another_caller_has_another_checksum(ground: Ground) -> None:
    checksum = ground.create_all("--dry-run").data["checksum"]
    with ground.aws("iam") as iam, ground.aws("sts") as sts:
        trust = '{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"AWS":"123456789012"},"Action":"sts:AssumeRole"}]}'
        iam.create_role(RoleName="other", AssumeRolePolicyDocument=trust)
        sessions = [
            sts.assume_role(RoleArn="arn:aws:iam::123456789012:role/other", RoleSessionName=name)[
                "Credentials"
            ]
            for name in ("monday", "tuesday")
        ]
    plans = [
        ground.create_all(
            "--dry-run", AWS_ACCESS_KEY_ID=s["AccessKeyId"], AWS_SECRET_ACCESS_KEY=s["SecretAccessKey"], AWS_SESSION_TOKEN=s["SessionToken"]
        ).data
        for s in sessions
    ]  # fmt: skip

    assert plans[0]["callers"][0]["caller"] == "arn:aws:iam::123456789012:role/other"
    assert plans[0]["checksum"] == plans[1]["checksum"] != checksum  # a login is nobody else
