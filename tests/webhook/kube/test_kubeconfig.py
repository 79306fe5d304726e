"""Tests of kubeconfigs, as users and tools write them, and of the user that they give."""

from __future__ import annotations

import base64
import json
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from cwii_webhook.kube.access import in_cluster
from cwii_webhook.kube.client import Client
from cwii_webhook.kube.errors import BadAccess, StatusError, Unreachable
from cwii_webhook.kube.kubeconfig import from_kubeconfig

from tests.webhook.apiserver.running import RunningApiServer
from tests.webhook.fake_clock import FakeClock


def encode_base64(content: bytes) -> str:
    return base64.b64encode(content).decode()


def write_kubeconfig(
    folder: Path,
    apiserver: RunningApiServer | None,
    user: dict[str, Any],
    cluster: dict[str, Any] | None = None,
) -> Path:
    cluster_defaults = (
        {"server": apiserver.url, "certificate-authority-data": encode_base64(apiserver.ca)}
        if apiserver
        else {"server": "https://api.example.org"}
    )
    config = {
        "current-context": "here",
        "contexts": [{"name": "here", "context": {"cluster": "c", "user": "u"}}],
        "clusters": [{"name": "c", "cluster": {**cluster_defaults, **(cluster or {})}}],
        "users": [{"name": "u", "user": user}],
    }
    path = folder / "kubeconfig"
    path.write_text(yaml.safe_dump(config))
    return path


async def request_discovery(path: Path) -> str:
    """Requests /api/v1, which only an authenticated user can read."""
    client = Client(from_kubeconfig(path, FakeClock()))
    try:
        return (await client.get("/api/v1")).decode()
    finally:
        await client.close()


async def test_token_authenticates(apiserver: RunningApiServer, tmp_path: Path) -> None:
    assert "serviceaccounts" in await request_discovery(
        write_kubeconfig(tmp_path, apiserver, {"token": "first"})
    )


async def test_kubeconfig_can_be_json(apiserver: RunningApiServer, tmp_path: Path) -> None:
    path = write_kubeconfig(tmp_path, apiserver, {"token": "first"})
    path.write_text(json.dumps(yaml.safe_load(path.read_text())))
    assert "serviceaccounts" in await request_discovery(path)


async def test_relative_paths_are_relative_to_the_kubeconfig(
    apiserver: RunningApiServer, tmp_path: Path
) -> None:
    (tmp_path / "token").write_text("first\n")
    (tmp_path / "ca.crt").write_bytes(apiserver.ca)
    path = write_kubeconfig(
        tmp_path,
        apiserver,
        {"tokenFile": "token"},
        {"certificate-authority-data": "", "certificate-authority": "ca.crt"},
    )
    assert "serviceaccounts" in await request_discovery(path)


@pytest.mark.parametrize("form", ["data", "files"])
async def test_client_certificate_authenticates(
    apiserver: RunningApiServer, tmp_path: Path, form: str
) -> None:
    signed = apiserver.authority.issue_client_certificate("system:webhook")
    (tmp_path / "a.crt").write_bytes(signed.certificate)
    (tmp_path / "a.key").write_bytes(signed.key)
    data = {
        "client-certificate-data": encode_base64(signed.certificate),
        "client-key-data": encode_base64(signed.key),
    }
    files = {"client-certificate": "a.crt", "client-key": "a.key"}
    assert "serviceaccounts" in await request_discovery(
        write_kubeconfig(tmp_path, apiserver, data if form == "data" else files)
    )
    assert apiserver.fake.requests[-1].user == "system:webhook"


async def test_exec_plugin_receives_the_cluster(
    apiserver: RunningApiServer, tmp_path: Path
) -> None:
    path = write_kubeconfig(
        tmp_path, apiserver, {"exec": write_exec_plugin(tmp_path, provideClusterInfo=True)}
    )
    assert "serviceaccounts" in await request_discovery(path)
    info = json.loads((tmp_path / "info").read_text())
    assert info["spec"]["cluster"]["server"] == apiserver.url
    assert info["spec"]["interactive"] is False


async def test_exec_plugin_runs_again_when_its_token_is_rejected(
    apiserver: RunningApiServer, tmp_path: Path
) -> None:
    client = Client(
        from_kubeconfig(
            write_kubeconfig(tmp_path, apiserver, {"exec": write_exec_plugin(tmp_path)}),
            FakeClock(),
        )
    )
    await client.get("/api/v1")
    await client.get("/api/v1")
    assert (tmp_path / "plugin-runs").read_text() == "."
    (tmp_path / "plugin-token").write_text("second")
    apiserver.fake.behavior.accepted_tokens = {"second"}
    await client.get("/api/v1")
    assert (tmp_path / "plugin-runs").read_text() == ".."
    await client.close()


async def test_error_of_an_exec_plugin_contains_its_last_line(
    apiserver: RunningApiServer, tmp_path: Path
) -> None:
    (tmp_path / "plugin-token").write_text("")
    with pytest.raises(BadAccess, match=r"ended with 3: log in first: install it"):
        await request_discovery(
            write_kubeconfig(
                tmp_path, apiserver, {"exec": write_exec_plugin(tmp_path, installHint="install it")}
            )
        )


