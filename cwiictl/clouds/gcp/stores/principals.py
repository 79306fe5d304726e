"""The subjects of the cluster's own pools that are granted roles themselves, wherever that is."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from cwiictl.clouds.gcp.resources.principal import SubjectState
from cwiictl.clouds.gcp.stores.policies import Policies
from cwiictl.engine.resource import Mark


class Principals:
    """Addressed as NAMESPACE:NAME. What they have they get from the policies, and lose here."""

    kind, bulk, patience = "gcp/principal", True, 600.0

    def __init__(self, policies: Policies) -> None:
        self.policies = policies
        self.marks: Mapping[str, Mark] = {}  # of those that have roles, once that was asked

    def get(self, subjects: Collection[str], /) -> Mapping[str, SubjectState]:
        return {subject: SubjectState(owner=self.marks.get(subject)) for subject in subjects}

    def put(self, _subject: str, want: SubjectState, _have: SubjectState | None, /) -> SubjectState:
        """There is nothing to write: the policies name it."""
        return want

    def drop(self, subject: str, /) -> None:
        self.policies.strip(subject)

    def owned(self, cluster: str, /) -> Mapping[str, Mark]:
        """Only create-all makes any: nothing could tell them apart."""
        self.marks = dict.fromkeys(self.policies.direct(cluster), Mark(cluster))
        return self.marks
