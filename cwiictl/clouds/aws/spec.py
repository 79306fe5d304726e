"""What AWS must be told for a cluster, and what a workload may ask of it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, cast

import msgspec

from cwiictl.clouds.aws import policy
from cwiictl.clouds.aws.partitions import partition
from cwiictl.clouds.aws.policy import Policy
from cwiictl.clouds.spec import asked, switched
from cwiictl.config import Request
from cwiictl.errors import BadInput
from cwiictl.shapes import keys, refuse_misspelt

KIND = "AWSProviderSpec"
ACCOUNT = re.compile(r"[0-9]{12}")
POLICY_ARN = re.compile(r"arn:[a-z-]+:iam::([0-9]{12}|aws):policy/.+")
BUCKET = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")
PREFIX = re.compile(r"[\w.-]+(/[\w.-]+)*", re.ASCII)
PATH = re.compile(r"/([!-~]{1,510}/)?")
SECONDS = re.compile(r"3[6-9]\d\d|[4-9]\d{3}|[1-3]\d{4}|4[0-2]\d{3}|43[01]\d\d|43200")
PROVIDER_ARN = re.compile(r"arn:[a-z-]+:iam::(?P<account>[0-9]{12}):oidc-provider/(?P<place>.+)")

PLACING = (
    "create-identity-provider",
    "create-identities",
    "create-identity",
    "create-all",
    "status",
    "verify",
    "rotate-keys",
    "delete",
    "permissions",
)
ISSUING = ("create-identity-provider", "create-all", "status", "verify", "rotate-keys")
IDENTITIES = (
    "create-identities",
    "create-identity",
    "create-all",
    "status",
    "verify",
    "rotate-keys",
    "permissions",
)


@dataclass(frozen=True)
class Spec:
    region: str = asked(
        "--region",
        "AWS region of the bucket, and of the endpoints that are called.",
        metavar="REGION",
        required=True,
    )
    account: str = asked("--aws-account", "Refuse to act in any other AWS account.", metavar="ID")
    private: bool = switched(
        "--create-private-s3-bucket",
        "Serve the documents through CloudFront, from a bucket that nobody else may read.",
        of=ISSUING,
    )
    bucket: str = asked(
        "--s3-bucket",
        "Bucket of your own for the documents: nothing else of it is touched.",
        metavar="NAME",
        of=PLACING,
    )
    prefix: str = asked(
        "--s3-prefix", "Where in it, such as clusters/prod.", metavar="PATH", of=PLACING
    )
    boundary: str = asked(
        "--permissions-boundary-arn",
        "Policy that bounds what the roles may ever do.",
        metavar="ARN",
        of=IDENTITIES,
    )
    path: str = asked(
        "--role-path", "IAM path of the roles, such as /clusters/.", metavar="PATH", of=IDENTITIES
    )
    session: str = asked(
        "--max-session-duration",
        "How long the roles' credentials may last. [default: 3600]",
        metavar="SECONDS",
        of=IDENTITIES,
    )
    provider: str = asked(
        "--identity-provider-arn",
        "IAM OIDC provider that the roles trust. [default: the one that is made for --name]",
        metavar="ARN",
        of=("create-identities",),
    )

    def __post_init__(self) -> None:
        where = partition(self.region)
        if self.private and not where.cloudfront:
            raise BadInput(
                f"there is no CloudFront for {self.region}",
                remedy="leave --create-private-s3-bucket out, or serve the documents with --issuer-url",
            )
        if self.private and self.bucket:
            raise BadInput(
                "--create-private-s3-bucket and --s3-bucket exclude one another",
                remedy="give the one that you mean",
            )
        if self.prefix and not self.bucket:
            raise BadInput(
                "--s3-prefix does not say in which bucket", remedy="give it with --s3-bucket"
            )
        _check("--s3-bucket", self.bucket, BUCKET, "the name of a bucket")
        _check("--s3-prefix", self.prefix, PREFIX, "a path without a slash at its ends")
        _check("--aws-account", self.account, ACCOUNT, "the twelve digits of an account")
        _check("--role-path", self.path, PATH, "a path that begins and ends with a slash")
        _check(
            "--max-session-duration",
            self.session,
            SECONDS,
            "a number of seconds from 3600 to 43200",
        )
        _check("--permissions-boundary-arn", self.boundary, POLICY_ARN, "the ARN of an IAM policy")
        _check(
            "--identity-provider-arn",
            self.provider,
            PROVIDER_ARN,
            "the ARN of an IAM OIDC provider",
        )

    @property
    def folder(self) -> str:
        """What the documents' keys in the bucket begin with."""
        return f"{self.prefix}/" if self.prefix else ""


def _check(flag: str, value: str, pattern: re.Pattern[str], what: str) -> None:
    if value and not pattern.fullmatch(value):
        raise BadInput(
            f"{flag} {value!r} is not {what}", remedy=f"give {what}, or leave {flag} out"
        )


@dataclass(frozen=True)
class Machines:
    """What machines that a workload starts run as: an instance profile, with a role that EC2 gives them."""

    profile: str
    role: str
    policy: Policy | None
    managed: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Ask:
    """What a workload may do in AWS."""

    policy: Policy | None
    managed: frozenset[str] = frozenset()
    session: int = 0  # the cluster's, if it is not said
    role: str = ""  # what its role is called, if it is said
    machines: Machines | None = None


class _Statement(msgspec.Struct, rename="camel"):
    effect: Literal["Allow", "Deny"]
    action: list[str]
    resource: str
    policy_condition: dict[str, dict[str, Any]] = {}


class _ProviderSpec(msgspec.Struct, rename="camel"):
    statement_entries: list[_Statement]


def ask(request: Request) -> Ask:
    """The statementEntries of a CredentialsRequest."""
    refuse_misspelt(
        f"{request.source}: spec.providerSpec of {request.name}", request.spec, keys(_ProviderSpec)
    )
    try:
        spec = msgspec.convert(request.spec, _ProviderSpec)
    except msgspec.ValidationError as e:
        raise BadInput(
            f"{request.source}: spec.providerSpec of {request.name}: {e}",
            remedy="write statementEntries with effect, action and resource",
        ) from e
    if not spec.statement_entries or not all(
        entry.action and entry.resource for entry in spec.statement_entries
    ):
        raise BadInput(
            f"{request.source}: {request.name} asks AWS for nothing",
            remedy="give each of its statementEntries an action and a resource",
        )
    for entry in spec.statement_entries:
        _check_condition(request, entry.policy_condition)
    return Ask(policy.canonical(*(_granted(entry) for entry in spec.statement_entries)))


def _check_condition(request: Request, condition: Mapping[str, Mapping[str, object]]) -> None:
    """IAM compares texts, and would be given a guess for anything else."""
    for operator, tests in condition.items():
        for key, value in tests.items():
            values = cast("list[object]", value) if isinstance(value, list) else [value]
            if not values or not all(isinstance(each, str | int | float | bool) for each in values):
                where = f"{request.source}: policyCondition {operator} {key} of {request.name}"
                raise BadInput(
                    f"{where} is {value!r}, which IAM cannot compare",
                    remedy="give a text, or a list of texts",
                )


def _granted(entry: _Statement) -> Mapping[str, object]:
    statement = {"Effect": entry.effect, "Action": entry.action, "Resource": entry.resource}
    return (
        {**statement, "Condition": entry.policy_condition} if entry.policy_condition else statement
    )
