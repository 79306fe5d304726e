"""The whole program as a cluster runs it: a command line of a peer's, a kubeconfig, TLS, and a review posted to it."""

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
from tests.webhook.webhook_process import AZWI, EKS, POD, ROLE, Running, a_shop, pair, running

WORDS = {
    "eks.amazonaws.com/role-arn": ROLE,
    "cwii.dev/aws-inject": "true",
    "cwii.dev/aws-role-arn": ROLE,
}


@pytest.fixture
def apiserver() -> Generator[RunningApiServer]:
    with a_shop(**{"cwii.dev/aws-inject": "true", "cwii.dev/aws-role-arn": ROLE}) as ground:
        yield ground


def paths(response: dict[str, Any]) -> list[str]:
    return [op["path"] for op in json.loads(base64.b64decode(response["patch"]))]


def test_ekss_own_command_line_starts_it_and_pods_get_their_role(
    apiserver: RunningApiServer, tmp_path: Path
) -> None:
    with running(apiserver, tmp_path, *EKS, *pair(tmp_path)) as webhook:
        webhook.ready()
        response = webhook.review("/mutate", POD)
        metrics = webhook.ask("/metrics", None, webhook.ports[1])[1].decode()
        again = webhook.review("/eks/mutate", POD)

    assert response["allowed"]
    assert paths(again) == paths(response), "it is also where it would be behind another dialect"
    assert paths(response) == [
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


def test_ekss_config_map_its_file_and_the_instances_metadata_are_heeded_as_they_change(
    apiserver: RunningApiServer, tmp_path: Path
) -> None:
    file = tmp_path / "identities.json"

    def give(**by: str) -> None:
        apiserver.user.apply_config_map(
            "eks",
            "pod-identity-webhook",
            {
                "config": json.dumps(
                    {f"shop/{name}": {"RoleARN": role} for name, role in by.items()}
                )
            },
        )

    def given(name: str) -> dict[str, str]:
        response = webhook.review(
            "/mutate", {**POD, "spec": {**POD["spec"], "serviceAccountName": name}}
        )
        ops = json.loads(base64.b64decode(response.get("patch", "W10=")))
        return {
            v["name"]: v["value"] for op in ops if op["path"].endswith("/env") for v in op["value"]
        }

    give(mapped="one")
    file.write_text("broken")
    words = (
        "--watch-config-map",
        "--compose-role-arn",
        "--watch-container-credentials-config",
        str(file),
    )
    with (
        serve_metadata() as (address, _),
        running(
            apiserver,
            tmp_path,
            *EKS,
            *words,
            *pair(tmp_path),
            AWS_EC2_METADATA_SERVICE_ENDPOINT=address,
        ) as webhook,
    ):
        webhook.ready()
        assert given("mapped")["AWS_ROLE_ARN"] == "arn:aws-us-gov:iam::111122223333:role/one"
        assert (
            'cwii_source_trouble{source="identities"} 1'
            in webhook.ask("/metrics", None, webhook.ports[1])[1].decode()
        )

        give(mapped="two")
        file.write_text('{"identities": [{"namespace": "shop", "serviceAccount": "agent"}]}')
        until = time.monotonic() + 60
        while "role/two" not in given("mapped")["AWS_ROLE_ARN"] or not given("agent"):
            assert time.monotonic() < until
            time.sleep(0.05)

        assert (
            given("agent")["AWS_CONTAINER_CREDENTIALS_FULL_URI"]
            == "http://169.254.170.23/v1/credentials"
        )
        reads = apiserver.run_in_loop(lambda: apiserver.fake.requests)
        assert not [
            request
            for request in reads
            if "configmaps/" in request.path and request.method == "GET"
        ]


def test_two_dialects_are_served_by_one_process(
    apiserver: RunningApiServer, tmp_path: Path
) -> None:
    with running(
        apiserver, tmp_path, "cwii", "--addr", "127.0.0.1:0", *pair(tmp_path), "+", "eks"
    ) as webhook:
        webhook.ready()

        assert "/metadata/annotations" in paths(webhook.review("/mutate", POD))
        assert "/metadata/annotations" not in paths(webhook.review("/eks/mutate", POD))
        assert "/metadata/annotations" in paths(
            webhook.review("/cwii/mutate", POD)
        )  # where it is found whoever comes first


def test_azures_own_command_line_and_environment_start_it(
    apiserver: RunningApiServer, tmp_path: Path
) -> None:
    with running(
        apiserver,
        tmp_path,
        *AZWI,
        "--webhook-cert-dir",
        str(tmp_path),
        AZURE_TENANT_ID="t",
        AZURE_ENVIRONMENT="AzurePublicCloud",
    ) as webhook:
        webhook.ready()
        response = webhook.review("/mutate-v1-pod", POD)

        assert response["allowed"]
        assert webhook.ask("/readyz", None, webhook.ports[1]) == (200, b"ok\n")


def test_googles_own_command_line_starts_it(apiserver: RunningApiServer, tmp_path: Path) -> None:
    words = (
        "gcpwif",
        "--port",
        "0",
        "--health-probe-bind-address",
        "127.0.0.1:0",
        "--metrics-bind-address",
        "127.0.0.1:0",
        "--zap-devel",
    )
    with running(apiserver, tmp_path, *words, "--webhook-cert-dir", str(tmp_path)) as webhook:
        webhook.ready()

        assert webhook.review("/mutate-v1-pod", POD)["allowed"]


def test_an_account_that_came_a_moment_ago_is_read_at_once(
    apiserver: RunningApiServer, tmp_path: Path
) -> None:
    with running(apiserver, tmp_path, *EKS, *pair(tmp_path)) as webhook:
        webhook.ready()
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
def test_what_is_no_review_is_answered_in_http(
    shared: Running, path: str, body: bytes | None, kind: str, code: int
) -> None:
    assert shared.ask(path, body, kind=kind)[0] == code


def test_a_pod_of_nobody_is_left_alone(shared: Running) -> None:
    response = shared.review(
        "/mutate", {**POD, "spec": {**POD["spec"], "serviceAccountName": "nobody"}}
    )

    assert (response["allowed"], "patch" in response) == (True, False)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Generator[Running]:
    folder = tmp_path_factory.mktemp("webhook")
    with run_apiserver() as ground, running(ground, folder, *EKS, *pair(folder)) as webhook:
        webhook.ready()
        yield webhook


@pytest.mark.parametrize(
    ("words", "told"),
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
def test_what_cannot_be_meant_is_one_line_and_exit_code_2(
    words: tuple[str, ...], told: str
) -> None:
    environ = {
        "PATH": os.environ["PATH"],
        "AWS_EC2_METADATA_SERVICE_ENDPOINT": "http://127.0.0.1:1",
    }
    done = subprocess.run(
        [sys.executable, "-m", "cwii_webhook", *words],
        capture_output=True,
        text=True,
        timeout=60,
        env=environ,
        check=False,
    )

    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert told in done.stderr


def test_help_says_how_it_is_called_and_what_holds_by_default() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "cwii_webhook", "azwi", "--help"],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )

    assert done.stdout.startswith("Usage: cwii-webhook azwi [FLAG ...] [+ DIALECT [FLAG ...]]\n")
    assert (
        "  --tenant-id TEXT\n        Tenant of pods whose ServiceAccount names none. ($AZURE_TENANT_ID)\n"
        in done.stdout
    )
    assert (
        "  --health-addr HOST:PORT\n        Where health is asked for, without TLS. [:9440]\n"
        in done.stdout
    )
    assert (
        "  --shutdown-delay DURATION\n        How long it goes on serving after it was told to end. [10s]\n"
        in done.stdout
    )
    assert "--metrics-backend" in done.stdout.rpartition("Taken, with a warning")[2]


