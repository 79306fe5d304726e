"""A sidecar of a kube-apiserver does not exit because of an error that can be corrected."""

from __future__ import annotations

import asyncio
import base64
import socket
import sys
import time
from collections.abc import Generator
from contextlib import suppress
from pathlib import Path

import pytest
from cwii_webhook.dialects.eks.instance_metadata import RETRY_DELAYS
from cwii_webhook.kube.resources import SERVICE_ACCOUNTS
from cwii_webhook.server.listener import bind

from tests.webhook.apiserver.running import RunningApiServer
from tests.webhook.dialects.eks.metadata_service import serve_metadata
from tests.webhook.webhook_process import (
    EKS,
    POD,
    RunningWebhook,
    run_shop_apiserver,
    run_webhook,
    tls_flags,
    write_program,
)

BAD_CERTIFICATE = b"-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"


@pytest.fixture
def apiserver() -> Generator[RunningApiServer]:
    with run_shop_apiserver() as ground:
        yield ground


def wait_for_reason(webhook: RunningWebhook, reason: str) -> None:
    """Waits until the webhook is alive, but not ready for this reason. Uses the plain port."""
    deadline = time.monotonic() + 60
    while (
        reason not in (response := webhook.request("/readyz", None, webhook.ports[1]))[1].decode()
    ):
        assert time.monotonic() < deadline, response
        time.sleep(0.05)
    assert response[0] == 503
    assert webhook.request("/healthz", None, webhook.ports[1])[0] == 200


def assert_decides(webhook: RunningWebhook) -> None:
    webhook.wait_until_ready()
    assert "patch" in webhook.review("/mutate", POD)


@pytest.mark.parametrize(
    "content", [None, "", "no: kubeconfig: at all", '{"current-context": "k"}']
)
def test_missing_or_invalid_kubeconfig_is_waited_for(
    apiserver: RunningApiServer, tmp_path: Path, content: str | None
) -> None:
    file = tmp_path / "kubeconfig"
    original: list[str] = []

    def break_file() -> None:
        original.append(file.read_text())
        file.unlink() if content is None else file.write_text(content)

    with run_webhook(
        apiserver, tmp_path, *EKS, "--sidecar", *tls_flags(tmp_path), before_start=break_file
    ) as webhook:
        wait_for_reason(webhook, str(file))
        code, body = webhook.request("/mutate", webhook.encode_review(POD))
        assert (code, str(file) in body.decode()) == (503, True)
        file.write_text(original[0])
        assert_decides(webhook)


def test_replaced_kubeconfig_is_used(apiserver: RunningApiServer, tmp_path: Path) -> None:
    file = tmp_path / "kubeconfig"
    original: list[str] = []

    def break_file() -> None:
        original.append(file.read_text())
        file.write_text(original[0].replace("the-admin", "nobody"))

    with run_webhook(
        apiserver, tmp_path, *EKS, "--sidecar", *tls_flags(tmp_path), before_start=break_file
    ) as webhook:
        wait_for_reason(webhook, "401")
        file.write_text(original[0])
        assert_decides(webhook)


@pytest.mark.parametrize(
    ("content", "reason"),
    [(None, "there is no {}"), (b"", "{} holds no certificate"), (BAD_CERTIFICATE, "{} and ")],
    ids=["none", "empty", "bad"],
)
def test_missing_or_invalid_certificate_is_waited_for(
    apiserver: RunningApiServer, tmp_path: Path, content: bytes | None, reason: str
) -> None:
    file = tmp_path / "tls.crt"
    original: list[bytes] = []

    def break_file() -> None:
        original.append(file.read_bytes())
        file.unlink() if content is None else file.write_bytes(content)

    with run_webhook(
        apiserver, tmp_path, *EKS, "--sidecar", *tls_flags(tmp_path), before_start=break_file
    ) as webhook:
        wait_for_reason(webhook, reason.format(file))
        file.write_bytes(original[0])
        assert_decides(webhook)


def test_missing_client_ca_is_reported(apiserver: RunningApiServer, tmp_path: Path) -> None:
    file = tmp_path / "clients.crt"

    with run_webhook(
        apiserver, tmp_path, *EKS, "--sidecar", *tls_flags(tmp_path), f"--client-ca={file}"
    ) as webhook:
        wait_for_reason(webhook, f"there is no {file}")


def test_missing_permission_is_waited_for(apiserver: RunningApiServer, tmp_path: Path) -> None:
    apiserver.fake.behavior.denied_verbs = {("get", "serviceaccounts")}

    with run_webhook(apiserver, tmp_path, *EKS, "--sidecar", *tls_flags(tmp_path)) as webhook:
        wait_for_reason(
            webhook, "the ServiceAccount may not get serviceaccounts: give it that in a ClusterRole"
        )
        assert webhook.request("/mutate", webhook.encode_review(POD))[0] == 503
        apiserver.fake.behavior.denied_verbs = set()
        assert_decides(webhook)


