"""The webhook runs as a process with a peer's command line, a kubeconfig and TLS."""

from __future__ import annotations

import base64
import ipaddress
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Generator
from importlib import metadata as metadata_of
from pathlib import Path
from typing import Any

import pytest
from cwii_webhook.dialects.registry import ALL
from cwii_webhook.kube.resources import SERVICE_ACCOUNTS
from cwii_webhook.settings.flags import parse

from tests.webhook.apiserver.running import CONFIG_MAPS, RunningApiServer, run_apiserver
from tests.webhook.dialects.eks.metadata_service import serve_metadata
from tests.webhook.webhook_process import (
    AZWI,
    EKS,
    POD,
    ROLE,
    RunningWebhook,
    run_shop_apiserver,
    run_webhook,
    tls_flags,
)


@pytest.fixture
def apiserver() -> Generator[RunningApiServer]:
    with run_shop_apiserver(
        **{"cwii.dev/aws-inject": "true", "cwii.dev/aws-role-arn": ROLE}
    ) as ground:
        yield ground


def patch_paths(response: dict[str, Any]) -> list[str]:
    return [op["path"] for op in json.loads(base64.b64decode(response["patch"]))]


def test_command_line_of_eks_starts_it_and_injects_the_role(
    apiserver: RunningApiServer, tmp_path: Path
) -> None:
    with run_webhook(apiserver, tmp_path, *EKS, *tls_flags(tmp_path)) as webhook:
        webhook.wait_until_ready()
        response = webhook.review("/mutate", POD)
        metrics = webhook.request("/metrics", None, webhook.ports[1])[1].decode()
        second_response = webhook.review("/eks/mutate", POD)

    assert response["allowed"]
    assert patch_paths(second_response) == patch_paths(response), (
        "the dialect has the same path as if it were not the first"
    )
    assert patch_paths(response) == [
        "/spec/volumes",
        "/spec/containers/0/volumeMounts",
        "/spec/containers/0/env",
    ]
    assert response["auditAnnotations"]["injected"] == "aws"
    assert (
        'cwii_decisions_total{dialect="eks",provider="aws",outcome="injected",reason=""} 1'
        in metrics
    )
    assert f'cwii_build_info{{version="{metadata_of.version("cwii-webhook")}"}} 1\n' in metrics


def test_external_configs_of_eks_are_applied_when_they_change(
    apiserver: RunningApiServer, tmp_path: Path
) -> None:
    file = tmp_path / "identities.json"

    def write_config_map(**roles: str) -> None:
        apiserver.user.apply_config_map(
            "eks",
            "pod-identity-webhook",
            {
                "config": json.dumps(
                    {f"shop/{name}": {"RoleARN": role} for name, role in roles.items()}
                )
            },
        )

    def injected_env(name: str) -> dict[str, str]:
        response = webhook.review(
            "/mutate", {**POD, "spec": {**POD["spec"], "serviceAccountName": name}}
        )
        ops = json.loads(base64.b64decode(response.get("patch", "W10=")))
        return {
            v["name"]: v["value"] for op in ops if op["path"].endswith("/env") for v in op["value"]
        }

    write_config_map(mapped="one")
    file.write_text("broken")
    arguments = (
        "--watch-config-map",
        "--compose-role-arn",
        "--watch-container-credentials-config",
        str(file),
    )
    with (
        serve_metadata() as (address, _),
        run_webhook(
            apiserver,
            tmp_path,
            *EKS,
            *arguments,
            *tls_flags(tmp_path),
            AWS_EC2_METADATA_SERVICE_ENDPOINT=address,
        ) as webhook,
    ):
        webhook.wait_until_ready()
        assert injected_env("mapped")["AWS_ROLE_ARN"] == "arn:aws-us-gov:iam::111122223333:role/one"
        assert (
            'cwii_external_config_error{source="identities"} 1'
            in webhook.request("/metrics", None, webhook.ports[1])[1].decode()
        )

        write_config_map(mapped="two")
        file.write_text('{"identities": [{"namespace": "shop", "serviceAccount": "agent"}]}')
        deadline = time.monotonic() + 60
        while "role/two" not in injected_env("mapped")["AWS_ROLE_ARN"] or not injected_env("agent"):
            assert time.monotonic() < deadline
            time.sleep(0.05)

        assert (
            injected_env("agent")["AWS_CONTAINER_CREDENTIALS_FULL_URI"]
            == "http://169.254.170.23/v1/credentials"
        )
        reads = apiserver.run_in_loop(lambda: apiserver.fake.requests)
        assert not [
            request
            for request in reads
            if "configmaps/" in request.path and request.method == "GET"
        ]


