"""The whole program as a cluster runs it: a command line of a peer's, a kubeconfig, TLS, and a review posted to it."""

from __future__ import annotations

import base64
import http.client
import json
import os
import signal
import ssl
import subprocess
import sys
import time
from collections.abc import Generator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from cwii_webhook.cluster.kinds import NAMESPACES, SERVICE_ACCOUNTS

from tests.webhook.apiserver.double import ADMIN
from tests.webhook.apiserver.ground import Ground, an_apiserver
from tests.webhook.metadata import metadata

ROLE = "arn:aws:iam::111122223333:role/s3"
WORDS = {"eks.amazonaws.com/role-arn": ROLE, "cwii.dev/aws-inject": "true", "cwii.dev/aws-role-arn": ROLE}
POD: dict[str, Any] = {
    "metadata": {"generateName": "web-", "namespace": "shop"},
    "spec": {"serviceAccountName": "billing", "containers": [{"name": "c", "image": "nginx"}]},
}
EKS = ("eks", "--in-cluster=false", "--port", "0", "--metrics-port", "0", "--aws-default-region=eu-west-1")
AZWI = ("azwi", "--port", "0", "--health-addr", "127.0.0.1:0", "--metrics-addr", "127.0.0.1:0", "--disable-cert-rotation")


@dataclass(frozen=True)
class Running:
    process: subprocess.Popen[str]
    ports: Sequence[int]
    trust: ssl.SSLContext

    def ask(self, path: str, body: bytes | None, port: int = 0, kind: str = "application/json") -> tuple[int, bytes]:
        place = ("127.0.0.1", port or self.ports[0])
        connection = http.client.HTTPConnection(*place, timeout=30) if port else http.client.HTTPSConnection(*place, timeout=30, context=self.trust)
        with closing(connection):
            connection.request("GET" if body is None else "POST", path, body, {"Content-Type": kind})
            answer = connection.getresponse()
            return answer.status, answer.read()

    def review(self, path: str, pod: dict[str, Any], **more: object) -> dict[str, Any]:
        asked = {"uid": "u", "operation": "CREATE", "namespace": "shop", "object": pod, **more}
        code, told = self.ask(path, json.dumps({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": asked}).encode())
        assert code == 200, told
        return json.loads(told)["response"]

    def ready(self) -> None:
        until = time.monotonic() + 60
        while not self._is_ready():
            assert time.monotonic() < until, self.ask("/readyz", None)
            time.sleep(0.05)

    def _is_ready(self) -> bool:
        with suppress(ConnectionError):  # before there is a certificate, nobody is let in
            return self.ask("/readyz", None)[0] == 200
        return False


@contextmanager
def running(apiserver: Ground, folder: Path, *words: str, **environ: str) -> Generator[Running]:
    signed = apiserver.authority.server("127.0.0.1")
    (folder / "tls.crt").write_bytes(signed.certificate)
    (folder / "tls.key").write_bytes(signed.key)
    (folder / "ca.crt").write_bytes(apiserver.ca)
    cluster = {"name": "c", "cluster": {"server": apiserver.url, "certificate-authority": "ca.crt"}}
    user = {"name": "u", "user": {"token": ADMIN}}
    context = {"name": "k", "context": {"cluster": "c", "user": "u"}}
    (folder / "kubeconfig").write_text(json.dumps({"current-context": "k", "clusters": [cluster], "users": [user], "contexts": [context]}))
    environment = {**os.environ, "KUBECONFIG": str(folder / "kubeconfig"), **environ}
    process = subprocess.Popen([sys.executable, "-m", "cwii_webhook", *words], stderr=subprocess.PIPE, text=True, env=environment)
    assert process.stderr is not None
    with process:
        try:
            lines = (json.loads(line) for line in process.stderr)
            listening = next(line for line in lines if line["what"] == "listening")
            yield Running(process, [int(port) for port in listening["ports"]], ssl.create_default_context(cadata=apiserver.ca.decode()))
        finally:
            process.send_signal(signal.SIGTERM)
            process.send_signal(signal.SIGTERM)  # a second one hurries it
            process.communicate(timeout=60)
    assert process.returncode == 0


@pytest.fixture
def apiserver() -> Generator[Ground]:
    with an_apiserver() as ground:
        ground.hands.put(NAMESPACES, "", "shop")
        ground.hands.put(
            SERVICE_ACCOUNTS, "shop", "billing", {"eks.amazonaws.com/role-arn": ROLE, "cwii.dev/aws-inject": "true", "cwii.dev/aws-role-arn": ROLE}
        )
        yield ground


def pair(folder: Path) -> tuple[str, ...]:
    return ("--tls-cert", str(folder / "tls.crt"), "--tls-key", str(folder / "tls.key"))


def paths(response: dict[str, Any]) -> list[str]:
    return [op["path"] for op in json.loads(base64.b64decode(response["patch"]))]


def test_ekss_own_command_line_starts_it_and_pods_get_their_role(apiserver: Ground, tmp_path: Path) -> None:
    with running(apiserver, tmp_path, *EKS, *pair(tmp_path)) as webhook:
        webhook.ready()
        response = webhook.review("/mutate", POD)
        metrics = webhook.ask("/metrics", None, webhook.ports[1])[1].decode()

    assert response["allowed"]
    assert paths(response) == ["/spec/volumes", "/spec/containers/0/volumeMounts", "/spec/containers/0/env"]
    assert response["auditAnnotations"]["injected"] == "aws"
    assert 'cwii_decisions_total{dialect="eks",provider="aws",outcome="injected",reason=""} 1' in metrics


def test_ekss_config_map_its_file_and_the_instances_metadata_are_heeded_as_they_change(apiserver: Ground, tmp_path: Path) -> None:
    file = tmp_path / "identities.json"

    def give(**by: str) -> None:
        apiserver.hands.fill("eks", "pod-identity-webhook", {"config": json.dumps({f"shop/{name}": {"RoleARN": role} for name, role in by.items()})})

    def given(name: str) -> dict[str, str]:
        response = webhook.review("/mutate", {**POD, "spec": {**POD["spec"], "serviceAccountName": name}})
        ops = json.loads(base64.b64decode(response.get("patch", "W10=")))
        return {v["name"]: v["value"] for op in ops if op["path"].endswith("/env") for v in op["value"]}

    give(mapped="one")
    file.write_text("broken")
    words = ("--watch-config-map", "--compose-role-arn", "--watch-container-credentials-config", str(file))
    with metadata() as (address, _), running(apiserver, tmp_path, *EKS, *words, *pair(tmp_path), AWS_EC2_METADATA_SERVICE_ENDPOINT=address) as webhook:
        webhook.ready()
        assert given("mapped")["AWS_ROLE_ARN"] == "arn:aws-us-gov:iam::111122223333:role/one"
        assert 'cwii_source_trouble{source="identities"} 1' in webhook.ask("/metrics", None, webhook.ports[1])[1].decode()

        give(mapped="two")
        file.write_text('{"identities": [{"namespace": "shop", "serviceAccount": "agent"}]}')
        until = time.monotonic() + 60
        while "role/two" not in given("mapped")["AWS_ROLE_ARN"] or not given("agent"):
            assert time.monotonic() < until
            time.sleep(0.05)

        assert given("agent")["AWS_CONTAINER_CREDENTIALS_FULL_URI"] == "http://169.254.170.23/v1/credentials"
        reads = apiserver.do(lambda: apiserver.double.requests)
        assert not [request for request in reads if "configmaps/" in request.path and request.method == "GET"]


def test_two_dialects_are_served_by_one_process(apiserver: Ground, tmp_path: Path) -> None:
    with running(apiserver, tmp_path, "cwii", "--addr", "127.0.0.1:0", *pair(tmp_path), "+", "eks") as webhook:
        webhook.ready()

        assert "/metadata/annotations" in paths(webhook.review("/mutate", POD))
        assert "/metadata/annotations" not in paths(webhook.review("/eks/mutate", POD))


def test_azures_own_command_line_and_environment_start_it(apiserver: Ground, tmp_path: Path) -> None:
    told = {"AZURE_TENANT_ID": "t", "AZURE_ENVIRONMENT": "AzurePublicCloud"}
    with running(apiserver, tmp_path, *AZWI, "--webhook-cert-dir", str(tmp_path), **told) as webhook:
        webhook.ready()
        response = webhook.review("/mutate-v1-pod", POD)

        assert response["allowed"]
        assert webhook.ask("/readyz", None, webhook.ports[1]) == (200, b"ok\n")


def test_googles_own_command_line_starts_it(apiserver: Ground, tmp_path: Path) -> None:
    words = ("gcpwif", "--port", "0", "--health-probe-bind-address", "127.0.0.1:0", "--metrics-bind-address", "127.0.0.1:0", "--zap-devel")
    with running(apiserver, tmp_path, *words, "--webhook-cert-dir", str(tmp_path)) as webhook:
        webhook.ready()

        assert webhook.review("/mutate-v1-pod", POD)["allowed"]


def test_an_account_that_came_a_moment_ago_is_read_at_once(apiserver: Ground, tmp_path: Path) -> None:
    with running(apiserver, tmp_path, *EKS, *pair(tmp_path)) as webhook:
        webhook.ready()
        apiserver.do(apiserver.wire.freeze)
        apiserver.hands.put(SERVICE_ACCOUNTS, "shop", "new", {"eks.amazonaws.com/role-arn": ROLE})

        assert "patch" in webhook.review("/mutate", {**POD, "spec": {**POD["spec"], "serviceAccountName": "new"}})


@pytest.mark.parametrize(
    ("path", "body", "kind", "code"),
    [
        ("/mutate", b"{}", "application/json", 400),
        ("/mutate", b"no json", "application/json", 400),
        ("/mutate", b"\xff\xfe", "application/json", 400),
        ("/mutate", b"{}", "text/plain", 415),
        ("/mutate", None, "application/json", 405),
        ("/elsewhere", b"{}", "application/json", 405),
        ("/elsewhere", None, "application/json", 404),
        ("/healthz", None, "application/json", 200),
    ],
)
def test_what_is_no_review_is_answered_in_http(shared: Running, path: str, body: bytes | None, kind: str, code: int) -> None:
    assert shared.ask(path, body, kind=kind)[0] == code


def test_a_pod_of_nobody_is_left_alone(shared: Running) -> None:
    response = shared.review("/mutate", {**POD, "spec": {**POD["spec"], "serviceAccountName": "nobody"}})

    assert (response["allowed"], "patch" in response) == (True, False)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Generator[Running]:
    folder = tmp_path_factory.mktemp("webhook")
    with an_apiserver() as ground, running(ground, folder, *EKS, *pair(folder)) as webhook:
        webhook.ready()
        yield webhook


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ((), "it is not said whose words are spoken"),
        (("eka",), "'eka' is no dialect"),
        (("eks", "--aws-default-regio=x"), "there is no flag --aws-default-regio: did you mean --aws-default-region?"),
        (("azwi",), "AZURE_TENANT_ID is not set"),
        (("eks", "--watch-config-map", "--namespace=-"), "--namespace is '-', which is no namespace"),
        (("eks", "--compose-role-arn"), "--compose-role-arn needs the instance's metadata"),
        (("cwii", "--kubeconfig", "/nowhere/kubeconfig"), "/nowhere/kubeconfig"),
    ],
)
def test_what_cannot_be_meant_is_one_line_and_exit_code_2(words: tuple[str, ...], told: str) -> None:
    environ = {"PATH": os.environ["PATH"], "AWS_EC2_METADATA_SERVICE_ENDPOINT": "http://127.0.0.1:1"}
    done = subprocess.run([sys.executable, "-m", "cwii_webhook", *words], capture_output=True, text=True, timeout=60, env=environ, check=False)

    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert told in done.stderr
