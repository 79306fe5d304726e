"""What a child of the sandbox is told, and what it is not."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from cwiictl.sandbox.environment import Surroundings, build, dangerous

AROUND = Surroundings("http://127.0.0.1:8888", Path("/run/ca.pem"), Path("/run/home"))
PLANTED = {
    "PATH": "/bin",
    "LC_ALL": "C.UTF-8",
    "TERM": "dumb",
    "HOME": "/home/me",
    "NO_PROXY": "*",
    "no_proxy": "*",
    "https_proxy": "http://corporate:3128",
    "AWS_PROFILE": "production",
    "AWS_SESSION_TOKEN": "real",
    "AWS_ACCESS_KEY_ID": "real",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI": "http://127.0.0.1:1/",
    "AWS_ENDPOINT_URL": "https://elsewhere",
    "AWS_REGION": "eu-west-1",
    "GOOGLE_APPLICATION_CREDENTIALS": "/home/me/key.json",
    "AZURE_CLIENT_SECRET": "real",
    "PYTHONPATH": "/planted",
    "LD_PRELOAD": "/planted.so",
    "SSH_AUTH_SOCK": "/run/agent",
}


def test_nothing_of_the_callers_comes_along_but_a_few_harmless_things() -> None:
    child = build(AROUND, PLANTED)
    same = {name for name in PLANTED if child.get(name) == PLANTED[name]}
    assert same == {"PATH", "LC_ALL", "TERM"}
    assert not {"AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_REGION", "PYTHONPATH", "LD_PRELOAD", "SSH_AUTH_SOCK"} & set(child)
    assert "real" not in child.values()


def test_both_spellings_of_every_proxy_lead_to_the_door() -> None:
    child = build(AROUND, PLANTED)
    for name in ("HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY"):
        assert child[name] == child[name.lower()] == AROUND.proxy
    assert child["NO_PROXY"] == child["no_proxy"] == "127.0.0.1,localhost,::1"


def test_every_sdk_finds_the_authority_and_an_empty_home() -> None:
    child = build(AROUND, PLANTED)
    for name in ("AWS_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "SSL_CERT_FILE", "CURL_CA_BUNDLE", "GRPC_DEFAULT_SSL_ROOTS_FILE_PATH", "NODE_EXTRA_CA_CERTS"):
        assert child[name] == "/run/ca.pem"
    for name in ("HOME", "AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE", "AZURE_CONFIG_DIR", "CLOUDSDK_CONFIG", "KUBECONFIG", "XDG_CONFIG_HOME"):
        assert child[name].startswith("/run/home")
    assert child["AWS_EC2_METADATA_DISABLED"] == child["NO_GCE_CHECK"] == "true"


def test_the_callers_own_environment_is_the_base_when_none_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "UTC-7")
    assert build(AROUND)["TZ"] == os.environ["TZ"] == "UTC-7"


def test_a_shell_forgets_what_leads_to_real_credentials() -> None:
    assert set(dangerous(PLANTED)) == {name for name in PLANTED if name.startswith(("AWS_", "GOOGLE_", "AZURE_"))}
