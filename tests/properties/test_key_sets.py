"""Laws of a shared key set: whatever was published by others is there after we have been."""

import base64
import contextlib
import json

from hypothesis import given
from hypothesis import strategies as st

from cwiictl.errors import Failed
from cwiictl.oidc import KeySet, VerificationKey, dump, key_set

PRIVATE = {"d", "p", "q", "dp", "dq", "qi", "oth", "k", "priv"}

base64url = st.binary(min_size=1, max_size=32).map(
    lambda data: base64.urlsafe_b64encode(data).decode().rstrip("=")
)
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8),
    lambda below: (
        st.lists(below, max_size=3) | st.dictionaries(st.text(max_size=5), below, max_size=3)
    ),
    max_leaves=5,
)
unknown = st.dictionaries(
    st.text(max_size=6).filter(lambda name: name not in PRIVATE | {"kid", "kty", "n", "e", "keys"}),
    values,
    max_size=3,
)
keys = st.builds(
    VerificationKey,
    kid=st.sampled_from(["ours", "next"]),
    n=base64url,
    e=st.just("AQAB"),
    pem=st.just(""),
)


@st.composite
def published_keys(draw: st.DrawFn) -> dict[str, object]:
    numbers: dict[str, object] = {"kty": "RSA", "n": draw(base64url), "e": "AQAB"}
    material = (
        numbers if draw(st.booleans()) else {"kty": draw(st.sampled_from(["EC", "OKP", "to come"]))}
    )
    kid = draw(st.none() | st.text(max_size=4).filter(lambda name: name not in {"ours", "next"}))
    return {**draw(unknown), **material, **({} if kid is None else {"kid": kid})}


@st.composite
def documents(draw: st.DrawFn) -> dict[str, object]:
    found = draw(
        st.lists(published_keys(), max_size=4, unique_by=lambda key: str(key.get("kid", id(key))))
    )
    return {**draw(unknown), "keys": found}


@given(documents())
def test_what_is_read_and_dumped_says_the_same(document: dict[str, object]):
    text = json.dumps(document).encode()

    assert json.loads(dump(key_set(text, "there").document)) == document


@given(documents(), keys)
def test_a_merge_keeps_all_that_was_there_and_appends_once(
    document: dict[str, object], key: VerificationKey
):
    have = key_set(json.dumps(document).encode(), "there")

    merged = have.with_key(key)

    assert merged.keys == (*have.keys, key.jwk)
    assert {**merged.document, "keys": None} == {**have.document, "keys": None}
    assert merged.with_key(key) == merged
    assert key_set(dump(merged.document), "there") == merged


@given(documents(), keys)
def test_a_key_that_is_taken_out_again_leaves_no_trace(
    document: dict[str, object], key: VerificationKey
):
    have = key_set(json.dumps(document).encode(), "there")

    assert have.with_key(key).without([key.kid]) == have


@given(documents(), keys)
def test_only_one_key_leaves_the_rest_of_the_document(
    document: dict[str, object], key: VerificationKey
):
    alone = key_set(json.dumps(document).encode(), "there").only(key)

    assert alone.keys == (key.jwk,)
    assert set(alone.document) == set(document)


@given(st.binary(max_size=60) | st.text(max_size=60).map(str.encode))
def test_no_text_is_too_strange_for_a_sentence(text: bytes):
    with contextlib.suppress(Failed):
        assert isinstance(key_set(text, "there"), KeySet)
