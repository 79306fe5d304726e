"""Tests the delivery of Google's credentials in cwii's dialect."""

from __future__ import annotations

import json

import pytest
from cwii_webhook.dialects.cwii import google_credentials as credentials
from cwii_webhook.dialects.cwii.settings import Settings

from tests.webhook.dialects.cwii.pods import (
    AUDIENCE,
    GCP,
    ROOT,
    env,
    find_volume,
    inject_with_account,
)


@pytest.mark.parametrize(
    ("audience", "account", "name"),
    [
        ("//iam.googleapis.com/x", "", "cwii-gcp-creds-40616f410d46"),
        (
            "//iam.googleapis.com/x",
            "svc@proj.iam.gserviceaccount.com",
            "cwii-gcp-creds-873fac8b5089",
        ),
        ("aud1", "", "cwii-gcp-creds-54b5a930a9cf"),
    ],
)
def test_name_of_the_config_map_equals_that_of_cwii(audience: str, account: str, name: str) -> None:
    assert credentials.config_map_name(audience, account) == name


ANNOTATION = {
    "items": [
        {
            "path": "credentials.json",
            "fieldRef": {
                "apiVersion": "v1",
                "fieldPath": "metadata.annotations['cwii.dev/gcp-credentials']",
            },
        }
    ]
}


@pytest.mark.parametrize(
    ("delivery", "volume_source"),
    [
        ("annotation", "downwardAPI"),
        ("Annotation", "downwardAPI"),
        ("config-map", "configMap"),
        ("configMap", "configMap"),
        ("CONFIG_MAP", "configMap"),
        ("init-container", "emptyDir"),
        ("initContainer", "emptyDir"),
        (" init_container ", "emptyDir"),
    ],
)
def test_delivery_annotation_selects_the_volume_source(delivery: str, volume_source: str) -> None:
    decision, pod = inject_with_account(
        {
            **GCP,
            "cwii.dev/gcp-delivery": delivery,
            "cwii.dev/gcp-service-account": "sa@p.iam.gserviceaccount.com",
        }
    )

    assert set(find_volume(pod, "cwii-gcp-creds")) == {"name", volume_source}
    texts = [
        pod["metadata"]["annotations"].get("cwii.dev/gcp-credentials"),
        *[config_map.data["credentials.json"] for config_map in decision.prerequisites],
        *[env(c)["CWII_GCP_CREDS_JSON"] for c in pod["spec"].get("initContainers", ())],
    ]
    (text,) = [text for text in texts if text]
    assert text == credentials.credentials_file(
        AUDIENCE, "sa@p.iam.gserviceaccount.com", f"{ROOT}/gcp/token"
    )
    assert json.loads(text)["service_account_impersonation_url"].endswith(
        "/sa@p.iam.gserviceaccount.com:generateAccessToken"
    )


def test_default_delivery_is_an_annotation_without_writes_to_the_cluster() -> None:
    decision, pod = inject_with_account(GCP)

    assert find_volume(pod, "cwii-gcp-creds")["downwardAPI"] == ANNOTATION
    assert "initContainers" not in pod["spec"]
    assert decision.prerequisites == ()


def test_credentials_writer_runs_before_other_init_containers() -> None:
    _, pod = inject_with_account(
        {**GCP, "cwii.dev/gcp-verify": "true"},
        Settings(gcp_delivery="init-container"),
        initContainers=[{"name": "mine"}],
    )

    assert [c["name"] for c in pod["spec"]["initContainers"]] == [
        "cwii-gcp-creds-writer",
        "mine",
        "cwii-gcp-verify",
    ]
    assert (
        env(pod["spec"]["initContainers"][1])["GOOGLE_APPLICATION_CREDENTIALS"]
        == f"{ROOT}/gcp-creds/credentials.json"
    )
