"""Whether every cloud takes what the new key signs: tried again and again, until nobody can have an older key set in mind."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial

from cwiictl.actions.exchange import SECONDS
from cwiictl.actions.look import Look
from cwiictl.actions.stage import Site, Stage, trust
from cwiictl.engine.pace import Job, Pace, run
from cwiictl.engine.resource import Plan, Report
from cwiictl.errors import BadInput, NotYet
from cwiictl.issuer.documents import Issuer
from cwiictl.issuer.rotation import Rotation
from cwiictl.issuer.stores.mint import Mint
from cwiictl.rotate.waits import soaking
from cwiictl.verify.finding import Exchange

STEADY = 5  # times in a row: a cloud has many machines, and each remembers for itself
EACH = 2.0  # seconds
LATER = 20.0  # once it is steady
PATIENCE = 600.0  # beyond the soak

Try = Callable[[], str]  # why a cloud does not take a token that was signed just now, or nothing
Tries = Callable[[Stage, Report], Mapping[str, Try]]


@dataclass(frozen=True)
class Soak:
    """What to try, for how long, by which clock."""

    tries: Tries
    seconds: int
    now: Callable[[], float]
    report: Report


def soaked(stage: Stage, stands: Rotation, soak: Soak) -> None:
    """No longer than until what was published last is as old as that."""
    tried(
        soak.tries(stage, soak.report),
        lambda: soaking(stands, soak.seconds, int(soak.now())),
        stage.pace,
        soak.report,
    )


def tries(stage: Stage, report: Report) -> Mapping[str, Try]:
    """One identity of each cloud: what it takes of one ServiceAccount, it takes of all."""
    if stage.issuer is None or not stage.keys.private:
        raise BadInput(
            f"the new key's private half is not in {stage.order.output}",
            remedy="give the folder that rotate-keys add was told, as --output-dir",
        )
    look = Look(_whole(stage, stage.issuer), stage.issuer, report)
    if look.host():
        look.around()
    for e in look.failed.values():
        raise e
    mint = Mint(stage.keys.private, "the new key", look.url)
    return {
        site.cloud.title: partial(_refusal, site, _first(site, look), mint) for site in stage.sites
    }


def _whole(stage: Stage, issuer: Issuer) -> Stage:
    order, identities = (
        stage.order,
        (
            s.cloud.identities(s.spec, stage.order.cluster, s.stores, s.asks, issuer.home)
            for s in stage.sites
        ),
    )
    return replace(
        stage,
        plan=Plan(
            [
                *trust(order, stage.sites, issuer),
                *(thing for things in identities for thing in things),
            ]
        ),
    )


def _first(site: Site, look: Look) -> Exchange:
    found = next(iter(site.cloud.exchanges(look.stage.plan.values(), look.found)), None)
    if found is None:
        raise BadInput(
            f"nobody has an identity in {site.cloud.title}, so there is nobody to try the new key as",
            remedy="give --credentials-requests-dir, or a cluster.yaml with workloads, whose identities are there",
        )
    return found


def _refusal(site: Site, asked: Exchange, mint: Mint) -> str:
    no = site.stores.exchange(
        asked.target, mint.token(asked.namespace, asked.account, asked.audience, SECONDS)
    )
    return no.problem if no else ""


def tried(tries: Mapping[str, Try], left: Callable[[], int], pace: Pace, report: Report) -> None:
    """By cloud. `left` are the seconds of the soak that are to come: who fails meanwhile begins anew, but with no longer a soak."""
    good = dict.fromkeys(tries, 0)

    def probe(cloud: str, _tried: int) -> str:
        if why := tries[cloud]():
            good[cloud] = 0
            raise NotYet(
                f"{cloud} does not take tokens of the new key yet: {why}",
                remedy="run it again later: what clouds have read they keep",
                after=EACH,
            )
        good[cloud] += 1
        if good[cloud] < STEADY:
            raise NotYet(
                f"{cloud} has taken tokens of the new key only {good[cloud]} times in a row",
                remedy="run it again",
                after=EACH,
            )
        if seconds := left():
            told = f"{cloud} takes tokens of the new key, and may still have a machine that does not: --soak goes on for {_about(seconds)}"
            raise NotYet(
                told,
                remedy="run it again: the time that has passed counts",
                after=min(LATER, float(seconds)),
            )
        return "taken"

    whole = left() + PATIENCE
    run(
        Job(
            dict.fromkeys(tries, ()),
            probe,
            patience=lambda _cloud: whole,
            report=report,
            verb="reading",
        ),
        pace,
    ).checked()


def _about(seconds: int) -> str:
    """Said anew only now and then."""
    minutes = -(-seconds // 60)
    return f"{minutes if minutes <= 10 else -(-minutes // 10) * 10} min"