def test_unreachable_api_server_is_waited_for(apiserver: RunningApiServer, tmp_path: Path) -> None:
    with run_webhook(
        apiserver,
        tmp_path,
        *EKS,
        "--sidecar",
        *tls_flags(tmp_path),
        before_start=lambda: apiserver.run_in_loop(apiserver.network.close),
    ) as webhook:
        wait_for_reason(webhook, "cannot be reached")
        asyncio.run(apiserver.reopen_network())
        assert_decides(webhook)


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (
            ("--aws-default-regio=x",),
            "there is no flag --aws-default-regio: did you mean --aws-default-region?",
        ),
        (("--strange", "word"), "there is no flag --strange"),
        (("--token-expiration", "long"), "--token-expiration is 'long', which is no number"),
        (("--workers=0",), "--workers is 0"),
        (("--tls-min-version=1.4",), "there is no TLS version 1.4"),
        (("+", "azwi"), "AZURE_TENANT_ID is not set"),
        (("+", "awzi"), "'awzi' is no dialect"),
    ],
)
def test_invalid_flags_are_reported_and_no_review_is_decided(
    apiserver: RunningApiServer, tmp_path: Path, arguments: tuple[str, ...], reason: str
) -> None:
    with run_webhook(
        apiserver, tmp_path, *EKS, "--sidecar", *tls_flags(tmp_path), *arguments
    ) as webhook:
        wait_for_reason(webhook, reason)
        code, body = webhook.request("/mutate", webhook.encode_review(POD))
        assert (code, reason in body.decode()) == (503, True)


def test_program_name_of_openshift_makes_it_a_sidecar(
    apiserver: RunningApiServer, tmp_path: Path
) -> None:
    program = tmp_path / "aws-pod-identity-webhook"
    program.symlink_to(Path(sys.executable).with_name("cwii-webhook"))
    arguments = (*EKS[1:], *tls_flags(tmp_path), "--logtostderr", "--new-flag=of-a-later-release")
    with run_webhook(apiserver, tmp_path, *arguments, program=program) as webhook:
        wait_for_reason(webhook, "there is no flag --new-flag")


@pytest.mark.parametrize("workers", ["1", "2"])
def test_occupied_tls_port_is_reported_and_waited_for(
    apiserver: RunningApiServer, tmp_path: Path, workers: str
) -> None:
    (other,) = bind("", 0)
    port = str(other.getsockname()[1])
    with run_webhook(
        apiserver,
        tmp_path,
        *EKS,
        "--sidecar",
        *tls_flags(tmp_path),
        "--port",
        port,
        "--workers",
        workers,
    ) as webhook:
        assert webhook.ports[0] == int(port)
        deadline = time.monotonic() + 60
        while (
            f"door: nobody can listen at port {port}"
            not in (response := webhook.request("/readyz", None, webhook.ports[1]))[1].decode()
        ):
            assert time.monotonic() < deadline, response
            time.sleep(0.05)
        assert response[0] == 503
        assert webhook.request("/healthz", None, webhook.ports[1])[0] == 200
        other.close()
        assert_decides(webhook)


@pytest.mark.parametrize("workers", ["1", "2"])
def test_occupied_plain_port_does_not_stop_decisions(
    apiserver: RunningApiServer, tmp_path: Path, workers: str
) -> None:
    (other,) = bind("", 0)
    port = other.getsockname()[1]
    with run_webhook(
        apiserver,
        tmp_path,
        *EKS,
        "--sidecar",
        *tls_flags(tmp_path),
        "--metrics-port",
        str(port),
        "--workers",
        workers,
    ) as webhook:
        assert_decides(webhook)
        other.close()
        deadline = time.monotonic() + 60
        while not accepts_connections(port):
            assert time.monotonic() < deadline
            time.sleep(0.05)
        assert webhook.request("/healthz", None, port) == (200, b"ok\n")
        assert_decides(webhook)


def accepts_connections(port: int) -> bool:
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
        return True
    return False


def test_unavailable_instance_metadata_is_requested_again(
    apiserver: RunningApiServer, tmp_path: Path
) -> None:
    arguments = (*EKS, "--sidecar", "--compose-role-arn", *tls_flags(tmp_path))
    apiserver.user.apply(SERVICE_ACCOUNTS, "shop", "billing", {"eks.amazonaws.com/role-arn": "s3"})
    with (
        serve_metadata(failing=1 + len(RETRY_DELAYS)) as (address, _),
        run_webhook(
            apiserver, tmp_path, *arguments, AWS_EC2_METADATA_SERVICE_ENDPOINT=address
        ) as webhook,
    ):
        wait_for_reason(webhook, "--compose-role-arn needs the instance's metadata")
        assert webhook.request("/mutate", webhook.encode_review(POD))[0] == 503
        webhook.wait_until_ready()
        patch = base64.b64decode(webhook.review("/mutate", POD)["patch"])

    assert b"arn:aws-us-gov:iam::111122223333:role/s3" in patch


def test_reviews_are_decided_without_the_otlp_extra(
    apiserver: RunningApiServer, tmp_path: Path
) -> None:
    program = write_program(tmp_path, "import sys\nsys.modules['opentelemetry'] = None\n")
    arguments = (*EKS, "--sidecar", "--otlp-endpoint", "http://127.0.0.1:1", *tls_flags(tmp_path))
    with run_webhook(apiserver, tmp_path, *arguments, program=program) as webhook:
        assert_decides(webhook)
