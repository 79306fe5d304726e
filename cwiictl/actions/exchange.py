"""A token for each ServiceAccount, shown to each cloud as a pod would show it. No token, and nothing that one is exchanged for, is kept, told or logged."""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Iterator, Mapping
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from cwiictl import files, names
from cwiictl.actions.look import Look
from cwiictl.actions.result import failure
from cwiictl.actions.stage import Site, Stage
from cwiictl.engine.pace import Job, Ran, run
from cwiictl.errors import BadInput
from cwiictl.issuer.stores.mint import Mint
from cwiictl.kubernetes import connect
from cwiictl.verify import documents
from cwiictl.verify.finding import Exchange, Finding, Refusal
from cwiictl.verify.token import refusals

Tokens = Callable[
    [str, str, str, int], str
]  # of a namespace's ServiceAccount, for an audience, for so many seconds
Source = Callable[
    [Stage, str], AbstractContextManager[Tokens]
]  # where they come from, of this issuer

SIGNED = "tokens of the cluster"
SECONDS = 600  # that a token is good for: it is shown at once
PATIENCE = 20.0  # with a cloud that cannot say yet whether it takes a token


@contextmanager
def minted(stage: Stage, url: str) -> Generator[Tokens]:
    """Signed here, as the API server would: for whoever has the key, and no cluster yet."""
    path = stage.order.output / names.PRIVATE_KEY
    if not path.exists():
        raise BadInput(
            f"--mint needs the cluster's private key, and there is no {path}",
            remedy="give its folder with --output-dir, or leave --mint out",
        )
    yield Mint(files.read(path, "the private key"), str(path), url).token


def requested(kubeconfig: Path | None, context: str) -> Source:
    """Of the cluster itself, for which each ServiceAccount has to be there."""

    @contextmanager
    def source(stage: Stage, _url: str) -> Generator[Tokens]:
        with closing(connect(kubeconfig, context, stage.order.width)) as place:
            yield place.api.token

    return source


@dataclass(frozen=True)
class Exchanged:
    findings: tuple[Finding, ...]
    failed: tuple[Exception, ...]
    interrupted: bool


def exchanged(look: Look, tokens: Tokens, wrong: Collection[str]) -> Exchanged:
    """Only where nothing is known to stand against it, which are addresses: what follows from something else is not told beside it."""
    asked = {
        _key(each): (site, each)
        for site in look.stage.sites
        for each in site.cloud.exchanges(look.identified(site), look.found)
    }
    first = {
        key: next((a for a in (look.issuer.address, *each.needs) if a in wrong), "")
        for key, (_, each) in asked.items()
    }
    published = documents.kids(look.pages.get(documents.KEYS))
    refused: dict[str, Refusal] = {}
    doubted: dict[Refusal, None] = {}  # what no cloud would take, of all of them

    def exchange(key: str, _tried: int) -> str:
        site, each = asked[key]
        token = tokens(each.namespace, each.account, each.audience, SECONDS)
        doubts = tuple(refusals(token, look.url, published))
        doubted.update(dict.fromkeys(doubts))
        if not doubts and (no := site.stores.exchange(each.target, token)):
            refused[key] = no
        return "exchanged"

    graph = {key: () for key in asked if not first[key]}
    ran = run(
        Job(graph, exchange, patience=lambda _key: PATIENCE, report=look.report, verb="reading"),
        look.stage.pace,
    )
    doubts = tuple(
        Finding(look.issuer.address, SIGNED, "failed", no.problem, no.remedy) for no in doubted
    )
    waits = dict.fromkeys(graph, look.issuer.address) if doubts else first
    return Exchanged(
        (*doubts, *_findings(asked, waits, refused, ran)),
        tuple(ran.failed.values()),
        ran.interrupted,
    )


def _findings(
    asked: Mapping[str, tuple[Site, Exchange]],
    waits: Mapping[str, str],
    refused: Mapping[str, Refusal],
    ran: Ran,
) -> Iterator[Finding]:
    for key, (_, each) in asked.items():
        check = f"token of {each.namespace}/{each.account}"
        if key in ran.failed:
            row = failure(each.thing, ran.failed[key])
            yield Finding(each.thing, check, "failed", row.problem, row.remedy)
        elif need := waits.get(key) or ("interrupted" if key in ran.skipped else ""):
            yield Finding(
                each.thing,
                check,
                "not tried",
                need if need == "interrupted" else f"{need} comes first",
            )
        elif no := refused.get(key):
            yield Finding(each.thing, check, "failed", no.problem, no.remedy)
        else:
            yield Finding(each.thing, check)


def _key(each: Exchange) -> str:
    return f"{each.thing} for {each.namespace}/{each.account}"
