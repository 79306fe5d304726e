"""What a renewer is told, and what cannot be meant."""

from __future__ import annotations

import pytest
from cwii_webhook.__main__ import run
from cwii_webhook.renewer.settings import FLAGS, Settings, build_renewer_settings
from cwii_webhook.settings.flags import BadFlag, parse

NEEDED = (
    "--namespace=ns",
    "--service=hook",
    "--serving-secret=hook-serving",
    "--ca-secret=hook-ca",
    "--configuration=hook",
)


def told(*more: str) -> Settings:
    return build_renewer_settings(parse(FLAGS, [*NEEDED, *more], {}))


def test_several_configurations_may_be_named_in_one_breath_or_one_after_the_other() -> None:
    assert told("--configuration", "two,three", "--configuration=four").configurations == (
        "hook",
        "two",
        "three",
        "four",
    )


def test_a_pair_is_due_after_two_thirds_of_its_life_and_an_authority_before_a_pair_would_outlive_it() -> (
    None
):
    assert told("--validity=90h", "--renew-at=0.5").renew_before == 45 * 3600
    assert (
        told("--validity=90h", "--ca-validity=200h", "--renew-at=0.8").ca_renew_before == 90 * 3600
    )
    assert told("--validity=2m", "--ca-validity=4m").validity == 120


def test_a_pair_is_made_anew_while_it_still_lasts_until_the_next_run() -> None:
    assert told("--validity=2m", "--every=1m").renew_before == 90
    assert told("--validity=90h", "--every=6h").renew_before == pytest.approx(90 * 3600 * 0.33)


@pytest.mark.parametrize("missing", NEEDED)
def test_without_any_of_the_first_five_nothing_is_begun(missing: str) -> None:
    with pytest.raises(BadFlag, match=f"^{missing.partition('=')[0]} is not said: "):
        build_renewer_settings(parse(FLAGS, [word for word in NEEDED if word != missing], {}))


@pytest.mark.parametrize(
    ("flag", "why"),
    [
        ("--renew-at=0.1", "--renew-at is 0.1: "),
        ("--renew-at=67%", "--renew-at is '67%', which is no share: say a part of one"),
        ("--renew-at=nan", "--renew-at is nan: "),
        ("--validity=30s", "--validity is 30s: "),
        ("--ca-validity=3000h", "--ca-validity is less than twice --validity: "),
        ("--every=1081h", "--validity is less than twice --every: "),
        ("--log-level=loud", "--log-level is 'loud': "),
    ],
)
def test_what_cannot_be_meant_is_told(flag: str, why: str) -> None:
    with pytest.raises(BadFlag) as raised:
        told(flag)
    assert str(raised.value).startswith(why)


def test_help_tells_of_every_flag(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["cwii-webhook", "renew", "--help"], {}) == 0
    said = capsys.readouterr().out
    assert [flag.name for flag in FLAGS if f"  --{flag.name} " not in said] == []
    assert "How long a certificate lasts. [2160h]" in said


def test_the_program_s_own_help_says_that_there_is_such_a_thing(
    capsys: pytest.CaptureFixture[str],
) -> None:
    run(["cwii-webhook", "--help"], {})
    assert "cwii-webhook renew" in capsys.readouterr().out


def test_a_peer_s_program_knows_nothing_of_it() -> None:
    with pytest.raises(BadFlag, match="'renew' is no flag"):
        run(["amazon-eks-pod-identity-webhook", "renew"], {})
