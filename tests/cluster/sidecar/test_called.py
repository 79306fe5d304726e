"""Asked by a real kube-apiserver on the loopback: with the certificates, the kubeconfig and the configuration that we make."""

from __future__ import annotations

import json
import socket
import ssl
import threading
import time
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress

import pytest
from click.testing import CliRunner

from cwiictl.cli.status import status
from tests.cluster.hosted import Hosted, asking, coded, conditions
from tests.cluster.kube.client import Client, Object, Refused
from tests.cluster.kube.pki import Pair as Shown
from tests.cluster.kube.processes import Processes
from tests.cluster.space import volumes
from tests.cluster.traces import seen_within

pytestmark = pytest.mark.timeout(180)
azure = pytest.mark.parametrize("flavour", ["azure"])


def test_the_api_server_calls_it_and_pods_are_given_their_identity(
    hosted: Hosted, processes: Processes
) -> None:
    """It acts as a ServiceAccount of which not even the namespace is there."""
    hosted.install()
    for namespace in ("openshift-authentication", "cwii-system"):
        assert not hosted.admin.exists(f"/api/v1/namespaces/{namespace}")
    hosted.start(processes)
    hosted.ready(processes)
    space = hosted.shop()

    assert seen_within(20, lambda: volumes(space.tried(asking())))
    if hosted.flavour == "azure":
        assert "azure-identity-token" in volumes(space.create(asking()))
    audiences = {
        source["serviceAccountToken"]["audience"]
        for volume in volumes(space.create(asking())).values()
        for source in sources(volume)
    }
    assert audiences >= ({"openshift"} if hosted.flavour == "aws" else set())
    metrics = hosted.admin.text("/metrics")
    assert "apiserver_admission_webhook_admission_duration_seconds" in metrics


def sources(volume: Object) -> list[Object]:
    return [
        source
        for source in volume.get("projected", {}).get("sources", [])
        if "serviceAccountToken" in source
    ]


@azure
def test_a_certificate_is_replaced_where_it_lies_and_rolls_nothing(
    hosted: Hosted, processes: Processes
) -> None:
    hosted.install()
    hosted.start(processes)
    hosted.ready(processes)
    secret, template = (
        hosted.secret("azure-workload-identity-webhook-serving-cert"),
        hosted.deployment()["spec"]["template"],
    )
    stranger = hosted.cluster.reach.authority.server("other", ["127.0.0.1"])
    hosted.admin.patch(
        f"/api/v1/namespaces/{hosted.namespace}/secrets/azure-workload-identity-webhook-serving-cert?fieldManager=kubectl-edit",
        {"data": {"tls.crt": coded(stranger.certificate), "tls.key": coded(stranger.key)}},
    )

    again = hosted.install()

    assert again.hints == ("the certificate that it shows is made anew: it is of somebody else",)
    changed = {thing for thing, condition in conditions(again).items() if condition != "as wanted"}
    assert changed == {
        f"k8s/Secret/{hosted.namespace}/azure-workload-identity-webhook-serving-cert"
    }
    assert hosted.deployment()["spec"]["template"] == template
    new = hosted.secret("azure-workload-identity-webhook-serving-cert")
    assert new["tls.crt"] not in {secret["tls.crt"], stranger.certificate}
    for name, content in new.items():
        (processes.folder / "certs" / name).write_bytes(content)
    assert seen_within(20, lambda: served(hosted) == new["tls.crt"])


def served(hosted: Hosted) -> bytes:
    return ssl.get_server_certificate(("127.0.0.1", hosted.ports[0])).encode()


@azure
def test_it_may_read_service_accounts_and_nothing_else(hosted: Hosted) -> None:
    hosted.install()
    kubeconfig = hosted.secret("azure-workload-identity-webhook-kubeconfig")
    client = Client(
        hosted.cluster.reach.urls[0],
        hosted.cluster.reach.authority.pem,
        Shown(kubeconfig["tls.crt"], kubeconfig["tls.key"]),
    )

    assert seen_within(10, lambda: allowed(client, "/api/v1/serviceaccounts"))
    for refused in ("pods", "secrets", "namespaces", "configmaps"):
        assert not allowed(client, f"/api/v1/{refused}")
    assert (
        hosted.cluster.servers[0].requests()[-1]["user"]["username"]
        == "system:serviceaccount:openshift-authentication:azure-workload-identity-webhook"
    )


def allowed(client: Client, path: str) -> bool:
    try:
        client.list(path)
    except Refused as refused:
        if refused.status != 403:
            raise
        return False
    return True


@contextmanager
def gate(port: int) -> Generator[tuple[int, threading.Event]]:
    """A way to a port of ours which is closed for a while: whoever comes waits."""
    opened = threading.Event()

    def carry(one: socket.socket, other: socket.socket) -> None:
        opened.wait()
        with suppress(OSError):
            while data := one.recv(65536):
                other.sendall(data)
            other.shutdown(socket.SHUT_WR)

    def accept() -> None:
        with suppress(OSError):
            while True:
                near = held.enter_context(listener.accept()[0])
                far = held.enter_context(socket.create_connection(("127.0.0.1", port)))
                for pair in ((near, far), (far, near)):
                    threading.Thread(target=carry, args=pair, daemon=True).start()

    with ExitStack() as held, socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=accept, daemon=True).start()
        yield listener.getsockname()[1], opened
        opened.set()


@azure
def test_a_pod_that_comes_while_it_is_still_reading_is_given_its_identity(
    hosted: Hosted, processes: Processes
) -> None:
    hosted.install()
    space = hosted.shop()
    with gate(hosted.beside().port) as (port, opened), ThreadPoolExecutor(1) as pool:
        hosted.start(processes, f"https://localhost:{port}")
        processes.until(
            lambda: "nobody listens" not in hosted.health("/healthz"), "the sidecar to listen"
        )
        assert hosted.health() != "ok\n"
        pod = pool.submit(space.create, asking())
        time.sleep(1)
        assert not pod.done(), "it waits for what is read"
        opened.set()

        assert "azure-identity-token" in volumes(pod.result())


@azure
def test_when_it_is_away_pods_go_without_and_at_once(hosted: Hosted) -> None:
    hosted.install()
    space = hosted.shop()
    time.sleep(2)
    began = time.monotonic()

    assert not volumes(space.create(asking()))

    assert time.monotonic() - began < 5
    assert seen_within(
        10,
        lambda: (
            'apiserver_admission_webhook_fail_open_count{name="pod-identity-webhook.azure.mutate.io"'
            in hosted.admin.text("/metrics")
        ),
    )


@azure
def test_its_status_in_the_hosted_cluster_is_what_is_known_there(hosted: Hosted) -> None:
    hosted.install()
    hosted.shop().create(asking())
    words = ["--kubeconfig", str(hosted.cluster.kubeconfig), "-o", "json"]

    done = CliRunner().invoke(status, ["--webhook", *words], catch_exceptions=False)

    (row,) = json.loads(done.stdout)["things"]
    assert (done.exit_code, row["thing"], row["condition"]) == (
        0,
        "k8s/MutatingWebhookConfiguration/azure-workload-identity-webhook",
        "as wanted",
    )
    assert any(
        "pods were let through because nobody answered" in remark for remark in row["remarks"]
    )
    assert row["remarks"][-1].startswith(
        "it runs in the pod of whichever API server asks: kubectl logs of its container"
    )
    pods = CliRunner().invoke(status, ["--pods", *words], catch_exceptions=False)
    assert pods.exit_code == 1
    assert "how it was started is not known here" in pods.stdout
    assert "kubectl get pods -A -l azure.workload.identity/use=true" in pods.stdout
