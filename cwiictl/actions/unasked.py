"""Identities that no order asks for: create-identity made each of them by itself. They are read back all the same, and say for whom they were made."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from cwiictl.actions.order import IDENTITY
from cwiictl.actions.stage import Site, Stage
from cwiictl.engine.holdings import Holdings, Thing, holdings
from cwiictl.engine.pace import Job, run
from cwiictl.engine.resource import Known, Report, Resource, State, Walk
from cwiictl.errors import BadInput
from cwiictl.issuer.home import Home
from cwiictl.verify.expected import Expected
from cwiictl.verify.finding import TRUST, Finding, whole

AGAIN = f"make it again with {IDENTITY}, for the same namespace and ServiceAccounts"
NOBODYS = "it takes tokens of no ServiceAccount that it can have been made for"


@dataclass
class Unasked:
    """What is there of them, and what each was made as; which nobody may be able to tell any more."""

    stage: Stage
    report: Report
    things: dict[str, tuple[Site, Resource[Any] | None]] = field(
        default_factory=dict[str, tuple[Site, Resource[Any] | None]]
    )
    failed: dict[str, Exception] = field(default_factory=dict[str, Exception])
    interrupted: bool = False

    def look(self, held: Holdings | None, home: Home, found: Known) -> None:
        """`held` is what is known already of what there is."""
        sites = {site.stores.identities.kind: site for site in self.stage.sites}
        held = held or self._listed(sites)
        self.failed |= {
            kind: e for kind, e in held.failed.items() if kind in sites
        }  # whether there are any of it nobody can say
        made = {
            thing.address: thing
            for thing in held
            if thing.store.kind in sites and self._unasked(thing)
        }
        self._read(made, sites, home, found)
        self.interrupted = self.interrupted or held.interrupted

    def of(self, site: Site) -> list[Resource[Any]]:
        return [thing for other, thing in self.things.values() if other is site and thing]

    def findings(self, found: Known, expected: Mapping[str, Expected]) -> Iterator[Finding]:
        """`expected` is by cloud."""
        for address, (site, thing) in self.things.items():
            told = (
                self._judged(site, thing, found, expected[site.cloud.name])
                if thing
                else [Finding(address, TRUST, "failed", NOBODYS)]
            )
            yield from whole(address, TRUST, (replace(each, remedy=AGAIN) for each in told))

    @staticmethod
    def _judged(
        site: Site, thing: Resource[Any], found: Known, expected: Expected
    ) -> Iterator[Finding]:
        return site.cloud.believed(thing, found.get(thing), expected)

    def _listed(self, sites: Mapping[str, Site]) -> Holdings:
        walks = [Walk((), (), (site.stores.identities,), ()) for site in sites.values()]
        return holdings(walks, self.stage.order.cluster.name, self.stage.pace, self.report)

    def _unasked(self, thing: Thing) -> bool:
        return thing.mark.origin == IDENTITY and thing.address not in self.stage.plan

    def _read(
        self, made: Mapping[str, Thing], sites: Mapping[str, Site], home: Home, found: Known
    ) -> None:
        def read(address: str, _tried: int) -> str:
            thing, site = made[address], sites[made[address].store.kind]
            if have := thing.store.get([thing.name]).get(thing.name):
                self.things[address] = site, self._learned(site, thing, have, home, found)
            return "read"

        patience = {address: thing.store.patience for address, thing in made.items()}
        ran = run(
            Job(
                dict.fromkeys(made, ()),
                read,
                patience=patience.__getitem__,
                report=self.report,
                verb="reading",
            ),
            self.stage.pace,
        )
        self.things = dict(sorted(self.things.items()))  # whichever was read first
        self.failed |= ran.failed
        self.interrupted = self.interrupted or ran.interrupted

    def _learned(
        self, site: Site, thing: Thing, have: State, home: Home, found: Known
    ) -> Resource[Any] | None:
        """As the plan would have it. What nobody could ask for any more is nobody's."""
        cluster = self.stage.order.cluster
        asked = site.cloud.recognised(cluster, thing.name, have)
        try:
            made = (
                list(site.cloud.identities(site.spec, cluster, site.stores, [asked], home))
                if asked
                else []
            )
        except BadInput:
            return None
        whole = next(
            (replace(each, name=thing.name) for each in made if each.store is thing.store), None
        )
        if whole:
            found.learn(whole, have)
        return whole
