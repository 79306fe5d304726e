"""The key set is a shared document: ours is in it, others' stay, and a change of keys is never an accident."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from cwiictl import oidc
from cwiictl.engine.resource import Known
from cwiictl.errors import BadInput, Conflict, Failed, Problem
from cwiictl.issuer.documents import DocumentState, Issuer, IssuerState, Keys, KeySet, KeySetState
from cwiictl.issuer.home import Home
from cwiictl.issuer.key import KeyState, SigningKey
from tests.contracts.shelf import Shelf, World

PLACE: Any = Shelf(World())
KEY = SigningKey("signing-key", PLACE)


@cache
def key(number: int) -> oidc.VerificationKey:
    del number  # each its own
    public = rsa.generate_private_key(65537, 2048).public_key()
    return oidc.public_key(public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo), "a key")


def the_set(keys: Keys = "published") -> KeySet:
    return KeySet("bucket/keys.json", PLACE, KEY, KEY, keys)


def published(*numbers: int, text: str = "") -> KeySetState:
    body = text or json.dumps({"keys": [key(number).jwk for number in numbers]})
    return KeySetState.read(body.encode(), "the published set", "application/json", "public, max-age=60")


def known(number: int | None, have: KeySetState | None = None, keys: Keys = "published") -> Known:
    found = Known()
    if number is not None:
        found.learn(KEY, KeyState.of(key(number)))
    if have is not None:
        found.learn(the_set(keys), have)
    return found


def objection(number: int | None, have: KeySetState | None, keys: Keys = "published") -> Problem | None:
    return the_set(keys).objection(known(number, have, keys))


@pytest.mark.parametrize("keys", ["published", "add", "replace"])
def test_nothing_stands_against_a_set_that_is_not_there_or_holds_the_key(keys: Keys) -> None:
    assert objection(0, None, keys) is None
    assert objection(None, None, keys) is None
    assert objection(0, published(0), keys) is None
    assert objection(0, published(1, 0), keys) is None


@pytest.mark.parametrize("number", [0, None])
@pytest.mark.parametrize("have", [(1,), (1, 2), ()])
def test_another_key_than_the_published_ones_is_refused_with_the_ways_on(number: int | None, have: tuple[int, ...]) -> None:
    problem = objection(number, published(*have, text="" if have else '{"keys": []}'))

    assert isinstance(problem, BadInput)
    assert all(way in problem.remedy for way in ("--public-key-file", "--add-key", "--replace-keys"))
    assert objection(number, published(1), "add") is None
    assert objection(number, published(1), "replace") is None


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

    assert [one["kid"] for one in json.loads(ours.merged(published(1)))["keys"]] == [key(1).kid, key(0).kid]
    assert json.loads(ours.merged(None)) == {"keys": [key(0).jwk]}
    assert json.loads(alone.merged(published(1, 2))) == {"keys": [key(0).jwk]}
    assert ours.merged(published(1, 0)) == oidc.dump({"keys": [key(1).jwk, key(0).jwk]})


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

    assert issuer.differing(want, IssuerState(url=want.url, kids=frozenset({key(0).kid, "another"}))) == ()
    assert [d.field for d in issuer.differing(want, IssuerState(url=want.url, kids=frozenset({"another"})))] == ["kids"]
    assert [d.field for d in issuer.differing(want, IssuerState(url=want.url, readable="403"))] == ["readable", "kids"]
