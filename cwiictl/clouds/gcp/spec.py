"""What Google Cloud must be told for a cluster, and what a workload may ask of it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

import msgspec

from cwiictl.clouds.gcp.locations import located
from cwiictl.clouds.gcp.resources.grant import Condition
from cwiictl.clouds.gcp.universes import PUBLIC, universe
from cwiictl.clouds.spec import asked, switched
from cwiictl.config import Request
from cwiictl.errors import BadInput
from cwiictl.model import Cluster
from cwiictl.shapes import nearest

KIND = "GCPProviderSpec"
PROJECT = re.compile(r"([a-z][-a-z0-9.]*:)?[a-z][-a-z0-9]{4,28}[a-z0-9]")
POOL = re.compile(r"(?!gcp-)[a-z][-a-z0-9]{3,31}")
REGION = re.compile(r"[a-z][a-z0-9-]+")
BUCKET = re.compile(r"(?!goog)(?!.*google)[a-z0-9][-_.a-z0-9]{1,61}[a-z0-9]")
ROLE = re.compile(r"(?:(?:projects/[^/\s]+|organizations/[0-9]+)/)?roles/[\w.]+", re.ASCII)
PERMISSION = re.compile(
    r"[a-z][a-z0-9-]*(\.googleapis\.com/[a-zA-Z]\w*\.|\.[a-zA-Z]\w*\.)[a-zA-Z]\w*", re.ASCII
)

HOSTED, UPLOADED = "public-bucket", "pool-jwk-file"  # ccoctl's words for where the keys are

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
MAKING = (
    "create-identity-provider",
    "create-identities",
    "create-identity",
    "create-all",
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
    project: str = asked(
        "--project", "Google Cloud project to act in: its id.", metavar="ID", required=True
    )
    region: str = asked(
        "--region", "Location of the bucket.  [default: us]", metavar="REGION", of=ISSUING
    )
    pool: str = asked(
        "--workload-identity-pool",
        "Workload identity pool of the cluster.  [default: NAME]",
        metavar="ID",
        of=PLACING,
    )
    provider: str = asked(
        "--workload-identity-provider",
        "Provider in it that believes the issuer.  [default: NAME]",
        metavar="ID",
        of=PLACING,
    )
    key_storage: str = asked(
        "--key-storage-method",
        f"Where the public keys are: {HOSTED}, or {UPLOADED} for in the provider itself.  [default: {HOSTED}]",
        metavar="WHERE",
        of=PLACING,
    )
    bucket: str = asked(
        "--gcs-bucket",
        "Bucket of your own for the documents: nothing else of it is touched.",
        metavar="NAME",
        of=PLACING,
    )
    enable: bool = switched(
        "--enable-apis", "Turn on the APIs of the project that are needed and off.", of=MAKING
    )
    separate: bool = switched(
        "--separate-roles",
        "A custom role for each workload, instead of one for all who ask for the same.",
        of=IDENTITIES,
    )
    exact: bool = switched(
        "--exact-roles",
        "Take from the identities the roles that others have given them.",
        of=IDENTITIES,
    )
    domain: str = asked(
        "--universe-domain",
        f"Domain of another of Google's universes.  [default: {PUBLIC}]",
        metavar="DOMAIN",
    )
    delete_roles: bool = switched(
        "--delete-shared-roles",
        "Drop the custom roles too that it shares, where nobody else in the project's policy has them.",
        of=("delete",),
    )
    also: str = asked(
        "--also",
        "Where else to look for roles of the cluster: ids of projects.",
        metavar="PROJECT,...",
        of=("delete",),
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "region", self.region.lower() or "us")
        object.__setattr__(self, "domain", universe(self.domain).domain)
        object.__setattr__(self, "key_storage", self.key_storage or HOSTED)
        if self.key_storage not in (HOSTED, UPLOADED):
            known = nearest(self.key_storage, (HOSTED, UPLOADED), key="--key-storage-method ")
            raise BadInput(f"--key-storage-method {self.key_storage!r} is not known", remedy=known)
        if self.uploaded and self.bucket:
            raise BadInput(
                f"--gcs-bucket and --key-storage-method {UPLOADED} exclude one another",
                remedy="give the one that you mean",
            )
        pool = "a name of 4 to 32 lower-case letters, digits and '-', beginning with a letter and not with gcp-"
        _check("--project", self.project, PROJECT, "the id of a project")
        _check("--region", self.region, REGION, "the location of a bucket")
        if self.domain == PUBLIC and not self.bucket:
            located(self.region)
        _check("--workload-identity-pool", self.pool, POOL, pool)
        _check("--workload-identity-provider", self.provider, POOL, pool)
        _check("--gcs-bucket", self.bucket, BUCKET, "the name of a bucket")
        for project in self.elsewhere:
            _check("--also", project, PROJECT, "the id of a project")

    @property
    def uploaded(self) -> bool:
        """Whether the provider has the keys itself, and so nobody reads the issuer."""
        return self.key_storage == UPLOADED

    @property
    def elsewhere(self) -> tuple[str, ...]:
        """Where the roles of the cluster's members are to be looked for beside its project."""
        return tuple(project.strip() for project in self.also.split(",") if project.strip())

    def pool_of(self, cluster: Cluster) -> str:
        return self.pool or cluster.name

    def provider_of(self, cluster: Cluster) -> str:
        return self.provider or cluster.name


