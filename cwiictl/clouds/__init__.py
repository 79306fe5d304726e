"""The clouds: what one must be able to do, and the table of all. A cloud is a package whose module fulfils the protocol."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

from cwiictl.audiences import Asker
from cwiictl.clouds import aws, azure, gcp
from cwiictl.clouds.format import Format
from cwiictl.clouds.permissions import Leave
from cwiictl.clouds.spec import Wish
from cwiictl.config import Request
from cwiictl.documents import Document
from cwiictl.engine.holdings import Thing
from cwiictl.engine.resource import Known, Resource, Store, Walk
from cwiictl.issuer.documents import Hosting, Issuer
from cwiictl.issuer.home import Home
from cwiictl.issuer.key import SigningKey
from cwiictl.issuer.known import KnownIssuersState
from cwiictl.model import Binding, Cluster, Workload
from cwiictl.picture.map import Acting
from cwiictl.verify.expected import Expected
from cwiictl.verify.finding import Exchange, Finding, Refusal


class Connected(Protocol):
    """Every cloud's stores also know whose account they act in, and who acts."""

    @property
    def account(self) -> str: ...
    @property
    def caller(self) -> str: ...
    @property
    def facts(
        self,
    ) -> Mapping[
        str, str
    ]: ...  # what a cluster must be told of the account itself, in the words of a Secret
    @property
    def known_issuers(self) -> Store[KnownIssuersState]: ...
    @property
    def identities(self) -> Store[Any]: ...  # what workloads act as
    def exchange(
        self, target: Any, token: str, /
    ) -> Refusal | None: ...  # a workload's token, for what an SDK makes of it in a pod
    def close(self) -> None: ...  # gives back what was lent for the run, whatever became of it


class Cloud(Protocol):
    """What is its own (its Spec, what a workload asks of it, its stores) is handed back to it as it came."""

    @property
    def name(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def KIND(self) -> str: ...  # noqa: N802 - the kind of the providerSpecs that are for this cloud
    @property
    def Spec(self) -> type[Any]: ...  # noqa: N802 - what it must be told

    @property
    def Section(self) -> type[Any]: ...  # noqa: N802 - the shape of what a workload asks of it in cluster.yaml

    @property
    def WISHES(self) -> tuple[Wish, ...]: ...  # noqa: N802 - the same, as options of create-identity

    @property
    def FORMATS(self) -> tuple[Format, ...]: ...  # noqa: N802 - a constant of a module

    @property
    def TELLS(self) -> tuple[str, ...]: ...  # noqa: N802 - how all begins that a workload is told of this cloud: keys of its Secret, and annotations

    def ask_of(self, section: Document, /) -> Any: ...
    def ask(self, request: Request, /) -> Any: ...
    def connect(self, spec: Any, cluster: Cluster, width: int, /) -> Connected: ...
    def brings(self, spec: Any, /) -> bool: ...
    def uploads(self, spec: Any, /) -> bool: ...
    def host(
        self, spec: Any, cluster: Cluster, stores: Any, key: SigningKey, how: Hosting, /
    ) -> Issuer: ...
    def standing(self, spec: Any, cluster: Cluster, stores: Any, url: str, /) -> Home: ...
    def trusted(
        self, spec: Any, cluster: Cluster, stores: Any, url: str, /
    ) -> Home | None: ...  # by its own provider, whoever hosts; None if it has none
    def trusting(
        self, spec: Any, cluster: Cluster, stores: Any, issuer: Issuer, askers: Collection[Asker], /
    ) -> Iterator[Resource[Any]]: ...
    def identities(
        self,
        spec: Any,
        cluster: Cluster,
        stores: Any,
        asks: Iterable[tuple[Workload, Any]],
        home: Home,
        /,
    ) -> Iterator[Resource[Any]]: ...
    def permitted(
        self, stores: Any, things: Sequence[Resource[Any]], /
    ) -> Iterator[Resource[Any]]: ...
    def leaving(
        self, stores: Any, things: Sequence[Thing], /
    ) -> Leave | None: ...  # whether who asks may take these down, if that can be asked
    def least(self, command: str, spec: Any, cluster: Cluster, /) -> Any: ...
    def walk(self, stores: Any, /) -> Walk: ...
    def believers(
        self, things: Iterable[Resource[Any]], /
    ) -> Iterator[Resource[Any]]: ...  # of a plan, what says whose tokens are believed
    def believed(
        self, thing: Resource[Any], have: Any, expected: Expected, /
    ) -> Iterator[Finding]: ...  # what is wrong with it
    def recognised(
        self, cluster: Cluster, name: str, have: Any, /
    ) -> tuple[Workload, Any] | None: ...  # what was asked for an identity, by what it says
    def exchanges(self, things: Iterable[Resource[Any]], found: Known, /) -> Iterator[Exchange]: ...
    def acting(
        self, things: Iterable[Resource[Any]], known: Known, /
    ) -> Iterator[Acting]: ...  # of a plan, who may act as what
    def bindings(self, identities: Iterable[Any], known: Known, /) -> Iterator[Binding]: ...


ALL: Mapping[str, Cloud] = {"aws": aws, "azure": azure, "gcp": gcp}


def formats() -> dict[str, tuple[Cloud, Format]]:
    """Each by its name, with the cloud that offers it."""
    return {form.name: (cloud, form) for cloud in ALL.values() for form in cloud.FORMATS}
