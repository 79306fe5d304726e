"""Connecting to a real API server by a kubeconfig, and the sentences of those who do not come so far."""

from __future__ import annotations

import base64
import json
import os
import sys
from collections.abc import Generator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from kubernetes.config import incluster_config

from cwiictl.actions.running import TOKEN, Running
from cwiictl.errors import BadInput, Denied, Failed, NotYet, Problem
from cwiictl.kubernetes import connect
from cwiictl.kubernetes.rights import Right, denied, needed
from cwiictl.rotate.waits import SKEW
from tests.cluster.installation import an_installation, connected
from tests.cluster.kube import pki
from tests.cluster.kube.cluster import free_port
from tests.cluster.kube.pki import Authority
from tests.cluster.kube.reach import Reach
from tests.cluster.leases import leased
from tests.cluster.space import Space, plain

pytestmark = pytest.mark.timeout(60)


@pytest.fixture(autouse=True)
def _nobodys_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:  # pyright: ignore[reportUnusedFunction] - by pytest
    monkeypatch.delenv("KUBECONFIG", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))


class Config:
    """A kubeconfig of two contexts, of which one is broken in a test's own way."""

    def __init__(self, reach: Reach, folder: Path) -> None:
        self.reach, self.file = reach, folder / "kubeconfig"
        pair = reach.authority.client("admin", "system:masters")
        self.content: dict[str, Any] = json.loads(reach.authority.kubeconfig(self.file, reach.urls[0], pair).read_bytes())

    @property
    def user(self) -> dict[str, Any]:
        return self.content["users"][0]["user"]

    @property
    def cluster(self) -> dict[str, Any]:
        return self.content["clusters"][0]["cluster"]

    def is_(self, **user: Any) -> Config:
        self.content["users"][0]["user"] = user
        return self

    def asks(self, script: str, **more: Any) -> Config:
        """A plugin, in Python."""
        program = self.file.with_name("plugin")
        program.write_text(f"#!{sys.executable}\n{script}")
        program.chmod(0o700)
        spec = {"apiVersion": "client.authentication.k8s.io/v1", "command": "./plugin", "interactiveMode": "Never", **more}
        return self.is_(exec=spec)

    def written(self) -> Path:
        self.file.write_text(json.dumps(self.content))
        return self.file

    def who(self, context: str | None = None) -> str:
        place = connect(self.written(), context)
        place.close()
        return place.caller

    def problem(self, context: str | None = None) -> Problem:
        with pytest.raises(Problem) as caught:
            connect(self.written(), context)
        assert caught.value.remedy
        return caught.value


@pytest.fixture
def config(reach: Reach, tmp_path: Path) -> Config:
    return Config(reach, tmp_path)


GIVES = """import json, os, sys
asked = json.loads(os.environ["KUBERNETES_EXEC_INFO"])
print(json.dumps({"apiVersion": asked["apiVersion"], "kind": "ExecCredential", "status": %s}))
"""


def test_the_place_tells_where_it_is_and_who_asks(config: Config, reach: Reach) -> None:
    place = connect(config.written())

    assert (place.server, place.context, place.caller) == (reach.urls[0], "context", "admin")
    assert place.version.startswith("v1.")
    assert place.kinds["Deployment.apps"] == place.kinds["Deployment"]
    place.close()


def test_of_several_kubeconfigs_what_is_said_first_is_believed(config: Config, reach: Reach, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    other, third = tmp_path / "other", tmp_path / "deep" / "third"
    third.parent.mkdir()
    pair = reach.authority.client("somebody")
    (third.parent / "their.crt").write_bytes(pair.certificate)
    (third.parent / "their.key").write_bytes(pair.key)
    user = {"name": "user", "user": {"token": "theirs"}}, {"name": "second", "user": {"client-certificate": "their.crt", "client-key": "their.key"}}
    other.write_text(json.dumps({"current-context": "context", "users": None}))
    third.write_text(
        json.dumps({"current-context": "second", "users": user, "contexts": [{"name": "second", "context": {"cluster": "cluster", "user": "second"}}]})
    )
    monkeypatch.setenv("KUBECONFIG", os.pathsep.join(map(str, ("/nowhere/at/all", other, config.written(), third))))

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


def test_without_any_kubeconfig_it_is_said_where_one_was_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_a_plugin_says_who_asks(config: Config, reach: Reach) -> None:
    pair = reach.authority.client("plugged")
    status = {"clientCertificateData": pair.certificate.decode(), "clientKeyData": pair.key.decode()}
    assert config.asks(GIVES % f"json.loads({json.dumps(status)!r})").who() == "plugged"

    space = Space(reach).account({})
    path = f"{space.path('serviceaccounts')}/worker/token"
    token = reach.admin.create(path, {"spec": {"expirationSeconds": 600}})["status"]["token"]
    assert config.asks(GIVES % f"{{'token': {token!r}}}").who() == f"system:serviceaccount:{space.name}:worker"


def test_a_plugin_is_asked_again_when_its_token_runs_out(config: Config, reach: Reach, tmp_path: Path) -> None:
    space = Space(reach).account({})
    token = reach.admin.create(f"{space.path('serviceaccounts')}/worker/token", {"spec": {}})["status"]["token"]
    soon = (datetime.now(UTC) + timedelta(seconds=30)).isoformat()
    count = f"open({str(tmp_path / 'count')!r}, 'a').write('.')\n"
    place = connect(config.asks(count + GIVES % f"{{'token': {token!r}, 'expirationTimestamp': {soon!r}}}").written())
    asked = len((tmp_path / "count").read_text())

    place.api.document("/version")
    place.close()

    assert len((tmp_path / "count").read_text()) == asked + 1


def test_a_plugin_that_fails_is_heard_and_nobody_else_is_asked(config: Config) -> None:
    config.cluster["server"] = f"https://127.0.0.1:{free_port()}"
    problem = config.asks("import sys; sys.exit('the session has ended: run example login')").problem()
    assert isinstance(problem, BadInput)
    assert "does not say who you are: process returned 1. the session has ended: run example login" in problem.problem


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("print('hello')", "failed to decode process output"),
        ("print('{}')", "malformed response"),
        (GIVES % "{}", "it gave neither a token nor a certificate with its key"),
        (GIVES % "{'clientCertificateData': 'x'}", "it gave neither a token nor a certificate with its key"),
    ],
)
def test_a_plugin_that_gives_nothing_of_use_is_told(config: Config, script: str, why: str) -> None:
    assert why in config.asks(script).problem().problem


