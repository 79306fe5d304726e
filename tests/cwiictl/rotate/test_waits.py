"""No key is taken away while a token that it signed may be shown to anybody."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cwiictl.issuer.rotation import Rotation
from cwiictl.rotate.waits import FLOOR, SKEW, Volume, broken, early, longest, soaking, unknown

SIGNED = 1_000_000
STANDS = Rotation("sign", SIGNED, "A" * 12, "B" * 12, SIGNED)
times = st.integers(0, 400_000)


def a_volume(seconds: int, audience: str = "sts.amazonaws.com") -> Volume:
    return Volume("shop/web-1", audience, seconds, "token")


@given(st.integers(600, 172_800), st.integers(0, 7200), times)
def test_unpublish_waits_for_the_longest_token_of_a_cloud_and_for_what_clouds_remember(
    seconds: int, soak: int, passed: int
) -> None:
    problem = early("unpublish", STANDS, (a_volume(600), a_volume(seconds)), soak, SIGNED + passed)

    assert (problem is None) == (passed >= max(seconds, FLOOR) + soak)


def test_it_says_whose_tokens_and_how_long() -> None:
    problem = early("unpublish", STANDS, (a_volume(86400),), 3600, SIGNED + 60)

    assert problem
    assert problem.problem == (
        "unpublish comes too early: the last API server was seen to sign with the new key 60 seconds ago,"
        " shop/web-1 has tokens that live 86400 seconds, and clouds may keep what they read for 3600 more"
    )
    assert problem.remedy == (
        "run it again in 89940 seconds: until then tokens of the old key are good; or restart that pod, which gives it one of the new key,"
        " but not before 840 seconds have passed; --force breaks them"
    )


def test_a_pod_is_to_be_restarted_when_no_clock_can_have_it_be_of_before() -> None:
    """`volumes` counts it until then."""
    soon, then = (
        early("forget", STANDS, (a_volume(86400),), 0, SIGNED + passed)
        for passed in (SKEW - 1, SKEW)
    )

    assert soon
    assert "but not before 1 seconds have passed" in soon.remedy
    assert then
    assert "or restart that pod, which gives it one of the new key; --force" in then.remedy


def test_while_it_is_not_known_since_when_all_sign_nobody_can_tell_what_to_wait_for() -> None:
    problem = unknown(Rotation("sign", SIGNED, "A" * 12, "B" * 12))

    assert problem
    assert "run rotate-keys sign" in problem.remedy
    assert unknown(STANDS) is None


def test_what_breaks_is_told_to_the_volume_and_the_second() -> None:
    volumes = (
        a_volume(7200, audience=""),
        a_volume(86400),
        Volume("shop/batch", "vault", 31_536_000, "ids"),
        a_volume(600),
    )

    told = broken("unpublish", STANDS, volumes, SIGNED + 3600)
    assert told.startswith(
        "clouds refuse tokens of the old key from now on; good yet are shop/batch (volume ids, for vault, until Tue, 12 Jan 1971 13:46:40 GMT),"
        " shop/web-1 (volume token, for sts.amazonaws.com, until Tue, 13 Jan 1970 13:46:40 GMT). A kubelet"
    )
    assert "shop/web-1 (volume token, until Mon, 12 Jan 1970 15:46:40 GMT)" in broken(
        "forget", STANDS, volumes, SIGNED + 3600
    )


def test_what_nobody_is_known_to_have_is_told_too() -> None:
    assert (
        "good yet are those of pods that are gone, until Mon, 12 Jan 1970 14:46:40 GMT."
        in broken("unpublish", STANDS, (), SIGNED + 60)
    )
    assert "good yet are none that is known." in broken("unpublish", STANDS, (), SIGNED + FLOOR)


def test_who_has_gone_may_have_had_a_token_too() -> None:
    assert early("unpublish", STANDS, (), 0, SIGNED + FLOOR - 1)
    assert early("unpublish", STANDS, (), 0, SIGNED + FLOOR) is None


def test_tokens_for_the_api_server_count_when_it_is_to_forget_and_not_before() -> None:
    own = (a_volume(50_000, audience=""),)

    assert early("unpublish", STANDS, own, 0, SIGNED + FLOOR) is None
    assert early("forget", STANDS, own, 0, SIGNED + 49_999)
    assert early("forget", STANDS, own, 0, SIGNED + 50_000) is None
    assert longest(own, clouds=False).seconds == 50_000


@pytest.mark.parametrize("stage", ["add", "accept", "sign"])
def test_no_other_stage_waits_for_tokens(stage: str) -> None:
    assert early(stage, STANDS, (a_volume(86400),), 3600, SIGNED) is None  # pyright: ignore[reportArgumentType]


@given(st.integers(0, 7200), times)
def test_the_soak_counts_from_when_all_servers_accepted_both_whoever_runs_again(
    soak: int, passed: int
) -> None:
    left = soaking(Rotation("accept", SIGNED, "", ""), soak, SIGNED + passed)

    assert left == max(soak - passed, 0)
