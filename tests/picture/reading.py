"""What a page says, read from its table as whoever copies it would."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import NamedTuple


class Line(NamedTuple):
    namespace: str
    account: str
    cloud: str
    acts_as: str
    condition: str
    wrong: str


class _Cells(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.inside = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002 - the parser's signature
        if tag == "tr":
            self.rows.append([])
        if tag == "td":
            self.rows[-1].append("")
        self.inside = tag == "td" or (self.inside and tag != "tr")

    def handle_endtag(self, tag: str) -> None:
        self.inside = self.inside and tag != "td"

    def handle_data(self, data: str) -> None:
        if self.inside:
            self.rows[-1][-1] += data


def lines(page: bytes) -> list[Line]:
    cells = _Cells()
    cells.feed(page.decode())
    return [
        Line(*(" ".join(cell.split()).lstrip("✓!✕ ") for cell in row)) for row in cells.rows if row
    ]
