"""Connecting as who a plugin of the kubeconfig says."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from cwiictl.errors import BadInput
from cwiictl.kubernetes import connect
from tests.cluster.kube.cluster import free_port
from tests.cluster.kube.reach import Reach
from tests.cluster.kubeconfigs import Config
from tests.cluster.space import Space

pytestmark = pytest.mark.timeout(60)
GIVES = """import json, os, sys
asked = json.loads(os.environ["KUBERNETES_EXEC_INFO"])
print(json.dumps({"apiVersion": asked["apiVersion"], "kind": "ExecCredential", "status": %s}))
"""


def test_a_plugin_says_who_asks(config: Config, reach: Reach) -> None:
    pair = reach.authority.client("plugged")
    status = {
        "clientCertificateData": pair.certificate.decode(),
        "clientKeyData": pair.key.decode(),
    }
    assert config.asks(GIVES % f"json.loads({json.dumps(status)!r})").who() == "plugged"

    space = Space(reach).account({})
    path = f"{space.path('serviceaccounts')}/worker/token"
    token = reach.admin.create(path, {"spec": {"expirationSeconds": 600}})["status"]["token"]
    assert (
        config.asks(GIVES % f"{{'token': {token!r}}}").who()
        == f"system:serviceaccount:{space.name}:worker"
    )


def test_a_plugin_is_asked_again_when_its_token_runs_out(
    config: Config, reach: Reach, tmp_path: Path
) -> None:
    space = Space(reach).account({})
    token = reach.admin.create(f"{space.path('serviceaccounts')}/worker/token", {"spec": {}})[
        "status"
    ]["token"]
    soon = (datetime.now(UTC) + timedelta(seconds=30)).isoformat()
    count = f"open({str(tmp_path / 'count')!r}, 'a').write('.')\n"
    place = connect(
        config.asks(
            count + GIVES % f"{{'token': {token!r}, 'expirationTimestamp': {soon!r}}}"
        ).written()
    )
    asked = len((tmp_path / "count").read_text())

    place.api.document("/version")
    place.close()

    assert len((tmp_path / "count").read_text()) == asked + 1


def test_a_plugin_that_fails_is_heard_and_nobody_else_is_asked(config: Config) -> None:
    config.cluster["server"] = f"https://127.0.0.1:{free_port()}"
    problem = config.asks(
        "import sys; sys.exit('the session has ended: run example login')"
    ).problem()
    assert isinstance(problem, BadInput)
    assert (
        "does not say who you are: process returned 1. the session has ended: run example login"
        in problem.problem
    )


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("print('hello')", "failed to decode process output"),
        ("print('{}')", "malformed response"),
        (GIVES % "{}", "it gave neither a token nor a certificate with its key"),
        (
            GIVES % "{'clientCertificateData': 'x'}",
            "it gave neither a token nor a certificate with its key",
        ),
    ],
)
def test_a_plugin_that_gives_nothing_of_use_is_told(config: Config, script: str, why: str) -> None:
    assert why in config.asks(script).problem().problem


def test_a_plugin_that_is_not_there_is_told_with_its_own_hint(config: Config) -> None:
    problem = config.is_(
        exec={
            "apiVersion": "client.authentication.k8s.io/v1",
            "command": "no-such-login",
            "installHint": "install  it\nso",
        }
    ).problem()
    assert (
        "the plugin no-such-login of the context context does not say who you are: No such file or directory"
        in problem.problem
    )
    assert problem.remedy == "install it so"
