"""The same as a table, to be copied: a row for each ServiceAccount and each thing that it may act as."""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree.ElementTree import Element

from cwiictl.picture.chart import badge, where
from cwiictl.picture.element import element
from cwiictl.picture.map import Identity, Map, Who, whos

HEADS = ("Namespace", "ServiceAccount", "Cloud", "Acts as", "Condition", "What is wrong")


def table(drawn: Map) -> Element:
    head = element("thead", element("tr", *(element("th", each, scope="col") for each in HEADS)))
    rows = (
        row for number, who in enumerate(whos(drawn)) for row in _rows(where(number), who, drawn)
    )
    copy = element("button", "Copy", type="button", id="copy")
    scrolled = element(
        "div",
        element("table", head, element("tbody", *rows)),
        class_="scrolled",
        tabindex="0",
        role="region",
        aria_label="Table",
    )
    return element(
        "section",
        element("p", copy, element("span", id="copied", role="status")),
        scrolled,
        id="table",
    )


def _rows(line: str, who: Who, drawn: Map) -> Iterator[Element]:
    titles = {cloud.name: cloud.title for cloud in drawn.clouds}
    for account in who.accounts:
        for identity in who.identities:
            cells = (
                who.namespace,
                account,
                titles[identity.cloud],
                identity.acting.id or identity.acting.title,
            )
            said = (
                *(element("td", cell) for cell in cells),
                element("td", badge(identity.state, identity.condition)),
                element("td", _said(identity)),
            )
            yield element("tr", *said, data_line=line, data_cloud=identity.cloud)


def _said(identity: Identity) -> str:
    return " ".join(text for note in identity.notes for text in (note.text, note.remedy) if text)
