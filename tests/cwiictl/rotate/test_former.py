"""No issuer goes while a token of it may be shown to an API server."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cwiictl.rotate.former import YEAR, divided, good
from cwiictl.rotate.servers import Server
from cwiictl.rotate.waits import FLOOR, Volume

SINCE = 1_000_000  # Mon, 12 Jan 1970 13:46:40 GMT
ONE, OTHER = (
    Server("10.0.0.1:6443", issuer="https://new"),
    Server("10.0.0.2:6443", issuer="https://old"),
)


def a_volume(seconds: int, audience: str = "sts.amazonaws.com") -> Volume:
    return Volume("shop/web-1", audience, seconds, "token")


@given(st.integers(600, 172_800), st.sampled_from(["", "vault"]), st.integers(0, 400_000))
def test_it_is_needed_until_the_longest_token_of_any_audience_has_expired(
    seconds: int, audience: str, passed: int
) -> None:
    assert bool(
        list(good(SINCE, (a_volume(600), a_volume(seconds, audience)), (), SINCE + passed))
    ) == (passed < max(seconds, FLOOR))


def test_it_says_whose_tokens_until_when_and_who_has_none() -> None:
    until, anew = good(SINCE, (a_volume(86400),), (), SINCE + 60)

    assert until == (
        "tokens of the issuer before can be good until Tue, 13 Jan 1970 13:46:40 GMT: one may have been signed until Mon, 12 Jan 1970 13:46:40 GMT,"
        " and shop/web-1 has tokens that live 86400 seconds"
    )
    assert anew == "a pod that is restarted after Mon, 12 Jan 1970 14:01:40 GMT has none"


def test_of_pods_that_are_gone_tokens_live_an_hour() -> None:
    (until,) = good(SINCE, (), (), SINCE + 60)

    assert until.endswith("and tokens live 3600 seconds")


def test_who_may_have_read_a_token_of_a_year_is_named_until_the_year_is_over() -> None:
    read, anew = good(SINCE, (), ("shop/web-1", "shop/web-2"), SINCE + YEAR - 1)

    assert read == (
        "who reads its token once and not again can use one of the issuer before until Tue, 12 Jan 1971 13:46:40 GMT: it may be one of shop/web-1, shop/web-2"
    )
    assert anew.startswith("a pod that is restarted after ")
    assert list(good(SINCE, (), ("shop/web-1",), SINCE + YEAR)) == []


def test_api_servers_that_do_not_sign_as_one_have_no_issuer_before() -> None:
    assert list(divided([ONE, OTHER])) == [
        "the API servers sign as https://new and https://old: bring the last of them to the new issuer first"
    ]
    assert list(divided([ONE, ONE])) == []


@pytest.mark.parametrize("others", [(), (ONE,)])
def test_who_is_silent_may_sign_as_any(others: tuple[Server, ...]) -> None:
    (told,) = divided([*others, Server("10.0.0.3:6443", problem="it cannot be asked: no route")])

    assert (
        told
        == "what the API server 10.0.0.3:6443 signs as is not known: it cannot be asked: no route"
    )
