"""Storage accounts, and how the mark of what is in them is read."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from azure.core.exceptions import HttpResponseError

from cwiictl import names
from cwiictl.clouds.azure import ids
from cwiictl.clouds.azure.resources.storage_account import StorageAccountState
from cwiictl.clouds.azure.stores import tags
from cwiictl.clouds.azure.stores.errors import absent, code, gone, told
from cwiictl.engine.resource import Mark, changed
from cwiictl.errors import Conflict, NotYet

if TYPE_CHECKING:
    from azure.mgmt.storage import StorageManagementClient


MARK = "cwii_mark"  # the key of a mark in the metadata of what has no tags
RELEASED = (
    "released"  # for nobody knows whether Azure takes an empty metadata for a wish or for none
)
SECOND_LOOK = 2.0  # seconds
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
        self.doubted = frozenset[str]()  # names that somebody has who was not seen

    @told("Microsoft.Storage")
    def get(self, accounts: Collection[str], /) -> Mapping[str, StorageAccountState]:
        found = {account: self._read(account) for account in accounts}
        return {account: state for account, state in found.items() if state}

    @told("Microsoft.Storage")
    def put(
        self, account: str, want: StorageAccountState, have: StorageAccountState | None, /
    ) -> StorageAccountState:
        if have is None:
            return self._create(account, want)
        if tags.lent(want.owner):
            want = replace(have, owner=want.owner)
        group, _, name = account.partition("/")
        fields = changed(want, have) & PROPERTIES.keys()
        wish: dict[str, Any] = {
            "properties": {
                PROPERTIES[f]: getattr(want, f)
                for f in sorted(fields)
                if getattr(want, f) is not None
            }
        }
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
        return Conflict(
            f"{self.kind}/{account} holds what is not ours: {what}",
            remedy="move it elsewhere and run again",
        )

    @told("Microsoft.Storage")
    def owned(self, cluster: str, /) -> Mapping[str, Mark]:
        owners = {
            f"{ids.group_of(str(seen.id))}/{seen.name}": tags.owner(seen.tags, cluster)
            for seen in self._all()
        }
        return {
            account: owner
            for account, owner in owners.items()
            if owner and owner.cluster == cluster
        }

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
        properties = {
            theirs: getattr(want, ours)
            for ours, theirs in PROPERTIES.items()
            if getattr(want, ours) is not None
        }
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
                problem = f"{self.kind}/{account} belongs to somebody else in the world, where no two storage accounts have one name"
                raise Conflict(problem, remedy="choose another with --storage-account-name") from e
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
        """In another group of ours, or somebody else's: there is one of a name in the world. One that was made a moment ago shows at the second look."""
        if (
            self.storage.storage_accounts.check_name_availability(
                {"name": name, "type": "Microsoft.Storage/storageAccounts"}
            ).name_available
            is not False
        ):
            return None
        found = next((self._state(seen) for seen in self._all() if seen.name == name), None)
        with self.lock:
            first, self.doubted = name not in self.doubted, self.doubted | {name}
        if found is None and first:
            raise NotYet(
                f"the name {name} is taken, and who has it does not show yet",
                remedy="run again",
                after=SECOND_LOOK,
            )
        return found or StorageAccountState(id="", region="")

    def _state(self, seen: Any) -> StorageAccountState:
        if seen.provisioning_state not in {None, "Succeeded"}:
            raise NotYet(f"{self.kind}/{seen.name} is being made")
        with self.lock:
            self._saw(seen)
        found = tags.read(seen.tags)
        owner = names.mark(found, self.cluster)
        return StorageAccountState(
            id=seen.id,
            region=ids.region(seen.location),
            minimum_tls=plain(seen.minimum_tls_version) or "TLS1_0",
            https_only=bool(seen.enable_https_traffic_only),
            public=seen.allow_blob_public_access,
            shared_key=seen.allow_shared_key_access,
            network=plain(seen.public_network_access) or "Enabled",
            tags=names.apart(found, owner),
            owner=owner,
        )


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
