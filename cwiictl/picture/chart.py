"""The map itself: a line for each ServiceAccount, a rail for each cloud, and a stop where the one may act as something in the other.

A grid, and no drawing: lines cannot cross, and what is long can be scrolled, searched and read aloud.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from xml.etree.ElementTree import Element

from cwiictl.errors import few
from cwiictl.picture.element import Content, breakable, element
from cwiictl.picture.map import (
    Cloud,
    Identity,
    Issuer,
    Map,
    Note,
    Pods,
    State,
    Thing,
    Who,
    whos,
    worst,
)

SIGNS: dict[State, str] = {"fine": "✓", "warning": "!", "wrong": "✕"}
SHOWN = 8  # pods by name: of more than these, their number is worth more


def chart(drawn: Map) -> Element:
    rails = element(
        "div",
        element("i"),
        *(element("i", data_cloud=cloud.name) for cloud in drawn.clouds),
        class_="rails grid",
        aria_hidden="true",
    )
    body = [
        group
        for namespace, of in groupby(enumerate(whos(drawn)), lambda each: each[1].namespace)
        for group in _namespace(namespace, of, drawn)
    ]
    lanes = element(
        "div",
        element("span", "ServiceAccount"),
        *(element("span", cloud.title, data_cloud=cloud.name) for cloud in drawn.clouds),
        class_="lanes grid",
    )
    return element(
        "section",
        rails,
        _head(drawn),
        *([lanes] if body else []),
        *body,
        *_others(drawn),
        id="map",
        data_lanes=str(len(drawn.clouds)),
        aria_label="Map",
    )


def where(who: int) -> str:
    """The place of a line in the page."""
    return f"line-{who + 1}"


def badge(state: State, condition: str) -> Element:
    return element(
        "span",
        element("b", SIGNS[state], aria_hidden="true"),
        f" {condition}",
        class_="badge",
        data_state=state,
    )


# --- who is believed ---


def _head(drawn: Map) -> Element:
    cards = (
        element(
            "div",
            _cloud(cloud),
            class_="stop",
            data_cloud=cloud.name,
            data_line=_line(drawn.clouds, cloud),
        )
        for cloud in drawn.clouds
    )
    return element(
        "div", element("div", _issuer(drawn.issuer), class_="who"), *cards, class_="head grid"
    )


def _line(clouds: tuple[Cloud, ...], cloud: Cloud) -> str:
    return "end" if cloud is clouds[-1] else "through"


def _issuer(issuer: Issuer) -> Element:
    key = [_said("signing key", issuer.key)] if issuer.key else []
    told = element("dl", _said("issuer", issuer.url or "not known yet"), *key)
    return element(
        "article",
        element("h2", "Tokens of the cluster"),
        told,
        *_things(issuer.things),
        class_="card",
        data_state=issuer.state,
        id="issuer",
    )


def _cloud(cloud: Cloud) -> Element:
    told = element("dl", _said("account", cloud.account), _said("read as", cloud.caller))
    return element(
        "article",
        element("h2", cloud.title),
        told,
        *_things(cloud.things),
        class_="card",
        data_state=cloud.state,
        id=f"cloud-{cloud.name}",
    )


def _things(things: tuple[Thing, ...]) -> Iterator[Element]:
    """What is as it should be is counted, and what is not is told."""
    if not things:
        return
    state = worst(thing.state for thing in things)
    off = sum(thing.state != "fine" for thing in things)
    title = (
        f"{off} of {len(things)} things are not as wanted"
        if off
        else f"{len(things)} things, all as wanted"
        if things[1:]
        else "1 thing, as wanted"
    )
    yield element(
        "details",
        element("summary", title),
        element("ul", *(element("li", *_thing(thing)) for thing in things)),
        open=state != "fine",
    )


def _thing(thing: Thing) -> Iterator[Content]:
    yield from (
        badge(thing.state, thing.condition),
        " ",
        element("code", *breakable(thing.address)),
    )
    yield from (_note(note) for note in thing.notes)


def _note(note: Note) -> Element:
    return element(
        "p",
        note.text,
        *([" ", element("em", note.remedy)] if note.remedy else []),
        class_="note",
        data_state=note.state,
    )


def _said(word: str, text: str) -> Element:
    return element("div", element("dt", word), element("dd", *breakable(text)))


# --- who may act as what ---


def _namespace(namespace: str, of: Iterable[tuple[int, Who]], drawn: Map) -> Iterator[Element]:
    lines = [_row(number, who, drawn) for number, who in of]
    yield element(
        "section",
        element("h3", namespace),
        *lines,
        class_="namespace",
        aria_label=f"namespace {namespace}",
    )


def _row(number: int, who: Who, drawn: Map) -> Element:
    last = max(
        (index for index, cloud in enumerate(drawn.clouds) if who.of(cloud.name)), default=-1
    )
    stops = (
        _stop(cloud, who, "end" if index == last else "through" if index < last else "")
        for index, cloud in enumerate(drawn.clouds)
    )
    names = element(
        "span",
        *(_account(who.namespace, account, drawn.pods) for account in who.accounts),
        class_="who",
    )
    summary = element("summary", names, *stops, class_="grid")
    more = element(
        "div",
        *(_more(identity, drawn) for identity in who.identities),
        *_running(who, drawn.pods),
        class_="more",
    )
    clouds = " ".join(dict.fromkeys(identity.cloud for identity in who.identities))
    return element(
        "details",
        summary,
        more,
        class_="line",
        id=where(number),
        data_state=who.state,
        data_clouds=clouds,
    )


def _account(namespace: str, account: str, pods: Pods | None) -> Element:
    found = pods.get((namespace, account)) if pods is not None else None
    count = (
        ""
        if pods is None
        else "not in the cluster"
        if found is None
        else f"{len(found)} pod{'' if len(found) == 1 else 's'}"
    )
    pill = element(
        "span",
        element("small", f"{namespace}/"),
        account,
        *([element("small", f" {count}")] if count else []),
        class_="account",
    )
    return element("span", pill, class_="tied")


def _stop(cloud: Cloud, who: Who, line: str) -> Element:
    of = who.of(cloud.name)
    return element(
        "span",
        *(_chip(cloud, identity) for identity in of),
        class_="stop",
        data_cloud=cloud.name,
        data_line=line,
        data_empty=not of,
    )


def _chip(cloud: Cloud, identity: Identity) -> Element:
    told = [" ", badge(identity.state, identity.condition)] if identity.state != "fine" else []
    return element(
        "span",
        element("small", f"{cloud.title} ", class_="in"),
        element("span", identity.acting.title),
        *told,
        class_="chip",
        data_state=identity.state,
    )


def _more(identity: Identity, drawn: Map) -> Element:
    acting, cloud = (
        identity.acting,
        next(cloud.title for cloud in drawn.clouds if cloud.name == identity.cloud),
    )
    powers = (
        [
            element(
                "div",
                element("dt", "may"),
                element("dd", element("ul", *(element("li", power) for power in acting.powers))),
            )
        ]
        if acting.powers
        else []
    )
    told = element(
        "dl",
        _said("acts as", acting.id or "not known yet"),
        *powers,
        element("div", element("dt", "made of"), element("dd", _list(identity.things))),
    )
    return element(
        "article",
        element("h4", f"{cloud}: {acting.title}"),
        *map(_note, identity.notes),
        told,
        class_="card",
        data_cloud=identity.cloud,
    )


def _list(things: Iterable[Thing]) -> Element:
    return element(
        "ul",
        *(
            element(
                "li",
                badge(thing.state, thing.condition),
                " ",
                element("code", *breakable(thing.address)),
            )
            for thing in things
        ),
    )


def _running(who: Who, pods: Pods | None) -> Iterator[Element]:
    for account in who.accounts:
        found = (pods or {}).get((who.namespace, account), ())
        if found:
            yield element(
                "article",
                element("h4", f"Pods of {account}"),
                element("p", few(found, SHOWN)),
                class_="card",
            )


# --- what else is there ---


def _others(drawn: Map) -> Iterator[Element]:
    if not any(cloud.others for cloud in drawn.clouds):
        return
    lists = (
        element(
            "div",
            *([_list(cloud.others)] if cloud.others else []),
            class_="stop",
            data_cloud=cloud.name,
        )
        for cloud in drawn.clouds
    )
    told = element(
        "div",
        element("h3", "Also there"),
        element("p", "Of this cluster, and not asked for by what was given."),
        class_="who",
    )
    yield element("section", told, *lists, class_="others grid", id="others")