def test_a_plugin_that_is_not_there_is_told_with_its_own_hint(config: Config) -> None:
    problem = config.is_(exec={"apiVersion": "client.authentication.k8s.io/v1", "command": "no-such-login", "installHint": "install  it\nso"}).problem()
    assert "the plugin no-such-login of the context context does not say who you are: No such file or directory" in problem.problem
    assert problem.remedy == "install it so"


def test_nobody_is_not_taken_for_somebody_with_few_rights(config: Config) -> None:
    for user in ({}, {"token": "made-up"}):
        problem = config.is_(**user).problem()
        assert isinstance(problem, BadInput)
        assert "the cluster does not know who asks" in problem.problem


def test_a_client_certificate_that_has_run_out_is_told(config: Config, reach: Reach, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pki, "DAYS", timedelta(minutes=-5))
    pair = reach.authority.client("late")
    config.is_(**{"client-certificate-data": base64.b64encode(pair.certificate).decode(), "client-key-data": base64.b64encode(pair.key).decode()})
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
    config.cluster["certificate-authority-data"] = base64.b64encode(Authority.made(folder).pem).decode()
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
    with saying(json.dumps({"major": "1", "minor": "27+", "gitVersion": "v1.27.3-eks"}).encode()) as config.cluster["server"]:
        assert "is Kubernetes v1.27.3-eks, and 1.28 is the oldest that is supported" in config.problem().problem


def test_what_is_no_api_server_is_told(config: Config) -> None:
    with saying(b"<html>Please log in</html>") as config.cluster["server"]:
        assert "is not a Kubernetes API server's" in config.problem().problem


