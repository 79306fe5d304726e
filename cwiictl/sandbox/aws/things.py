"""The few things of moto's memory that the sandbox looks at, with types that moto does not have."""

from __future__ import annotations

from collections.abc import MutableMapping
from datetime import datetime
from typing import Any, Protocol


class Version(Protocol):
    """One of the versions of a managed policy."""

    document: str
    version_id: str
    is_default: bool
    create_date: datetime


class Policy(Protocol):
    """A managed policy."""

    id: str
    name: str
    path: str
    attachment_count: int
    default_version_id: str
    versions: list[Version]
    create_date: datetime
    update_date: datetime

    @property
    def arn(self) -> str: ...


class Role(Protocol):
    id: str
    name: str
    path: str
    policies: dict[str, str]
    managed_policies: dict[str, Policy]
    tags: list[dict[str, str]]
    create_date: datetime
    description: str | None
    permissions_boundary_arn: str | None
    assume_role_policy_document: str
    max_session_duration: Any

    @property
    def arn(self) -> str: ...


class Provider(Protocol):
    url: str  # without its scheme
    client_id_list: list[str]
    thumbprint_list: list[str]

    @property
    def arn(self) -> str: ...


class Block(Protocol):
    """A public access block, of a bucket or of the account."""

    block_public_policy: bool
    restrict_public_buckets: bool


class Bucket(Protocol):
    name: str
    region_name: str
    policy: bytes | None
    public_access_block: Block | None
    keys: MutableMapping[str, Any]


class Account(Protocol):
    public_access_block: Block | None
