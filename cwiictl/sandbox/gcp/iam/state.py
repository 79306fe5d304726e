"""What the kinds of IAM share: the world they change, and how they find what is named."""

from __future__ import annotations

from dataclasses import dataclass

from cwiictl.sandbox.faults import Faults
from cwiictl.sandbox.gcp.answers import not_found
from cwiictl.sandbox.gcp.call import Call
from cwiictl.sandbox.gcp.world import Pool, Project, ServiceAccount, World

DAY = 86_400.0
KEPT = 30 * DAY  # deleted pools, providers and service accounts


@dataclass(frozen=True)
class State:
    world: World
    faults: Faults

    def now(self) -> float:
        return self.world.clock()

    def old(self, born: float) -> bool:
        """Written so long ago that everybody sees it."""
        return born + self.world.lag() <= self.now()

    def project(self, call: Call) -> Project:
        found = self.world.project(call.address.project)
        if found is None:  # who may do anything in a project, knows it: this is for `-`
            raise not_found()
        return found

    def account(self, call: Call, words: str = "") -> ServiceAccount:
        """By its e-mail or unique id; its project may be left open."""
        name, project = call.address.names[1], call.address.project
        found = self.world.account(name)
        where = self.world.project(project)
        if (
            found is None
            or not self.old(found.born)
            or (project != "-" and (where is None or where.id != found.project))
        ):
            raise not_found(words or "Unknown service account")
        return found

    def pool(self, call: Call) -> Pool:
        """Deleted ones are there for thirty days."""
        found = self.world.pools.get((self.project(call).id, call.address.names[2]))
        if found is None or self.gone(found.deleted):
            raise not_found()
        return found

    def gone(self, deleted: float | None) -> bool:
        return deleted is not None and deleted + KEPT <= self.now()
