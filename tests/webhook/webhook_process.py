"""Starts the webhook as a process, and sends requests to it. Its log names its ports."""

from __future__ import annotations

import http.client
import json
import os
import signal
import ssl
import subprocess
import sys
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cwii_webhook.kube.resources import NAMESPACES, SERVICE_ACCOUNTS

from tests.webhook.apiserver.fake import ADMIN
from tests.webhook.apiserver.running import RunningApiServer, run_apiserver

ROLE = "arn:aws:iam::111122223333:role/s3"
POD: dict[str, Any] = {
    "metadata": {"generateName": "web-", "namespace": "shop"},
    "spec": {"serviceAccountName": "billing", "containers": [{"name": "c", "image": "nginx"}]},
}
EKS = (
    "eks",
    "--in-cluster=false",
    "--port",
    "0",
    "--metrics-port",
    "0",
    "--aws-default-region=eu-west-1",
)
AZWI = (
    "azwi",
    "--port",
    "0",
    "--health-addr",
    "127.0.0.1:0",
    "--metrics-addr",
    "127.0.0.1:0",
    "--disable-cert-rotation",
)


@dataclass(frozen=True)
class RunningWebhook:
    """A webhook process, and how to connect to it."""

    process: subprocess.Popen[str]
    ports: Sequence[int]
    trust: ssl.SSLContext

    def request(
        self, path: str, body: bytes | None, port: int = 0, kind: str = "application/json"
    ) -> tuple[int, bytes]:
        address = ("127.0.0.1", port or self.ports[0])
        connection = (
            http.client.HTTPConnection(*address, timeout=30)
            if port
            else http.client.HTTPSConnection(*address, timeout=30, context=self.trust)
        )
        with closing(connection):
            connection.request(
                "GET" if body is None else "POST", path, body, {"Content-Type": kind}
            )
            response = connection.getresponse()
            return response.status, response.read()

    @staticmethod
    def encode_review(pod: dict[str, Any], **fields: object) -> bytes:
        request = {"uid": "u", "operation": "CREATE", "namespace": "shop", "object": pod, **fields}
        return json.dumps(
            {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request}
        ).encode()

    def review(self, path: str, pod: dict[str, Any], **fields: object) -> dict[str, Any]:
        code, body = self.request(path, self.encode_review(pod, **fields))
        assert code == 200, body
        return json.loads(body)["response"]

    def wait_until_ready(self) -> None:
        deadline = time.monotonic() + 60
        while not self._is_ready():
            assert time.monotonic() < deadline, self.request("/readyz", None)
            time.sleep(0.05)

    def _is_ready(self) -> bool:
        # The webhook closes connections until it has a certificate.
        with suppress(ConnectionError, ssl.SSLError):
            return self.request("/readyz", None)[0] == 200
        return False


@contextmanager
def run_webhook(
    apiserver: RunningApiServer,
    directory: Path,
    *arguments: str,
    before_start: Callable[[], object] = lambda: None,
    program: Path | None = None,
    exit_code: int = 0,
    **environ: str,
) -> Generator[RunningWebhook]:
    """Runs the webhook until the end of the context.

    `before_start` runs after all files are written. `program` replaces `python -m cwii_webhook`.
    """
    signed = apiserver.authority.issue_server_certificate("127.0.0.1")
    (directory / "tls.crt").write_bytes(signed.certificate)
    (directory / "tls.key").write_bytes(signed.key)
    (directory / "ca.crt").write_bytes(apiserver.ca)
    cluster = {"name": "c", "cluster": {"server": apiserver.url, "certificate-authority": "ca.crt"}}
    user = {"name": "u", "user": {"token": ADMIN}}
    context = {"name": "k", "context": {"cluster": "c", "user": "u"}}
    (directory / "kubeconfig").write_text(
        json.dumps(
            {"current-context": "k", "clusters": [cluster], "users": [user], "contexts": [context]}
        )
    )
    before_start()
    environment = {**os.environ, "KUBECONFIG": str(directory / "kubeconfig"), **environ}
    command = [str(program)] if program else [sys.executable, "-m", "cwii_webhook"]
    process = subprocess.Popen(
        [*command, *arguments], stderr=subprocess.PIPE, text=True, env=environment
    )
    assert process.stderr is not None
    with process:
        try:
            lines = (json.loads(line) for line in process.stderr)
            listening = next(line for line in lines if line["what"] == "listening")
            yield RunningWebhook(
                process,
                [int(port) for port in listening["ports"]],
                ssl.create_default_context(cadata=apiserver.ca.decode()),
            )
        finally:
            process.send_signal(signal.SIGTERM)
            process.send_signal(signal.SIGTERM)  # a second signal skips the shutdown delay
            process.communicate(timeout=60)
    assert process.returncode == exit_code


def write_program(directory: Path, prelude: str) -> Path:
    """Writes a program that runs the prelude, then the webhook."""
    file = directory / "changed"
    file.write_text(
        f"#!{sys.executable}\n{prelude}from cwii_webhook.__main__ import main\nmain()\n"
    )
    file.chmod(0o755)
    return file


def tls_flags(directory: Path) -> tuple[str, ...]:
    return ("--tls-cert", str(directory / "tls.crt"), "--tls-key", str(directory / "tls.key"))


@contextmanager
def run_shop_apiserver(**annotations: str) -> Generator[RunningApiServer]:
    """Runs an API server with a ServiceAccount that has a role in the dialect eks."""
    with run_apiserver() as ground:
        ground.user.apply(NAMESPACES, "", "shop")
        ground.user.apply(
            SERVICE_ACCOUNTS, "shop", "billing", {"eks.amazonaws.com/role-arn": ROLE, **annotations}
        )
        yield ground
