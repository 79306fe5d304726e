"""Tests the flags of the dialect gcpwif."""

from __future__ import annotations

import pytest
from cwii_webhook.dialects.gcpwif.settings import FLAGS, Settings, parse_settings
from cwii_webhook.settings.flags import BadFlag, parse


def parse_flags(*args: str) -> Settings:
    return parse_settings(parse(FLAGS, args, {}))


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        ([], Settings()),
        (
            ["--annotation-prefix=example.com", "--token-audience", "a"],
            Settings(domain="example.com", audience="a"),
        ),
        (["--token-expiration=1h30m"], Settings(expiration=5400)),
        (["--token-default-mode=0400"], Settings(file_mode=0o400)),
        (["--token-default-mode", "288"], Settings()),
        (
            ["--gcp-default-region=europe-west1", "--gcloud-image=i"],
            Settings(region="europe-west1", image="i"),
        ),
        (["--default-injection-mode=direct"], Settings(mode="direct")),
        (["--setup-container-resources="], Settings()),
        (
            ['--setup-container-resources={"limits":{"memory":"1Gi"}}'],
            Settings(resources={"limits": {"memory": "1Gi"}}),
        ),
    ],
    ids=[
        "nothing",
        "domain and audience",
        "a duration",
        "octal",
        "decimal",
        "region and image",
        "mode",
        "no resources",
        "resources",
    ],
)
def test_flags_equal_those_of_the_peer(args: list[str], expected: Settings) -> None:
    assert parse_flags(*args) == expected


@pytest.mark.parametrize(
    "arg",
    [
        "--token-expiration=24",
        "--token-expiration=1200000h",
        "--token-default-mode=9999",
        "--token-default-mode=x",
        "--default-injection-mode=sidecar",
        "--setup-container-resources={",
        "--setup-container-resources=[]",
        '--setup-container-resources={"request":{}}',
        '--setup-container-resources={"limits":{"cpu":"much"}}',
        '--setup-container-resources={"limits":{"cpu":-1}}',
        "--annotation-prefix=a b",
        "--gcloud-image=",
        "--gcloud-images=x",
    ],
)
def test_invalid_flag_is_an_error(arg: str) -> None:
    with pytest.raises(BadFlag) as e:
        parse_flags(arg)

    assert arg.partition("=")[0] in e.value.problem
    assert e.value.remedy
