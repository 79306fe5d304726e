"""The storage account and the container in it that serve the issuer's two documents, to everybody or to the user's own host alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from cwiictl import names
from cwiictl.clouds.azure import ids
from cwiictl.clouds.azure.resources.resource_group import ResourceGroup, theirs
from cwiictl.engine.resource import Difference, Known, Resource, State, differences, part
from cwiictl.errors import BadInput, Conflict, Problem
from cwiictl.model import Cluster

Public: TypeAlias = Literal[
    "Blob", "None", "Container"
]  # the last is only ever found: it lets everybody list

HIDDEN = "blobs that may not be looked at"
HOSTED = "or serve the documents from a host of your own, with --issuer-url"


@dataclass(frozen=True, kw_only=True)
class StorageAccountState(State):
    """Of one that is marked as brought only the mark is ours to write: `due` says so."""

    id: str = field(
        compare=False
    )  # the found one's says in which group it is; empty if it is somebody else's in the world
    region: str = field(
        compare=False
    )  # where it is made; one of ours that is elsewhere is objected to
    minimum_tls: str = "TLS1_2"
    https_only: bool = True
    public: bool | None = True  # allowBlobPublicAccess; None if it was never said
    shared_key: bool | None = False  # allowSharedKeyAccess; None if it was never said
    network: str = field(
        default="Enabled", compare=False, metadata={"bookkeeping": True}
    )  # publicNetworkAccess, as found
    tags: Mapping[str, str] = part()


@dataclass(frozen=True)
class StorageAccount(Resource[StorageAccountState]):
    cluster: Cluster
    subscription: str
    region: str
    group: ResourceGroup
    public: bool = True  # everybody may read what it publishes
    fronted: bool = False  # by the user's own host, which is what everybody reads
    named: bool = False  # by the user: then one that is there is the user's own
    clouds: frozenset[str] = frozenset()  # others, that trust its issuer

    @property
    def brought(self) -> bool:
        return self.named

    @property
    def title(self) -> str:
        """Its own name, which is the world's."""
        return self.name.partition("/")[2]

    @property
    def id(self) -> str:
        return ids.account(self.subscription, self.group.name, self.title)

    def want(self, known: Known) -> StorageAccountState:  # noqa: ARG002 - it follows from what was asked
        tags = {**names.tags(self.cluster), **names.trusted(self.clouds)}
        return StorageAccountState(id=self.id, region=self.region, public=self.public, tags=tags)

    def differing(
        self, want: StorageAccountState, have: StorageAccountState
    ) -> tuple[Difference, ...]:
        return () if theirs(self, have, self.cluster) else differences(want, have)

    def objection(self, found: Known) -> Problem | None:
        """Its name is the world's; and what it forbids, its containers cannot allow."""
        have = found.get(self)
        return (
            self._elsewhere(have) or self._moved(have, found) or self._closed(have)
            if have
            else None
        )

    def _elsewhere(self, have: StorageAccountState) -> Problem | None:
        if not have.id:
            taken = f"the name {self.title} is taken in the world, and by no storage account that is seen in the subscription {self.subscription}"
            return Conflict(
                taken,
                remedy="give the --subscription-id that it is in, if it is yours, or another name with --storage-account-name",
            )
        if not ids.same(have.id, self.id):
            group = ids.group_of(have.id)
            return Conflict(
                f"{self.title} is in the resource group {group}",
                remedy=f"give --oidc-resource-group-name {group}, or another account",
            )
        return None

    def _moved(self, have: StorageAccountState, found: Known) -> Problem | None:
        """The user's own may be anywhere."""
        return (
            None
            if theirs(self, have, self.cluster)
            else self.group.stays(have.region, have.owner, found)
        )

    def _closed(self, have: StorageAccountState) -> Problem | None:
        if self.fronted or not theirs(self, have, self.cluster):
            return None
        if have.public is False:
            return BadInput(
                f"{self.address} lets nobody read anonymously, and it is yours",
                remedy=f"allow anonymous access to its blobs, {HOSTED}",
            )
        if have.network == "Disabled":
            return BadInput(
                f"{self.address} is closed to public networks, and it is yours",
                remedy=f"open it, {HOSTED}",
            )
        return None


@dataclass(frozen=True, kw_only=True)
class ContainerState(State):
    """Of one that is marked as brought only the mark is ours to write: `due` says so."""

    public: Public = "Blob"
    stranger: str = field(
        default="", compare=False, metadata={"bookkeeping": True}
    )  # something in it that is not ours, while it is not


@dataclass(frozen=True)
class Container(Resource[ContainerState]):
    """Everybody may read the two documents, and nobody may list what else lies there."""

    cluster: Cluster
    account: StorageAccount
    named: bool = False  # by the user: then one that is there is the user's own

    @property
    def brought(self) -> bool:
        return self.named

    def want(self, known: Known) -> ContainerState:  # noqa: ARG002 - it follows from what was asked
        return ContainerState(public="Blob" if self.account.public else "None")

    def differing(self, want: ContainerState, have: ContainerState) -> tuple[Difference, ...]:
        return () if theirs(self, have, self.cluster) else differences(want, have)

    def objection(self, found: Known) -> Problem | None:
        """What lies in a container is published with it."""
        have = found.get(self)
        if have is None:
            return None
        if theirs(self, have, self.cluster):
            closed = have.public == "None" and not self.account.fronted
            why = f"{self.address} lets nobody read anonymously, and it is yours"
            return (
                BadInput(why, remedy=f"give its blobs anonymous read access, {HOSTED}")
                if closed
                else None
            )
        if have.stranger == HIDDEN:
            remedy = "choose another --blob-container-name, or have Storage Blob Data Reader granted there"
            return Conflict(
                f"{self.address} is there already, and who runs this may not see what it would publish",
                remedy=remedy,
            )
        if have.stranger:
            return Conflict(
                f"{self.address} holds {have.stranger}, which is not the issuer's",
                remedy="choose another --blob-container-name, or move it first",
            )
        return None
