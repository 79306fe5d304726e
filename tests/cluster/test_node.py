"""A real node: pods run on it, and it leaves nothing behind."""

from __future__ import annotations

import http.server
import os
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import jwt
import pytest

from tests.cluster import traces
from tests.cluster.conftest import started
from tests.cluster.kube.cluster import Cluster, Settings
from tests.cluster.kube.node_files import SHELL_IMAGE
from tests.cluster.objects import ACCOUNTS, DEPLOYMENTS, PODS, SERVICES, a_pod, named
from tests.cluster.traces import processes_in, seen_within

pytestmark = [pytest.mark.soak, pytest.mark.timeout(600)]

OWN = (
    100_000_000 + os.getpid()
)  # seconds that no other test's pod sleeps: those of a node that is shared live on


def log_of(cluster: Cluster, name: str) -> str:
    """When it has ended."""

    def over() -> bool:
        return cluster.admin.get(f"{PODS}/{name}")["status"]["phase"] in {"Succeeded", "Failed"}

    assert seen_within(60, over), cluster.admin.get(f"{PODS}/{name}")["status"]
    return cluster.admin.text(f"{PODS}/{name}/log")


def test_a_pod_finds_its_projected_token_in_its_file(node: Cluster) -> None:
    node.admin.create(ACCOUNTS, named("teller"))
    projected = {
        "sources": [
            {
                "serviceAccountToken": {
                    "audience": "sts.amazonaws.com",
                    "expirationSeconds": 600,
                    "path": "token",
                }
            }
        ]
    }
    node.admin.create(
        PODS,
        a_pod(
            "teller",
            "id -u; stat -c %a /var/run/aws/..data/token; cat /var/run/aws/token",
            serviceAccountName="teller",
            securityContext={"fsGroup": 65532},
            volumes=[{"name": "aws", "projected": projected}],
            container={"volumeMounts": [{"name": "aws", "mountPath": "/var/run/aws"}]},
        ),
    )

    user, mode, token = log_of(node, "teller").split("\n")

    claims = jwt.decode(token, options={"verify_signature": False})
    assert (user, mode) == ("65532", "640")
    assert (claims["sub"], claims["aud"]) == (
        "system:serviceaccount:default:teller",
        ["sts.amazonaws.com"],
    )
    assert claims["kubernetes.io"]["pod"]["name"] == "teller"


def test_a_pod_reaches_the_api_server_and_another_pod_through_their_services(node: Cluster) -> None:
    labels = {"app": "web"}
    serve = {
        "name": "main",
        "image": SHELL_IMAGE,
        "args": ["mkdir -p /tmp/w; echo hello > /tmp/w/index.html; httpd -f -p 8080 -h /tmp/w"],
    }
    pod = {"metadata": {"labels": labels}, "spec": {"containers": [serve]}}
    node.admin.create(
        DEPLOYMENTS,
        named("web", spec={"replicas": 2, "selector": {"matchLabels": labels}, "template": pod}),
    )
    address = node.admin.create(
        SERVICES,
        named("web", spec={"selector": labels, "ports": [{"port": 80, "targetPort": 8080}]}),
    )["spec"]["clusterIP"]
    web = f"until timeout 2 wget -q -O - http://{address}; do sleep .2; done"
    api = "nc -w 2 $KUBERNETES_SERVICE_HOST $KUBERNETES_SERVICE_PORT < /dev/null && echo reached"

    node.admin.create(PODS, a_pod("asker", f"{web}; {api}"))

    assert log_of(node, "asker").split() == ["hello", "reached"]


def test_what_is_lent_can_be_reached_from_pods_and_nothing_else_of_this_machine(
    node: Cluster, page: int
) -> None:
    address = node.node.lend(page)

    node.admin.create(
        PODS,
        a_pod(
            "borrower",
            f"timeout 5 wget -q -O - http://{address}/; timeout 2 wget -q -O - http://127.0.0.1:{page}/ 2> /dev/null || echo no",
        ),
    )

    assert log_of(node, "borrower").split() == ["lent", "no"]


def test_a_command_can_be_run_where_services_have_addresses(node: Cluster) -> None:
    endpoints = node.admin.get("/api/v1/namespaces/default/endpoints/kubernetes")["subsets"][0][
        "addresses"
    ]
    assert [address["ip"] for address in endpoints] == ["10.87.0.1"]

    done = subprocess.run(
        [*node.node.enter, "ip", "-brief", "address"], capture_output=True, text=True, check=True
    )

    assert "10.87.0.1/24" in done.stdout
    assert (
        "10.87.0.1/24"
        not in subprocess.run(
            ["ip", "-brief", "address"], capture_output=True, text=True, check=True
        ).stdout
    )


def test_nothing_is_left_of_a_node_with_pods(node: Cluster, machine: dict[str, object]) -> None:
    """Beside another node, which has the same addresses and does not notice."""
    with started(Settings(node=True, servers=2)) as other:
        folder, groups = other.folder, other.node.groups
        other.admin.create(PODS, a_pod("sleeper", f"sleep {OWN}"))
        assert seen_within(
            60, lambda: other.admin.get(f"{PODS}/sleeper")["status"]["phase"] == "Running"
        )
        assert other.admins[1].exists(f"{PODS}/sleeper")
        assert sleepers()

    assert traces.machine() == machine
    assert groups
    assert not [group for group in groups if group.exists()]
    assert not folder.exists()
    assert not processes_in(folder)
    assert not sleepers()
    assert node.servers[0].ready()


@pytest.fixture
def page() -> Iterator[int]:
    """A server on our loopback."""

    class Page(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"lent\n")

        def log_message(self, format: str, *words: object) -> None:  # noqa: A002  # the library's name
            """Nothing to say."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_port
        server.shutdown()


def sleepers() -> list[Path]:
    return [
        path
        for path in Path("/proc").glob("[0-9]*/cmdline")
        if path.exists() and path.read_bytes() == f"sleep\0{OWN}\0".encode()
    ]
