"""From an order to a plan: input is read and judged, then the clouds are asked who we are, then all is planned. Nothing is written."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from cwiictl import files, names
from cwiictl.actions import folder
from cwiictl.actions.asks import Ask, asks, chosen
from cwiictl.actions.order import WHOLE, Order
from cwiictl.actions.result import Caller, Result, Row, failure
from cwiictl.actions.served import judge_audiences, settled
from cwiictl.actions.sight import Side, Sight
from cwiictl.audiences import Asker
from cwiictl.clouds import Cloud, Connected
from cwiictl.engine.pace import Job, Pace, run
from cwiictl.engine.plain import checksum
from cwiictl.engine.resource import Known, Mark, Plan, Report, Resource, Walk
from cwiictl.engine.run import foretold
from cwiictl.errors import BadInput, Problem
from cwiictl.install import handover as webhook
from cwiictl.installers import INSTALLERS, openshift
from cwiictl.issuer.documents import Hosting, Issuer, KeySet
from cwiictl.issuer.elsewhere import Shelves, checked, existing, own
from cwiictl.issuer.home import Home
from cwiictl.issuer.key import KEY, PAIR, SigningKey
from cwiictl.issuer.known import KnownIssuers
from cwiictl.issuer.stores.folder import FolderDocuments, FolderKeySets
from cwiictl.issuer.stores.keys import KeyPair, Keys, PublicKey, ServedKeys
from cwiictl.issuer.stores.web import Web
from cwiictl.model import Binding

ISSUER_FOLDER = "issuer"
BUSY = 60.0  # how long a cloud may take to say who we are


@dataclass(frozen=True)
class Site:
    """A cloud that we are connected to, and what is asked of it."""

    cloud: Cloud
    spec: Any
    stores: Connected
    asks: tuple[Ask, ...] = ()
    gated: tuple[Ask, ...] = ()

    @property
    def walk(self) -> Walk:
        return self.cloud.walk(self.stores)

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
    keys: Keys
    issuer: Issuer | None = None
    identities: Mapping[str, tuple[Resource[Any], ...]] = field(
        default_factory=dict[str, tuple[Resource[Any], ...]]
    )
    spared: frozenset[str] = frozenset()  # what belongs to requests that are not followed today
    skipped: tuple[Row, ...] = ()

    @property
    def mark(self) -> Mark:
        return Mark(self.order.cluster.name, origin=self.order.origin)

    @property
    def callers(self) -> tuple[Caller, ...]:
        return tuple(site.caller for site in self.sites)

    def checksum(self, doomed: Iterable[str] = ()) -> str:
        """Of what is wanted, taken over and dropped, by whom and where: not of what is there, nor of the key."""
        who = {"callers": self.callers, "cluster": self.order.cluster.name}
        return checksum(
            {
                **who,
                "wants": foretold(self.plan),
                "adopts": self.order.adopt,
                "drops": sorted(doomed),
            }
        )

    @property
    def facts(self) -> dict[str, str]:
        return {word: text for site in self.sites for word, text in site.stores.facts.items()}

    def sight(self, known: Known) -> Sight:
        key = self.issuer.key if self.issuer else None
        sides = tuple(
            Side(
                site.cloud.name,
                site.cloud.title,
                tuple(site.cloud.acting(self.plan.values(), known)),
            )
            for site in self.sites
        )
        texts = (
            known[self.issuer].url if self.issuer and self.issuer in known else "",
            known[key].kid if key and key in known else "",
        )
        url, kid = ("" if known.vague(text) else text for text in texts)
        behind = (
            frozenset(thing.address for thing in (self.issuer, key, *self.issuer.behind))
            if self.issuer and key
            else frozenset[str]()
        )
        return Sight(self.order.cluster.name, url, kid, behind, sides)

    def bindings(self, known: Known) -> Iterator[Binding]:
        for site in self.sites:
            yield from site.cloud.bindings(self.identities.get(site.cloud.name, ()), known)


def staged(order: Order, pace: Pace, report: Report, *, writes: bool) -> Stage:
    """Bad input is found here, before the first call to a cloud, but for what only a cloud can judge."""
    folder.judge(order, writes=writes)
    order = settled(
        order if writes or order.keys != "published" else replace(order, keys="looked at")
    )
    if writes:
        judge_audiences(order)
    keys = signing_keys(order, writes=writes)
    if "issuer" in order.parts:
        keys.get([KEY])
    asked = asks(order)
    if order.issuer_url:
        checked(order.issuer_url)
    if writes:
        paths = [
            path
            for installer in order.installers
            for path in INSTALLERS[installer].paths(asked.workloads)
        ]
        if order.summary:
            files.ready(order.summary.parent, [order.summary.name])
        files.ready(
            order.output,
            (*paths, *keys.files, folder.NOTE, *([webhook.FILE] if order.installers else [])),
        )
    sites = connected(order, pace, report)
    sites = tuple(
        replace(site, asks=asked.wanted[site.cloud.name], gated=asked.gated[site.cloud.name])
        for site in sites
    )
    stage = replace(_planned(order, pace, sites, keys, writes=writes), skipped=asked.skipped)
    if strange := sorted(order.adopt - stage.plan.keys() - {names.CCOCTL}):
        raise BadInput(
            f"--adopt {strange[0]} is nothing that this run makes",
            remedy="name a thing as --dry-run shows it, such as aws/role/NAME",
        )
    return stage


def expected(order: Order, checksum: str) -> None:
    if order.expect and order.expect != checksum:
        raise BadInput(
            f"the plan is {checksum}, and not {order.expect} that was expected",
            remedy="look at it again with --dry-run, and expect what it says",
        )


def giving_back(sites: Iterable[Site], act: Callable[[], Result]) -> Result:
    """However a run ends, what was lent to us for it is given back; what could not be is a failure of the run, or a word more about what ended it."""
    try:
        result = act()
    except BaseException as e:
        for lost in _closed(sites).values():
            e.add_note(f"{lost.problem}. {lost.remedy}")
        raise
    lost = _closed(sites)
    return result.plus((failure(address, e) for address, e in lost.items()), lost.values())


def _closed(sites: Iterable[Site]) -> dict[str, Problem]:
    lost: dict[str, Problem] = {}
    for site in sites:
        try:
            site.stores.close()
        except Problem as e:
            lost[f"{site.cloud.name}/lent"] = e
    return lost


def connected(order: Order, pace: Pace, report: Report) -> tuple[Site, ...]:
    """All clouds are asked at once; the first that does not know us ends it."""
    clouds = chosen(order)
    specs = {name: cloud.Spec(**order.clouds[name]) for name, cloud in clouds.items()}
    stores: dict[str, Connected] = {}

    def connect(name: str, _tried: int) -> str:
        stores[name] = clouds[name].connect(specs[name], order.cluster, order.width)
        return "connected"

    run(
        Job(
            dict.fromkeys(clouds, ()),
            connect,
            patience=lambda _name: BUSY,
            report=report,
            verb="reading",
        ),
        pace,
    ).checked()
    return tuple(Site(cloud, specs[name], stores[name]) for name, cloud in clouds.items())


def issuing(order: Order, sites: tuple[Site, ...], pace: Pace, keys: Keys) -> Stage:
    """Of the issuer and its keys alone, wherever they are: for whoever changes no more than these, and needs no right for more."""
    issuer = _issuer(order, sites, SigningKey(KEY, keys))
    keeping = (
        thing for thing in trust(order, sites, issuer) if isinstance(thing, KeySet | KnownIssuers)
    )
    return Stage(order, sites, pace, Plan([issuer, *keeping]), keys, issuer)


def trust(order: Order, sites: tuple[Site, ...], issuer: Issuer) -> Iterator[Resource[Any]]:
    yield issuer
    yield from (
        thing
        for s in sites
        for thing in s.cloud.trusting(s.spec, order.cluster, s.stores, issuer, s.askers)
    )
    yield from (
        KnownIssuers(order.cluster.name, s.stores.known_issuers, issuer.home)
        for s in sites
        if not order.move_issuer
    )


def _planned(
    order: Order, pace: Pace, sites: tuple[Site, ...], keys: Keys, *, writes: bool
) -> Stage:
    issuer = _issuer(order, sites, SigningKey(KEY, keys)) if "issuer" in order.parts else None
    home = issuer.home if issuer else _standing(order, sites, pace)
    if issuer and writes:
        folder.judge_issuer(order, home.text)
    roots = list(trust(order, sites, issuer)) if issuer else []
    identities: dict[str, tuple[Resource[Any], ...]] = {}
    if "identities" in order.parts:
        identities = {
            s.cloud.name: tuple(s.cloud.identities(s.spec, order.cluster, s.stores, s.asks, home))
            for s in sites
        }
    walks = [site.walk for site in sites] if order.parts == WHOLE or not writes else ()
    plan = Plan([*roots, *(thing for things in identities.values() for thing in things)], walks)
    if writes:
        plan = Plan(
            [
                *plan.values(),
                *(
                    asked
                    for s in sites
                    for asked in s.cloud.permitted(s.stores, tuple(plan.values()))
                ),
            ],
            walks,
        )
    spared = Plan(
        thing
        for s in sites
        for thing in s.cloud.identities(s.spec, order.cluster, s.stores, s.gated, home)
    )
    return Stage(order, sites, pace, plan, keys, issuer, identities, frozenset(spared))


def _host(order: Order, sites: tuple[Site, ...]) -> Site:
    """Whoever hosts the issuer, it is one for all clouds."""
    return next((site for site in sites if site.cloud.name == order.issuer_in), sites[0])


def _standing(order: Order, sites: tuple[Site, ...], pace: Pace) -> Home:
    """Of a run that makes no issuer: there must be one, and trust in it wherever identities are made. A cloud that asks for patience gets it."""
    host, url = _host(order, sites), checked(order.issuer_url) if order.issuer_url else ""
    asked = {site.cloud.name: site for site in sites if site is host or site.asks}
    found: dict[str, Home | None] = {}

    def look(name: str, _tried: int) -> str:
        site = asked[name]
        ask = site.cloud.standing if site is host else site.cloud.trusted
        found[name] = ask(site.spec, order.cluster, site.stores, url)
        return "read"

    run(
        Job(dict.fromkeys(asked, ()), look, patience=lambda _name: BUSY, verb="reading"), pace
    ).checked()
    return _agreed(host, [(site, home) for name, site in asked.items() if (home := found[name])])


def _agreed(host: Site, found: Iterable[tuple[Site, Home]]) -> Home:
    """The tokens of a cluster are of one issuer: an identity in a cloud that believes another could never be used."""
    homes = {site.cloud.title: home for site, home in found}
    home = homes[host.cloud.title]
    for title, other in homes.items():
        if other != home:
            raise BadInput(
                f"{host.cloud.title} says that the cluster's issuer is {home.text}, and {title} believes {other.text}",
                remedy="say which it is with --issuer-url URL --issuer-exists, and have each cloud believe it with create-identity-provider --move-issuer",
            )
    return home


def _issuer(order: Order, sites: tuple[Site, ...], key: SigningKey) -> Issuer:
    host = _host(order, sites)
    if order.issuer_url and (order.issuer_exists or not host.cloud.brings(host.spec)):
        home = order.output / ISSUER_FOLDER
        served = (
            "see that it is served there, or give the cluster another with --move-issuer"
            if order.served
            else "see that it is served there"
        )
        remedy = (
            served if order.issuer_exists else f"serve the files of {home} there, and run again"
        )
        web = Web(0.0, remedy)  # nobody but the user can make it readable
        shelves = Shelves(
            FolderDocuments(home), FolderKeySets(home, partial(web.keys, order.issuer_url)), web
        )
        return (
            existing(order.issuer_url, shelves, key)
            if order.issuer_exists
            else own(order.issuer_url, shelves, key, order.keys)
        )
    front = (
        Web(0.0, "have that host serve what was published, and run again")
        if order.issuer_url
        else None
    )
    how = Hosting(order.keys, order.issuer_url, frozenset(order.clouds) - {host.cloud.name}, front)
    return host.cloud.host(host.spec, order.cluster, host.stores, key, how)


def signing_keys(order: Order, *, writes: bool) -> Keys:
    """The key that was named, or the cluster's; or the pair in the output directory, made if there is none; or the public half that lies there alone."""
    if order.public_key is not None:
        return PublicKey(order.public_key)
    if order.served is not None:
        return ServedKeys(order.served)
    public = _public_alone(order.output, writes=writes)
    if public:
        return PublicKey(public)
    copied = (
        writes and openshift.name in order.installers
    )  # whoever only looks does not know whom the folder was written for
    return KeyPair(order.output, order.bits, PAIR if copied else PAIR - {names.INSTALLER_KEY})


def _public_alone(output: Path, *, writes: bool) -> Path | None:
    """Where an installer was given it, it is enough to look; whoever writes is to say whether that key stays. A node may be given several there."""
    if (output / names.PRIVATE_KEY).exists():
        return None
    if (output / names.PUBLIC_KEY).exists():
        return output / names.PUBLIC_KEY
    given = (
        []
        if writes
        else [
            path
            for each in INSTALLERS.values()
            if each.public_in and (path := output / each.public_in).exists() and not _several(path)
        ]
    )
    for path in given[1:]:
        if files.read(path, "the public key") != files.read(given[0], "the public key"):
            raise BadInput(
                f"{given[0]} and {path} are not the same key",
                remedy="say with --public-key-file which is the cluster's",
            )
    return given[0] if given else None


def _several(path: Path) -> bool:
    return files.read(path, "the public key").count(b"-----BEGIN ") > 1
