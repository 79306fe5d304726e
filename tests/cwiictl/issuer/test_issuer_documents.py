"""The key set is a shared document: ours is in it, others' stay, and a change of keys is never an accident."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from cwiictl import oidc
from cwiictl.engine.resource import Difference, Known
from cwiictl.errors import BadInput, Conflict, Failed, Problem
from cwiictl.issuer.documents import DocumentState, Issuer, IssuerState, Keys, KeySet, KeySetState
from cwiictl.issuer.home import Home
from cwiictl.issuer.key import KeyState, SigningKey
from cwiictl.issuer.rotation import DROPPING, STAGES, Rotation, Stage, Turn, begin
from tests.contracts.shelf import Shelf, World

PLACE: Any = Shelf(World())
KEY = SigningKey("signing-key", PLACE)


@cache
def key(number: int) -> oidc.VerificationKey:
    del number  # each its own
    public = rsa.generate_private_key(65537, 2048).public_key()
    return oidc.public_key(
        public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo), "a key"
    )


def the_set(keys: Keys = "published") -> KeySet:
    return KeySet("bucket/keys.json", PLACE, KEY, KEY, keys)


def published(*numbers: int, text: str = "") -> KeySetState:
    body = text or json.dumps({"keys": [key(number).jwk for number in numbers]})
    return KeySetState.read(
        body.encode(), "the published set", "application/json", "public, max-age=60"
    )


def known(number: int | None, have: KeySetState | None = None, keys: Keys = "published") -> Known:
    found = Known()
    if number is not None:
        found.learn(KEY, KeyState.of(key(number)))
    if have is not None:
        found.learn(the_set(keys), have)
    return found


def several(*numbers: int) -> Known:
    found = Known()
    found.learn(
        KEY, KeyState.of(key(numbers[0]), others=tuple(key(number) for number in numbers[1:]))
    )
    return found


def objection(
    number: int | None, have: KeySetState | None, keys: Keys = "published"
) -> Problem | None:
    return the_set(keys).objection(known(number, have, keys))


@pytest.mark.parametrize("keys", ["published", "add", "replace"])
def test_nothing_stands_against_a_set_that_is_not_there_or_holds_the_key(keys: Keys) -> None:
    assert objection(0, None, keys) is None
    assert objection(None, None, keys) is None
    assert objection(0, published(0), keys) is None
    assert objection(0, published(1, 0), keys) is None


@pytest.mark.parametrize("number", [0, None])
def test_an_emptied_set_is_not_filled_unasked(number: int | None) -> None:
    problem = objection(number, published(text='{"keys": []}'))

    assert isinstance(problem, BadInput)
    assert "no key is in it" in problem.problem
    assert "--add-key" in problem.remedy


@pytest.mark.parametrize("number", [0, None])
@pytest.mark.parametrize("have", [(1,), (1, 2)])
def test_another_key_than_the_published_ones_is_refused_with_the_ways_on(
    number: int | None, have: tuple[int, ...]
) -> None:
    problem = objection(number, published(*have))

    assert isinstance(problem, BadInput)
    assert all(
        way in problem.remedy for way in ("--public-key-file", "--add-key", "--replace-keys")
    )
    assert objection(number, published(1), "add") is None
    assert objection(number, published(1), "replace") is None


@pytest.mark.parametrize(
    ("named", "told"), [({"kid": "altered"}, "under the id altered"), ({}, "under no id")]
)
def test_the_key_under_another_id_is_refused_as_that_and_not_as_anothers(
    named: dict[str, str], told: str
) -> None:
    jwk = {member: value for member, value in key(0).jwk.items() if member != "kid"}
    have = published(text=json.dumps({"keys": [key(1).jwk, {**jwk, **named}]}))

    refused = objection(0, have)

    assert isinstance(refused, Failed)
    assert told in refused.problem
    assert f"tokens name it {key(0).kid}" in refused.problem
    assert objection(0, have, "add") is None
    assert objection(0, have, "replace") is None


@pytest.mark.parametrize("keys", ["published", "add"])
def test_a_malformed_set_is_refused_unless_it_is_replaced(keys: Keys) -> None:
    have = published(text="{")

    assert isinstance(objection(0, have, keys), Failed)
    assert objection(0, have, "replace") is None


def fields(want: KeySetState, have: KeySetState) -> list[str]:
    return [difference.field for difference in the_set().differing(want, have)]


def test_others_keys_make_no_difference_unless_ours_is_to_be_the_only_one() -> None:
    ours = the_set().want(known(0))
    alone = the_set("replace").want(known(0))

    assert fields(ours, published(1, 0)) == []
    assert fields(ours, published(1)) == ["kids"]
    assert fields(alone, published(1, 0)) == ["kids"]
    assert fields(alone, published(0)) == []


def test_merging_loses_nothing_and_replacing_leaves_one() -> None:
    ours, alone = the_set("add").want(known(0)), the_set("replace").want(known(0))

    assert [one["kid"] for one in json.loads(ours.merged(published(1)))["keys"]] == [
        key(1).kid,
        key(0).kid,
    ]
    assert json.loads(ours.merged(None)) == {"keys": [key(0).jwk]}
    assert json.loads(alone.merged(published(1, 2))) == {"keys": [key(0).jwk]}
    assert ours.merged(published(1, 0)) == oidc.dump({"keys": [key(1).jwk, key(0).jwk]})


@pytest.mark.parametrize(("keys", "others"), [("add", True), ("replace", False)])
def test_of_a_cluster_with_several_keys_all_are_published(keys: Keys, others: bool) -> None:
    want = the_set(keys).want(several(0, 1))

    merged = oidc.key_set(want.merged(published(2)), "the merged set")

    assert set(merged.kids) == {key(0).kid, key(1).kid, *([key(2).kid] if others else [])}
    assert fields(want, published(0)) == ["kids"]


# --- of a cluster that exists ---


def against(ours: Known, have: KeySetState, keys: Keys = "published") -> Problem | None:
    ours.learn(the_set(keys), have)
    return the_set(keys).objection(ours)


def test_another_cluster_has_no_key_among_the_published_ones_though_it_takes_one_of_them() -> None:
    ours = several(0, 1)
    want = the_set().want(ours)

    for have in (published(2), published(1)):
        assert isinstance(against(ours, have), BadInput)
        with pytest.raises(Conflict):
            want.merged(have)


def test_beside_the_key_that_signs_what_the_cluster_takes_is_published_unasked() -> None:
    ours = several(0, 1)
    want = the_set().want(ours)

    assert against(ours, published(0)) is None
    assert fields(want, published(0)) == ["kids"]
    assert oidc.key_set(want.merged(published(2, 0)), "the merged set").kids == (
        key(2).kid,
        key(0).kid,
        key(1).kid,
    )


def rotated(*numbers: int, stage: Stage, old: int) -> KeySetState:
    return replace(
        published(*numbers), rotation=Rotation(stage, 1, begin(key(old).kid), begin(key(0).kid))
    )


@pytest.mark.parametrize("keys", ["published", "add"])
@pytest.mark.parametrize("stage", ["unpublish", "forget"])
def test_a_key_that_was_rotated_away_comes_back_with_no_other(keys: Keys, stage: Stage) -> None:
    ours, have = several(0, 1, 2), rotated(0, stage=stage, old=1)
    want = the_set(keys).want(ours)

    assert against(ours, have, keys) is None
    assert oidc.key_set(want.merged(have), "the merged set").kids == (key(0).kid, key(2).kid)
    assert fields(want, rotated(0, 2, stage=stage, old=1)) == []


@pytest.mark.parametrize("keys", ["published", "add"])
def test_a_key_that_was_rotated_away_is_refused_as_ours(keys: Keys) -> None:
    have = rotated(0, stage="forget", old=1)

    problem = against(several(1), have, keys)

    assert problem is not None
    assert "a rotation has taken it away" in problem.problem
    assert "--add-key" not in problem.remedy
    with pytest.raises(Conflict):
        the_set(keys).want(several(1)).merged(have)


def test_before_a_rotation_takes_the_old_key_away_it_is_added_as_any_other() -> None:
    want = the_set().want(several(0, 1))

    assert fields(want, rotated(0, stage="sign", old=1)) == ["kids"]


def test_an_issuer_is_read_once_the_key_that_signs_is_whatever_else_the_cluster_takes() -> None:
    issuer = Issuer("https://issuer.example.org", PLACE, Home("https://issuer.example.org"), KEY)

    assert issuer.want(several(0, 1)).kids == {key(0).kid}


def test_one_id_for_two_keys_is_nobodys_wish() -> None:
    forged = published(text=json.dumps({"keys": [{**key(1).jwk, "kid": key(0).kid}]}))

    with pytest.raises(Conflict):
        fields(the_set().want(known(0)), forged)


@pytest.mark.parametrize("text", ["", "{", "[]", "1", "\xff"])
def test_a_document_that_is_no_object_is_kept_and_differs_from_all_that_we_want(text: str) -> None:
    found = DocumentState.read(text.encode("latin-1"), "application/json", "")

    assert "malformed" in found.body
    assert found.body != {}


def test_an_issuer_is_as_wanted_once_our_key_is_readable_whoever_else_has_one() -> None:
    issuer = Issuer("https://issuer.example.org", PLACE, Home("https://issuer.example.org"), KEY)
    want = issuer.want(known(0))

    assert (
        issuer.differing(want, IssuerState(url=want.url, kids=frozenset({key(0).kid, "another"})))
        == ()
    )
    assert [
        d.field
        for d in issuer.differing(want, IssuerState(url=want.url, kids=frozenset({"another"})))
    ] == ["kids"]
    assert [d.field for d in issuer.differing(want, IssuerState(url=want.url, readable="403"))] == [
        "readable",
        "kids",
    ]


@pytest.mark.parametrize("stage", STAGES)
def test_an_issuer_is_as_wanted_once_a_key_that_a_rotation_takes_away_is_read_there_no_more(
    stage: Stage,
) -> None:
    issuer = Issuer(
        "https://issuer.example.org",
        PLACE,
        Home("https://issuer.example.org"),
        KEY,
        (the_set(Turn(stage, begin(key(1).kid))),),
    )
    want = issuer.want(known(0))
    have = IssuerState(url=want.url, kids=frozenset({key(0).kid, key(1).kid, "another"}))
    gone = (Difference("kids", have.kids, have.kids - {key(1).kid}),)

    assert issuer.differing(want, have) == (gone if stage in DROPPING else ())
    assert issuer.differing(want, replace(have, kids=have.kids - {key(1).kid})) == ()