def _check(flag: str, value: str, pattern: re.Pattern[str], what: str) -> None:
    if value and not pattern.fullmatch(value):
        raise BadInput(
            f"{flag} {value!r} is not {what}", remedy=f"give {what}, or leave {flag} out"
        )


@dataclass(frozen=True)
class Role:
    """One that a workload is to be given. Without projects it holds in the cluster's."""

    name: str
    projects: tuple[str, ...] = ()
    condition: Condition | None = None


@dataclass(frozen=True)
class Ask:
    """What a workload may do in Google Cloud, and where."""

    roles: tuple[Role, ...] = ()
    permissions: frozenset[str] = frozenset()
    request: str = ""  # the name of the request that asks; by it ccoctl knows the service account
    account: str = ""  # the id of its service account, if that is not left to us
    direct: bool = False  # without one: its ServiceAccounts are given the roles themselves


class _ProviderSpec(msgspec.Struct, rename="camel"):
    predefined_roles: list[str] = []
    permissions: list[str] = []


def ask(request: Request) -> Ask:
    """The predefinedRoles and permissions of a CredentialsRequest."""
    try:
        spec = msgspec.convert(request.spec, _ProviderSpec)
    except msgspec.ValidationError as e:
        raise BadInput(
            f"{request.source}: spec.providerSpec of {request.name}: {e}",
            remedy="write predefinedRoles, or permissions",
        ) from e
    found = tuple(Role(role(request.source, name)) for name in dict.fromkeys(spec.predefined_roles))
    granted = permissions(request.source, spec.permissions)
    if not (found or granted):
        raise BadInput(
            f"{request.source}: {request.name} asks Google Cloud for nothing",
            remedy="give it predefinedRoles, or permissions",
        )
    return Ask(found, granted, request=request.name)


def role(source: str, name: str) -> str:
    if not ROLE.fullmatch(name):
        begun = (
            f"did you mean roles/{name}?"
            if ROLE.fullmatch(f"roles/{name}")
            else "write it like roles/storage.objectViewer"
        )
        raise BadInput(f"{source}: {name!r} is not the name of a role", remedy=begun)
    return name


def permissions(source: str, names: Iterable[str]) -> frozenset[str]:
    found = frozenset(names)
    for name in sorted(found):
        if not PERMISSION.fullmatch(name):
            raise BadInput(
                f"{source}: {name!r} is not a permission of Google Cloud",
                remedy="write it like storage.buckets.get; there is no * in a custom role",
            )
    return found
