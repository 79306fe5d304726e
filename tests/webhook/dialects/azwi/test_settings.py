"""Tests the flags and environment variables of the dialect azwi."""

from __future__ import annotations

import pytest
from cwii_webhook.dialects.azwi.settings import FLAGS, Endpoint, Proxy, Settings, parse_settings
from cwii_webhook.dialects.dialect import build_service
from cwii_webhook.dialects.registry import ALL
from cwii_webhook.settings.flags import BadFlag, parse

TENANT = {"AZURE_TENANT_ID": "t"}
ENDPOINT = [
    "--custom-token-endpoint-annotation-suffix=bound",
    "--custom-token-endpoint-audience=api://bound",
]


def parse_flags(*args: str, program: str = "", **environ: str) -> Settings:
    return parse_settings(parse(FLAGS, args, TENANT | environ), program)


@pytest.mark.parametrize(
    ("args", "environ", "expected"),
    [
        ([], {}, Settings(tenant_id="t")),
        (["--audience="], {}, Settings(tenant_id="t")),
        (
            ["--audience", "openshift", "--log-level=info"],
            {},
            Settings(tenant_id="t", audience="openshift", proxy=Proxy(log_level="info")),
        ),
        (
            ["--layout=next", "--check-label"],
            {},
            Settings(tenant_id="t", layout="next", label=True),
        ),
        (
            ["--tenant-id=u"],
            {"AZURE_ENVIRONMENT": "azurechinacloud"},
            Settings(tenant_id="u", cloud="azurechinacloud"),
        ),
        (
            [],
            {"PROXY_IMAGE": "a", "PROXY_INIT_IMAGE": "b"},
            Settings(tenant_id="t", proxy=Proxy("a", "b")),
        ),
        (
            ENDPOINT,
            {
                "AZURE_KUBERNETES_TOKEN_PROXY": "https://p",
                "AZURE_KUBERNETES_CA_CTB_SIGNER_NAME": "a/b",
                "AZURE_KUBERNETES_CA_CTB_LABEL_SELECTOR": "{}",
            },
            Settings(
                tenant_id="t",
                endpoint=Endpoint(
                    "bound", "api://bound", "https://p", ca_signer="a/b", ca_selector={}
                ),
            ),
        ),
    ],
    ids=[
        "nothing",
        "an empty audience",
        "hosted control planes",
        "layout",
        "cloud",
        "images",
        "endpoint",
    ],
)
def test_flags_and_environment_equal_those_of_the_peer(
    args: list[str], environ: dict[str, str], expected: Settings
) -> None:
    assert parse_flags(*args, **environ) == expected


@pytest.mark.parametrize(
    ("program", "args", "layout"),
    [
        ("", [], "v1.6"),
        ("azwi", [], "v1.6"),
        ("azure-workload-identity-webhook", [], "v1.5"),
        ("azure-workload-identity-webhook", ["--layout=v1.6"], "v1.6"),
    ],
)
def test_program_name_of_openshift_selects_its_layout(
    program: str, args: list[str], layout: str
) -> None:
    assert parse_flags(*args, program=program).layout == layout


@pytest.mark.parametrize(
    ("args", "level"),
    [
        ([], "info"),
        (["--log-level="], "info"),
        (["--log-level=info"], "info"),
        (["--log-level=debug"], "debug"),
        (["--log-level", "all"], "debug"),
    ],
)
def test_log_level_applies_to_the_webhook_and_to_the_proxies(args: list[str], level: str) -> None:
    assert build_service(ALL["azwi"], args, TENANT).serving.log_level == level
    service = build_service(ALL["azwi"], args, TENANT, path="/azwi/mutate-v1-pod")
    assert service.flags.values.get("proxy.log_level", "") == "".join(args).removeprefix(
        "--log-level"
    ).removeprefix("=")


@pytest.mark.parametrize(
    ("args", "environ", "problem"),
    [
        ([], {"AZURE_TENANT_ID": ""}, "AZURE_TENANT_ID is not set"),
        ([], {"AZURE_ENVIRONMENT": "Mars"}, "AZURE_ENVIRONMENT is 'Mars'"),
        (["--layout=v2"], {}, "--layout is 'v2'"),
        (ENDPOINT[:1], {}, "custom token endpoint: no audience"),
        (ENDPOINT[1:], {}, "custom token endpoint: no annotation suffix"),
        (
            [ENDPOINT[0], "--custom-token-endpoint-audience=API://azureadtokenexchange"],
            {},
            "the default audience",
        ),
        (
            ["--custom-token-endpoint-annotation-suffix=a b", ENDPOINT[1]],
            {},
            "--custom-token-endpoint-annotation-suffix is 'a b'",
        ),
        (
            ["--custom-token-endpoint-annotation-suffix=" + "a" * 60, ENDPOINT[1]],
            {},
            "--custom-token-endpoint-annotation-suffix is",
        ),
        (
            ENDPOINT,
            {"AZURE_KUBERNETES_CA_DATA": "x", "AZURE_KUBERNETES_CA_CONFIGMAP_NAME": "y"},
            "said more than once",
        ),
        (ENDPOINT, {"AZURE_KUBERNETES_CA_CTB_LABEL_SELECTOR": "{}"}, "set without a signer"),
        (
            ENDPOINT,
            {
                "AZURE_KUBERNETES_CA_CTB_LABEL_SELECTOR": "[]",
                "AZURE_KUBERNETES_CA_CTB_SIGNER_NAME": "a/b",
            },
            "is no label selector",
        ),
        (
            ENDPOINT,
            {"AZURE_KUBERNETES_CA_CONFIGMAP_NAME": "My_CA"},
            "--kubernetes-ca-configmap-name is 'My_CA'",
        ),
        ([], {"PROXY_IMAGE": " a"}, "--proxy-image is ' a'"),
        (["--proxy-init-image="], {}, "--proxy-init-image is ''"),
        (["--log-level=warning"], {}, "--log-level is 'warning', which the proxies do not know"),
        (["--audiense=x"], {}, "there is no flag --audiense"),
    ],
    ids=lambda value: value[:40] if isinstance(value, str) else "",
)
def test_invalid_flag_is_an_error(args: list[str], environ: dict[str, str], problem: str) -> None:
    with pytest.raises(BadFlag, match=r".: .") as e:
        parse_flags(*args, **environ)

    assert problem in e.value.problem
    assert e.value.remedy