def test_one_process_serves_two_dialects(apiserver: RunningApiServer, tmp_path: Path) -> None:
    with run_webhook(
        apiserver, tmp_path, "cwii", "--addr", "127.0.0.1:0", *tls_flags(tmp_path), "+", "eks"
    ) as webhook:
        webhook.wait_until_ready()

        assert "/metadata/annotations" in patch_paths(webhook.review("/mutate", POD))
        assert "/metadata/annotations" not in patch_paths(webhook.review("/eks/mutate", POD))
        assert "/metadata/annotations" in patch_paths(webhook.review("/cwii/mutate", POD)), (
            "the path does not depend on the order of the dialects"
        )


def test_command_line_and_environment_of_azwi_start_it(
    apiserver: RunningApiServer, tmp_path: Path
) -> None:
    with run_webhook(
        apiserver,
        tmp_path,
        *AZWI,
        "--webhook-cert-dir",
        str(tmp_path),
        AZURE_TENANT_ID="t",
        AZURE_ENVIRONMENT="AzurePublicCloud",
    ) as webhook:
        webhook.wait_until_ready()
        response = webhook.review("/mutate-v1-pod", POD)

        assert response["allowed"]
        assert webhook.request("/readyz", None, webhook.ports[1]) == (200, b"ok\n")


def test_command_line_of_gcpwif_starts_it(apiserver: RunningApiServer, tmp_path: Path) -> None:
    arguments = (
        "gcpwif",
        "--port",
        "0",
        "--health-probe-bind-address",
        "127.0.0.1:0",
        "--metrics-bind-address",
        "127.0.0.1:0",
        "--zap-devel",
    )
    with run_webhook(
        apiserver, tmp_path, *arguments, "--webhook-cert-dir", str(tmp_path)
    ) as webhook:
        webhook.wait_until_ready()

        assert webhook.review("/mutate-v1-pod", POD)["allowed"]


def test_new_service_account_is_read_before_the_watch_reports_it(
    apiserver: RunningApiServer, tmp_path: Path
) -> None:
    with run_webhook(apiserver, tmp_path, *EKS, *tls_flags(tmp_path)) as webhook:
        webhook.wait_until_ready()
        apiserver.run_in_loop(apiserver.network.freeze)
        apiserver.user.apply(SERVICE_ACCOUNTS, "shop", "new", {"eks.amazonaws.com/role-arn": ROLE})

        assert "patch" in webhook.review(
            "/mutate", {**POD, "spec": {**POD["spec"], "serviceAccountName": "new"}}
        )


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
def test_invalid_request_gets_an_http_status(
    shared_webhook: RunningWebhook, path: str, body: bytes | None, kind: str, code: int
) -> None:
    assert shared_webhook.request(path, body, kind=kind)[0] == code


def test_pod_with_unknown_service_account_stays_unchanged(shared_webhook: RunningWebhook) -> None:
    response = shared_webhook.review(
        "/mutate", {**POD, "spec": {**POD["spec"], "serviceAccountName": "nobody"}}
    )

    assert (response["allowed"], "patch" in response) == (True, False)


@pytest.fixture(scope="module")
def shared_webhook(tmp_path_factory: pytest.TempPathFactory) -> Generator[RunningWebhook]:
    folder = tmp_path_factory.mktemp("webhook")
    with (
        run_apiserver() as ground,
        run_webhook(ground, folder, *EKS, *tls_flags(folder)) as webhook,
    ):
        webhook.wait_until_ready()
        yield webhook


@pytest.mark.parametrize(
    ("arguments", "output"),
    [
        ((), "it is not said whose words are spoken"),
        (("eka",), "'eka' is no dialect"),
        (
            ("eks", "--aws-default-regio=x"),
            "there is no flag --aws-default-regio: did you mean --aws-default-region?",
        ),
        (("azwi",), "AZURE_TENANT_ID is not set"),
        (
            ("eks", "--watch-config-map", "--namespace=-"),
            "--namespace is '-', which is no namespace",
        ),
        (("eks", "--compose-role-arn"), "--compose-role-arn needs the instance's metadata"),
        (("cwii", "--kubeconfig", "/nowhere/kubeconfig"), "/nowhere/kubeconfig"),
    ],
)
def test_invalid_command_line_prints_one_line_and_exits_with_2(
    arguments: tuple[str, ...], output: str
) -> None:
    environ = {
        "PATH": os.environ["PATH"],
        "AWS_EC2_METADATA_SERVICE_ENDPOINT": "http://127.0.0.1:1",
    }
    done = subprocess.run(
        [sys.executable, "-m", "cwii_webhook", *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        env=environ,
        check=False,
    )

    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert output in done.stderr


def test_help_prints_usage_and_defaults() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "cwii_webhook", "azwi", "--help"],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )

    assert done.stdout.startswith("Usage: cwii-webhook azwi [FLAG ...] [+ DIALECT [FLAG ...]]\n")
    assert (
        "  --tenant-id TEXT\n        Tenant of pods whose ServiceAccount names none. "
        "($AZURE_TENANT_ID)\n" in done.stdout
    )
    assert (
        "  --health-addr HOST:PORT\n        Where health is asked for, without TLS. [:9440]\n"
        in done.stdout
    )
    assert (
        "  --shutdown-delay DURATION\n        How long it goes on serving after it was told "
        "to end. [10s]\n" in done.stdout
    )
    assert "--metrics-backend" in done.stdout.rpartition("Taken, with a warning")[2]


