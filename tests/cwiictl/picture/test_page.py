"""The page as text: what it allows itself, and that nothing that is shown is anything but text."""

from __future__ import annotations

import base64
import hashlib
import re

from cwiictl import files
from cwiictl.picture.page import MOST, page
from tests.picture.maps import NASTY, a_map
from tests.picture.reading import lines

STYLE, SCRIPT = (files.template(f"picture/page.{kind}") for kind in ("css", "js"))


def shown(workloads: int, *, nasty: bool = False) -> str:
    return page(a_map(workloads, nasty=nasty), STYLE, SCRIPT).decode()


def test_it_allows_its_own_style_and_script_and_nothing_else() -> None:
    text = shown(3)
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text)

    hashes = {
        f"'sha256-{base64.b64encode(hashlib.sha256(own.encode()).digest()).decode()}'"
        for own in (STYLE, SCRIPT)
    }
    assert set(re.findall(r"'sha256-[^']+'", policy)) == hashes
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    assert f"<style>{STYLE}</style>" in text
    assert f"<script>{SCRIPT}</script>" in text


def test_it_names_no_place_that_could_be_loaded() -> None:
    text = shown(3)

    assert re.findall(r'(?:src|href)="([^"#][^"]*)"', text) == ["data:,"]
    assert not re.search(r"url\(|@import|import\(|fetch\(|XMLHttp", STYLE + SCRIPT)
    assert not re.search(r' style="| on\w+="', text)


def test_what_could_be_markup_is_shown_as_it_is_written() -> None:
    text = shown(2, nasty=True)

    assert text.count("<script>") == 1
    assert NASTY in [line.account for line in lines(text.encode())]


def test_every_service_account_and_identity_has_a_row_to_copy() -> None:
    drawn = a_map(300)

    assert len(lines(page(drawn, STYLE, SCRIPT))) == sum(
        len(identity.acting.accounts) for identity in drawn.identities
    )


def test_what_is_wrong_with_many_is_said_once_and_the_worst_first() -> None:
    (troubles,) = re.findall(r'<section class="troubles".*?</section>', shown(300), re.DOTALL)
    said = re.findall(r"<li>(.*?)</li>", troubles)

    assert [
        re.sub("<[^>]*>", "", each).split(" ", 1)[1].split(" prod-")[0] for each in said[:2]
    ] == ["not believed", "drifted"]
    assert len(said) == 5 <= MOST
    assert "and 1 more: managed: add" in re.sub("<[^>]*>", "", said[1])


def test_where_all_is_as_wanted_nothing_is_to_be_looked_at() -> None:
    healthy = a_map(0)

    assert 'class="troubles"' in shown(
        0
    )  # a cloud's own things may be wrong where nobody has an identity
    assert (
        'class="troubles"'
        not in page(type(healthy)("demo", healthy.issuer, (), ()), STYLE, SCRIPT).decode()
    )
