"""A kubeconfig, as people and tools write them, and whom the API server takes us for."""

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


def encoded(content: bytes) -> str:
    return base64.b64encode(content).decode()


def written(
    folder: Path,
    ground: RunningApiServer | None,
    user: dict[str, Any],
    cluster: dict[str, Any] | None = None,
) -> Path:
    where = (
        {"server": ground.url, "certificate-authority-data": encoded(ground.ca)}
        if ground
        else {"server": "https://api.example.org"}
    )
    config = {
        "current-context": "here",
        "contexts": [{"name": "here", "context": {"cluster": "c", "user": "u"}}],
        "clusters": [{"name": "c", "cluster": {**where, **(cluster or {})}}],
        "users": [{"name": "u", "user": user}],
    }
    path = folder / "kubeconfig"
    path.write_text(yaml.safe_dump(config))
    return path


async def asked(path: Path) -> str:
    """Who the API server took us for is seen in what it answers."""
    api = Client(from_kubeconfig(path, FakeClock()))
    try:
        return (await api.get("/api/v1")).decode()
    finally:
        await api.close()


async def test_a_token_is_shown(apiserver: RunningApiServer, tmp_path: Path) -> None:
    assert "serviceaccounts" in await asked(written(tmp_path, apiserver, {"token": "first"}))


async def test_a_kubeconfig_may_be_json(apiserver: RunningApiServer, tmp_path: Path) -> None:
    path = written(tmp_path, apiserver, {"token": "first"})
    path.write_text(json.dumps(yaml.safe_load(path.read_text())))
    assert "serviceaccounts" in await asked(path)


async def test_files_are_found_beside_the_kubeconfig(
    apiserver: RunningApiServer, tmp_path: Path
) -> None:
    (tmp_path / "token").write_text("first\n")
    (tmp_path / "ca.crt").write_bytes(apiserver.ca)
    path = written(
        tmp_path,
        apiserver,
        {"tokenFile": "token"},
        {"certificate-authority-data": "", "certificate-authority": "ca.crt"},
    )
    assert "serviceaccounts" in await asked(path)


@pytest.mark.parametrize("form", ["data", "files"])
async def test_a_client_certificate_is_shown(
    apiserver: RunningApiServer, tmp_path: Path, form: str
) -> None:
    signed = apiserver.authority.client("system:webhook")
    (tmp_path / "a.crt").write_bytes(signed.certificate)
    (tmp_path / "a.key").write_bytes(signed.key)
    data = {
        "client-certificate-data": encoded(signed.certificate),
        "client-key-data": encoded(signed.key),
    }
    files = {"client-certificate": "a.crt", "client-key": "a.key"}
    assert "serviceaccounts" in await asked(
        written(tmp_path, apiserver, data if form == "data" else files)
    )
    assert apiserver.fake.requests[-1].user == "system:webhook"


async def test_a_plugin_is_asked_and_told_of_the_cluster(
    apiserver: RunningApiServer, tmp_path: Path
) -> None:
    path = written(tmp_path, apiserver, {"exec": plugin(tmp_path, provideClusterInfo=True)})
    assert "serviceaccounts" in await asked(path)
    told = json.loads((tmp_path / "info").read_text())
    assert told["spec"]["cluster"]["server"] == apiserver.url
    assert told["spec"]["interactive"] is False


async def test_a_plugin_whose_token_is_refused_is_asked_again(
    apiserver: RunningApiServer, tmp_path: Path
) -> None:
    api = Client(
        from_kubeconfig(written(tmp_path, apiserver, {"exec": plugin(tmp_path)}), FakeClock())
    )
    await api.get("/api/v1")
    await api.get("/api/v1")
    assert (tmp_path / "asked").read_text() == "."
    (tmp_path / "says").write_text("second")
    apiserver.fake.behavior.accepted_tokens = {"second"}
    await api.get("/api/v1")
    assert (tmp_path / "asked").read_text() == ".."
    await api.close()