@pytest.mark.parametrize(
    "arguments", [["--version"], ["eks", "--version"], ["azwi", "-version"]], ids=" ".join
)
def test_version_flag_prints_the_version(arguments: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "cwii_webhook", *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )

    assert done.stdout == f"cwii-webhook {metadata_of.version('cwii-webhook')}\n"


@pytest.mark.parametrize(
    "arguments",
    [
        ["-v4"],
        ["-v", "4"],
        ["--v=4"],
        ["--log_dir=/x", "--stderrthreshold", "2"],
        ["-logtostderr"],
        ["--skip_headers=true"],
    ],
    ids=" ".join,
)
def test_log_flags_of_go_are_accepted_in_the_syntax_of_go(arguments: list[str]) -> None:
    flags = parse(ALL["eks"].flags, [*arguments, "--port=1"], {})

    assert flags.values == {"serving.port": 1}
    assert all("has no meaning here" in warning for warning in flags.warnings)


def test_sigterm_during_the_start_exits_with_0(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "kubeconfig")
    with subprocess.Popen(
        [sys.executable, "-m", "cwii_webhook", "eks", "--kubeconfig", tmp_path / "kubeconfig"]
    ) as process:
        # Returns when the webhook opens the file. The webhook reads until the writer closes it.
        writer = os.open(tmp_path / "kubeconfig", os.O_WRONLY)
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0
        os.close(writer)


def test_client_certificate_needs_the_name_of_an_api_server(
    apiserver: RunningApiServer, tmp_path: Path
) -> None:
    signed = apiserver.authority.issue_client_certificate("kube-apiserver")
    (tmp_path / "client.pem").write_bytes(signed.key + signed.certificate)
    arguments = (
        *EKS,
        *tls_flags(tmp_path),
        "--client-ca",
        str(tmp_path / "ca.crt"),
        "--client-names",
    )
    for names, code in (("front-proxy,kube-apiserver", 200), ("somebody-else", 403)):
        with run_webhook(apiserver, tmp_path, *arguments, names) as webhook:
            webhook.trust.load_cert_chain(tmp_path / "client.pem")
            webhook.wait_until_ready()

            assert webhook.request("/mutate", webhook.encode_review(POD))[0] == code


def test_debug_pages_are_only_on_the_loopback(apiserver: RunningApiServer, tmp_path: Path) -> None:
    with run_webhook(
        apiserver, tmp_path, *EKS, *tls_flags(tmp_path), "--debug-port", "0"
    ) as webhook:
        webhook.wait_until_ready()
        plain, debugging = webhook.ports[1:]

        assert (
            b"serviceaccounts: 1 objects" in webhook.request("/debug/picture", None, debugging)[1]
        )
        assert b"in run" in webhook.request("/debug/tasks", None, debugging)[1]
        assert b" builtins.function\n" in webhook.request("/debug/memory", None, debugging)[1]
        assert {webhook.request("/debug/picture", None, port)[0] for port in (0, plain)} == {404}
        assert listening_addresses(debugging) == {"127.0.0.1"}


def listening_addresses(port: int) -> set[str]:
    """Returns the local addresses of all sockets that listen at the port."""
    rows = [
        line.split()
        for file in ("tcp", "tcp6")
        for line in Path(f"/proc/net/{file}").read_text().splitlines()[1:]
    ]
    listening = [address.split(":") for _, address, _, state, *_ in rows if state == "0A"]
    return {
        str(ipaddress.ip_address(bytes.fromhex(address)[::-1]))
        for address, hex_port in listening
        if int(hex_port, 16) == port
    }


