"""The issuer that a cluster has already: a run that would make another stops, unless it is meant."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from cwiictl.engine.resource import Known, Resource, State
from cwiictl.errors import BadInput, Problem
from cwiictl.issuer.home import Home


@dataclass(frozen=True, kw_only=True)
class KnownIssuersState(State):
    """What a cloud was made to trust for the cluster. Its store has an answer for every cluster."""

    markless: ClassVar[bool] = True
    urls: frozenset[str] = frozenset()


@dataclass(frozen=True)
class KnownIssuers(Resource[KnownIssuersState]):
    """Whoever forgets the option that the issuer was made with would move it: then no token of the running cluster is believed any more."""

    home: Home

    @property
    def quiet(self) -> bool:
        return True

    @property
    def guards(self) -> bool:
        return True

    def want(self, known: Known) -> KnownIssuersState:  # noqa: ARG002 - it is only looked at
        return KnownIssuersState()

    def differing(self, want: KnownIssuersState, have: KnownIssuersState) -> tuple[()]:  # noqa: ARG002 - another is an objection, and nothing that could be mended
        return ()

    def objection(self, found: Known) -> Problem | None:
        have, planned = found.get(self), self._planned(found)
        if have is None or not have.urls or planned in have.urls:
            return None
        return BadInput(
            f"the issuer of cluster {self.name} is {min(have.urls)}, and this run would make another{f': {planned}' if planned else ''}",
            remedy="give the options that it was made with, or move it with --move-issuer: tokens that a running cluster has signed are refused then",
        )

    def _planned(self, found: Known) -> str:
        """Empty while its host is yet to be made."""
        host = found.get(self.home.host) if self.home.host else None
        return self.home.text or (f"https://{host.domain}" if host else "")
