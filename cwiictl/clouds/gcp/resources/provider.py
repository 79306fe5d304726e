"""The pool's word for an issuer that it believes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

from cwiictl.clouds.gcp.resources import room
from cwiictl.clouds.gcp.resources.pool import TITLE, Pool
from cwiictl.engine.resource import Difference, Known, Resource, State, aside, differences
from cwiictl.issuer.documents import Issuer
from cwiictl.model import Cluster
from cwiictl.oidc import VerificationKey

Keys: TypeAlias = Literal["issuer", "uploaded"]  # where the keys are that tokens are checked with

SUBJECT: Mapping[str, str] = {"google.subject": "assertion.sub"}


@dataclass(frozen=True, kw_only=True)
class ProviderState(State):
    """What was deleted is shown, and revived by `put`. It goes with its pool."""

    title: str  # its displayName
    description: str  # what it says to people; the mark stands behind that
    issuer: str
    audiences: frozenset[str]
    mapping: Mapping[str, str] = field(default_factory=lambda: dict(SUBJECT))
    condition: str = ""
    disabled: bool = False
    deleted: bool = False
    keys: Keys = "issuer"
    word: str = field(
        default="", compare=False, repr=False, metadata={"aside": True}
    )  # of the found one: where a rotation of its keys stands
    uploads: tuple[VerificationKey, ...] = (
        aside()
    )  # of the wanted one: what is uploaded with it when it is made


@dataclass(frozen=True)
class Provider(Resource[ProviderState]):
    """It holds the issuer: who comes with a token is to be believed as soon as the provider is there."""

    cluster: Cluster
    pool: Pool
    issuer: Issuer
    audiences: frozenset[str]
    keys: Keys = "issuer"

    def want(self, known: Known) -> ProviderState:
        return ProviderState(
            title=self.cluster.name[:TITLE],
            description=f"Issuer of the Kubernetes cluster {self.cluster.name}.",
            issuer=known[self.issuer].url,
            audiences=self.audiences,
            keys=self.keys,
            uploads=known[self.issuer.key].every if self.keys == "uploaded" else (),
        )

    def settled(self, found: Known) -> bool:
        """Whether nobody is believed yet, or just the issuer that is wanted. What comes back with its pool is put right only then."""
        have, pool = found.get(self), found.get(self.pool)
        if pool and pool.deleted:
            return False
        return have is None or (have.issuer, have.keys, have.deleted) == (
            self.issuer.home.text,
            self.keys,
            False,
        )

    def differing(self, want: ProviderState, have: ProviderState) -> tuple[Difference, ...]:
        """Keys are uploaded to one that is there by what holds them; here they are only taken away, so that the issuer's own are read."""
        fitting = replace(
            want, description=room.fitted(want.description, self.cluster.name, word=have.word)
        )
        return tuple(
            d for d in differences(fitting, have) if d.field != "keys" or want.keys == "issuer"
        )
