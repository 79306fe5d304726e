"""Who may act as a service account: the members of a pool in its policy. Everybody else in there is somebody else's business."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from typing import Any

from google.iam.v1.policy_pb2 import Policy

from cwiictl.clouds.gcp import ids
from cwiictl.clouds.gcp.stores.ledger import VERSION

USER = "roles/iam.workloadIdentityUser"


@dataclass(frozen=True)
class Pool:
    number: str  # of its project
    name: str
    others: Callable[[], Collection[str]] = field(
        default=tuple[str], compare=False
    )  # of the cluster's there: who was let in by one of them was let in by us

    def has(self, member: str) -> bool:
        """A subject of it, or a set of them: that is trust as well, and so is what is left of who is gone."""
        who = ids.gone(member) or member
        return self._in(self.name, who) or (
            who.startswith("principal") and any(self._in(other, who) for other in self.others())
        )

    def _in(self, name: str, who: str) -> bool:
        whole = f"://{ids.POOLS}/{ids.pool(self.number, name)}/"
        return who.startswith((f"principal{whole}", f"principalSet{whole}"))

    def principals(self, policy: Policy) -> frozenset[str]:
        """One that may act under a condition is none that we would want: it stands under that."""
        return frozenset(
            f"{member} if {when}" if when else member for member, when in self._members(policy)
        )

    def believed(self, policy: Policy) -> bool:
        return any(True for _ in self._members(policy))

    def entrusted(self, policy: Policy, wanted: Collection[str]) -> Policy:
        """With these of ours, and everybody else as before."""
        after = Policy()
        after.CopyFrom(policy)
        after.version = VERSION
        after.ClearField("bindings")
        for binding in policy.bindings:
            members = [
                member for member in binding.members if binding.role != USER or not self.has(member)
            ]
            if members:
                kept = after.bindings.add()
                kept.CopyFrom(binding)
                kept.ClearField("members")
                kept.members.extend(members)
        if wanted:
            plain: Any = next(
                (
                    each
                    for each in after.bindings
                    if each.role == USER and not each.HasField("condition")
                ),
                None,
            )
            plain = plain if plain is not None else after.bindings.add(role=USER)
            plain.members.extend(sorted(wanted))
        return after

    def _members(self, policy: Policy) -> Iterator[tuple[str, str]]:
        for binding in policy.bindings:
            for member in binding.members:
                if binding.role == USER and self.has(member):
                    yield str(member), str(binding.condition.expression)
