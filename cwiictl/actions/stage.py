"""From an order to a plan: input is read and judged, then the clouds are asked who we are, then all is planned. Nothing is written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from cwiictl import files, names
from cwiictl.actions.order import Order
from cwiictl.actions.result import Caller, Row
from cwiictl.audiences import Asker
from cwiictl.clouds import ALL, COMING, Cloud
from cwiictl.config import Request, Requests, credentials_requests
from cwiictl.engine.pace import Job, Pace, run
from cwiictl.engine.plain import checksum
from cwiictl.engine.resource import Known, Mark, Plan, Report, Resource, Store
from cwiictl.engine.run import foretold
from cwiictl.errors import BadInput
from cwiictl.installers import INSTALLERS
from cwiictl.issuer.documents import Issuer
from cwiictl.issuer.elsewhere import Shelves, existing, own
from cwiictl.issuer.key import PAIR, KeyState, SigningKey
from cwiictl.issuer.stores.folder import FolderDocuments, FolderKeySets
from cwiictl.issuer.stores.keys import KeyPair, PublicKey
from cwiictl.issuer.stores.web import Web
from cwiictl.model import Binding, Workload

ISSUER_FOLDER = "issuer"
BUSY = 60.0  # how long a cloud may take to say who we are


@dataclass(frozen=True)
class Site:
    """A cloud that we are connected to, and what is asked of it."""

    cloud: Cloud
    spec: Any
    stores: Any
    asks: tuple[tuple[Workload, Any], ...] = ()

    @property
    def walk(self) -> tuple[Store[Any], ...]:
        return tuple(self.cloud.walk(self.stores))

    @property
    def askers(self) -> frozenset[Asker]:
        return frozenset(workload.asker for workload, _ in self.asks)

    @property
    def caller(self) -> Caller:
        return Caller(self.cloud.name, self.stores.account, self.stores.caller)


@dataclass(frozen=True)
class Stage:
    """All that is needed to act on an order."""

    order: Order
    sites: tuple[Site, ...]
    pace: Pace
    plan: Plan
    issuer: Issuer | None = None
    identities: Mapping[str, tuple[Resource[Any], ...]] = field(default_factory=dict[str, tuple[Resource[Any], ...]])
    skipped: tuple[Row, ...] = ()

    @property
    def mark(self) -> Mark:
        return Mark(self.order.cluster.name, origin=self.order.origin)

    @property
    def callers(self) -> tuple[Caller, ...]:
        return tuple(site.caller for site in self.sites)

    @property
    def checksum(self) -> str:
        """Of what is wanted, by whom and where: not of what is there, nor of the key."""
        return checksum({"callers": self.callers, "cluster": self.order.cluster.name, "wants": foretold(self.plan)})

    def bindings(self, known: Known) -> Iterator[Binding]:
        for site in self.sites:
            yield from site.cloud.bindings(self.identities.get(site.cloud.name, ()), known)


def staged(order: Order, pace: Pace, report: Report, *, writes: bool) -> Stage:
    """Bad input is found here, before the first call to a cloud, but for what only a cloud can judge."""
    key = SigningKey("signing-key", _key_store(order))
    if "issuer" in order.parts:
        key.store.get([key.name])
    requests = _requests(order)
    asks = {name: tuple(_asks(order, requests, cloud)) for name, cloud in _clouds(order).items()}
    if writes:
        workloads = [workload for some in asks.values() for workload, _ in some]
        paths = [path for installer in order.installers for path in INSTALLERS[installer].paths(workloads)]
        files.ready(order.output, (*paths, *(PAIR if isinstance(key.store, KeyPair) else ())))
    sites = tuple(Site(s.cloud, s.spec, s.stores, asks[s.cloud.name]) for s in connected(order, pace, report))
    return replace(_planned(order, pace, sites, key, writes=writes), skipped=tuple(_skipped(requests, order)))


def connected(order: Order, pace: Pace, report: Report) -> tuple[Site, ...]:
    """All clouds are asked at once; the first that does not know us ends it."""
    clouds = _clouds(order)
    specs = {name: cloud.Spec(**order.clouds[name]) for name, cloud in clouds.items()}
    stores: dict[str, Any] = {}

    def connect(name: str, _tried: int) -> str:
        stores[name] = clouds[name].connect(specs[name], order.cluster, order.width)
        return "connected"

    ran = run(Job(dict.fromkeys(clouds, ()), connect, patience=lambda _name: BUSY, report=report, verb="reading"), pace)
    for e in ran.failed.values():
        raise e
    if ran.interrupted:
        raise KeyboardInterrupt
    return tuple(Site(cloud, specs[name], stores[name]) for name, cloud in clouds.items())


def _planned(order: Order, pace: Pace, sites: tuple[Site, ...], key: SigningKey, *, writes: bool) -> Stage:
    issuer = _issuer(order, sites, key)
    roots: list[Resource[Any]] = []
    if "issuer" in order.parts:
        roots += [issuer, *(thing for s in sites for thing in s.cloud.trusting(order.cluster, s.stores, issuer, s.askers))]
    identities: dict[str, tuple[Resource[Any], ...]] = {}
    if "identities" in order.parts:
        identities = {s.cloud.name: tuple(s.cloud.identities(s.spec, order.cluster, s.stores, s.asks, issuer.home)) for s in sites}
    plan = Plan([*roots, *(thing for things in identities.values() for thing in things)])
    if writes:
        plan = Plan([*plan.values(), *(asked for s in sites for asked in s.cloud.permitted(order.cluster, s.stores, tuple(plan.values())))])
    return Stage(order, sites, pace, plan, issuer if "issuer" in order.parts else None, identities)


def _issuer(order: Order, sites: tuple[Site, ...], key: SigningKey) -> Issuer:
    """Whoever hosts it, it is one issuer for all clouds."""
    if order.issuer_url:
        folder = order.output / ISSUER_FOLDER
        remedy = "see that it is served there" if order.issuer_exists else f"serve the files of {folder} there, and run again"
        shelves = Shelves(FolderDocuments(folder), FolderKeySets(folder), Web(0.0, remedy))  # nobody but the user can make it readable
        return existing(order.issuer_url, shelves, key) if order.issuer_exists else own(order.issuer_url, shelves, key, order.keys)
    host = next((site for site in sites if site.cloud.name == order.issuer_in), sites[0])
    issuer = host.cloud.host(host.spec, order.cluster, host.stores, key, order.keys)
    if issuer.late and "issuer" not in order.parts:
        raise BadInput("the issuer's URL is not known before its host is made", remedy="say where it is with --issuer-url URL --issuer-exists")
    return issuer


def _clouds(order: Order) -> dict[str, Cloud]:
    for name in order.clouds:
        if name in COMING:
            raise BadInput(f"cwiictl does not know {name} yet", remedy="this version knows --cloud aws")
        if name not in ALL:
            raise BadInput(f"there is no cloud {name!r}", remedy=f"give one of: {', '.join(ALL)}")
    return {name: ALL[name] for name in order.clouds}


def _asks(order: Order, requests: Requests, cloud: Cloud) -> Iterator[tuple[Workload, Any]]:
    """What this cloud is asked for, by requests and by the cluster's own file."""
    yield from ((request.workload, cloud.ask(request)) for request in requests.wanted if request.kind == cloud.KIND)
    yield from ((asked.workload, cloud.ask_of(asked.asks[cloud.name])) for asked in order.workloads if cloud.name in asked.asks)


