"""Storage accounts and the containers in them, as Azure Resource Manager shows them: what is in a container is `blobs`."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from azure.core.exceptions import HttpResponseError

from cwiictl import names
from cwiictl.clouds.azure import ids
from cwiictl.clouds.azure.resources.storage_account import HIDDEN, ContainerState, Public, StorageAccountState
from cwiictl.clouds.azure.stores import tags
from cwiictl.clouds.azure.stores.errors import absent, code, gone, status, told
from cwiictl.clouds.azure.stores.lent import MISMATCH, Lender
from cwiictl.engine.resource import Mark, changed
from cwiictl.errors import Conflict, NotYet

if TYPE_CHECKING:
    from azure.mgmt.storage import StorageManagementClient

    from cwiictl.clouds.azure.stores.blobs import Listing

MARK = "cwii_mark"  # the key of a mark in the metadata of what has no tags
RELEASED = "released"  # for nobody knows whether Azure takes an empty metadata for a wish or for none
PROPERTIES = {  # of an account, as Azure calls them
    "minimum_tls": "minimumTlsVersion",
    "https_only": "supportsHttpsTrafficOnly",
    "public": "allowBlobPublicAccess",
    "shared_key": "allowSharedKeyAccess",
}


class StorageAccounts:
    """Addressed as GROUP/ACCOUNT; the account's name alone is the world's."""

    kind, bulk, patience = "azure/storage-account", False, 300.0

    def __init__(self, storage: StorageManagementClient, subscription: str, cluster: str) -> None:
        self.storage, self.subscription, self.cluster = storage, subscription, cluster
        self.lock = threading.Lock()
        self.groups: dict[str, str] = {}  # of the accounts that were seen
        self.ccoctls: dict[str, Mark | None] = {}  # ccoctl's marks on them, which ours stand beside
        self.listed = False

    @told("Microsoft.Storage")
    def get(self, accounts: Collection[str], /) -> Mapping[str, StorageAccountState]:
        found = {account: self._read(account) for account in accounts}
        return {account: state for account, state in found.items() if state}

    @told("Microsoft.Storage")
    def put(self, account: str, want: StorageAccountState, have: StorageAccountState | None, /) -> StorageAccountState:
        if have is None:
            return self._create(account, want)
        if tags.lent(want.owner):
            want = replace(have, owner=want.owner)
        group, _, name = account.partition("/")
        fields = changed(want, have) & PROPERTIES.keys()
        wish: dict[str, Any] = {"properties": {PROPERTIES[f]: getattr(want, f) for f in sorted(fields) if getattr(want, f) is not None}}
        if tags.retagged(want, have):
            wish["tags"] = tags.written(want, have)
        if wish != {"properties": {}}:
            return self._state(self.storage.storage_accounts.update(group, name, cast("Any", wish)))
        return have

    @told("Microsoft.Storage")
    def drop(self, account: str, /) -> None:
        group, _, name = account.partition("/")
        self.inspect(account)
        with gone():
            self.storage.storage_accounts.delete(group, name)
        with self.lock:
            self.groups.pop(name, None)

    @told("Microsoft.Storage")
    def inspect(self, account: str, /) -> None:
        group, _, name = account.partition("/")
        with gone():
            for container in self.storage.blob_containers.list(group, name):
                owner = marked(self.storage, group, name, container)
                if owner is None or owner.cluster != self.cluster or owner.hold != "owned":
                    raise self._holds(account, f"the container {container.name}")
            for what, found in self._shelves(group, name):
                if strange := next(iter(found), None):
                    raise self._holds(account, f"the {what} {strange.name}")

    def _shelves(self, group: str, name: str) -> Iterator[tuple[str, Iterable[Any]]]:
        """We put nothing there."""
        yield "file share", self.storage.file_shares.list(group, name)
        yield "queue", self.storage.queue.list(group, name)
        yield "table", self.storage.table.list(group, name)

    def _holds(self, account: str, what: str) -> Conflict:
        return Conflict(f"{self.kind}/{account} holds what is not ours: {what}", remedy="move it elsewhere and run again")

    @told("Microsoft.Storage")
    def owned(self, cluster: str, /) -> Mapping[str, Mark]:
        owners = {f"{ids.group_of(str(seen.id))}/{seen.name}": tags.owner(seen.tags, cluster) for seen in self._all()}
        return {account: owner for account, owner in owners.items() if owner and owner.cluster == cluster}

    def group(self, account: str) -> str:
        """The group that an account of the subscription is in; empty if there is none. Asked of Azure once."""
        with self.lock:
            if account not in self.groups and not self.listed:
                for seen in self._all():
                    self._saw(seen)
                self.listed = True
            return self.groups.get(account, "")

    def _saw(self, seen: Any) -> None:
        self.groups[str(seen.name)] = ids.group_of(str(seen.id))
        self.ccoctls[str(seen.name)] = tags.ccoctls(seen.tags, self.cluster)

    def container(self, container: str) -> str:
        """As a scope; empty if there is no such account."""
        account, _, name = container.partition("/")
        group = self.group(account)
        return ids.container(self.subscription, group, account, name) if group else ""

    def _all(self) -> Iterator[Any]:
        yield from self.storage.storage_accounts.list()

    def _create(self, account: str, want: StorageAccountState) -> StorageAccountState:
        """Nothing waits here until it is there: whoever reads it next sees how far it is."""
        group, _, name = account.partition("/")
        properties = {theirs: getattr(want, ours) for ours, theirs in PROPERTIES.items() if getattr(want, ours) is not None}
        birth: Any = {
            "location": want.region,
            "kind": "StorageV2",
            "sku": {"name": "Standard_LRS"},
            "properties": properties,
            "tags": tags.written(want, None),
        }
        try:
            self.storage.storage_accounts.begin_create(group, name, birth, polling=False)
        except HttpResponseError as e:
            if code(e) == "StorageAccountAlreadyTaken":
                raise Conflict(f"{self.kind}/{account} belongs to somebody else in the world", remedy="choose another --storage-account-name") from e
            raise
        state = self._read(account)
        if state is None:
            raise NotYet(f"{self.kind}/{account} was made and does not show yet")
        return state

    def _read(self, account: str) -> StorageAccountState | None:
        group, _, name = account.partition("/")
        try:
            seen: Any = self.storage.storage_accounts.get_properties(group, name)
        except HttpResponseError as e:
            if absent(e):
                return self._elsewhere(name)
            raise
        return self._state(seen)

    def _elsewhere(self, name: str) -> StorageAccountState | None:
        """In another group of ours, or somebody else's: there is one of a name in the world."""
        if self.storage.storage_accounts.check_name_availability({"name": name, "type": "Microsoft.Storage/storageAccounts"}).name_available is not False:
            return None
        return next((self._state(seen) for seen in self._all() if seen.name == name), StorageAccountState(id="", region=""))

    def _state(self, seen: Any) -> StorageAccountState:
        if seen.provisioning_state not in {None, "Succeeded"}:
            raise NotYet(f"{self.kind}/{seen.name} is being made")
        with self.lock:
            self._saw(seen)
        found = tags.read(seen.tags)
        owner = names.mark(found, self.cluster)
        return StorageAccountState(
            id=seen.id,
            region=seen.location,
            minimum_tls=plain(seen.minimum_tls_version) or "TLS1_0",
            https_only=bool(seen.enable_https_traffic_only),
            public=seen.allow_blob_public_access,
            shared_key=seen.allow_shared_key_access,
            network=plain(seen.public_network_access) or "Enabled",
            tags=names.apart(found, owner),
            owner=owner,
        )


