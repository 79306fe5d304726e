"""What says whose tokens are believed, read back from everywhere at once: the web, and each cloud."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from cwiictl import names
from cwiictl.actions.result import failure
from cwiictl.actions.stage import Site, Stage
from cwiictl.actions.unasked import Unasked
from cwiictl.engine.pace import Job, run
from cwiictl.engine.resource import Known, Report, Resource
from cwiictl.engine.run import Outcome
from cwiictl.issuer.documents import Issuer, IssuerState
from cwiictl.issuer.elsewhere import Unread
from cwiictl.issuer.key import KEY
from cwiictl.issuer.known import KnownIssuers
from cwiictl.issuer.page import Page
from cwiictl.issuer.stores.pages import Pages
from cwiictl.picture.map import Acting
from cwiictl.verify import documents
from cwiictl.verify.expected import Expected
from cwiictl.verify.finding import TRUST, Finding, whole

HOST = "host of the issuer"


@dataclass
class Look:
    stage: Stage
    issuer: Issuer
    report: Report
    before: Outcome | None = None  # what was read a moment ago, and is not read again
    found: Known = field(default_factory=Known)
    pages: dict[str, Page] = field(default_factory=dict[str, Page])
    failed: dict[str, Exception] = field(default_factory=dict[str, Exception])
    interrupted: bool = False

    @property
    def url(self) -> str:
        return self.found[self.issuer].url

    @cached_property
    def believers(self) -> list[tuple[Site, Resource[Any]]]:
        return [
            (site, thing)
            for site in self.stage.sites
            for thing in site.cloud.believers(self.stage.plan.values())
        ]

    @cached_property
    def unasked(self) -> Unasked:
        return Unasked(self.stage, self.report)

    def identified(self, site: Site) -> tuple[Resource[Any], ...]:
        """All that has to do with whom the cloud takes workloads for, asked for or not."""
        return (*self.stage.plan.values(), *self.unasked.of(site))

    def acting(self, cloud: str) -> Iterator[Acting]:
        """Who acts as something there that is not asked for."""
        for site in self.stage.sites:
            if site.cloud.name == cloud:
                yield from site.cloud.acting(self.unasked.of(site), self.found)

    def host(self) -> bool:
        """Who gives the issuer its name is looked for before all else. False if nobody knows it."""
        of = self.issuer.home.of
        if of:
            self._read({of.address: of})
        if of is None or of in self.found:
            self.found.learn(self.issuer, IssuerState(url=self.issuer.home.url(self.found)))
        return self.issuer in self.found

    def around(self) -> None:
        """All that is asked for and believes somebody, what each cloud was made to believe before, and unless nobody needs to read it, the issuer itself."""
        known = (thing for thing in self.stage.plan.values() if isinstance(thing, KnownIssuers))
        issuer = () if isinstance(self.issuer, Unread) else (self.issuer,)
        self._read(
            {
                thing.address: thing
                for thing in (*issuer, *known, *(thing for _, thing in self.believers))
            }
        )

    def beyond(self) -> None:
        """What of the same kind nobody asks for here."""
        self.unasked.look(self.before.held if self.before else None, self.issuer.home, self.found)
        self.failed |= self.unasked.failed
        self.interrupted = self.interrupted or self.unasked.interrupted

    def _read(self, things: Mapping[str, Resource[Any]]) -> None:
        def read(address: str, _tried: int) -> str:
            if address == self.issuer.address:
                self._visit()
            elif (
                have := things[address]
                .store.get([place := things[address].place(self.found)])
                .get(place)
            ):
                self.found.learn(things[address], have)
            return "read"

        unread = {address: thing for address, thing in things.items() if not self._seen(thing)}
        patience = {address: thing.store.patience for address, thing in unread.items()}
        ran = run(
            Job(
                dict.fromkeys(unread, ()),
                read,
                patience=patience.__getitem__,
                report=self.report,
                verb="reading",
            ),
            self.stage.pace,
        )
        self.failed |= {
            address: e
            for address, e in ran.failed.items()
            if not isinstance(things.get(address), KnownIssuers)
        }  # which only help to tell more
        self.interrupted = self.interrupted or ran.interrupted

    def _seen(self, thing: Resource[Any]) -> bool:
        """The issuer is to be visited as a cloud does it, whatever was read of it."""
        if self.before is None or thing is self.issuer or thing.address not in self.before.seen:
            return False
        if have := self.before.seen[thing.address]:
            self.found.learn(thing, have)
        return True

    def _visit(self) -> None:
        pages = Pages()
        page = self.pages[documents.DISCOVERY] = pages.publicly(f"{self.url}/{names.DISCOVERY}")
        if uri := documents.jwks_uri(page):
            self.pages[documents.KEYS] = pages.publicly(uri)

    # --- what that means ---

    def findings(self) -> Iterator[Finding]:
        if self.issuer not in self.found:
            host = self.issuer.home.of
            yield from (
                [
                    Finding(
                        host.address, HOST, "failed", "it is not there", "make it with create-all"
                    )
                ]
                if host and not self.failed
                else []
            )
        elif not self.interrupted:
            yield from self._judged()
        for address, e in self.failed.items():
            row = failure(address, e)
            yield Finding(address, TRUST, "failed", row.problem, row.remedy)

    def _judged(self) -> Iterator[Finding]:
        state = self.stage.keys.get([KEY]).get(KEY)
        key = state.verifies if state else None
        if documents.DISCOVERY in self.pages:
            pages = self.pages[documents.DISCOVERY], self.pages.get(documents.KEYS)
            yield from documents.judged(self.issuer.address, Expected(self.url, key), *pages)
        expected = {
            site.cloud.name: Expected(self.url, key, self._known(site)) for site in self.stage.sites
        }
        for site, thing in self.believers:
            if thing.address not in self.failed:
                yield from whole(
                    thing.address,
                    TRUST,
                    site.cloud.believed(thing, self.found.get(thing), expected[site.cloud.name]),
                )
        yield from self.unasked.findings(self.found, expected)

    def _known(self, site: Site) -> frozenset[str]:
        known = self.found.get(
            KnownIssuers(self.stage.order.cluster.name, site.stores.known_issuers, self.issuer.home)
        )
        return known.urls if known else frozenset()