async def test_a_plugin_that_fails_is_told_with_its_last_line(
    apiserver: RunningApiServer, tmp_path: Path
) -> None:
    (tmp_path / "says").write_text("")
    with pytest.raises(BadAccess, match=r"ended with 3: log in first: install it"):
        await asked(
            written(tmp_path, apiserver, {"exec": plugin(tmp_path, installHint="install it")})
        )


def plugin(folder: Path, **more: object) -> dict[str, Any]:
    if not (folder / "says").exists():
        (folder / "says").write_text("first")
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
with open(here / "asked", "a") as asked:
    asked.write(".")
says = (here / "says").read_text()
if not says:
    sys.exit(print("log in first", file=sys.stderr) or 3)
print(json.dumps({"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": {"token": says}}))
"""


async def test_who_shows_nothing_is_refused(apiserver: RunningApiServer, tmp_path: Path) -> None:
    with pytest.raises(StatusError, match="401: Unauthorized"):
        await asked(written(tmp_path, apiserver, {}))


async def test_a_server_that_bears_another_name_is_not_trusted_unless_that_name_is_asked_for(
    apiserver: RunningApiServer, tmp_path: Path
) -> None:
    assert "serviceaccounts" in await asked(
        written(tmp_path, apiserver, {"token": "first"}, {"tls-server-name": "api.example.org"})
    )
    with pytest.raises(Unreachable, match=r"other\.example\.org"):
        await asked(
            written(
                tmp_path, apiserver, {"token": "first"}, {"tls-server-name": "other.example.org"}
            )
        )


async def test_a_server_of_another_ca_is_not_trusted_unless_that_is_said(
    apiserver: RunningApiServer, tmp_path: Path
) -> None:
    strange = {"certificate-authority-data": ""}
    with pytest.raises(Unreachable, match="CERTIFICATE_VERIFY_FAILED"):
        await asked(written(tmp_path, apiserver, {"token": "first"}, strange))
    assert "serviceaccounts" in await asked(
        written(
            tmp_path, apiserver, {"token": "first"}, {**strange, "insecure-skip-tls-verify": True}
        )
    )


@pytest.mark.parametrize(
    ("user", "cluster", "told"),
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
def test_what_is_wrong_with_a_kubeconfig_is_said(
    tmp_path: Path, user: dict[str, Any], cluster: dict[str, Any], told: str
) -> None:
    with pytest.raises(BadAccess) as e:
        from_kubeconfig(written(tmp_path, None, user, cluster), FakeClock())
    assert told in str(e.value)


@pytest.mark.parametrize(
    ("content", "told"),
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
def test_what_is_no_kubeconfig_at_all_is_said(tmp_path: Path, content: str, told: str) -> None:
    path = tmp_path / "kubeconfig"
    path.write_text(content)
    with pytest.raises(BadAccess) as e:
        from_kubeconfig(path, FakeClock())
    assert told in str(e.value)
    assert str(path) in str(e.value)


def test_a_context_that_is_not_there_is_told_with_those_that_are(tmp_path: Path) -> None:
    path = written(tmp_path, None, {"token": "a"})
    with pytest.raises(BadAccess, match="has no context 'there': it has: here"):
        from_kubeconfig(path, FakeClock(), "there")


async def test_a_pod_is_told_where_the_api_server_is(
    apiserver: RunningApiServer, tmp_path: Path
) -> None:
    (tmp_path / "ca.crt").write_bytes(apiserver.ca)
    (tmp_path / "token").write_text("first")
    environment = {
        "KUBERNETES_SERVICE_HOST": "127.0.0.1",
        "KUBERNETES_SERVICE_PORT": str(apiserver.network.port),
    }
    api = Client(in_cluster(environment, FakeClock(), tmp_path))
    assert b"serviceaccounts" in await api.get("/api/v1")
    await api.close()


def test_what_is_not_a_pod_is_told_to_name_a_kubeconfig() -> None:
    with pytest.raises(BadAccess, match="this is not a pod"):
        in_cluster({}, FakeClock())