def test_in_a_cluster_one_is_its_pods_account(reach: Reach, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    space = Space(reach).account({})
    host, _, port = reach.urls[0].removeprefix("https://").partition(":")
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", host)
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", port)
    for name, content in (("TOKEN", b""), ("CERT", reach.authority.pem)):
        (tmp_path / name).write_bytes(content)
        monkeypatch.setattr(incluster_config, f"SERVICE_{name}_FILENAME", str(tmp_path / name))
    with pytest.raises(BadInput, match="this pod has no ServiceAccount to act as"):
        connect()
    token = reach.admin.create(f"{space.path('serviceaccounts')}/worker/token", {"spec": {}})["status"]["token"]
    (tmp_path / "TOKEN").write_text(token)

    place = connect()
    place.close()

    assert (place.context, place.caller) == ("in-cluster", f"system:serviceaccount:{space.name}:worker")


def test_who_lacks_rights_learns_which_before_anything_is_written(reach: Reach, tmp_path: Path) -> None:
    with connected(reach, tmp_path) as admin:
        bodies = an_installation(admin).bodies
    with connected(reach, tmp_path, "viewer", "viewers") as place:
        asked = needed(bodies, place.kinds)
        lacking = place.api.lacking(asked)

        assert set(lacking) == set(asked)
        assert Right("patch", "deployments", "apps", bodies[0]["metadata"]["name"]) in lacking
        problem = denied(place.caller, lacking, "installing the webhook")
        assert isinstance(problem, Denied)
        told = problem.problem.splitlines()
        assert told[0] == f"viewer lacks {len(lacking)} rights, which installing the webhook needs:"
        assert "clusterrolebindings.rbac.authorization.k8s.io: create, get, patch" in told
    with connected(reach, tmp_path) as admin:
        assert admin.api.lacking(asked) == ()
        assert admin.api.lacking(asked, "viewer") == tuple(sorted(set(asked)))
        assert admin.api.lacking([Right("create", "selfsubjectreviews", "authentication.k8s.io")], "system:serviceaccount:a:b") == ()
    assert denied("admin", (), "anything") is None


def test_what_a_pod_would_answer_and_cannot_is_told_in_its_place(reach: Reach, tmp_path: Path) -> None:
    """No pod runs here: it is the API server that says so, and who may not have it passed on learns that."""
    space = Space(reach).account({})
    name = space.create(plain())["metadata"]["name"]
    with connected(reach, tmp_path) as place:
        answer = place.api.through(space.name, name, 8080, "/readyz")

        assert answer.status >= 400
        assert answer.text
        assert "apiserver_request_total" in place.api.text("/metrics")
    with connected(reach, tmp_path, "viewer", "viewers") as place:
        with pytest.raises(Denied, match="pods/proxy"):
            place.api.through(space.name, name, 8080, "/readyz")
        with pytest.raises(Denied, match="/metrics"):
            place.api.text("/metrics")


def test_a_patch_says_one_thing_and_leaves_the_rest(reach: Reach, tmp_path: Path) -> None:
    space = Space(reach).account({"a": "1"})
    with connected(reach, tmp_path) as place:
        place.api.patch("ServiceAccount", space.name, "worker", {"metadata": {"annotations": {"b": "2"}}})

        found = place.api.get("ServiceAccount", space.name, "worker")

    assert found
    assert found["metadata"]["annotations"] == {"a": "1", "b": "2"}


def test_tokens_objects_and_dry_runs_are_had_by_the_same_connection(reach: Reach, tmp_path: Path) -> None:
    space = Space(reach).account({})
    with connected(reach, tmp_path) as place:
        claims = place.api.token(space.name, "worker", "sts.amazonaws.com").split(".")[1]
        assert json.loads(base64.urlsafe_b64decode(claims + "==="))["aud"] == ["sts.amazonaws.com"]
        with pytest.raises(Failed, match=f"there is no ServiceAccount {space.name}/nobody"):
            place.api.token(space.name, "nobody", "a")

        pod: dict[str, Any] = {"apiVersion": "v1", "kind": "Pod", "metadata": {"namespace": space.name, "generateName": "p-", "labels": {"a": "b"}}}
        pod["spec"] = {"serviceAccountName": "worker", "containers": [{"name": "c", "image": "c"}]}
        assert place.api.create(pod, dry=True)["metadata"]["name"].startswith("p-")
        assert place.api.list("Pod", space.name) == []
        made = place.api.create(pod)["metadata"]["name"]
        assert [each["kind"] for each in place.api.list("Pod", space.name, "a=b")] == ["Pod"]
        assert place.api.get("Pod", space.name, made)
        place.api.delete("Pod", space.name, made)
        assert place.api.get("Pod", space.name, "nothing") is None
        assert place.api.document("/openid/v1/jwks")["keys"]


def test_of_secrets_only_those_of_tokens_are_read(reach: Reach, tmp_path: Path) -> None:
    space = Space(reach).account({})
    about = {"name": "legacy", "annotations": {"kubernetes.io/service-account.name": "worker"}}
    reach.admin.create(space.path("secrets"), {"metadata": about, "type": TOKEN})
    reach.admin.create(space.path("secrets"), {"metadata": {"name": "password"}, "stringData": {"password": "nobody's business"}})

    with connected(reach, tmp_path) as place:
        assert [each["metadata"]["name"] for each in place.api.list("Secret", space.name, fields=f"type={TOKEN}")] == ["legacy"]
        found = Running(place, dict).token_secrets()

    assert {each["type"] for each in found} == {TOKEN}
    assert any(each["metadata"]["namespace"] == space.name for each in found)


def test_an_api_server_that_runs_without_an_endpoint_is_known_not_to_have_been_asked(reach: Reach, tmp_path: Path) -> None:
    """Whoever has not renewed its Lease for a while, whatever its clock shows, runs no more."""
    with connected(reach, tmp_path) as place:
        running = Running(place, lambda: {"10.0.0.1:6443": place.api})
        with leased(reach.admin, "control-3", ago=SKEW + 120):
            assert ([server.address for server in running.servers()], running.doubt) == (["10.0.0.1:6443"], "")
            with leased(reach.admin, "control-2", ago=SKEW):
                _, unasked = running.servers()

    assert unasked.address == "not asked"
    assert unasked.problem.startswith("2 renew their Leases (control-2, ")
    assert unasked.problem.endswith("and the Service kubernetes names 1, so not each could be asked")


def test_who_may_not_read_leases_is_told_what_that_leaves_open(reach: Reach, tmp_path: Path) -> None:
    with connected(reach, tmp_path, "viewer", "viewers") as place:
        running = Running(place, lambda: {"10.0.0.1:6443": place.api})
        assert len(running.servers()) == 1

    assert running.doubt.startswith("Whether API servers run that the Service kubernetes does not name is not known: the cluster does not allow it: leases")
