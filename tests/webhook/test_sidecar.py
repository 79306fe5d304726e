"""Beside a kube-apiserver, which would not be ready without it: whatever can be mended never ends it."""

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
from tests.webhook.webhook_process import EKS, POD, Running, a_shop, pair, program, running

BAD = b"-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"


@pytest.fixture
def apiserver() -> Generator[RunningApiServer]:
    with a_shop() as ground:
        yield ground


def told(webhook: Running, reason: str) -> None:
    """It lives, is not ready, and says why, on the plain port too."""
    until = time.monotonic() + 60
    while reason not in (said := webhook.ask("/readyz", None, webhook.ports[1]))[1].decode():
        assert time.monotonic() < until, said
        time.sleep(0.05)
    assert said[0] == 503
    assert webhook.ask("/healthz", None, webhook.ports[1])[0] == 200


def decides(webhook: Running) -> None:
    webhook.ready()
    assert "patch" in webhook.review("/mutate", POD)


@pytest.mark.parametrize(
    "content", [None, "", "no: kubeconfig: at all", '{"current-context": "k"}']
)
def test_a_kubeconfig_that_is_missing_or_bad_is_waited_for(
    apiserver: RunningApiServer, tmp_path: Path, content: str | None
) -> None:
    file = tmp_path / "kubeconfig"
    kept: list[str] = []

    def spoil() -> None:
        kept.append(file.read_text())
        file.unlink() if content is None else file.write_text(content)

    with running(apiserver, tmp_path, *EKS, "--sidecar", *pair(tmp_path), before=spoil) as webhook:
        told(webhook, str(file))
        code, why = webhook.ask("/mutate", webhook.asked(POD))
        assert (code, str(file) in why.decode()) == (503, True)
        file.write_text(kept[0])
        decides(webhook)


def test_a_kubeconfig_that_is_replaced_is_heeded(
    apiserver: RunningApiServer, tmp_path: Path
) -> None:
    file = tmp_path / "kubeconfig"
    kept: list[str] = []

    def spoil() -> None:
        kept.append(file.read_text())
        file.write_text(kept[0].replace("the-admin", "nobody"))

    with running(apiserver, tmp_path, *EKS, "--sidecar", *pair(tmp_path), before=spoil) as webhook:
        told(webhook, "401")
        file.write_text(kept[0])
        decides(webhook)


@pytest.mark.parametrize(
    ("content", "reason"),
    [(None, "there is no {}"), (b"", "{} holds no certificate"), (BAD, "{} and ")],
    ids=["none", "empty", "bad"],
)
def test_a_certificate_that_is_missing_or_bad_is_waited_for(
    apiserver: RunningApiServer, tmp_path: Path, content: bytes | None, reason: str
) -> None:
    file = tmp_path / "tls.crt"
    kept: list[bytes] = []

    def spoil() -> None:
        kept.append(file.read_bytes())
        file.unlink() if content is None else file.write_bytes(content)

    with running(apiserver, tmp_path, *EKS, "--sidecar", *pair(tmp_path), before=spoil) as webhook:
        told(webhook, reason.format(file))
        file.write_bytes(kept[0])
        decides(webhook)


def test_an_authority_of_clients_that_is_missing_is_told(
    apiserver: RunningApiServer, tmp_path: Path
) -> None:
    file = tmp_path / "clients.crt"

    with running(
        apiserver, tmp_path, *EKS, "--sidecar", *pair(tmp_path), f"--client-ca={file}"
    ) as webhook:
        told(webhook, f"there is no {file}")


def test_a_permission_that_is_missing_is_waited_for(
    apiserver: RunningApiServer, tmp_path: Path
) -> None:
    apiserver.fake.behavior.denied_verbs = {("get", "serviceaccounts")}

    with running(apiserver, tmp_path, *EKS, "--sidecar", *pair(tmp_path)) as webhook:
        told(
            webhook, "the ServiceAccount may not get serviceaccounts: give it that in a ClusterRole"
        )
        assert webhook.ask("/mutate", webhook.asked(POD))[0] == 503
        apiserver.fake.behavior.denied_verbs = set()
        decides(webhook)


def test_an_api_server_that_is_away_is_waited_for(
    apiserver: RunningApiServer, tmp_path: Path
) -> None:
    with running(
        apiserver,
        tmp_path,
        *EKS,
        "--sidecar",
        *pair(tmp_path),
        before=lambda: apiserver.run_in_loop(apiserver.network.close),
    ) as webhook:
        told(webhook, "cannot be reached")
        asyncio.run(apiserver.reopen_network())
        decides(webhook)


