"""The flags of the renewer: their effect, their limits and their help."""

from __future__ import annotations

import pytest
from cwii_webhook.__main__ import run
from cwii_webhook.renewer.settings import FLAGS, Settings, build_renewer_settings
from cwii_webhook.settings.flags import BadFlag, parse

REQUIRED = (
    "--namespace=ns",
    "--service=hook",
    "--serving-secret=hook-serving",
    "--ca-secret=hook-ca",
    "--configuration=hook",
)


def parse_settings(*arguments: str) -> Settings:
    return build_renewer_settings(parse(FLAGS, [*REQUIRED, *arguments], {}))


def test_configuration_flag_takes_a_list_and_is_repeatable() -> None:
    assert parse_settings(
        "--configuration", "two,three", "--configuration=four"
    ).configurations == (
        "hook",
        "two",
        "three",
        "four",
    )


def test_renewal_times_follow_the_validity_and_the_share() -> None:
    assert parse_settings("--validity=90h", "--renew-at=0.5").renew_before == 45 * 3600
    assert (
        parse_settings("--validity=90h", "--ca-validity=200h", "--renew-at=0.8").ca_renew_before
        == 90 * 3600
    )
    assert parse_settings("--validity=2m", "--ca-validity=4m").validity == 120


def test_pair_is_renewed_before_it_would_end_between_two_runs() -> None:
    assert parse_settings("--validity=2m", "--every=1m").renew_before == 90
    assert parse_settings("--validity=90h", "--every=6h").renew_before == pytest.approx(
        90 * 3600 * 0.33
    )


@pytest.mark.parametrize("missing", REQUIRED)
def test_missing_required_flag_is_an_error(missing: str) -> None:
    with pytest.raises(BadFlag, match=f"^{missing.partition('=')[0]} is not said: "):
        build_renewer_settings(parse(FLAGS, [word for word in REQUIRED if word != missing], {}))


@pytest.mark.parametrize(
    ("flag", "reason"),
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
def test_invalid_value_is_an_error(flag: str, reason: str) -> None:
    with pytest.raises(BadFlag) as raised:
        parse_settings(flag)
    assert str(raised.value).startswith(reason)


def test_help_lists_every_flag(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["cwii-webhook", "renew", "--help"], {}) == 0
    output = capsys.readouterr().out
    assert [flag.name for flag in FLAGS if f"  --{flag.name} " not in output] == []
    assert "How long a certificate lasts. [2160h]" in output


def test_help_of_the_program_lists_renew(
    capsys: pytest.CaptureFixture[str],
) -> None:
    run(["cwii-webhook", "--help"], {})
    assert "cwii-webhook renew" in capsys.readouterr().out


def test_program_name_of_another_webhook_has_no_renew_command() -> None:
    with pytest.raises(BadFlag, match="'renew' is no flag"):
        run(["amazon-eks-pod-identity-webhook", "renew"], {})
