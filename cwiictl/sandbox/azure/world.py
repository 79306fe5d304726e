"""All that is in Azure here: plain things, and when they were written. ARM changes them; Entra and Blob only look, but for the blobs themselves."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

TENANT = "72f988bf-0000-4000-8000-2d7cd011db47"
SUBSCRIPTION = "11111111-1111-4111-8111-111111111111"
SECOND = "22222222-2222-4222-8222-222222222222"  # of the same tenant and the same operator
CLIENT = "aaaaaaaa-0000-4000-8000-000000000001"  # the operator's own application
OPERATOR = (
    "bbbbbbbb-0000-4000-8000-000000000001"  # its object id: who the operator is to role assignments
)
PERSON = (
    "bbbbbbbb-0000-4000-8000-000000000002"  # somebody else of the tenant, who may do nothing yet
)
SECRET = "sandbox-client-secret"  # noqa: S105 - opens nothing but this sandbox

Public = Literal["None", "Blob", "Container"]
Kind = Literal["ServicePrincipal", "User", "Group"]

LONG_AGO = 0.0


@dataclass(frozen=True)
class Principal:
    """Somebody whom the directory knows."""

    id: str
    kind: Kind
    born: float


@dataclass
class Group:
    """A resource group. While `until` is set and has not come, it is being deleted."""

    id: str
    name: str
    location: str
    born: float
    tags: dict[str, str] = field(default_factory=dict[str, str])
    manager: str | None = None
    until: float | None = None


@dataclass
class Blob:
    body: bytes
    headers: dict[str, str]  # Content-Type, Cache-Control, …: as they were set, and served
    etag: str
    modified: float
    metadata: dict[str, str] = field(default_factory=dict[str, str])
    tags: dict[str, str] = field(default_factory=dict[str, str])


@dataclass
class Container:
    name: str
    public: Public = "None"
    metadata: dict[str, str] = field(default_factory=dict[str, str])
    etag: str = ""
    modified: float = 0.0
    blobs: dict[str, Blob] = field(default_factory=dict[str, Blob])


@dataclass
class Account:
    """A storage account. Its name is the world's: the first label of its blob host."""

    id: str
    name: str
    suffix: str  # of its hosts: core.windows.net, …
    properties: dict[
        str, Any
    ]  # as ARM shows them: allowBlobPublicAccess, allowSharedKeyAccess, publicNetworkAccess, minimumTlsVersion, …
    keys: tuple[str, str]  # base64
    born: float
    containers: dict[str, Container] = field(default_factory=dict[str, Container])
    location: str = ""
    sku: str = "Standard_LRS"
    kind: str = "StorageV2"
    tags: dict[str, str] = field(default_factory=dict[str, str])
    identity: dict[str, Any] | None = None
    service: dict[str, Any] = field(
        default_factory=dict[str, Any]
    )  # the properties of its blob service
    ready: float = 0.0  # until then it is being made, and its hosts do not answer
    shelves: dict[str, set[str]] = field(
        default_factory=dict[str, set[str]]
    )  # by kind: names of its file shares, queues and tables
    going: dict[str, float] = field(
        default_factory=dict[str, float]
    )  # containers that were deleted: until then nobody may make one of that name


@dataclass(frozen=True)
class Credential:
    """A federated credential, exactly as it was written."""

    name: str
    issuer: str
    subject: str
    audiences: tuple[str, ...]
    born: float


@dataclass
class Identity:
    id: str
    name: str
    client: str
    principal: str
    tenant: str
    born: float
    credentials: dict[str, Credential] = field(default_factory=dict[str, Credential])
    location: str = ""
    tags: dict[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True)
class Assignment:
    id: str
    scope: str
    role: str  # the GUID of its definition, in lower case
    principal: str
    born: float
    details: Mapping[str, Any] = field(
        default_factory=dict[str, Any]
    )  # principalType, description, condition, …: as ARM shows them
    gone: float | None = None  # when it was deleted: whoever lags still sees it


@dataclass(frozen=True)
class Role:
    """A definition. Its GUID is its name in the whole tenant, whatever the scope that one asks at."""

    guid: str
    properties: Mapping[
        str, Any
    ]  # roleName, type, permissions, assignableScopes, …: as ARM shows them
    born: float


@dataclass
class World:
    """Ids are compared without regard to case: the keys of these mappings are in lower case, the values' ids as they were written."""

    clock: Callable[[], float]
    lag: Callable[[], float]  # seconds until a write is seen, now
    lock: threading.RLock = field(default_factory=threading.RLock, repr=False)
    groups: dict[str, Group] = field(default_factory=dict[str, Group])  # by id
    accounts: dict[str, Account] = field(default_factory=dict[str, Account])  # by name
    identities: dict[str, Identity] = field(default_factory=dict[str, Identity])  # by id
    others: dict[str, dict[str, Any]] = field(
        default_factory=dict[str, dict[str, Any]]
    )  # what others make here (networks, zones), by id, as it was written
    principals: dict[str, Principal] = field(default_factory=dict[str, Principal])  # by object id
    assignments: dict[str, Assignment] = field(default_factory=dict[str, Assignment])  # by id
    ghosts: list[Assignment] = field(default_factory=list[Assignment])  # deleted, and still seen
    roles: dict[str, Role] = field(default_factory=dict[str, Role])  # by GUID

    def old(self, born: float) -> bool:
        """Written so long ago that everybody sees it."""
        return born + self.lag() <= self.clock()

    def seen(self, principal: str = "") -> list[Assignment]:
        """The role assignments, or one principal's, as they are acted on: without those of the last moments, and with those that went in them."""
        self.ghosts = [
            ghost for ghost in self.ghosts if ghost.gone is not None and not self.old(ghost.gone)
        ]
        every = (*self.assignments.values(), *self.ghosts)
        return [one for one in every if principal in {"", one.principal} and self.old(one.born)]

    def unassign(self, one: Assignment) -> None:
        del self.assignments[one.id.lower()]
        self.ghosts.append(dataclasses.replace(one, gone=self.clock()))

    def clear(self) -> None:
        for kept in (
            self.groups,
            self.accounts,
            self.identities,
            self.others,
            self.principals,
            self.assignments,
            self.ghosts,
            self.roles,
        ):
            kept.clear()
