"""YAML from strangers: what is read as what, and that nothing costs more than its length or ends in a trace."""

import json

import pytest

from cwiictl.documents import MAX_DEPTH, documents
from cwiictl.errors import BadInput


def values(text: str | bytes) -> list[object]:
    return [
        document.value
        for document in documents("a.yaml", text.encode() if isinstance(text, str) else text)
    ]


def refusal(text: str | bytes) -> str:
    with pytest.raises(BadInput) as told:
        values(text)
    assert told.value.remedy
    assert "\n" not in told.value.problem
    return told.value.problem


def test_documents_come_in_order_each_with_its_place():
    text = b"# a comment\na: 1\n---\n\nb: 2\n"

    assert [(document.source, document.value) for document in documents("a.yaml", text)] == [
        ("a.yaml:2", {"a": 1}),
        ("a.yaml:5", {"b": 2}),
    ]


@pytest.mark.parametrize(
    "text",
    ["", "\n\n", "# only a comment\n", "---\n---\n# nothing\n---\n", "---\n", "null\n", "\ufeff"],
)
def test_what_is_empty_is_not_there(text: str):
    assert values(text) == []


def test_json_is_read_with_its_tabs():
    assert values('{\n\t"a": [\n\t\t{"b": true, "c": null, "d": "x\\ny"}\n\t]\n}\n') == [
        {"a": [{"b": True, "c": None, "d": "x\ny"}]}
    ]


def test_words_are_read_as_kubernetes_reads_them():
    text = "{a: yes, b: 010, c: 2012-10-17, d: 1:30, e: 0x1F, f: ~, g: 1.5, h: .nan, i: '2', j: !!str 3, k: =, l: 1e3, m: 1_000, n: }"

    assert values(text) == [
        {
            "a": True,
            "b": 8,
            "c": "2012-10-17",
            "d": "1:30",
            "e": 31,
            "f": None,
            "g": 1.5,
            "h": ".nan",
            "i": "2",
            "j": "3",
            "k": "=",
            "l": "1e3",
            "m": 1000,
            "n": None,
        }
    ]


def test_aliases_and_merges_are_read():
    assert values("a: &a {x: 1, y: 2}\nb: *a\nc: {<<: *a, y: 3}\n") == [
        {"a": {"x": 1, "y": 2}, "b": {"x": 1, "y": 2}, "c": {"x": 1, "y": 3}}
    ]


def test_a_field_knows_its_line_and_a_missing_one_the_line_around_it():
    (document,) = documents(
        "a.yaml", b"a:\n  b:\n    - c: 1\n    - c: 2\nm: &m {x: 1}\nn:\n  <<: *m\n  x: 2\n"
    )

    assert document.where("a", "b", 1, "c") == "a.yaml:4"
    assert document.where("a", "b", 7) == "a.yaml:3"
    assert document.where("a", "nothing", "below") == "a.yaml:2"
    assert document.where("n", "x") == "a.yaml:8"


def test_the_items_of_a_list_have_their_own_places():
    (document,) = documents("a.yaml", b"kind: List\nitems:\n- a: 1\n- a: 2\n")

    assert [item.source for item in document.items()] == ["a.yaml:3", "a.yaml:4"]


@pytest.mark.parametrize(
    "text", ["kind: List\n", "kind: List\nitems: x\n", "kind: List\nitems:\n- x\n"]
)
def test_a_list_without_objects_is_refused(text: str):
    (document,) = documents("a.yaml", text.encode())

    with pytest.raises(BadInput, match=r"a\.yaml:"):
        list(document.items())


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("a: 1\na: 2\n", "a.yaml:2 has the key 'a' again, which is there already in line 1"),
        ("x:\n  - {b: 1, 'b': 2}\n", "a.yaml:2 has the key 'b' again"),
        (
            "a:\n\tb: 1\n",
            "a.yaml:2:1 is not valid YAML: found character that cannot start any token",
        ),
        ("a: [1\nb: 2\n", "is not valid YAML"),
        ("a: 'open\n", "is not valid YAML"),
        ("a: *nowhere\n", "a.yaml:1:4 is not valid YAML: found undefined alias"),
        ("a: \x00\n", "not valid YAML"),
        ("a: {<<: 3}\n", "a.yaml:1:9 is not valid YAML"),
        ("1: a\n", "a.yaml:1 has the key '1', which is no text"),
        ("yes: a\n", "a.yaml:1 has the key 'yes', which is no text"),
        ("? [a]\n: b\n", "a.yaml:1 has the key, which is no text"),
        ("text\n", "a.yaml:1 is no object but a text"),
        ("a: 1\n---\n- b\n", "a.yaml:3 is no object but a list"),
        (
            "a: !!python/object/apply:os.system [x]\n",
            "a.yaml:1 uses the YAML tag 'tag:yaml.org,2002:python/object/apply:os.system'",
        ),
        ("a: !!binary aGk=\n", "a.yaml:1 uses the YAML tag"),
        ("a: !!int x\n", "a.yaml:1 uses the YAML tag"),
        ("a: !a%1bb x\n", r"a.yaml:1 uses the YAML tag '!a\x1bb'"),
        ("a: !secret x\n", "a.yaml:1 uses the YAML tag '!secret'"),
        ("a: " + "9" * 5000 + "\n", "a.yaml:1 holds a number that cannot be read"),
        ("a: &a [*a]\n", "a.yaml:1 contains itself by an alias"),
        ("a: &a {<<: *a}\n", "a.yaml:1 contains itself by an alias"),
        (b"a: 1\nb: \xe9\n", "a.yaml:2 is not UTF-8"),
        ("a: 1".encode("utf-16"), "a.yaml:1 is not UTF-8"),
        (b"a: " + b"x" * (1 << 20), "a.yaml is longer than"),
        ("a: 1\n" + "[" * 500_000, "a.yaml:2"),
        ("a: " + "[" * 500_000, "nested more than"),
        ("- " * 500_000, "nested more than"),
        ("? " * 500_000, "nested more than"),
        ("{a: " * 250_000, "nested more than"),
        ("a: [" + "1," * 400_000 + "]\n", "has more than"),
    ],
    ids=lambda value: value if isinstance(value, str) and len(value) < 90 else "text",
)
def test_what_cannot_be_meant_is_refused_by_its_place(text: str | bytes, sentence: str):
    assert sentence in refusal(text)


def test_a_bomb_of_aliases_is_refused_before_it_is_built():
    bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
        f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 30)
    )

    assert "has more than" in refusal(bomb)


def test_a_bomb_of_merges_is_refused_before_it_is_built():
    bomb = "a0: &a0 {x: 1}\n" + "".join(
        f"a{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 10)}]}}\n" for n in range(1, 30)
    )

    assert "has more than" in refusal(bomb)


def test_a_ladder_of_aliases_is_as_deep_as_what_it_builds():
    ladder = "a0: &a0 [x]\n" + "".join(
        f"a{n}: &a{n} [*a{n - 1}]\n" for n in range(1, MAX_DEPTH + 2)
    )

    assert "nested more than" in refusal(ladder)


def test_sixty_times_sixty_times_sixty_is_a_text():
    """A base-60 number as long as the file would take the interpreter hours."""
    time = ":".join(["59"] * 300_000)

    assert values(json.dumps({"a": 1}) + f"\n---\na: {time}\n") == [{"a": 1}, {"a": time}]
