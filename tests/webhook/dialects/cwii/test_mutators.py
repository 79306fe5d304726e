"""Tests what cwii's dialect injects into a pod."""

from __future__ import annotations

import json
from typing import Any

import pytest
from cwii_webhook.admission.review import encode
from cwii_webhook.dialects.cwii.settings import Settings

from tests.webhook.dialects.cwii.pods import (
    ALL_CLOUDS,
    AUDIENCE,
    AWS,
    AZURE,
    CLIENT_ID,
    GCP,
    ROLE,
    ROOT,
    SOURCES,
    TENANT_ID,
    env,
    find_token,
    first_container,
    inject,
    inject_with_account,
    make_pod,
)

WINDOWS = "C:\\var\\run\\secrets\\cwii.dev"

ANNOTATIONS = [
    ("cwii.dev/aws-region", "eu-west-1", AWS, "AWS_REGION"),
    ("cwii.dev/aws-role-session-name", "me", AWS, "AWS_ROLE_SESSION_NAME"),
    ("cwii.dev/aws-role-arn", "arn:aws-cn:iam::123456789012:role/path/name", AWS, "AWS_ROLE_ARN"),
    ("cwii.dev/az-client-id", "99999999-2222-3333-4444-555555555555", AZURE, "AZURE_CLIENT_ID"),
    ("cwii.dev/az-tenant-id", "contoso.onmicrosoft.com", AZURE, "AZURE_TENANT_ID"),
    ("cwii.dev/az-authority-host", "https://login.chinacloudapi.cn", AZURE, "AZURE_AUTHORITY_HOST"),
]


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize(
    ("key", "value", "annotations", "variable"),
    ANNOTATIONS,
    ids=[extra[0] for extra in ANNOTATIONS],
)
def test_annotation_is_read_from_each_source(
    source: str, key: str, value: str, annotations: dict[str, str], variable: str
) -> None:
    others = {name: text for name, text in annotations.items() if name != key}
    sources: dict[str, Any] = {
        "namespace": others,
        source: {**(others if source == "namespace" else {}), key: value},
    }
    decision, pod = inject(make_pod(sources.pop("pod", None)), **sources)

    assert env(first_container(pod))[variable] == value
    (origin,) = [
        origin
        for injection in decision.injections
        for origin in injection.origins
        if origin.name == variable
    ]
    assert (origin.value, origin.key, origin.source and origin.source.scope) == (value, key, source)


def test_pod_gets_the_variables_and_mounts_of_three_clouds() -> None:
    _, pod = inject_with_account(ALL_CLOUDS)

    assert env(first_container(pod)) == {
        "GOOGLE_APPLICATION_CREDENTIALS": f"{ROOT}/gcp-creds/credentials.json",
        "AWS_ROLE_ARN": ROLE,
        "AWS_WEB_IDENTITY_TOKEN_FILE": f"{ROOT}/aws/token",
        "AZURE_CLIENT_ID": CLIENT_ID,
        "AZURE_TENANT_ID": TENANT_ID,
        "AZURE_FEDERATED_TOKEN_FILE": f"{ROOT}/az/token",
    }
    assert pod["metadata"]["annotations"]["cwii.dev/injected"] == "aws,az,gcp"
    assert {
        mount["name"]: mount["mountPath"] for mount in first_container(pod)["volumeMounts"]
    } == {
        "cwii-gcp-token": f"{ROOT}/gcp",
        "cwii-gcp-creds": f"{ROOT}/gcp-creds",
        "cwii-aws-token": f"{ROOT}/aws",
        "cwii-az-token": f"{ROOT}/az",
    }


@pytest.mark.parametrize(
    ("cloud", "annotations", "audience"),
    [
        ("aws", AWS, "sts.amazonaws.com"),
        ("az", AZURE, "api://AzureADTokenExchange"),
        ("gcp", GCP, AUDIENCE),
    ],
)
@pytest.mark.parametrize("source", SOURCES)
def test_each_token_has_its_own_audience_and_expiration(
    cloud: str, annotations: dict[str, str], audience: str, source: str
) -> None:
    _, default = inject_with_account(annotations)
    overrides = {f"cwii.dev/{cloud}-audience": "mine", f"cwii.dev/{cloud}-token-expiration": "7200"}
    sources: dict[str, Any] = {
        "namespace": annotations,
        source: {**(annotations if source == "namespace" else {}), **overrides},
    }
    if source != "namespace":
        sources["namespace"] = {
            key: text for key, text in annotations.items() if key not in overrides
        }
    _, changed = inject(make_pod(sources.pop("pod", None)), **sources)

    assert find_token(default, cloud) == {
        "audience": audience,
        "expirationSeconds": 3600,
        "path": "token",
    }
    assert find_token(changed, cloud) == {
        "audience": "mine",
        "expirationSeconds": 7200,
        "path": "token",
    }