def _requests(order: Order) -> Requests:
    if "identities" not in order.parts or order.requests is None:
        return Requests((), ())
    requests = credentials_requests(files.folder(order.requests), tech_preview=order.tech_preview)
    if not requests.wanted and not requests.skipped:
        raise BadInput(f"the folder {order.requests} holds no CredentialsRequest", remedy="give the folder that they were extracted to")
    kinds = {cloud.KIND for cloud in ALL.values()}
    for request in requests.wanted:
        if request.kind not in kinds | {"AzureProviderSpec", "GCPProviderSpec"}:
            raise BadInput(f"{request.source}: {request.name} asks for a {request.kind}, which no cloud has", remedy=f"give one of: {', '.join(sorted(kinds))}")
    return requests


def _skipped(requests: Requests, order: Order) -> Iterator[Row]:
    kinds = {cloud.KIND for cloud in _clouds(order).values()}
    for skipped in requests.skipped:
        yield Row(skipped.name or skipped.source, "not tried", problem=skipped.why)
    for request in requests.wanted:
        if request.kind not in kinds:
            yield Row(request.name, "not tried", problem=_elsewhere(request))


def _elsewhere(request: Request) -> str:
    return f"it asks for a {request.kind}, of a cloud that was not selected"


def _key_store(order: Order) -> Store[KeyState]:
    """The key that was named; or the pair in the output directory, made if there is none; or the public half that lies there alone."""
    if order.public_key is not None:
        return PublicKey(order.public_key)
    public: Path = order.output / names.PUBLIC_KEY
    if public.exists() and not (order.output / names.PRIVATE_KEY).exists():
        return PublicKey(public)
    return KeyPair(order.output, order.bits)
