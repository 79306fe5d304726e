"""What has to agree everywhere."""

from __future__ import annotations

from dataclasses import dataclass

from cwiictl.oidc import VerificationKey


@dataclass(frozen=True)
class Expected:
    url: str  # the issuer, to the letter
    key: VerificationKey | None = None  # that signs tokens, if it is known here
    known: frozenset[str] = frozenset()  # issuers that this cloud was made to trust for the cluster
