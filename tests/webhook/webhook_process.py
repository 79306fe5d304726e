"""The whole program as a process, as a cluster runs it: it says its ports when it listens."""

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
class Running:
    process: subprocess.Popen[str]
    ports: Sequence[int]
    trust: ssl.SSLContext

    def ask(
        self, path: str, body: bytes | None, port: int = 0, kind: str = "application/json"
    ) -> tuple[int, bytes]:
        place = ("127.0.0.1", port or self.ports[0])
        connection = (
            http.client.HTTPConnection(*place, timeout=30)
            if port
            else http.client.HTTPSConnection(*place, timeout=30, context=self.trust)
        )
        with closing(connection):
            connection.request(
                "GET" if body is None else "POST", path, body, {"Content-Type": kind}
            )
            answer = connection.getresponse()
            return answer.status, answer.read()

    @staticmethod
    def asked(pod: dict[str, Any], **more: object) -> bytes:
        asked = {"uid": "u", "operation": "CREATE", "namespace": "shop", "object": pod, **more}
        return json.dumps(
            {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": asked}
        ).encode()

    def review(self, path: str, pod: dict[str, Any], **more: object) -> dict[str, Any]:
        code, told = self.ask(path, self.asked(pod, **more))
        assert code == 200, told
        return json.loads(told)["response"]

    def ready(self) -> None:
        until = time.monotonic() + 60
        while not self._is_ready():
            assert time.monotonic() < until, self.ask("/readyz", None)
            time.sleep(0.05)

    def _is_ready(self) -> bool:
        with suppress(
            ConnectionError, ssl.SSLError
        ):  # before there is a certificate, nobody is let in
            return self.ask("/readyz", None)[0] == 200
        return False


@contextmanager
def running(
    apiserver: RunningApiServer,
    folder: Path,
    *words: str,
    before: Callable[[], object] = lambda: None,
    called: Path | None = None,
    ends: int = 0,
    **environ: str,
) -> Generator[Running]:
    """`before` is done when all files are there; `called` is a name of the program's; `ends` is what it ends with."""
    signed = apiserver.authority.issue_server_certificate("127.0.0.1")
    (folder / "tls.crt").write_bytes(signed.certificate)
    (folder / "tls.key").write_bytes(signed.key)
    (folder / "ca.crt").write_bytes(apiserver.ca)
    cluster = {"name": "c", "cluster": {"server": apiserver.url, "certificate-authority": "ca.crt"}}
    user = {"name": "u", "user": {"token": ADMIN}}
    context = {"name": "k", "context": {"cluster": "c", "user": "u"}}
    (folder / "kubeconfig").write_text(
        json.dumps(
            {"current-context": "k", "clusters": [cluster], "users": [user], "contexts": [context]}
        )
    )
    before()
    environment = {**os.environ, "KUBECONFIG": str(folder / "kubeconfig"), **environ}
    command = [str(called)] if called else [sys.executable, "-m", "cwii_webhook"]
    process = subprocess.Popen(
        [*command, *words], stderr=subprocess.PIPE, text=True, env=environment
    )
    assert process.stderr is not None
    with process:
        try:
            lines = (json.loads(line) for line in process.stderr)
            listening = next(line for line in lines if line["what"] == "listening")
            yield Running(
                process,
                [int(port) for port in listening["ports"]],
                ssl.create_default_context(cadata=apiserver.ca.decode()),
            )
        finally:
            process.send_signal(signal.SIGTERM)
            process.send_signal(signal.SIGTERM)  # a second one hurries it
            process.communicate(timeout=60)
    assert process.returncode == ends


def program(folder: Path, before: str) -> Path:
    """The program, after something that is done first."""
    file = folder / "changed"
    file.write_text(f"#!{sys.executable}\n{before}from cwii_webhook.__main__ import main\nmain()\n")
    file.chmod(0o755)
    return file


def pair(folder: Path) -> tuple[str, ...]:
    return ("--tls-cert", str(folder / "tls.crt"), "--tls-key", str(folder / "tls.key"))


@contextmanager
def a_shop(**more: str) -> Generator[RunningApiServer]:
    """A namespace, and in it an account that EKS's dialect has a role for."""
    with run_apiserver() as ground:
        ground.user.apply(NAMESPACES, "", "shop")
        ground.user.apply(
            SERVICE_ACCOUNTS, "shop", "billing", {"eks.amazonaws.com/role-arn": ROLE, **more}
        )
        yield ground
