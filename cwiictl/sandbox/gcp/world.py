"""All that is in Google Cloud here: plain things, and when they were written. IAM, projects and buckets change them; the token services only look."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

PROJECT = "cwii-sandbox"
NUMBER = "123456789012"
SECOND = "cwii-second"  # another project of the same operator
SECOND_NUMBER = "210987654321"
OPERATOR = f"operator@{PROJECT}.iam.gserviceaccount.com"  # a service account that is there from the beginning, owner of both projects

ProjectState = Literal["ACTIVE", "DELETE_REQUESTED"]


@dataclass(frozen=True)
class Binding:
    """Of a policy: members have a role, maybe under a condition (title, description, expression)."""

    role: str
    members: frozenset[str]
    condition: tuple[str, str, str] | None = None


@dataclass
class Policy:
    """`etag` changes with every write. `past` is what it said before, each with when that was written: for who acts by it within the lag."""

    bindings: tuple[Binding, ...] = ()
    version: int = 1
    etag: str = "ACAB"
    written: float = 0.0
    past: list[tuple[float, tuple[Binding, ...]]] = field(
        default_factory=list[tuple[float, tuple[Binding, ...]]]
    )


@dataclass
class Project:
    id: str
    number: str
    policy: Policy = field(default_factory=Policy)
    services: dict[str, float] = field(
        default_factory=dict[str, float]
    )  # APIs that are on, such as iam.googleapis.com, and since when
    state: ProjectState = "ACTIVE"
    forbids_public: bool = False  # constraints/storage.publicAccessPrevention
    domains_only: bool = False  # constraints/iam.allowedPolicyMemberDomains: allUsers is refused


@dataclass
class ServiceAccount:
    project: str
    id: str  # what is before the @
    unique_id: str  # 21 digits
    display_name: str = ""
    description: str = ""
    disabled: bool = False
    policy: Policy = field(default_factory=Policy)
    born: float = 0.0
    deleted: float = 0.0  # when, once it is one of `gone`

    @property
    def email(self) -> str:
        return f"{self.id}@{self.project}.iam.gserviceaccount.com"


@dataclass
class Role:
    """A custom role. `deleted` is when: undeleted within seven days, its id free again after 37."""

    project: str
    id: str
    title: str
    description: str
    permissions: tuple[str, ...]
    stage: str = "GA"
    etag: str = "BwAB"
    deleted: float | None = None
    born: float = 0.0


@dataclass
class Provider:
    id: str
    display_name: str = ""
    description: str = ""
    disabled: bool = False
    issuer: str = ""
    audiences: tuple[str, ...] = ()
    jwks: str = ""  # uploaded keys; empty: they are fetched from the issuer
    mapping: dict[str, str] = field(default_factory=dict[str, str])
    condition: str = ""
    deleted: float | None = None
    born: float = 0.0
    ready: float = 0.0  # until then the operation that makes it goes on


@dataclass
class Pool:
    project: str
    id: str
    display_name: str = ""
    description: str = ""
    disabled: bool = False
    providers: dict[str, Provider] = field(default_factory=dict[str, Provider])
    deleted: float | None = None
    born: float = 0.0
    ready: float = 0.0


@dataclass
class Operation:
    name: str
    done: float  # when
    response: Callable[[], dict[str, object]]


@dataclass
class Blob:
    """An object of a bucket."""

    name: str
    body: bytes
    content_type: str
    cache_control: str
    generation: int
    metageneration: int
    created: float
    metadata: dict[str, str] = field(default_factory=dict[str, str])


@dataclass
class Bucket:
    name: str
    project: str  # "" is of a stranger's
    location: str = "US"
    labels: dict[str, str] = field(default_factory=dict[str, str])
    uniform: bool = False
    prevention: Literal["inherited", "enforced"] = "inherited"  # of public access
    policy: Policy = field(default_factory=Policy)
    objects: dict[str, Blob] = field(default_factory=dict[str, Blob])
    metageneration: int = 1
    created: float = 0.0


class World:
    """Every part holds `lock` while it looks or writes."""

    def __init__(self, clock: Callable[[], float], lag: Callable[[], float]) -> None:
        self.clock, self.lag = clock, lag
        self.lock = threading.RLock()
        self.clear()

    def clear(self) -> None:
        self.projects: dict[str, Project] = {}
        self.accounts: dict[str, ServiceAccount] = {}  # by e-mail
        self.gone: dict[str, ServiceAccount] = {}  # the deleted ones, by unique id
        self.roles: dict[tuple[str, str], Role] = {}  # by project and id
        self.pools: dict[tuple[str, str], Pool] = {}  # by project and id
        self.operations: dict[str, Operation] = {}
        self.buckets: dict[str, Bucket] = {}

    def account(self, name: str) -> ServiceAccount | None:
        """By its e-mail, or its unique id."""
        return self.accounts.get(name) or next(
            (each for each in self.accounts.values() if each.unique_id == name), None
        )

    def project(self, name: str) -> Project | None:
        """By its id, or its number."""
        return self.projects.get(name) or next(
            (each for each in self.projects.values() if each.number == name), None
        )