@pytest.mark.parametrize(
    "words", [["--version"], ["eks", "--version"], ["azwi", "-version"]], ids=" ".join
)
def test_it_says_which_version_it_is(words: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "cwii_webhook", *words],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )

    assert done.stdout == f"cwii-webhook {metadata_of.version('cwii-webhook')}\n"


@pytest.mark.parametrize(
    "words",
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
def test_what_is_told_to_gos_log_is_taken_as_go_takes_it(words: list[str]) -> None:
    told = parse(ALL["eks"].flags, [*words, "--port=1"], {})

    assert told.values == {"serving.port": 1}
    assert all("has no meaning here" in warning for warning in told.warnings)


def test_who_is_told_to_end_before_it_serves_ends_well(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "kubeconfig")
    with subprocess.Popen(
        [sys.executable, "-m", "cwii_webhook", "eks", "--kubeconfig", tmp_path / "kubeconfig"]
    ) as process:
        held = os.open(
            tmp_path / "kubeconfig", os.O_WRONLY
        )  # as soon as it reads, and it reads for as long as this is open
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0
        os.close(held)


def test_only_who_bears_the_name_of_an_api_server_may_ask(
    apiserver: RunningApiServer, tmp_path: Path
) -> None:
    signed = apiserver.authority.issue_client_certificate("kube-apiserver")
    (tmp_path / "client.pem").write_bytes(signed.key + signed.certificate)
    words = (*EKS, *pair(tmp_path), "--client-ca", str(tmp_path / "ca.crt"), "--client-names")
    for names, code in (("front-proxy,kube-apiserver", 200), ("somebody-else", 403)):
        with running(apiserver, tmp_path, *words, names) as webhook:
            webhook.trust.load_cert_chain(tmp_path / "client.pem")
            webhook.ready()

            assert webhook.ask("/mutate", webhook.asked(POD))[0] == code


def test_what_only_operators_may_ask_is_told_on_the_loopback_alone(
    apiserver: RunningApiServer, tmp_path: Path
) -> None:
    with running(apiserver, tmp_path, *EKS, *pair(tmp_path), "--debug-port", "0") as webhook:
        webhook.ready()
        plain, debugging = webhook.ports[1:]

        assert b"serviceaccounts: 1 objects" in webhook.ask("/debug/picture", None, debugging)[1]
        assert b"in run" in webhook.ask("/debug/tasks", None, debugging)[1]
        assert b" builtins.function\n" in webhook.ask("/debug/memory", None, debugging)[1]
        assert {webhook.ask("/debug/picture", None, port)[0] for port in (0, plain)} == {404}
        assert listening(debugging) == {"127.0.0.1"}


def listening(port: int) -> set[str]:
    """The addresses at which anybody listens at this port."""
    rows = [
        line.split()
        for file in ("tcp", "tcp6")
        for line in Path(f"/proc/net/{file}").read_text().splitlines()[1:]
    ]
    places = [place.split(":") for _, place, _, state, *_ in rows if state == "0A"]
    return {
        str(ipaddress.ip_address(bytes.fromhex(address)[::-1]))
        for address, at in places
        if int(at, 16) == port
    }


def test_azures_proxy_is_a_sidecar_of_the_kind_that_the_api_server_knows(
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
    found: list[bool] = []
    for minor in ("31+", "32"):
        apiserver.fake.behavior.version = ("1", minor)
        with running(
            apiserver, tmp_path, *AZWI, "--webhook-cert-dir", str(tmp_path), AZURE_TENANT_ID="t"
        ) as webhook:
            webhook.ready()
            response = webhook.review(
                "/mutate-v1-pod", {**POD, "metadata": {**POD["metadata"], **pod["metadata"]}}
            )
            found.append(b'"restartPolicy":"Always"' in base64.b64decode(response["patch"]))

    assert found == [False, True]


def azures_kind(webhook: Running) -> bool:
    """Whether its proxy is a sidecar as newer API servers know them."""
    metadata = {
        "labels": {"azure.workload.identity/use": "true"},
        "annotations": {"azure.workload.identity/inject-proxy-sidecar": "true"},
    }
    response = webhook.review(
        "/azwi/mutate-v1-pod", {**POD, "metadata": {**POD["metadata"], **metadata}}
    )
    return b'"restartPolicy":"Always"' in base64.b64decode(response["patch"])


def test_another_version_of_the_api_server_takes_no_roles_away(
    apiserver: RunningApiServer, tmp_path: Path
) -> None:
    apiserver.user.apply(
        SERVICE_ACCOUNTS, "shop", "billing", {"azure.workload.identity/client-id": "11111111-2222"}
    )
    apiserver.user.apply_config_map(
        "eks", "pod-identity-webhook", {"config": json.dumps({"shop/billing": {"RoleARN": ROLE}})}
    )
    apiserver.fake.behavior.version = ("1", "31")
    with running(
        apiserver,
        tmp_path,
        *EKS,
        "--watch-config-map",
        *pair(tmp_path),
        "+",
        "azwi",
        AZURE_TENANT_ID="t",
    ) as webhook:
        webhook.ready()
        assert ("patch" in webhook.review("/mutate", POD), azures_kind(webhook)) == (True, False)

        apiserver.user.delete(CONFIG_MAPS, "eks", "pod-identity-webhook")
        apiserver.fake.behavior.version = ("1", "32")
        apiserver.run_in_loop(apiserver.network.cut)
        until = time.monotonic() + 60
        while not azures_kind(webhook):
            assert time.monotonic() < until
            time.sleep(0.05)

        assert "patch" in webhook.review("/mutate", POD)


BLIND = """#!{python}
import os, sys
from cwii_webhook.dialects.registry import ALL, service
from cwii_webhook.program import serve

def offered(version=(), refuse=None):
    if version:
        raise LookupError("nobody thought of it")
    return [service(ALL["azwi"], sys.argv[1:], os.environ)]

sys.exit(serve(offered, os.environ))
"""


def test_who_has_lost_its_look_at_the_cluster_ends_and_not_well(
    apiserver: RunningApiServer, tmp_path: Path
) -> None:
    (tmp_path / "blind").write_text(BLIND.format(python=sys.executable))
    (tmp_path / "blind").chmod(0o755)
    words = (*AZWI[1:], "--webhook-cert-dir", str(tmp_path), "--shutdown-delay=0s")
    with running(
        apiserver, tmp_path, *words, called=tmp_path / "blind", ends=1, AZURE_TENANT_ID="t"
    ) as webhook:
        assert webhook.process.wait(60) == 1


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (["--help"], 0, "cwii-webhook"),
        (["eks", "--help"], 0, "--tls-cert"),
        (["cwii"], 2, "webhook[server]"),
    ],
)
def test_without_what_serves_it_tells_that_in_a_sentence(
    words: list[str], code: int, told: str
) -> None:
    without = "import sys; sys.modules['httptools'] = None; from cwii_webhook.__main__ import main; main()"

    done = subprocess.run(
        [sys.executable, "-c", without, *words], capture_output=True, text=True, check=False
    )

    assert done.returncode == code
    assert told in (done.stdout + done.stderr).lower()
    assert "Traceback" not in done.stderr
