"""What a token says of itself is compared before any cloud is shown it."""

from __future__ import annotations

import jwt
import pytest

from cwiictl.errors import Failed
from cwiictl.verify.token import refusals

URL = "https://issuer.example.org"


def a_token(**claims: str) -> str:
    return jwt.encode({"iss": URL, **claims}, "x" * 32, headers={"kid": "mine"})


def test_a_token_of_the_issuer_and_of_a_published_key_is_nothing_to_refuse() -> None:
    assert list(refusals(a_token(), URL, {"mine", "other"})) == []
    assert list(refusals(a_token(), URL, ())) == []  # where nothing is known of what is published


def test_a_cluster_that_signs_as_another_or_with_another_key_is_told_both() -> None:
    told = list(refusals(a_token(iss=f"{URL}/"), URL, {"other"}))

    assert [each.problem for each in told] == [
        f"the cluster's tokens are of the issuer {URL}/, and not of {URL}: a slash at its end is a part of it",
        "the cluster signs with the key mine, which the issuer does not publish",
    ]


def test_what_is_no_token_is_refused_without_a_word_of_it() -> None:
    with pytest.raises(Failed) as raised:
        list(refusals("secret.secret.secret", URL, ()))

    assert "secret" not in f"{raised.value.problem} {raised.value.remedy} {raised.value.__cause__}"
