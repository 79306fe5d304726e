"""The two documents of the issuer in the container: their paths in it are what ccoctl's users know."""

from __future__ import annotations

from dataclasses import dataclass

from cwiictl import names
from cwiictl.clouds.azure.resources.resource_group import theirs
from cwiictl.clouds.azure.resources.storage_account import Container
from cwiictl.engine.resource import Known
from cwiictl.errors import Conflict, Problem
from cwiictl.issuer.documents import DiscoveryDocument

JWKS = "openid/v1/jwks"
PATHS = frozenset({names.DISCOVERY, JWKS})


@dataclass(frozen=True)
class Discovery(DiscoveryDocument):
    parent: Container

    def objection(self, found: Known) -> Problem | None:
        """In a container of the user's own there is room for one issuer; in one that we made under a name of the user's, for ours."""
        container = found.get(self.parent)
        problem = (
            super().objection(found)
            if container and theirs(self.parent, container, self.parent.cluster)
            else None
        )
        return (
            Conflict(problem.problem, remedy="give another --blob-container-name")
            if problem
            else None
        )
