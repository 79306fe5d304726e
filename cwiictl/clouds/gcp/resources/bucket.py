"""The bucket that serves the issuer's two documents to everybody; or that is empty, so that nobody else has its name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from cwiictl import names
from cwiictl.clouds.gcp.resources.api import Api
from cwiictl.engine.resource import Difference, Known, Resource, State, differences, part
from cwiictl.errors import BadInput, Conflict, Problem
from cwiictl.model import Cluster

Prevention: TypeAlias = Literal["inherited", "enforced"]

HIDDEN = "objects that may not be looked at"


@dataclass(frozen=True)
class Access:
    """Who may read a bucket: by its policy alone, and by no lists of its objects."""

    uniform: bool = True
    public: bool | None = (
        True  # everybody may read an object whose name they know, and nobody may list them; None if they may do something else
    )
    prevention: Prevention = "inherited"  # "enforced": nothing in it can be made public


READABLE = Access()
CLOSED = Access(public=False, prevention="enforced")


@dataclass(frozen=True, kw_only=True)
class BucketState(State):
    location: str = field(compare=False)  # where it is made; one that is there stays where it is
    project: str = field(
        compare=False
    )  # the number of the project it is in; empty if it is somebody else's in the world
    access: Access | None  # None if that is not ours to say
    labels: Mapping[str, str] = part()  # as we say them: their store knows how Google writes them
    stranger: str = field(
        default="", compare=False, metadata={"bookkeeping": True}
    )  # something in it that is not ours, while it is not


@dataclass(frozen=True)
class Bucket(Resource[BucketState]):
    cluster: Cluster
    project: str  # its number
    location: str
    access: Access | None = READABLE  # None for a bucket of the user's own
    clouds: frozenset[str] = frozenset()  # others, that trust its issuer
    fronted: bool = False  # by the user's own host, which is what everybody reads
    apis: tuple[Api, ...] = ()

    @property
    def brought(self) -> bool:
        return self.access is None

    def want(self, known: Known) -> BucketState:  # noqa: ARG002 - it follows from what was asked
        trusted = names.trusted(self.clouds)
        labels = trusted if self.brought else {**names.tags(self.cluster), **trusted}
        return BucketState(
            location=self.location, project=self.project, access=self.access, labels=labels
        )

    def differing(self, want: BucketState, have: BucketState) -> tuple[Difference, ...]:
        return tuple(d for d in differences(want, have) if d.field != "access" or want.access)

    def objection(self, found: Known) -> Problem | None:
        """Its name is the world's, and what lies in it is published with it."""
        have = found.get(self)
        if have is None:
            gone = BadInput(
                f"there is no bucket {self.name} of yours",
                remedy="make it, or name another with --gcs-bucket",
            )
            return gone if self.brought else None
        if not have.project:
            other = (
                "name one of yours with --gcs-bucket"
                if self.brought
                else "choose another --name, or name a bucket of yours with --gcs-bucket"
            )
            return Conflict(
                f"{self.address} belongs to somebody else in the world, where no two buckets have one name",
                remedy=other,
            )
        return self._closed(have) if self.brought else self._strange(have)

    def _strange(self, have: BucketState) -> Problem | None:
        if have.project != self.project:
            return Conflict(
                f"{self.address} is in the project {have.project}",
                remedy="choose another --name, or give that --project",
            )
        if have.stranger == HIDDEN:
            return Conflict(
                f"{self.address} is there already, and who runs this may not see what it would publish",
                remedy="choose another --name",
            )
        if have.stranger:
            return Conflict(
                f"{self.address} holds {have.stranger}, which is not the issuer's",
                remedy="choose another --name, or move it elsewhere first",
            )
        return None

    def _closed(self, have: BucketState) -> Problem | None:
        if self.fronted or (have.access and have.access.public):
            return None
        return BadInput(
            f"{self.address} lets nobody read it anonymously, and it is yours",
            remedy="grant allUsers roles/storage.legacyObjectReader on it, or serve the documents from a host of your own, with --issuer-url",
        )
