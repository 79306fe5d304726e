"""What a token says of itself is read of any text, and is nothing where that is none."""

from __future__ import annotations

import base64

import jwt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cwiictl.issuer.token import said


def test_its_claims_and_the_id_of_its_key_are_read_off_a_token() -> None:
    told = said(
        jwt.encode(
            {"sub": "somebody"}, "a secret that is long enough for it", headers={"kid": "B" * 43}
        )
    )

    assert told
    assert (told.kid, told.claims) == ("B" * 43, {"sub": "somebody"})


def test_a_token_may_name_no_key() -> None:
    told = said(f"{base64.urlsafe_b64encode(b'{}').decode()}.e30.")

    assert told
    assert told.kid == ""


@given(st.text(max_size=60))
def test_what_is_no_token_says_nothing(text: str) -> None:
    assert said(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "opaque",
        "a.b",
        "secret.secret.secret",
        "secret.secret.secret.secret",
        "W10.W10.secret",
        "MQ.e30.",
        "é.é.é",
    ],
)
def test_nor_does_what_only_looks_like_one(text: str) -> None:
    assert said(text) is None