@pytest.mark.parametrize(
    ("words", "reason"),
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
def test_what_cannot_be_meant_is_told_and_nothing_is_decided(
    apiserver: RunningApiServer, tmp_path: Path, words: tuple[str, ...], reason: str
) -> None:
    with running(apiserver, tmp_path, *EKS, "--sidecar", *pair(tmp_path), *words) as webhook:
        told(webhook, reason)
        code, why = webhook.ask("/mutate", webhook.asked(POD))
        assert (code, reason in why.decode()) == (503, True)


def test_as_openshift_calls_it_it_is_a_sidecar(apiserver: RunningApiServer, tmp_path: Path) -> None:
    called = tmp_path / "aws-pod-identity-webhook"
    called.symlink_to(Path(sys.executable).with_name("cwii-webhook"))
    words = (*EKS[1:], *pair(tmp_path), "--logtostderr", "--new-flag=of-a-later-release")
    with running(apiserver, tmp_path, *words, called=called) as webhook:
        told(webhook, "there is no flag --new-flag")


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_port_that_is_taken_is_waited_for_and_that_is_told(
    apiserver: RunningApiServer, tmp_path: Path, workers: str
) -> None:
    (other,) = bind("", 0)
    port = str(other.getsockname()[1])
    with running(
        apiserver,
        tmp_path,
        *EKS,
        "--sidecar",
        *pair(tmp_path),
        "--port",
        port,
        "--workers",
        workers,
    ) as webhook:
        assert webhook.ports[0] == int(port)
        until = time.monotonic() + 60
        while (
            f"door: nobody can listen at port {port}"
            not in (said := webhook.ask("/readyz", None, webhook.ports[1]))[1].decode()
        ):
            assert time.monotonic() < until, said
            time.sleep(0.05)
        assert said[0] == 503
        assert webhook.ask("/healthz", None, webhook.ports[1])[0] == 200
        other.close()
        decides(webhook)


@pytest.mark.parametrize("workers", ["1", "2"])
def test_while_only_its_plain_port_is_taken_pods_are_decided(
    apiserver: RunningApiServer, tmp_path: Path, workers: str
) -> None:
    (other,) = bind("", 0)
    port = other.getsockname()[1]
    with running(
        apiserver,
        tmp_path,
        *EKS,
        "--sidecar",
        *pair(tmp_path),
        "--metrics-port",
        str(port),
        "--workers",
        workers,
    ) as webhook:
        decides(webhook)
        other.close()
        until = time.monotonic() + 60
        while not listened_at(port):
            assert time.monotonic() < until
            time.sleep(0.05)
        assert webhook.ask("/healthz", None, port) == (200, b"ok\n")
        decides(webhook)


def listened_at(port: int) -> bool:
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
        return True
    return False


def test_a_machine_that_does_not_answer_at_the_start_is_asked_again(
    apiserver: RunningApiServer, tmp_path: Path
) -> None:
    words = (*EKS, "--sidecar", "--compose-role-arn", *pair(tmp_path))
    apiserver.user.apply(SERVICE_ACCOUNTS, "shop", "billing", {"eks.amazonaws.com/role-arn": "s3"})
    with (
        serve_metadata(failing=1 + len(RETRY_DELAYS)) as (address, _),
        running(apiserver, tmp_path, *words, AWS_EC2_METADATA_SERVICE_ENDPOINT=address) as webhook,
    ):
        told(webhook, "--compose-role-arn needs the instance's metadata")
        assert webhook.ask("/mutate", webhook.asked(POD))[0] == 503
        webhook.ready()
        patch = base64.b64decode(webhook.review("/mutate", POD)["patch"])

    assert b"arn:aws-us-gov:iam::111122223333:role/s3" in patch


def test_without_the_extra_for_otlp_pods_are_decided(
    apiserver: RunningApiServer, tmp_path: Path
) -> None:
    bare = program(tmp_path, "import sys\nsys.modules['opentelemetry'] = None\n")
    words = (*EKS, "--sidecar", "--otlp-endpoint", "http://127.0.0.1:1", *pair(tmp_path))
    with running(apiserver, tmp_path, *words, called=bare) as webhook:
        decides(webhook)
