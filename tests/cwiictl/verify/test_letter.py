"""What people take for the same and clouds do not."""

from __future__ import annotations

import pytest

from cwiictl.verify.letter import not_, unlike

URL = "https://issuer.example.org/a"


@pytest.mark.parametrize(
    ("other", "word"),
    [
        (f"{URL}/", "slash"),
        (f" {URL}", "space"),
        (URL.upper(), "letters"),
        (URL.replace("https", "http"), "http and https"),
        ("https://other", ""),
    ],
)
def test_a_difference_that_is_easily_overlooked_is_named(other: str, word: str) -> None:
    assert word in unlike(other, URL)
    assert bool(unlike(other, URL)) == bool(word)


def test_of_many_a_few_are_told_and_the_nearest_is_explained() -> None:
    assert not_(URL, []) == f"nobody, and not {URL}"
    assert not_(URL, ["d", "c", "b", "a"]) == f"a, b, c and others, and not {URL}"
    assert not_(URL, ["other", f"{URL}/"]).endswith("a slash at its end is a part of it")
