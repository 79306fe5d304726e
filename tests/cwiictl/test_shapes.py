"""What does not fit a shape is told in our words, with its place and the nearest right word."""

from typing import Annotated, Any, Literal

import msgspec
import pytest
from msgspec import Meta

from cwiictl.documents import Document, documents
from cwiictl.errors import BadInput
from cwiictl.shapes import Strict, told

TEXT = b"""colour: red
things:
  - size: 1
  - size: 2
    colours:
      - blue
by_name:
  one:
    size: 3
"""


class Thing(Strict):
    size: Annotated[int, Meta(ge=1, le=9)] = 1
    colours: Annotated[list[Literal["red", "blue"]], Meta(min_length=1)] | msgspec.UnsetType = (
        msgspec.UNSET
    )


class Box(Strict):
    colour: Literal["red", "blue"]
    things: list[Thing] = msgspec.field(default_factory=list[Thing])
    by_name: dict[str, Thing] | None = msgspec.field(name="by_name", default=None)


def a_document(old: bytes = b"", new: bytes = b"") -> Document:
    assert old in TEXT
    (document,) = documents("a.yaml", TEXT.replace(old, new, 1))
    return document


def test_what_fits_is_given():
    box = told(a_document(), Box)

    assert [thing.size for thing in box.things] == [1, 2]
    assert box.by_name == {"one": Thing(size=3)}


@pytest.mark.parametrize(
    ("old", "new", "problem", "remedy"),
    [
        (
            b"colour: red",
            b"color: red",
            "a.yaml:1 has the key 'color', which is not known",
            "did you mean colour?",
        ),
        (
            b"colour: red",
            b"weight: 1",
            "a.yaml:1 has the key 'weight', which is not known",
            "use one of: colour, things, by_name",
        ),
        (
            b"    colours:\n",
            b"    colors:\n",
            "a.yaml:5 has the key 'colors' in things[1], which is not known",
            "did you mean colours?",
        ),
        (
            b"    size: 3",
            b"    sizes: 3",
            "a.yaml:8 has the key 'sizes' in by_name[...], which is not known",
            "did you mean size?",
        ),
        (
            b"blue",
            b"bleu",
            "things[1].colours[0] in a.yaml:6 is 'bleu', which is not known",
            "did you mean blue?",
        ),
        (
            b"red",
            b"white",
            "colour in a.yaml:1 is 'white', which is not known",
            "use one of: blue, red",
        ),
        (
            b"colour: red\n",
            b"",
            "a.yaml:1 lacks colour",
            "add colour, or take the object out of the file",
        ),
        (
            b"size: 2",
            b"size: 0",
            "things[1].size in a.yaml:4 is less than 1",
            "correct the field; a text that looks like something else must be quoted",
        ),
        (
            b"size: 2",
            b"size: 10",
            "things[1].size in a.yaml:4 is more than 9",
            "correct the field; a text that looks like something else must be quoted",
        ),
    ],
)
def test_what_does_not_fit_is_told_with_a_remedy(old: bytes, new: bytes, problem: str, remedy: str):
    with pytest.raises(BadInput) as refused:
        told(a_document(old, new), Box)

    assert (refused.value.problem, refused.value.remedy) == (problem, remedy)


def test_an_empty_list_is_told():
    with pytest.raises(BadInput, match=r"things\[1\].colours in a.yaml:5 is empty"):
        told(a_document(b"    colours:\n      - blue\n", b"    colours: []\n"), Box)


def test_a_key_is_found_where_it_stands_and_a_value_where_it_begins():
    document = a_document()

    assert (document.where_key("things"), document.where("things")) == ("a.yaml:2", "a.yaml:3")
    assert (
        document.where_key("nowhere")
        == document.where("nowhere")
        == document.where_key("colour", "nowhere")
        == "a.yaml:1"
    )


def test_an_object_below_is_a_document_of_its_own():
    below = a_document().below("things", 1)
    expected: dict[str, Any] = {"size": 2, "colours": ["blue"]}

    assert below.value == expected
    assert below.source == "a.yaml:4"
    assert below.where("colours", 0) == "a.yaml:6"
