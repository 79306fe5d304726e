"""The ServiceAccount signing key, as a thing that should exist on this disk."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from cwiictl import names
from cwiictl.engine.resource import Known, Resource, State, aside, assigned
from cwiictl.oidc import VerificationKey

KEY = "signing-key"  # what it is called: a run has one
PAIR = frozenset({names.PRIVATE_KEY, names.PUBLIC_KEY, names.INSTALLER_KEY})


@dataclass(frozen=True, kw_only=True)
class KeyState(State):
    """Nothing of the private half is ever in it: only its store has read that."""

    markless: ClassVar[bool] = True
    missing: frozenset[str] = (
        frozenset()
    )  # what a pair has lost: files, or that they are its owner's alone
    kid: str = assigned()
    n: str = assigned()
    e: str = assigned()
    pem: str = assigned()
    others: tuple[VerificationKey, ...] = aside()  # that a cluster which exists takes, too

    @classmethod
    def of(
        cls,
        key: VerificationKey,
        missing: frozenset[str] = frozenset(),
        others: tuple[VerificationKey, ...] = (),
    ) -> KeyState:
        return cls(missing=missing, kid=key.kid, n=key.n, e=key.e, pem=key.pem, others=others)

    @property
    def verifies(self) -> VerificationKey:
        return VerificationKey(self.kid, self.n, self.e, self.pem)

    @property
    def every(self) -> tuple[VerificationKey, ...]:
        return (self.verifies, *self.others)


@dataclass(frozen=True)
class SigningKey(Resource[KeyState]):
    """The key pair on this disk that signs ServiceAccount tokens.

    Made once and never replaced. Where only its public half is known, that suffices for everything but signing.
    """

    def want(self, known: Known) -> KeyState:  # noqa: ARG002 - nothing comes before the key
        return KeyState()
