"""The page in a real browser, with few workloads and with many."""

from __future__ import annotations

import pytest

from cwiictl.picture.map import whos
from tests.picture.browser import Browser
from tests.picture.conftest import Write
from tests.picture.maps import NASTY, a_map

pytestmark = [pytest.mark.soak, pytest.mark.timeout(900)]  # the first has to install it

FEW, MANY = 3, 300
LAPTOP, WIDE, NARROW, PHONE, SMALL = (1280, 800), (1920, 1080), (1000, 800), (390, 844), (320, 568)
SHOWN = "return [...document.querySelectorAll('.line')].filter(line => line.checkVisibility()).map(line => line.id)"
CONTRAST = """
    const light = (c) => { const f = (v) => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
                           return 0.2126 * f(c[0]) + 0.7152 * f(c[1]) + 0.0722 * f(c[2]); };
    const parts = (text) => text.match(/[\\d.]+/g).map(Number);
    const ground = (e) => { for (; e; e = e.parentElement) { const c = parts(getComputedStyle(e).backgroundColor); if (c[3] !== 0) return c; } };
    const ratio = (a, b) => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    const own = (e) => [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim());
    return [...document.querySelectorAll("body *")].filter((e) => own(e) && e.checkVisibility())
      .map((e) => [ratio(light(parts(getComputedStyle(e).color)), light(ground(e))), e.textContent]).filter(([r]) => r < 4.5)"""
OVERLAPS = """
    const boxes = [...document.querySelectorAll(".chip, .account, .head .card, .namespace h3")].map((e) => [e.textContent, e.getBoundingClientRect()])
      .filter(([, b]) => b.width).sort((a, b) => a[1].top - b[1].top);
    return boxes.flatMap(([name, a], at) => boxes.slice(at + 1, at + 12)
      .filter(([, b]) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1).map(([other]) => [name, other]))"""
CUT = """
    return [...document.querySelectorAll("body *")].filter((e) => e.checkVisibility() && !e.closest(".scrolled"))
      .filter((e) => e.getBoundingClientRect().right > innerWidth + 0.5).map((e) => e.textContent)"""

BROKEN = """
    const at = (node, place) => { const range = document.createRange(); range.setStart(node, place); range.setEnd(node, place + 1);
                                  return range.getBoundingClientRect().top; };
    const texts = [...document.querySelectorAll(".head dd")].flatMap((e) => [...e.childNodes].filter((node) => node.nodeType === 3));
    return texts.filter((node) => [...node.data.matchAll(/\\d(?=\\d)/g)].some(({index}) => at(node, index) !== at(node, index + 1))).map((node) => node.data)"""


@pytest.mark.parametrize("workloads", [FEW, MANY])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [PHONE, LAPTOP, WIDE], ids=["phone", "laptop", "wide"])
def test_it_opens_without_a_complaint_and_all_of_it_can_be_read(
    chromium: Browser, written: Write, size: tuple[int, int], scheme: str, workloads: int
) -> None:
    drawn = a_map(workloads, pods=True)
    chromium.open(written(drawn), *size, scheme)

    assert chromium.complaints() == []
    assert len(chromium.run(SHOWN)) == len(whos(drawn))
    assert chromium.run("return performance.getEntriesByType('resource').length") == 0
    chromium.run(
        "document.querySelectorAll('.line').forEach((line) => (line.style.contentVisibility = 'visible'))"
    )
    assert chromium.run(OVERLAPS) == []
    assert chromium.run(CUT) == []
    assert chromium.run(CONTRAST) == []
    chromium.run("document.querySelectorAll('details').forEach((each) => (each.open = true))")
    assert chromium.run(CUT) == []
    assert chromium.run(CONTRAST) == []


@pytest.mark.parametrize(
    "size", [PHONE, NARROW, LAPTOP, WIDE], ids=["phone", "narrow", "laptop", "wide"]
)
def test_no_line_ends_within_a_number(
    chromium: Browser, written: Write, size: tuple[int, int]
) -> None:
    chromium.open(written(a_map(FEW)), *size)

    assert chromium.run(BROKEN) == []


@pytest.mark.parametrize("size", [PHONE, SMALL], ids=["phone", "small"])
@pytest.mark.parametrize("nasty", [False, True])
@pytest.mark.parametrize("view", ["map", "table"])
def test_on_a_phone_nothing_scrolls_sideways(
    chromium: Browser,
    written: Write,
    size: tuple[int, int],
    view: str,
    nasty: bool,  # noqa: FBT001
) -> None:
    chromium.open(written(a_map(MANY, nasty=nasty)), *size)

    chromium.run(f"document.querySelector('[value={view}]').click()")

    assert (
        chromium.run("return [document.documentElement.scrollWidth, innerWidth]") == [size[0]] * 2
    )


