"""What a cloud was made to trust for a cluster already: read from what bears its mark there, and never written."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping

from cwiictl.engine.resource import Mark
from cwiictl.issuer.known import KnownIssuersState

PATIENCE = 120.0


class KnownIssuers:
    """`urls` tells those of a cluster."""

    bulk, patience = False, PATIENCE

    def __init__(self, cloud: str, urls: Callable[[str], Iterable[str]]) -> None:
        self.kind = f"{cloud}/known-issuers"
        self.urls = urls

    def get(self, clusters: Collection[str], /) -> Mapping[str, KnownIssuersState]:
        return {
            cluster: KnownIssuersState(urls=frozenset(self.urls(cluster))) for cluster in clusters
        }

    def put(
        self, _cluster: str, _want: KnownIssuersState, have: KnownIssuersState | None, /
    ) -> KnownIssuersState:
        """There is nothing to write: what trusts them has its own store."""
        return have or KnownIssuersState()

    def drop(self, _cluster: str, /) -> None:
        """Nor to drop."""

    def owned(self, _cluster: str, /) -> Mapping[str, Mark]:
        return {}
