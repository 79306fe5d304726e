"""What of a cluster's trust is to be drawn, beside how each thing of it is."""

from __future__ import annotations

from dataclasses import dataclass

from cwiictl.picture.map import Acting, Pods


@dataclass(frozen=True)
class Side:
    """A cloud, and who may act as what in it."""

    cloud: str
    title: str
    acting: tuple[Acting, ...]


@dataclass(frozen=True)
class Sight:
    cluster: str
    issuer: str
    key: str  # the id of the one that signs
    behind: frozenset[str]  # addresses of what the issuer is made of
    sides: tuple[Side, ...]
    pods: Pods | None = None  # None where the cluster was not asked
