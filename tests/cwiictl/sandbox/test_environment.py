"""What a child of the sandbox is told, and what it is not."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from cwiictl.errors import BadInput
from cwiictl.sandbox import Settings
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
    assert not {
        "AWS_PROFILE",
        "AWS_SESSION_TOKEN",
        "AWS_REGION",
        "PYTHONPATH",
        "LD_PRELOAD",
        "SSH_AUTH_SOCK",
    } & set(child)
    assert "real" not in child.values()


def test_both_spellings_of_every_proxy_lead_to_the_door() -> None:
    child = build(AROUND, PLANTED)
    for name in ("HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY"):
        assert child[name] == child[name.lower()] == AROUND.proxy
    assert child["NO_PROXY"] == child["no_proxy"] == "127.0.0.1,localhost,::1"


def test_a_cluster_of_ones_own_is_reached_by_its_private_addresses_alone() -> None:
    settings = Settings(let=("10.0.0.0/16", "192.168.1.7", "fd12:3456::1"))
    child = build(replace(AROUND, let=settings.let), PLANTED)
    assert (
        child["NO_PROXY"]
        == child["no_proxy"]
        == "127.0.0.1,localhost,::1,10.0.0.0/16,192.168.1.7,fd12:3456::1"
    )


@pytest.mark.parametrize(
    ("address", "why"),
    [
        ("api.example.org", "is no address"),
        ("10.0.0.1/8", "is no address"),
        ("*", "is no address"),
        ("", "is no address"),
        ("52.94.133.131", "is no private address"),
        ("0.0.0.0/0", "is no private address"),
        ("8.0.0.0/6", "is no private address"),
        ("169.254.169.254", "is no private address"),
        ("100.100.100.200", "is no private address"),
        ("168.63.129.16", "is no private address"),
        ("fd00::/8", "has a metadata service in it"),
        ("fd00:ec2::254", "has a metadata service in it"),
    ],
)
def test_nothing_else_is_let_out(address: str, why: str) -> None:
    with pytest.raises(BadInput, match=why):
        Settings(let=(address,))


def test_every_sdk_finds_the_authority_and_an_empty_home() -> None:
    child = build(AROUND, PLANTED)
    for name in (
        "AWS_CA_BUNDLE",
        "REQUESTS_CA_BUNDLE",
        "SSL_CERT_FILE",
        "CURL_CA_BUNDLE",
        "GRPC_DEFAULT_SSL_ROOTS_FILE_PATH",
        "NODE_EXTRA_CA_CERTS",
    ):
        assert child[name] == "/run/ca.pem"
    for name in (
        "HOME",
        "AWS_CONFIG_FILE",
        "AWS_SHARED_CREDENTIALS_FILE",
        "AZURE_CONFIG_DIR",
        "CLOUDSDK_CONFIG",
        "KUBECONFIG",
        "XDG_CONFIG_HOME",
    ):
        assert child[name].startswith("/run/home")
    assert child["AWS_EC2_METADATA_DISABLED"] == child["NO_GCE_CHECK"] == "true"


def test_the_callers_own_environment_is_the_base_when_none_is_given(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TZ", "UTC-7")
    assert build(AROUND)["TZ"] == os.environ["TZ"] == "UTC-7"


def test_a_shell_forgets_what_leads_to_real_credentials() -> None:
    assert set(dangerous(PLANTED)) == {
        name for name in PLANTED if name.startswith(("AWS_", "GOOGLE_", "AZURE_"))
    }


SCRIPT = """
import os
from cwiictl.sandbox import Sandbox
from tests.cwiictl.sandbox.visitor import Visitor

with Sandbox() as sandbox:
    mine = os.environ.pop("AWS_PROFILE"), os.environ.pop("AWS_DEFAULT_REGION")
    visitor = Visitor(sandbox)
    arn = visitor.iam.create_open_id_connect_provider(Url="https://x.example.org", ThumbprintList=["a" * 40])["OpenIDConnectProviderArn"]
    print(arn, visitor.iam.list_policies(Scope="Local")["Policies"], *mine)
"""


def test_what_the_caller_has_set_for_moto_or_boto_makes_no_difference(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """In a process of its own: moto reads most of it when it is imported."""
    mischief = {
        "MOTO_ACCOUNT_ID": "999999999999",
        "MOTO_IAM_LOAD_MANAGED_POLICIES": "true",
        "MOTO_S3_CUSTOM_ENDPOINTS": "http://x",
        "TEST_SERVER_MODE": "true",
    }
    for name, text in {
        **mischief,
        "AWS_PROFILE": "nobody",
        "AWS_DEFAULT_REGION": "nowhere-1",
    }.items():
        monkeypatch.setenv(name, text)
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, timeout=120, check=False
    )
    assert (
        done.stdout.strip()
        == "arn:aws:iam::123456789012:oidc-provider/x.example.org [] nobody nowhere-1"
    ), done.stderr
