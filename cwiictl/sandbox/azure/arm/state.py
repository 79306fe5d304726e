"""What ARM's services share: the world they change, and how they find what is named."""

from __future__ import annotations

from dataclasses import dataclass

from cwiictl.sandbox.azure.answers import Refusal
from cwiictl.sandbox.azure.clouds import Cloud
from cwiictl.sandbox.azure.rights import covers
from cwiictl.sandbox.azure.world import Account, Group, Identity, World
from cwiictl.sandbox.faults import Faults

from . import address, kinds
from .address import Address
from .operations import Operations


@dataclass(frozen=True)
class State:
    world: World
    faults: Faults
    cloud: Cloud
    strangers: frozenset[str]
    operations: Operations

    def now(self) -> float:
        return self.faults.clock()

    def group(self, where: Address) -> Group:
        found = self.world.groups.get(group_id(where).lower())
        if found is None or (found.until is not None and found.until <= self.now()):
            raise Refusal(
                404, "ResourceGroupNotFound", f"Resource group '{where.group}' could not be found."
            )
        return found

    def writable(self, where: Address) -> Group:
        found = self.group(where)
        if found.until is not None:
            words = f"The resource group '{found.name}' is in deprovisioning state and cannot perform this operation."
            raise Refusal(409, "ResourceGroupBeingDeleted", words)
        return found

    def groups(self, subscription: str) -> list[Group]:
        prefix = f"/subscriptions/{subscription}/".lower()
        return [
            one
            for key, one in sorted(self.world.groups.items())
            if key.startswith(prefix) and (one.until is None or one.until > self.now())
        ]

    def identity(self, where: Address) -> Identity:
        """Of itself, or of what it has."""
        self.group(where)
        found = self.world.identities.get(within(where, 1).lower())
        if found is None:
            raise missing(where, 1)
        return found

    def account(self, where: Address) -> Account:
        self.group(where)
        found = self.world.accounts.get(where.names[0].lower())
        if found is None or found.id.lower() != within(where, 1).lower():
            raise missing(where, 1)
        return found

    def check_scope(self, scope: str) -> None:
        """Whether there is such a thing. Of types that nobody plays here, there may be any."""
        where = address.read(scope)
        if where.group:
            self.group(where)
        if where.kind not in kinds.KINDS or not where.namespace:
            return
        if where.kind.startswith("microsoft.storage/storageaccounts"):
            self._check_inside(where)
        elif where.kind.startswith("microsoft.managedidentity/"):
            self.identity(where)
        elif where.id.lower() not in self.world.others:
            raise missing(where, len(where.names))

    def _check_inside(self, where: Address) -> None:
        account = self.account(where)
        if where.kind.endswith("/containers") and where.name not in account.containers:
            raise missing(where, len(where.names))

    def unassign(self, scope: str) -> None:
        """What was given on a thing goes with it."""
        for one in [one for one in self.world.assignments.values() if covers(scope, one.scope)]:
            self.world.unassign(one)


def group_id(where: Address) -> str:
    return address.path(where.segments[:4])


def within(where: Address, depth: int) -> str:
    """The id of the outermost, or of the next within it …"""
    pairs = zip(where.types[:depth], where.names[:depth], strict=True)
    return f"{where.parent}/providers/{where.namespace}" + "".join(
        f"/{kind}/{name}" for kind, name in pairs
    )


def missing(where: Address, depth: int) -> Refusal:
    kind = kinds.KINDS["/".join((where.namespace, *where.types[:depth])).lower()]
    namespace, types = kind.namespace, kind.type.split("/")
    path = "/".join(f"{one}/{name}" for one, name in zip(types, where.names[:depth], strict=False))
    words = f"The Resource '{namespace}/{path}' under resource group '{where.group}' was not found. For more details please go to https://aka.ms/ARMResourceNotFoundFix"
    return Refusal(404, "ResourceNotFound", words)