def test_proxy_of_azwi_is_a_native_sidecar_if_the_api_server_supports_it(
    apiserver: RunningApiServer, tmp_path: Path
) -> None:
    apiserver.user.apply(
        SERVICE_ACCOUNTS, "shop", "billing", {"azure.workload.identity/client-id": "11111111-2222"}
    )
    pod = {
        "metadata": {
            "labels": {"azure.workload.identity/use": "true"},
            "annotations": {"azure.workload.identity/inject-proxy-sidecar": "true"},
        }
    }
    native: list[bool] = []
    for minor in ("31+", "32"):
        apiserver.fake.behavior.version = ("1", minor)
        with run_webhook(
            apiserver, tmp_path, *AZWI, "--webhook-cert-dir", str(tmp_path), AZURE_TENANT_ID="t"
        ) as webhook:
            webhook.wait_until_ready()
            response = webhook.review(
                "/mutate-v1-pod", {**POD, "metadata": {**POD["metadata"], **pod["metadata"]}}
            )
            native.append(b'"restartPolicy":"Always"' in base64.b64decode(response["patch"]))

    assert native == [False, True]


def is_native_sidecar(webhook: RunningWebhook) -> bool:
    """Whether azwi injects its proxy as a native sidecar (restartPolicy: Always)."""
    metadata = {
        "labels": {"azure.workload.identity/use": "true"},
        "annotations": {"azure.workload.identity/inject-proxy-sidecar": "true"},
    }
    response = webhook.review(
        "/azwi/mutate-v1-pod", {**POD, "metadata": {**POD["metadata"], **metadata}}
    )
    return b'"restartPolicy":"Always"' in base64.b64decode(response["patch"])


def test_new_version_of_the_api_server_keeps_external_configs(
    apiserver: RunningApiServer, tmp_path: Path
) -> None:
    apiserver.user.apply(
        SERVICE_ACCOUNTS, "shop", "billing", {"azure.workload.identity/client-id": "11111111-2222"}
    )
    apiserver.user.apply_config_map(
        "eks", "pod-identity-webhook", {"config": json.dumps({"shop/billing": {"RoleARN": ROLE}})}
    )
    apiserver.fake.behavior.version = ("1", "31")
    with run_webhook(
        apiserver,
        tmp_path,
        *EKS,
        "--watch-config-map",
        *tls_flags(tmp_path),
        "+",
        "azwi",
        AZURE_TENANT_ID="t",
    ) as webhook:
        webhook.wait_until_ready()
        assert ("patch" in webhook.review("/mutate", POD), is_native_sidecar(webhook)) == (
            True,
            False,
        )

        apiserver.user.delete(CONFIG_MAPS, "eks", "pod-identity-webhook")
        apiserver.fake.behavior.version = ("1", "32")
        apiserver.run_in_loop(apiserver.network.cut)
        deadline = time.monotonic() + 60
        while not is_native_sidecar(webhook):
            assert time.monotonic() < deadline
            time.sleep(0.05)

        assert "patch" in webhook.review("/mutate", POD)


FAILING_PROGRAM = """#!{python}
import os, sys
from cwii_webhook.dialects.dialect import build_service
from cwii_webhook.dialects.registry import ALL
from cwii_webhook.program import serve

def build_services(server_version=(), on_bad_flag=None):
    if server_version:
        raise LookupError("unexpected")
    return [build_service(ALL["azwi"], sys.argv[1:], os.environ)]

sys.exit(serve(build_services, os.environ))
"""


def test_failed_background_task_exits_with_1(apiserver: RunningApiServer, tmp_path: Path) -> None:
    (tmp_path / "failing").write_text(FAILING_PROGRAM.format(python=sys.executable))
    (tmp_path / "failing").chmod(0o755)
    arguments = (*AZWI[1:], "--webhook-cert-dir", str(tmp_path), "--shutdown-delay=0s")
    with run_webhook(
        apiserver,
        tmp_path,
        *arguments,
        program=tmp_path / "failing",
        exit_code=1,
        AZURE_TENANT_ID="t",
    ) as webhook:
        assert webhook.process.wait(60) == 1


@pytest.mark.parametrize(
    ("arguments", "code", "output"),
    [
        (["--help"], 0, "cwii-webhook"),
        (["eks", "--help"], 0, "--tls-cert"),
        (["cwii"], 2, "webhook[server]"),
    ],
)
def test_missing_server_extra_is_reported_in_one_sentence(
    arguments: list[str], code: int, output: str
) -> None:
    program = (
        "import sys; sys.modules['httptools'] = None; "
        "from cwii_webhook.__main__ import main; main()"
    )

    done = subprocess.run(
        [sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=False
    )

    assert done.returncode == code
    assert output in (done.stdout + done.stderr).lower()
    assert "Traceback" not in done.stderr
