"""Connecting to a real API server by a kubeconfig, and the sentences of those who do not come so far."""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Generator
from contextlib import contextmanager
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import pytest
from kubernetes.config import incluster_config

from cwiictl.errors import BadInput, Failed, NotYet
from cwiictl.kubernetes import connect
from tests.cluster.kube import pki
from tests.cluster.kube.cluster import free_port
from tests.cluster.kube.pki import Authority
from tests.cluster.kube.reach import Reach
from tests.cluster.kubeconfigs import Config
from tests.cluster.space import Space

pytestmark = pytest.mark.timeout(60)


@pytest.fixture(autouse=True)
def _nobodys_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:  # pyright: ignore[reportUnusedFunction] - by pytest
    monkeypatch.delenv("KUBECONFIG", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))


def test_the_place_tells_where_it_is_and_who_asks(config: Config, reach: Reach) -> None:
    place = connect(config.written())

    assert (place.server, place.context, place.caller) == (reach.urls[0], "context", "admin")
    assert place.version.startswith("v1.")
    assert place.kinds["Deployment.apps"] == place.kinds["Deployment"]
    place.close()


def test_of_several_kubeconfigs_what_is_said_first_is_believed(
    config: Config, reach: Reach, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    other, third = tmp_path / "other", tmp_path / "deep" / "third"
    third.parent.mkdir()
    pair = reach.authority.client("somebody")
    (third.parent / "their.crt").write_bytes(pair.certificate)
    (third.parent / "their.key").write_bytes(pair.key)
    user = (
        {"name": "user", "user": {"token": "theirs"}},
        {"name": "second", "user": {"client-certificate": "their.crt", "client-key": "their.key"}},
    )
    other.write_text(json.dumps({"current-context": "context", "users": None}))
    third.write_text(
        json.dumps(
            {
                "current-context": "second",
                "users": user,
                "contexts": [
                    {"name": "second", "context": {"cluster": "cluster", "user": "second"}}
                ],
            }
        )
    )
    monkeypatch.setenv(
        "KUBECONFIG", os.pathsep.join(map(str, ("/nowhere/at/all", other, config.written(), third)))
    )

    callers: list[str] = []
    for context in (None, "second"):
        place = connect(context=context)
        callers.append(place.caller)
        place.close()

    assert callers == ["admin", "somebody"]


def test_what_is_in_the_home_is_found(config: Config, tmp_path: Path) -> None:
    config.file = tmp_path / "home" / ".kube" / "config"
    config.file.parent.mkdir(parents=True)
    config.written()

    place = connect()
    place.close()

    assert place.caller == "admin"


def test_without_any_kubeconfig_it_is_said_where_one_was_looked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with pytest.raises(BadInput, match=r"there is no kubeconfig: ~/\.kube/config is not there"):
        connect()
    monkeypatch.setenv("KUBECONFIG", "/a:/b")
    with pytest.raises(BadInput, match=r"/a:/b is not there"):
        connect()
    with pytest.raises(BadInput, match=r"the kubeconfig /a cannot be read"):
        connect(Path("/a"))


def test_a_context_that_is_not_there_is_told_with_those_that_are(config: Config) -> None:
    problem = config.problem("other")
    assert "there is no context 'other'" in problem.problem
    assert problem.remedy == "it has: context"
    del config.content["current-context"]
    assert "names no current context" in config.problem().problem


def test_who_acts_as_another_is_not_taken_for_themselves(config: Config) -> None:
    config.user["as"] = "system:admin"
    assert "acts as somebody else" in config.problem().problem


def test_nobody_is_not_taken_for_somebody_with_few_rights(config: Config) -> None:
    for user in ({}, {"token": "made-up"}):
        problem = config.is_(**user).problem()
        assert isinstance(problem, BadInput)
        assert "the cluster does not know who asks" in problem.problem


def test_a_client_certificate_that_has_run_out_is_told(
    config: Config, reach: Reach, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pki, "DAYS", timedelta(minutes=-5))
    pair = reach.authority.client("late")
    config.is_(
        **{
            "client-certificate-data": base64.b64encode(pair.certificate).decode(),
            "client-key-data": base64.b64encode(pair.key).decode(),
        }
    )
    assert "the client certificate of the context context has run out (" in config.problem().problem


def test_a_server_that_is_not_there_is_told(config: Config) -> None:
    config.cluster["server"] = f"https://127.0.0.1:{free_port()}"
    problem = config.problem()
    assert isinstance(problem, NotYet)
    assert "cannot be reached" in problem.problem
    assert "refused" in problem.problem


def test_a_certificate_of_another_authority_is_not_believed(config: Config, tmp_path: Path) -> None:
    folder = tmp_path / "other"
    folder.mkdir()
    config.cluster["certificate-authority-data"] = base64.b64encode(
        Authority.made(folder).pem
    ).decode()
    problem = config.problem()
    assert isinstance(problem, Failed)
    assert "is not believed" in problem.problem


def test_a_key_that_is_not_the_certificates_is_told(config: Config, reach: Reach) -> None:
    config.user["client-key-data"] = base64.b64encode(reach.authority.client("other").key).decode()
    assert "TLS" in config.problem().problem


@contextmanager
def saying(said: bytes) -> Generator[str]:
    """What answers everybody so."""

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Length", str(len(said)))
            self.end_headers()
            self.wfile.write(said)

        def log_message(self, *_: object) -> None: ...  # pyright: ignore[reportIncompatibleMethodOverride]

    with HTTPServer(("127.0.0.1", 0), Answer) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_a_cluster_of_long_ago_is_refused(config: Config) -> None:
    with saying(
        json.dumps({"major": "1", "minor": "27+", "gitVersion": "v1.27.3-eks"}).encode()
    ) as config.cluster["server"]:
        assert (
            "is Kubernetes v1.27.3-eks, and 1.28 is the oldest that is supported"
            in config.problem().problem
        )


def test_what_is_no_api_server_is_told(config: Config) -> None:
    with saying(b"<html>Please log in</html>") as config.cluster["server"]:
        assert "is not a Kubernetes API server's" in config.problem().problem


def test_in_a_cluster_one_is_its_pods_account(
    reach: Reach, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    space = Space(reach).account({})
    host, _, port = reach.urls[0].removeprefix("https://").partition(":")
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", host)
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", port)
    for name, content in (("TOKEN", b""), ("CERT", reach.authority.pem)):
        (tmp_path / name).write_bytes(content)
        monkeypatch.setattr(incluster_config, f"SERVICE_{name}_FILENAME", str(tmp_path / name))
    with pytest.raises(BadInput, match="this pod has no ServiceAccount to act as"):
        connect()
    token = reach.admin.create(f"{space.path('serviceaccounts')}/worker/token", {"spec": {}})[
        "status"
    ]["token"]
    (tmp_path / "TOKEN").write_text(token)

    place = connect()
    place.close()

    assert (place.context, place.caller) == (
        "in-cluster",
        f"system:serviceaccount:{space.name}:worker",
    )