def write_exec_plugin(folder: Path, **more: object) -> dict[str, Any]:
    if not (folder / "plugin-token").exists():
        (folder / "plugin-token").write_text("first")
    (folder / "plugin.py").write_text(PLUGIN)
    return {
        "apiVersion": "client.authentication.k8s.io/v1",
        "command": sys.executable,
        "args": [str(folder / "plugin.py")],
        **more,
    }


PLUGIN = """
import json, os, pathlib, sys
here = pathlib.Path(__file__).parent
(here / "info").write_text(os.environ["KUBERNETES_EXEC_INFO"])
with open(here / "plugin-runs", "a") as runs:
    runs.write(".")
token = (here / "plugin-token").read_text()
if not token:
    sys.exit(print("log in first", file=sys.stderr) or 3)
credential = {"kind": "ExecCredential", "status": {"token": token}}
print(json.dumps({"apiVersion": "client.authentication.k8s.io/v1", **credential}))
"""


async def test_user_without_credentials_is_rejected(
    apiserver: RunningApiServer, tmp_path: Path
) -> None:
    with pytest.raises(StatusError, match="401: Unauthorized"):
        await request_discovery(write_kubeconfig(tmp_path, apiserver, {}))


async def test_server_with_another_name_is_trusted_only_with_tls_server_name(
    apiserver: RunningApiServer, tmp_path: Path
) -> None:
    assert "serviceaccounts" in await request_discovery(
        write_kubeconfig(
            tmp_path, apiserver, {"token": "first"}, {"tls-server-name": "api.example.org"}
        )
    )
    with pytest.raises(Unreachable, match=r"other\.example\.org"):
        await request_discovery(
            write_kubeconfig(
                tmp_path, apiserver, {"token": "first"}, {"tls-server-name": "other.example.org"}
            )
        )


async def test_server_of_another_ca_is_trusted_only_with_insecure_skip_tls_verify(
    apiserver: RunningApiServer, tmp_path: Path
) -> None:
    unknown_ca = {"certificate-authority-data": ""}
    with pytest.raises(Unreachable, match="CERTIFICATE_VERIFY_FAILED"):
        await request_discovery(
            write_kubeconfig(tmp_path, apiserver, {"token": "first"}, unknown_ca)
        )
    assert "serviceaccounts" in await request_discovery(
        write_kubeconfig(
            tmp_path,
            apiserver,
            {"token": "first"},
            {**unknown_ca, "insecure-skip-tls-verify": True},
        )
    )


@pytest.mark.parametrize(
    ("user", "cluster", "message"),
    [
        ({"token": "two words"}, {}, "the token for the API server is none"),
        ({"client-certificate": "a.crt"}, {}, "a client certificate without its key"),
        ({"client-key-data": "?"}, {}, "client-key-data is not base64"),
        ({"client-key-data": "ключ"}, {}, "client-key-data is not base64"),
        ({"exec": {"command": "x", "apiVersion": "v0"}}, {}, "the plugin x speaks v0"),
        (
            {"token": "a"},
            {"server": "api.example.org:6443"},
            "is no URL: write it as https://HOST:PORT",
        ),
        ({"token": "a"}, {"proxy-url": "http://proxy"}, "has a proxy-url, which is not supported"),
        ({"token": 7}, {}, "is no kubeconfig (Expected `str`, got `int`"),
    ],
)
def test_error_names_the_problem_of_a_kubeconfig(
    tmp_path: Path, user: dict[str, Any], cluster: dict[str, Any], message: str
) -> None:
    with pytest.raises(BadAccess) as e:
        from_kubeconfig(write_kubeconfig(tmp_path, None, user, cluster), FakeClock())
    assert message in str(e.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("current-context: 2025-02-30", "day is out of range"),
        ("[" * 10_000 + "]" * 10_000, "recursion"),
        ("current-context: " + "{a: " * 10_000, "recursion"),
        ("current-context: \x00", "unacceptable character"),
        ("current-context: !!bool perhaps", "perhaps"),
        ("current-context: !!int ''", "index out of range"),
        ("current-context: !!timestamp soon", "NoneType"),
    ],
)
def test_error_names_the_problem_of_a_file_that_is_no_kubeconfig(
    tmp_path: Path, content: str, message: str
) -> None:
    path = tmp_path / "kubeconfig"
    path.write_text(content)
    with pytest.raises(BadAccess) as e:
        from_kubeconfig(path, FakeClock())
    assert message in str(e.value)
    assert str(path) in str(e.value)


def test_error_about_a_missing_context_lists_the_contexts(tmp_path: Path) -> None:
    path = write_kubeconfig(tmp_path, None, {"token": "a"})
    with pytest.raises(BadAccess, match="has no context 'there': it has: here"):
        from_kubeconfig(path, FakeClock(), "there")


async def test_pod_environment_gives_access(apiserver: RunningApiServer, tmp_path: Path) -> None:
    (tmp_path / "ca.crt").write_bytes(apiserver.ca)
    (tmp_path / "token").write_text("first")
    environment = {
        "KUBERNETES_SERVICE_HOST": "127.0.0.1",
        "KUBERNETES_SERVICE_PORT": str(apiserver.network.port),
    }
    client = Client(in_cluster(environment, FakeClock(), tmp_path))
    assert b"serviceaccounts" in await client.get("/api/v1")
    await client.close()


def test_in_cluster_access_outside_a_pod_is_an_error() -> None:
    with pytest.raises(BadAccess, match="this is not a pod"):
        in_cluster({}, FakeClock())
