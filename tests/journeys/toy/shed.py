"""A cloud of the smallest kind: a folder. In it are the issuer's documents, which some host serves, and a locker for each workload that trusts the issuer."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import msgspec

from cwiictl import names
from cwiictl.clouds.spec import asked
from cwiictl.config import Request
from cwiictl.documents import Document
from cwiictl.engine.resource import Known, Mark, Resource, State, Walk
from cwiictl.issuer.documents import DiscoveryDocument, Hosting, Issuer, KeySet
from cwiictl.issuer.home import Home
from cwiictl.issuer.key import SigningKey
from cwiictl.issuer.stores.folder import FolderDocuments, FolderKeySets
from cwiictl.issuer.stores.known import KnownIssuers
from cwiictl.issuer.stores.web import Web
from cwiictl.model import Binding, Cluster, Workload
from cwiictl.shapes import told

name, title, KIND, WISHES, FORMATS, TELLS = (
    "shed",
    "the Shed",
    "ShedProviderSpec",
    (),
    (),
    ("shed_",),
)
JWKS = "keys.json"


@dataclass(frozen=True)
class Spec:
    folder: str = asked("--shed", "Folder that is the shed.", metavar="DIR", required=True)
    host: str = asked(
        "--shed-host", "Host that serves what is in it.", metavar="HOST", required=True
    )


class Section(msgspec.Struct):
    tools: tuple[str, ...] = ()


def ask_of(section: Document) -> tuple[str, ...]:
    return told(section, Section).tools


def ask(request: Request) -> tuple[str, ...]:
    return msgspec.convert(request.spec, Section).tools


@dataclass(frozen=True, kw_only=True)
class LockerState(State):
    issuer: str
    subjects: tuple[str, ...]
    tools: tuple[str, ...]


@dataclass(frozen=True)
class Locker(Resource[LockerState]):
    """What a workload may take out."""

    workload: Workload
    tools: tuple[str, ...]
    home: Home

    def want(self, known: Known) -> LockerState:
        return LockerState(
            issuer=self.home.url(known), subjects=self.workload.subjects, tools=self.tools
        )


class Lockers:
    kind, bulk, patience = "shed/locker", False, 5.0

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def get(self, lockers: Collection[str], /) -> Mapping[str, LockerState]:
        return {
            locker: self._read(self.folder / f"{locker}.json")
            for locker in lockers
            if (self.folder / f"{locker}.json").exists()
        }

    def put(self, locker: str, want: LockerState, _have: LockerState | None, /) -> LockerState:
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / f"{locker}.json").write_text(
            json.dumps({**asdict(want), "owner": names.described(want.owner) if want.owner else ""})
        )
        return want

    def drop(self, locker: str, /) -> None:
        (self.folder / f"{locker}.json").unlink(missing_ok=True)

    def owned(self, cluster: str, /) -> Mapping[str, Mark]:
        found = {path.stem: self._read(path).owner for path in self.folder.glob("*.json")}
        return {locker: mark for locker, mark in found.items() if mark and mark.cluster == cluster}

    def issuers(self, cluster: str) -> Iterator[str]:
        return (state.issuer for state in self.get(self.owned(cluster)).values())

    def _read(self, path: Path) -> LockerState:
        seen: dict[str, Any] = json.loads(path.read_text())
        return LockerState(
            issuer=seen["issuer"],
            subjects=(*seen["subjects"],),
            tools=(*seen["tools"],),
            owner=names.undescribed(seen["owner"]),
        )


class Stores:
    caller = "whoever has the key"

    def __init__(self, spec: Spec, _cluster: Cluster, _width: int) -> None:
        self.account, self.facts, self.www = (
            spec.folder,
            dict[str, str](),
            Path(spec.folder) / "www",
        )
        self.documents, self.key_sets = (
            FolderDocuments(self.www),
            FolderKeySets(self.www, lambda: None),
        )
        self.issuers, self.lockers = Web(5.0), Lockers(Path(spec.folder) / "lockers")
        self.known_issuers = KnownIssuers(name, self.lockers.issuers)

    def close(self) -> None: ...


connect = Stores


def brings(*_asked: object) -> None:
    """Nobody has a place of their own for it, and nobody can be asked who may do what, or whom they believe."""


leaving = trusted = brings


def host(spec: Spec, cluster: Cluster, stores: Stores, key: SigningKey, how: Hosting) -> Issuer:
    home = Home(f"https://{spec.host}")
    discovery = DiscoveryDocument(names.DISCOVERY, stores.documents, None, home, JWKS, cluster.name)
    return Issuer(
        home.text,
        stores.issuers,
        home,
        key,
        (discovery, KeySet(JWKS, stores.key_sets, None, key, how.keys, cluster.name)),
    )


def standing(spec: Spec, _cluster: Cluster, _stores: Stores, url: str) -> Home:
    return Home(url or f"https://{spec.host}")


def trusting(*_asked: object) -> Iterator[Resource[Any]]:
    return iter(())  # each locker says for itself whom it trusts


def identities(
    _spec: Spec,
    cluster: Cluster,
    stores: Stores,
    asks: Iterable[tuple[Workload, tuple[str, ...]]],
    home: Home,
) -> Iterator[Locker]:
    return (
        Locker(names.role(cluster, workload), stores.lockers, workload, tools, home)
        for workload, tools in asks
    )


acting = permitted = trusting  # nor can anybody be asked who may do what, or be drawn


def least(command: str, _spec: Spec, _cluster: Cluster) -> Mapping[str, str]:
    return {command: "have the key of the shed"}


def walk(stores: Stores) -> Walk:
    return Walk((stores.issuers,), (stores.documents, stores.key_sets), (stores.lockers,), ())


def bindings(things: Iterable[Locker], known: Known) -> Iterator[Binding]:
    return (
        Binding(thing.workload, name, {"locker": thing.name}) for thing in things if thing in known
    )