class Containers:
    """Addressed as ACCOUNT/CONTAINER, as in the address of what is in them."""

    kind, bulk, patience = "azure/container", False, 120.0

    def __init__(self, accounts: StorageAccounts, blobs: Listing, lender: Lender) -> None:
        self.accounts, self.blobs, self.lender, self.cluster = accounts, blobs, lender, lender.cluster
        self.containers = accounts.storage.blob_containers
        self.lock = threading.Lock()
        self.seen: dict[str, dict[str, Mark]] = {}
        self.last: dict[str, Any] = {}  # as each was last seen in this run

    @told("Microsoft.Storage")
    def get(self, containers: Collection[str], /) -> Mapping[str, ContainerState]:
        found = {container: self.read(container) for container in containers}
        return {container: self._state(container, seen) for container, seen in found.items() if seen}

    @told("Microsoft.Storage")
    def put(self, container: str, want: ContainerState, have: ContainerState | None, /) -> ContainerState:
        group, account, name = self._place(container)
        if not group:
            raise NotYet(f"{self.kind}/{container} has no account yet")
        others = metadata(self.containers.get(group, account, name)) if have else {}
        if have and tags.lent(want.owner):
            want = replace(have, owner=want.owner)
        signed = {MARK: names.described(want.owner) if want.owner else RELEASED} if want.owner or MARK in others else {}
        wish: Any = {"properties": {"publicAccess": want.public, "metadata": {**others, **signed}}}
        write: Any = self.containers.update if have else self.containers.create
        try:
            made = self.last[container] = write(group, account, name, wish)
            return self._state(container, made)
        except HttpResponseError as e:
            if code(e) == "PublicAccessNotPermitted":  # for a moment after the account's own word was changed, or for good
                why = f"Azure does not let {self.kind}/{container} be read by everybody: its account forbids that, maybe by a policy"
                raise NotYet(why, remedy="allow anonymous access to blobs there, or use --create-private-storage-account") from e
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
            raise Conflict(f"{self.kind}/{container} holds what is not ours, such as {strange}", remedy="move it elsewhere and run again")

    @told("Microsoft.Storage")
    def owned(self, cluster: str, /) -> Mapping[str, Mark]:
        """In accounts that bear our mark, whoever's they are."""
        found: dict[str, Mark | None] = {}
        for place in self.accounts.owned(cluster):
            group, _, account = place.partition("/")
            with gone():
                found |= {f"{account}/{seen.name}": marked(self.accounts.storage, group, account, seen) for seen in self.containers.list(group, account)}
        return {container: owner for container, owner in found.items() if owner and owner.cluster == cluster}

    def brought(self, cluster: str) -> list[str]:
        """Those of the user's own that documents of ours are in. Asked of Azure once."""
        with self.lock:
            if cluster not in self.seen:
                self.seen[cluster] = dict(self.owned(cluster))
            return [container for container, owner in self.seen[cluster].items() if owner.hold != "owned"]

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
        owner = mark(seen) or (self._ccoctls(container) if plain(seen.public_access) == "Container" else None)
        stranger = "" if owner and owner.cluster == self.cluster else self._hidden(*container.split("/", 1))
        return ContainerState(public=cast("Public", plain(seen.public_access) or "None"), stranger=stranger, owner=owner)

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
            raise self.lender.awaited(f"{self.kind}/{account}/{name}", f"{account}/{name}", "look") from e

    def _hidden(self, account: str, name: str) -> str:
        """Of one that is not ours. Nobody is given anything to look at it."""
        try:
            return self.blobs.stranger(account, name)
        except HttpResponseError as e:
            if status(e) not in {401, 403, 404}:
                raise
            return HIDDEN


def marked(storage: StorageManagementClient, group: str, account: str, seen: Any) -> Mark | None:
    """A listing does not always tell what a container's own reading does."""
    return mark(seen) or mark(storage.blob_containers.get(group, account, str(seen.name)))


def mark(seen: Any) -> Mark | None:
    return names.undescribed(metadata(seen).get(MARK, ""))


def metadata(seen: Any) -> dict[str, str]:
    """Of a container or a blob; its keys' case is nobody's."""
    found: dict[str, str] = seen.metadata or {}
    return {key.lower(): value for key, value in found.items()}


def plain(word: Any) -> str:
    """What the SDK has an enumeration for, and what is newer than that."""
    return str(getattr(word, "value", word) or "")