def test_what_is_written_in_it_is_text_and_no_script_but_its_own_runs(
    chromium: Browser, written: Write
) -> None:
    chromium.open(written(a_map(2, nasty=True)), *LAPTOP)

    assert chromium.complaints() == []
    assert chromium.run(
        "return [document.scripts.length, document.querySelector('h1 b').textContent]"
    ) == [1, NASTY]
    assert NASTY in chromium.run("return document.querySelector('#table').textContent")

    chromium.run(
        "const it = document.createElement('script'); it.textContent = 'window.hit = 1'; document.body.append(it)"
    )
    chromium.run(
        'document.body.insertAdjacentHTML(\'beforeend\', \'<img src="http://127.0.0.1:9/x.png" onerror="window.hit = 2"><p style="color: red">x</p>\')'
    )
    fetched = chromium.run("return fetch('http://127.0.0.1:9/').then(() => 'read', (e) => e.name)")

    assert chromium.run("return window.hit ?? null") is None
    assert fetched == "TypeError"
    told = chromium.complaints()
    assert [
        any(f"'{word}" in each or word in each for each in told)
        for word in ("script-src", "style-src", "img-src", "connect-src")
    ] == [True] * 4, told


def test_it_can_be_searched_and_walked_with_the_keyboard_alone(
    chromium: Browser, written: Write
) -> None:
    drawn = a_map(MANY, pods=True)
    chromium.open(written(drawn), *LAPTOP)

    chromium.type("/")
    assert chromium.run("return document.activeElement.id") == "search"
    chromium.type(*"billing nightly")
    wanted = [
        f"line-{number + 1}"
        for number, who in enumerate(whos(drawn))
        if who.namespace == "billing" and "nightly" in who.accounts[0]
    ]
    assert chromium.run(SHOWN) == wanted
    assert (
        chromium.run("return document.getElementById('count').textContent")
        == f"{len(wanted)} of {len(whos(drawn))} lines"
    )

    chromium.type("Down", "Down", "Enter")
    assert chromium.run("return document.activeElement.parentElement.id") == wanted[1]
    assert chromium.run(f"return document.getElementById('{wanted[1]}').open") is True
    chromium.type("Up", "Up")
    assert chromium.run("return document.activeElement.id") == "search"
    chromium.type("Escape")
    assert len(chromium.run(SHOWN)) == len(whos(drawn))
    assert chromium.complaints() == []


def test_what_is_not_as_wanted_can_be_had_alone_and_by_cloud(
    chromium: Browser, written: Write
) -> None:
    drawn = a_map(MANY)
    chromium.open(written(drawn), *LAPTOP)
    places = {f"line-{number + 1}": who for number, who in enumerate(whos(drawn))}

    chromium.run("document.getElementById('off').click()")
    assert chromium.run(SHOWN) == [line for line, who in places.items() if who.state != "fine"]
    chromium.run("document.querySelector('[value=gcp]').click()")
    assert chromium.run(SHOWN) == [
        line
        for line, who in places.items()
        if who.state != "fine" and (who.of("aws") or who.of("azure"))
    ]

    chromium.run("document.querySelector('[value=table]').click()")
    rows = chromium.run(
        "return [...document.querySelectorAll('tbody tr')].filter(row => row.checkVisibility()).map(row => row.cells[2].textContent)"
    )
    assert rows
    assert "Google Cloud" not in rows
    assert chromium.run(SHOWN) == []


def test_what_to_look_at_leads_to_its_line_though_it_was_filtered_away(
    chromium: Browser, written: Write
) -> None:
    chromium.open(written(a_map(MANY)), *LAPTOP)
    chromium.type("/", *"no such thing")
    assert chromium.run(SHOWN) == []

    line = chromium.run(
        "const link = document.querySelector('.troubles a'); link.click(); return link.hash.slice(1)"
    )

    where = "const it = document.getElementById(arguments[0]), box = it.getBoundingClientRect(); return [it.open, box.top >= 0 && box.top < innerHeight]"
    chromium.run("return new Promise((done) => setTimeout(done, 300))")
    assert chromium.run(where, line) == [True, True]
    assert "Run create-all, which mends it." in chromium.run(
        "return document.getElementById(arguments[0]).innerText", line
    )


def test_the_rows_that_are_shown_can_be_copied(chromium: Browser, written: Write) -> None:
    chromium.open(written(a_map(FEW)), *LAPTOP)
    chromium.cdp(
        "Browser.grantPermissions", permissions=["clipboardReadWrite", "clipboardSanitizedWrite"]
    )
    chromium.run("document.querySelector('[value=table]').click()")
    chromium.type("/", *"catalogue")

    chromium.run(
        "document.getElementById('copy').click(); return new Promise((done) => setTimeout(done, 300))"
    )

    copied = chromium.run("return navigator.clipboard.readText()").splitlines()
    assert [line.split("\t")[:3] for line in copied] == [
        ["Namespace", "ServiceAccount", "Cloud"],
        ["catalogue", "worker-1", "Azure"],
    ]
