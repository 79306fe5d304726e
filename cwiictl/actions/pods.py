"""status --pods: which pods run without what they ask for, and, on request, whoever made them told to make them anew."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from cwii_webhook.admission.cluster_view import ObjectRef
from cwii_webhook.dialects.common.external_config import ConfigMapKey
from cwii_webhook.dialects.dialect import ALL_SOURCES
from cwii_webhook.dialects.registry import routes

from cwiictl.actions.cluster import address, version
from cwiictl.actions.explain import heed
from cwiictl.actions.installed import Installed
from cwiictl.actions.live import Live, served
from cwiictl.actions.result import Result, Row, failure
from cwiictl.actions.waiting import BEHIND, LEARNING
from cwiictl.engine.pace import Job, Pace, Ran, run
from cwiictl.errors import BadInput, Denied, Failed, NotYet, few
from cwiictl.explain.installed import services
from cwiictl.explain.parts import within
from cwiictl.explain.shortfall import Cluster, Shortfall, shortfalls
from cwiictl.install.conditions import PREFIXES
from cwiictl.install.configuration import unserved
from cwiictl.install.rollover import bundled
from cwiictl.kubernetes import Place
from cwiictl.kubernetes.rights import Right, denied

Agreed = Callable[[Result], bool]
RESTARTED = "kubectl.kubernetes.io/restartedAt"  # as kubectl rollout restart has it
RESTARTABLE = frozenset({("apps", "Deployment"), ("apps", "StatefulSet"), ("apps", "DaemonSet")})
OTHERWISE: Mapping[str, str] = {
    "Pod": "nobody makes it anew: delete it, and create it again",
    "Job": "it is not restarted: delete it, and create it again, or let it end",
    "CronJob": "its next Job is given it: delete the one that runs, or let it end",
    "Rollout": "it is restarted by kubectl argo rollouts restart",
}
MOST = 3  # pods that are named


@dataclass(frozen=True)
class Lack:
    """Of all pods of one owner. What differs between them is told of the first that has it."""

    owner: ObjectRef
    pods: tuple[Shortfall, ...]

    @property
    def restartable(self) -> bool:
        """Whose new pods would be refused loses those that it has, and whose would be given nothing gains nothing."""
        return (self.owner.group, self.owner.kind) in RESTARTABLE and not self.hindrance

    @property
    def hindrance(self) -> str:
        if any(each.refusal for each in self.pods):
            return "mend what is refused first"
        return "mend what is written first" if any(each.unheard for each in self.pods) else ""

    @property
    def address(self) -> str:
        return address(self.owner.kind, self.owner.name, self.owner.namespace)


@dataclass(frozen=True)
class Found:
    looked: int
    asking: int
    lacks: tuple[Lack, ...]
    missed: tuple[Installed, ...]  # the webhooks that have missed them


def found(place: Place, those: Iterable[Installed], namespaces: Collection[str] = ()) -> Found:
    """All is listed once, however many webhooks there are. Pods of these namespaces alone, if any is named."""
    _permitted(place)
    whole = _whole(those)
    picture = Live(place=place)
    picture.list(ALL_SOURCES)
    if unknown := sorted(
        set(namespaces) - {each["metadata"]["name"] for each in place.api.list("Namespace")}
        if namespaces
        else ()
    ):
        raise BadInput(
            f"there is no namespace {unknown[0]}",
            remedy="name one that kubectl get namespaces shows",
        )
    pods = [
        pod
        for pod in place.api.list("Pod")
        if not namespaces or pod["metadata"]["namespace"] in namespaces
    ]
    judged = [
        (one, each) for one in whole for each in shortfalls(pods, _cluster(place, one, picture))
    ]
    heard = {(each.owner, each.pod) for _, each in judged if not each.unheard}  # by one of several
    short = [
        (one, each)
        for one, each in judged
        if each and not (each.unheard and (each.owner, each.pod) in heard)
    ]
    missed = tuple(one for one in whole if any(one is other for other, _ in short))
    return Found(
        len(pods),
        len({(each.owner.namespace, each.pod) for _, each in judged}),
        tuple(_lacks(each for _, each in short)),
        missed,
    )


def _lacks(short: Iterable[Shortfall]) -> Iterator[Lack]:
    owners: dict[ObjectRef, list[Shortfall]] = {}
    for each in short:
        owners.setdefault(each.owner, []).append(each)
    for owner, some in sorted(
        owners.items(), key=lambda one: (one[0].namespace, one[0].kind, one[0].name)
    ):
        yield Lack(owner, tuple(some))


def rows(told: Found) -> Iterator[Row]:
    yield from map(_row, told.lacks)
    if not told.lacks:
        yield Row(
            "k8s/Pod",
            "as wanted",
            remarks=(
                f"{told.asking} of {told.looked} pods ask for an identity, and have what they would be given now",
            ),
        )


def restarted(place: Place, told: Found, agreed: Agreed | None, pace: Pace) -> Result:
    """`agreed` is shown what would be done, and asked; without it this is a dry run."""
    some = {lack.address: lack for lack in told.lacks if lack.restartable}
    shown = tuple(
        replace(_row(lack), condition="to restart") if lack.address in some else _row(lack)
        for lack in told.lacks
    )
    if not some or agreed is None:
        return Result(rows=shown or tuple(rows(told)))
    _check(told.missed)
    if not agreed(Result(rows=shown)):
        return Result(rows=tuple(rows(told)))
    at = datetime.now(UTC).isoformat(timespec="seconds")
    ran = run(
        Job(
            dict.fromkeys(some, ()),
            lambda each, _tried: _restart(place, some[each], told.missed, at),
            patience=lambda _each: LEARNING,
        ),
        pace,
    )
    return Result(
        rows=tuple(
            _after(lack, ran) if lack.address in some else _row(lack) for lack in told.lacks
        ),
        interrupted=ran.interrupted,
    )


def _restart(place: Place, lack: Lack, those: Iterable[Installed], at: str) -> str:
    _prove(place, lack, those)
    part = {"spec": {"template": {"metadata": {"annotations": {RESTARTED: at}}}}}
    place.api.patch(
        f"{lack.owner.kind}.{lack.owner.group}", lack.owner.namespace, lack.owner.name, part
    )
    return "restarted"


def _prove(place: Place, lack: Lack, those: Iterable[Installed]) -> None:
    """A replica is ready a moment before every way to it is. What others have against the pod of a dry run says nothing of us, and some is better than none."""
    missed = next((each for each in lack.pods if each.lacks), None)
    if missed is None:
        return
    try:
        answered = place.api.create(missed.anew, dry=True)
    except (Denied, Failed) as e:
        if any(one.configuration and unserved(one.configuration, e.problem) for one in those):
            raise NotYet(
                f"it was not restarted: its pods would not be let in ({e.problem})", remedy=BEHIND
            ) from e
        return
    if set(missed.lacks) <= set(missed.lacking(answered)):
        raise NotYet(
            f"it was not restarted: its pods would come back without {', '.join(missed.lacks)}, as one of a dry run did",
            remedy=BEHIND,
        )


def _after(lack: Lack, ran: Ran) -> Row:
    if e := ran.failed.get(lack.address):
        return failure(lack.address, e)
    return _row(lack) if lack.address in ran.skipped else Row(lack.address, "restarted")


def _whole(those: Iterable[Installed]) -> list[Installed]:
    """Of a webhook that nobody asks, or that nobody answers for, nobody can tell what pods would be given."""
    every = list(those)
    whole = [one for one in every if one.deployment and one.configuration]
    if not whole and every[0].beside:
        raise Failed(
            f"the webhook {every[0].name} runs in the pod of its API server, and how it was started is not known here: what pods would be given cannot be told",
            remedy="look through those that ask, such as kubectl get pods -A -l azure.workload.identity/use=true, and make anew which have no token",
        )
    if not whole:
        lacking = "Deployment" if every[0].configuration else "configuration"
        raise Failed(
            f"the webhook {every[0].name} has no {lacking}: what pods would be given cannot be told",
            remedy="run install-webhook again",
        )
    return whole


def _check(those: Iterable[Installed]) -> None:
    """Who restarts pods while nobody answers for them has them without once more."""
    for one in those:
        lacks = _lacking(one)
        if lacks:
            what = f"the webhook {one.name} {lacks}, and pods would come back as they are"
            raise Failed(what, remedy="mend it first: status --webhook says what it lacks")


def _lacking(one: Installed) -> str:
    if not within(one.deployment or {}, "status").get("readyReplicas", 0):
        return "has no replica that is ready"
    return (
        ""
        if one.configuration and bundled(one.configuration)
        else "has entries that no CA speaks for"
    )


def _cluster(place: Place, one: Installed, picture: Live) -> Cluster:
    """Of what is heeded besides annotations what stands in the cluster: its files are where its pods are."""
    offered = services(one.deployment or {}, version(place))
    for source in (
        source
        for each in offered
        for source in each.external_config
        if isinstance(source.location, ConfigMapKey)
    ):
        heed(source, picture)
    ways = {path.decode(): route for path, route in routes(offered).items()}
    return Cluster(picture, picture.bodies, one.configuration or {}, ways, PREFIXES)


def _permitted(place: Place) -> None:
    kinds = [
        kind for group, name in (*ALL_SOURCES, ("", "Pod")) if (kind := served(place, group, name))
    ]
    needed = [Right("list", kind.plural, kind.group) for kind in kinds]
    if problem := denied(place.caller, place.api.lacking(needed), "status --pods"):
        raise problem


def _row(lack: Lack) -> Row:
    missing = any(each.lacks or each.refusal or each.unheard for each in lack.pods)
    remarks = [*_told(lack), *dict.fromkeys(why for each in lack.pods for why in each.why)]
    if not lack.restartable:
        otherwise = OTHERWISE.get(lack.owner.kind, "whoever made it is to make it anew")
        remarks.append(f"it is not restarted: {lack.hindrance}" if lack.hindrance else otherwise)
    differs = next((each.differs for each in lack.pods if each.differs), ())
    return Row(
        lack.address,
        "missing" if missing else "drifted",
        differences=differs,
        remarks=tuple(remarks),
    )


def _told(lack: Lack) -> Iterator[str]:
    """What is the same of several pods, once."""
    alike: dict[str, list[str]] = {}
    for each in lack.pods:
        alike.setdefault(_what(each), []).append(each.pod)
    for what, pods in alike.items():
        yield f"pod {few(pods, MOST)}: {what}"


def _what(short: Shortfall) -> str:
    if short.refusal:
        return f"would be refused now: {short.refusal}"
    if short.unheard:
        return f"is given nothing: {'; '.join(short.unheard)}"
    return f"without {', '.join(short.lacks)}" if short.lacks else "with other values"
