"""Tests cwii's flags and environment variables."""

from __future__ import annotations

from typing import Any

import pytest
from cwii_webhook.dialects.cwii.dialect import behavior
from cwii_webhook.dialects.cwii.settings import FLAGS, SERVING, Settings, parse_settings
from cwii_webhook.settings.flags import BadFlag, parse
from cwii_webhook.settings.serving import serving_settings

FIELDS = [
    ("mount-root", "CWII_MOUNT_ROOT", "/s", "mount_root", "/s"),
    ("token-expiration", "CWII_TOKEN_EXPIRATION", "1800", "token_expiration", 1800),
    ("native-annotations", "CWII_NATIVE_ANNOTATIONS", "true", "native_annotations", True),
    ("gcp-enabled", "CWII_GCP_ENABLED", "false", "gcp_enabled", False),
    ("aws-enabled", "CWII_AWS_ENABLED", "false", "aws_enabled", False),
    ("az-enabled", "CWII_AZ_ENABLED", "false", "az_enabled", False),
    ("gcp-default-audience", "CWII_GCP_DEFAULT_AUDIENCE", "a", "gcp_default_audience", "a"),
    ("gcp-delivery", "CWII_GCP_DELIVERY", "init_container", "delivery", "init-container"),
    ("gcp-init-image", "CWII_GCP_INIT_IMAGE", "i", "gcp_init_image", "i"),
    ("gcp-verify-image", "CWII_GCP_VERIFY_IMAGE", "i", "gcp_verify_image", "i"),
    (
        "aws-default-region",
        "CWII_AWS_DEFAULT_REGION",
        "eu-west-1",
        "aws_default_region",
        "eu-west-1",
    ),
    ("aws-default-audience", "CWII_AWS_DEFAULT_AUDIENCE", "a", "aws_default_audience", "a"),
    ("aws-verify-image", "CWII_AWS_VERIFY_IMAGE", "i", "aws_verify_image", "i"),
    ("az-default-audience", "CWII_AZ_DEFAULT_AUDIENCE", "a", "az_default_audience", "a"),
    ("az-verify-image", "CWII_AZ_VERIFY_IMAGE", "i", "az_verify_image", "i"),
    ("verify-images", "CWII_VERIFY_IMAGES", "a, b/*", "verify_images", ("a", "b/*")),
    (
        "authority-hosts",
        "CWII_AUTHORITY_HOSTS",
        "login.example.com",
        "authority_hosts",
        ("login.example.com",),
    ),
]


@pytest.mark.parametrize(
    ("flag", "variable", "text", "field", "value"), FIELDS, ids=[flag for flag, *_ in FIELDS]
)
def test_flag_and_environment_variable_set_the_field(
    flag: str, variable: str, text: str, field: str, value: object
) -> None:
    for args, environ in (
        (["--" + flag, text], {}),
        ([f"--{flag}={text}"], {variable: "0"}),
        ([], {variable: text}),
    ):
        assert getattr(parse_settings(parse(FLAGS, args, environ)), field) == value


@pytest.mark.parametrize(
    ("text", "level"),
    [
        ("debug", "debug"),
        ("WARN", "warning"),
        ("trace", "debug"),
        ("off", "error"),
        ("info,cwii=debug,hyper=warn", "debug"),
        ("cwii", "debug"),
        ("hyper=trace", "info"),
        ("error,hyper=trace", "error"),
    ],
)
def test_log_level_follows_rust_log(text: str, level: str) -> None:
    assert serving_settings(parse(FLAGS, [], {"RUST_LOG": text}), SERVING).log_level == level
    assert (
        serving_settings(
            parse(FLAGS, ["--log-level=warning"], {"RUST_LOG": text}), SERVING
        ).log_level
        == "warning"
    )


def test_defaults_equal_those_of_cwii_except_the_delivery() -> None:
    assert parse_settings(parse(FLAGS, [], {})) == Settings()
    assert Settings().delivery == "annotation"
    assert serving_settings(
        parse(FLAGS, ["--addr", "127.0.0.1:1"], {}), SERVING
    ).listen_address == ("127.0.0.1", 1)
    assert serving_settings(parse(FLAGS, [], {}), SERVING).certificate_files == (
        "/tls/tls.crt",
        "/tls/tls.key",
    )


def test_unused_variable_is_reported_like_its_flag() -> None:
    flags = parse(FLAGS, [], {"CWII_OTEL_ENABLED": "true", "CWII_OTEL_ENDPOINT": "http://o"})

    assert [warning.partition(" has no meaning here")[0] for warning in flags.warnings] == [
        "CWII_OTEL_ENABLED",
        "CWII_OTEL_ENDPOINT",
    ]
    assert not flags.values


@pytest.mark.parametrize(
    "invalid",
    [
        {"mount_root": "relative"},
        {"mount_root": "/a b"},
        {"gcp_delivery": "other"},
        {"token_expiration": 1 << 33},
        {"authority_hosts": ("https://a",)},
        {"gcp_default_audience": "a b"},
        {"aws_default_audience": ""},
        {"aws_default_audience": "$(SECRET)"},
        {"az_default_audience": "a\nb"},
        {"gcp_init_image": ""},
        {"gcp_verify_image": "a b"},
        {"aws_verify_image": "-x"},
        {"az_verify_image": "x" * 600},
    ],
    ids=str,
)
def test_invalid_setting_is_rejected(invalid: dict[str, Any]) -> None:
    """Otherwise the webhook refuses each pod, and its operator does not notice."""
    with pytest.raises(BadFlag, match=f"^--{next(iter(invalid)).replace('_', '-')} "):
        Settings(**invalid)


def test_enabled_clouds_have_mutators_in_a_fixed_order() -> None:
    assert [cloud.provider for cloud in behavior(Settings()).mutators] == ["gcp", "aws", "az"]
    assert [cloud.provider for cloud in behavior(Settings(aws_enabled=False)).mutators] == [
        "gcp",
        "az",
    ]
