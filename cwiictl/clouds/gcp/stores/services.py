"""APIs of a project: whether they are on, and turning them on."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Protocol, TypeVar

from google.api_core.exceptions import GoogleAPICallError

from cwiictl.clouds.gcp.resources.api import IDENTITIES, STORAGE, ApiState
from cwiictl.clouds.gcp.stores.errors import Off, denied, off, told
from cwiictl.clouds.gcp.stores.operations import Operations
from cwiictl.clouds.gcp.stores.wire import Rest
from cwiictl.clouds.gcp.universes import Universe
from cwiictl.engine.holdings import Roomy
from cwiictl.engine.resource import Mark, State, Store
from cwiictl.errors import NotYet

S = TypeVar("S", bound=State)

NEEDED = frozenset({*IDENTITIES, STORAGE})


class Apis:
    """Addressed by their names, such as iam.googleapis.com. Where it cannot be asked, all are on until Google says otherwise."""

    kind, bulk, patience = "gcp/api", True, 600.0

    def __init__(self, rest: Rest, where: Universe, project: str) -> None:
        root = f"https://{where.host('serviceusage')}/v1"
        self.rest, self.project, self.url = rest, project, f"{root}/projects/{project}/services"
        self.operations = Operations(rest, root)

    @told("serviceusage")
    def get(self, apis: Collection[str], /) -> Mapping[str, ApiState]:
        for api in apis:
            self.operations.settle(api)
        on = self._on(apis) if apis else ()
        return {api: ApiState(on=api in on) for api in apis}

    @told("serviceusage")
    def put(self, api: str, want: ApiState, _have: ApiState | None, /) -> ApiState:
        self.operations.begun(
            api,
            self.rest.post(f"{self.url}/{api}:enable", {}),
            f"{self.kind}/{api} is being turned on",
        )
        return ApiState(on=want.on)

    def drop(self, _api: str, /) -> None:
        """Others may use it by now."""

    def owned(self, _cluster: str, /) -> Mapping[str, Mark]:
        return {}

    @told("serviceusage")
    def number(self) -> str:
        """Of the project, which is told with every one of its services."""
        return str(self.rest.get(f"{self.url}/iam.googleapis.com").get("parent", "")).partition(
            "/"
        )[2]

    @told("serviceusage")
    def shut(self) -> bool:
        """Whether Google says itself that one of those that we need is off."""
        return set(self._on(NEEDED)) < NEEDED

    def _on(self, apis: Collection[str]) -> Collection[str]:
        names = [f"projects/{self.project}/services/{api}" for api in sorted(apis)]
        try:
            found: Any = self.rest.get(f"{self.url}:batchGet", names=names)
        except GoogleAPICallError as e:
            if denied(e) or off(e):
                return apis
            raise
        return {
            str(each["name"]).rpartition("/")[2]
            for each in found.get("services") or ()
            if each.get("state") == "ENABLED"
        }


class Opening:
    """A store whose API may be off: nothing is found there, and what is off is said once, of all.

    One that is turned on in this run takes its time until all of Google knows.
    """

    def __init__(self, store: Store[S], apis: Apis, *, opens: bool) -> None:
        self.store, self.apis, self.opens = store, apis, opens
        self.kind, self.bulk, self.patience = (
            store.kind,
            store.bulk,
            max(store.patience, 600.0 if opens else 0.0),
        )

    def get(self, names: Collection[str], /) -> Mapping[str, Any]:
        try:
            return self.store.get(names)
        except Off:
            if self.opens or self.apis.shut():
                return {}
            raise

    def put(self, name: str, want: Any, have: Any, /) -> Any:
        try:
            return self.store.put(name, want, have)
        except Off as e:
            if self.opens:
                raise NotYet(e.problem, remedy=e.remedy) from e
            raise

    def drop(self, name: str, /) -> None:
        self.store.drop(name)

    def owned(self, cluster: str, /) -> Mapping[str, Mark]:
        try:
            return self.store.owned(cluster)
        except Off:
            if self.opens:  # what was made before it was turned off shows in the next run
                return {}
            raise


class Room(Store[Any], Roomy, Protocol):
    """What such a store is."""


class OpeningRoom(Opening):
    """One of what others may have put theirs into."""

    def __init__(self, store: Room, apis: Apis, *, opens: bool) -> None:
        super().__init__(store, apis, opens=opens)
        self.inspect = store.inspect