@pytest.mark.parametrize(("cloud", "annotations"), [("aws", AWS), ("az", AZURE), ("gcp", GCP)])
@pytest.mark.parametrize("source", SOURCES[:3])
def test_nearer_false_overrides_the_namespace(
    cloud: str, annotations: dict[str, str], source: str
) -> None:
    sources: dict[str, Any] = {
        "namespace": annotations,
        source: {f"cwii.dev/{cloud}-inject": "false"},
    }
    decision, _ = inject(make_pod(sources.pop("pod", None)), **sources)

    assert decision.outcome == "nothing"
    assert [n.reason for n in decision.skips if n.provider == cloud] == ["switched-off"]
    assert decision.warnings == ()


@pytest.mark.parametrize("cloud", ["aws", "az", "gcp"])
def test_disabled_cloud_injects_nothing(cloud: str) -> None:
    decision, pod = inject_with_account(
        ALL_CLOUDS,
        Settings(aws_enabled=cloud != "aws", az_enabled=cloud != "az", gcp_enabled=cloud != "gcp"),
    )

    assert cloud not in {injection.provider for injection in decision.injections}
    assert not [v for v in pod["spec"]["volumes"] if v["name"].startswith(f"cwii-{cloud}-")]


WINDOWS_SPECS: list[dict[str, Any]] = [
    {"os": {"name": "windows"}},
    {"nodeSelector": {"kubernetes.io/os": "windows"}},
    {"nodeSelector": {"beta.kubernetes.io/os": "windows"}},
]


@pytest.mark.parametrize("spec", WINDOWS_SPECS, ids=str)
def test_windows_paths_have_a_drive_and_no_helper_is_added(spec: dict[str, Any]) -> None:
    annotations = {**ALL_CLOUDS, "cwii.dev/aws-verify": "true"}
    decision, pod = inject_with_account(
        annotations, Settings(gcp_delivery="init-container"), **spec
    )

    variables = env(first_container(pod))
    assert variables["AWS_WEB_IDENTITY_TOKEN_FILE"] == f"{WINDOWS}\\aws\\token"
    assert variables["AZURE_FEDERATED_TOKEN_FILE"] == f"{WINDOWS}\\az\\token"
    assert variables["GOOGLE_APPLICATION_CREDENTIALS"] == f"{WINDOWS}\\gcp-creds\\credentials.json"
    assert (
        json.loads(pod["metadata"]["annotations"]["cwii.dev/gcp-credentials"])["credential_source"][
            "file"
        ]
        == f"{WINDOWS}\\gcp\\token"
    )
    assert "initContainers" not in pod["spec"]
    assert len(decision.warnings) == 2


def test_mount_root_flag_sets_the_paths() -> None:
    _, pod = inject_with_account(ALL_CLOUDS, Settings(mount_root="/secrets/"))

    assert {m["mountPath"] for m in first_container(pod)["volumeMounts"]} == {
        "/secrets/aws",
        "/secrets/az",
        "/secrets/gcp",
        "/secrets/gcp-creds",
    }


def test_region_defaults_to_the_flag() -> None:
    settings = Settings(aws_default_region="eu-west-1")
    decision, pod = inject_with_account(AWS, settings)

    assert env(first_container(pod))["AWS_REGION"] == "eu-west-1"
    assert "AWS_REGION by default" in decision.audit["aws"]
    assert (
        env(
            first_container(
                inject_with_account({**AWS, "cwii.dev/aws-region": "us-east-2"}, settings)[1]
            )
        )["AWS_REGION"]
        == "us-east-2"
    )
    assert (
        env(
            first_container(
                inject_with_account(
                    AWS,
                    settings,
                    containers=[{"name": "main", "env": [{"name": "AWS_REGION", "value": "mine"}]}],
                )[1]
            )
        )["AWS_REGION"]
        == "mine"
    )
    assert "AWS_REGION" not in env(first_container(inject_with_account(AWS)[1]))


def test_changed_annotation_changes_the_injection() -> None:
    """Earlier decisions for other annotations have no effect."""
    other_role = {**AWS, "cwii.dev/aws-role-arn": "arn:aws:iam::123456789012:role/other"}
    roles = [
        env(first_container(inject(make_pod(), account=annotations)[1]))["AWS_ROLE_ARN"]
        for annotations in (AWS, other_role, AWS)
    ]

    assert roles == [ROLE, other_role["cwii.dev/aws-role-arn"], ROLE]


def test_operations_have_a_stable_order() -> None:
    assert [encode(inject_with_account(ALL_CLOUDS)[0].ops) for _ in range(3)] == [
        encode(inject_with_account(dict(reversed(ALL_CLOUDS.items())))[0].ops)
    ] * 3
