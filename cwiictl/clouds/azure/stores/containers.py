"""The containers in storage accounts, as Azure Resource Manager shows them: what is in one is `blobs`."""

from __future__ import annotations

import threading
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from azure.core.exceptions import HttpResponseError

from cwiictl import names
from cwiictl.clouds.azure.resources.storage_account import HIDDEN, ContainerState, Public
from cwiictl.clouds.azure.stores import tags
from cwiictl.clouds.azure.stores.errors import absent, code, gone, status, told
from cwiictl.clouds.azure.stores.lent import MISMATCH, Lender
from cwiictl.clouds.azure.stores.storage import (
    MARK,
    RELEASED,
    StorageAccounts,
    mark,
    marked,
    metadata,
    plain,
)
from cwiictl.engine.resource import Mark
from cwiictl.errors import Conflict, NotYet

if TYPE_CHECKING:
    from cwiictl.clouds.azure.stores.blobs import Listing


class Containers:
    """Addressed as ACCOUNT/CONTAINER, as in the address of what is in them."""

    kind, bulk, patience = "azure/container", False, 120.0

    def __init__(self, accounts: StorageAccounts, blobs: Listing, lender: Lender) -> None:
        self.accounts, self.blobs, self.lender, self.cluster = (
            accounts,
            blobs,
            lender,
            lender.cluster,
        )
        self.containers = accounts.storage.blob_containers
        self.lock = threading.Lock()
        self.seen: dict[str, dict[str, Mark]] = {}
        self.last: dict[str, Any] = {}  # as each was last seen in this run

    @told("Microsoft.Storage")
    def get(self, containers: Collection[str], /) -> Mapping[str, ContainerState]:
        found = {container: self.read(container) for container in containers}
        return {
            container: self._state(container, seen) for container, seen in found.items() if seen
        }

    @told("Microsoft.Storage")
    def put(
        self, container: str, want: ContainerState, have: ContainerState | None, /
    ) -> ContainerState:
        group, account, name = self._place(container)
        if not group:
            raise NotYet(f"{self.kind}/{container} has no account yet")
        others = metadata(self.containers.get(group, account, name)) if have else {}
        if have and tags.lent(want.owner):
            want = replace(have, owner=want.owner)
        signed = (
            {MARK: names.described(want.owner) if want.owner else RELEASED}
            if want.owner or MARK in others
            else {}
        )
        wish: Any = {"properties": {"publicAccess": want.public, "metadata": {**others, **signed}}}
        write: Any = self.containers.update if have else self.containers.create
        try:
            made = self.last[container] = write(group, account, name, wish)
            return self._state(container, made)
        except HttpResponseError as e:
            if (
                code(e) == "PublicAccessNotPermitted"
            ):  # for a moment after the account's own word was changed, or for good
                why = f"Azure does not let {self.kind}/{container} be read by everybody: its account forbids that, maybe by a policy"
                raise NotYet(
                    why,
                    remedy="allow anonymous access to blobs there, or use --create-private-storage-account",
                ) from e
            raise

    @told("Microsoft.Storage")
    def drop(self, container: str, /) -> None:
        group, account, name = self._place(container)
        self.last.pop(container, None)
        if not group:
            return
        with gone():
            self._vacated(container, self._strange(account, name))
            self.containers.delete(group, account, name)

    @told("Microsoft.Storage")
    def inspect(self, container: str, /) -> None:
        """As far as who runs this may look: the right to is lent only when it is dropped."""
        account, _, name = container.partition("/")
        strange = self._hidden(account, name)
        self._vacated(container, "" if strange == HIDDEN else strange)

    def _vacated(self, container: str, strange: str) -> None:
        if strange:
            raise Conflict(
                f"{self.kind}/{container} holds what is not ours, such as {strange}",
                remedy="move it elsewhere and run again",
            )

    @told("Microsoft.Storage")
    def owned(self, cluster: str, /) -> Mapping[str, Mark]:
        """In accounts that bear our mark, whoever's they are."""
        found: dict[str, Mark | None] = {}
        for place in self.accounts.owned(cluster):
            group, _, account = place.partition("/")
            with gone():
                found |= {
                    f"{account}/{seen.name}": marked(self.accounts.storage, group, account, seen)
                    for seen in self.containers.list(group, account)
                }
        return {
            container: owner
            for container, owner in found.items()
            if owner and owner.cluster == cluster
        }

    def brought(self, cluster: str) -> list[str]:
        """Those of the user's own that documents of ours are in. Asked of Azure once."""
        with self.lock:
            if cluster not in self.seen:
                self.seen[cluster] = dict(self.owned(cluster))
            return [
                container
                for container, owner in self.seen[cluster].items()
                if owner.hold != "owned"
            ]

    def known(self, container: str) -> Any:
        """Good enough for who only wants to know how to read what is in it."""
        return self.last.get(container) or self.read(container)

    def read(self, container: str) -> Any:
        group, account, name = self._place(container)
        if not group:
            return None
        try:
            found = self.last[container] = self.containers.get(group, account, name)
        except HttpResponseError as e:
            if absent(e):
                return None
            raise
        return found

    def _place(self, container: str) -> tuple[str, str, str]:
        account, _, name = container.partition("/")
        return self.accounts.group(account), account, name

    def _state(self, container: str, seen: Any) -> ContainerState:
        owner = mark(seen) or (
            self._ccoctls(container) if plain(seen.public_access) == "Container" else None
        )
        stranger = (
            ""
            if owner and owner.cluster == self.cluster
            else self._hidden(*container.split("/", 1))
        )
        return ContainerState(
            public=cast("Public", plain(seen.public_access) or "None"),
            stranger=stranger,
            owner=owner,
        )

    def _ccoctls(self, container: str) -> Mark | None:
        """It marks none: its account's mark speaks for what is in there, and as open as ccoctl leaves one, ours never is."""
        return self.accounts.ccoctls.get(container.partition("/")[0])

    def _strange(self, account: str, name: str) -> str:
        """Nothing is dropped that could not be looked into."""
        try:
            return self.blobs.stranger(account, name)
        except HttpResponseError as e:
            if code(e) != MISMATCH:
                raise
            raise self.lender.awaited(
                f"{self.kind}/{account}/{name}", f"{account}/{name}", "look"
            ) from e

    def _hidden(self, account: str, name: str) -> str:
        """Of one that is not ours. Nobody is given anything to look at it."""
        try:
            return self.blobs.stranger(account, name)
        except HttpResponseError as e:
            if status(e) not in {401, 403, 404}:
                raise
            return HIDDEN
