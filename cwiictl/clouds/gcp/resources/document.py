"""The two documents of the issuer in the bucket: their names in it are what ccoctl's users know."""

from __future__ import annotations

from dataclasses import dataclass

from cwiictl import names
from cwiictl.engine.resource import Known
from cwiictl.errors import Conflict, Problem
from cwiictl.issuer.documents import DiscoveryDocument

JWKS = "keys.json"
PATHS = frozenset({names.DISCOVERY, JWKS})


@dataclass(frozen=True)
class Discovery(DiscoveryDocument):
    def objection(self, found: Known) -> Problem | None:
        """In a bucket of the user's own there is room for one issuer."""
        problem = super().objection(found)
        return Conflict(problem.problem, remedy="give another --gcs-bucket") if problem else None
