"""Beside a real kube-apiserver, which asks it on the loopback: with the certificates, the kubeconfig and the configuration that we make."""

from __future__ import annotations

import http.client
import json
import socket
import ssl
import threading
import time
from collections.abc import Generator, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path

import pytest
from click.testing import CliRunner
from cwii_webhook.x509 import Pair

from cwiictl.actions.result import Result
from cwiictl.cli.status import status
from cwiictl.errors import BadInput, Conflict, Problem
from tests.cluster.hosted import DIALECTS, Hosted, coded, hosting
from tests.cluster.kube.client import Client, Object, Refused
from tests.cluster.kube.cluster import Cluster
from tests.cluster.kube.pki import Pair as Shown
from tests.cluster.kube.processes import Processes
from tests.cluster.space import Space, a_name, plain, volumes
from tests.cluster.traces import seen_within
from tests.webhook.answering import SENSIBLE

pytestmark = pytest.mark.timeout(180)


@pytest.fixture(scope="module")
def ground() -> Iterator[tuple[Cluster, Pair]]:
    with hosting() as ground:
        yield ground


@pytest.fixture(params=DIALECTS)
def flavour(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def hosted(ground: tuple[Cluster, Pair], tmp_path: Path, flavour: str) -> Iterator[Hosted]:
    one = Hosted(*ground, tmp_path, flavour)
    yield one
    one.uninstall()


azure = pytest.mark.parametrize("flavour", ["azure"])


@pytest.fixture
def processes(tmp_path: Path) -> Iterator[Processes]:
    with Processes(tmp_path) as processes:
        yield processes


def health(hosted: Hosted, path: str = "/readyz") -> str:
    with suppress(OSError), closing(http.client.HTTPConnection("127.0.0.1", hosted.ports[1], timeout=10)) as connection:
        connection.request("GET", path)
        return connection.getresponse().read().decode()
    return "nobody listens"


def ready(hosted: Hosted, processes: Processes) -> None:
    processes.until(lambda: health(hosted) == "ok\n", f"the sidecar to be ready, which says {health(hosted)}")


def asking() -> Object:
    """In every dialect's words, as far as pods have them."""
    pod = plain()
    pod["metadata"]["labels"] = {"azure.workload.identity/use": "true"}
    return pod


def shop(hosted: Hosted) -> Space:
    return Space(hosted.cluster.reach).account(SENSIBLE[DIALECTS[hosted.flavour]])


def conditions(result: Result) -> dict[str, str]:
    return {row.thing: row.condition for row in result.rows}


def test_the_api_server_calls_it_and_pods_are_given_their_identity(hosted: Hosted, processes: Processes) -> None:
    """It acts as a ServiceAccount of which not even the namespace is there."""
    hosted.install()
    for namespace in ("openshift-authentication", "cwii-system"):
        assert not hosted.admin.exists(f"/api/v1/namespaces/{namespace}")
    hosted.start(processes)
    ready(hosted, processes)
    space = shop(hosted)

    assert seen_within(20, lambda: volumes(space.tried(asking())))
    if hosted.flavour == "azure":
        assert "azure-identity-token" in volumes(space.create(asking()))
    audiences = {source["serviceAccountToken"]["audience"] for volume in volumes(space.create(asking())).values() for source in sources(volume)}
    assert audiences >= ({"openshift"} if hosted.flavour == "aws" else set())
    metrics = hosted.admin.text("/metrics")
    assert "apiserver_admission_webhook_admission_duration_seconds" in metrics


def sources(volume: Object) -> list[Object]:
    return [source for source in volume.get("projected", {}).get("sources", []) if "serviceAccountToken" in source]


def test_a_second_run_writes_nothing_and_the_last_leaves_nothing(hosted: Hosted) -> None:
    before = hosted.deployment()
    made = hosted.install()
    assert set(conditions(made).values()) == {"created", "updated"}
    versions = {row.thing: version(hosted, row.thing) for row in made.rows}

    again = hosted.install()

    assert set(conditions(again).values()) == {"as wanted"}, [(row.thing, row.differences) for row in again.rows if row.condition != "as wanted"]
    assert {thing: version(hosted, thing) for thing in versions} == versions
    gone = hosted.uninstall()
    assert set(conditions(gone).values()) == {"dropped", "released"}
    assert next(iter(conditions(gone))).startswith("k8s/MutatingWebhookConfiguration@guest/")  # nobody is asked who is not there
    after = hosted.deployment()
    assert after["spec"] == before["spec"]
    for word in ("labels", "annotations"):
        assert (after["metadata"].get(word) or {}) == (before["metadata"].get(word) or {})
    assert [thing for thing in versions if "Deployment" not in thing and version(hosted, thing)] == []


PATHS: Mapping[str, str] = {
    "Secret": "/api/v1/namespaces/{0}/secrets/{1}",
    "Deployment": "/apis/apps/v1/namespaces/{0}/deployments/{1}",
    "ClusterRole": "/apis/rbac.authorization.k8s.io/v1/clusterroles/{0}",
    "ClusterRoleBinding": "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/{0}",
    "FlowSchema": "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas/{0}",
    "PriorityLevelConfiguration": "/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations/{0}",
    "MutatingWebhookConfiguration": "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/{0}",
    "ValidatingAdmissionPolicy": "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies/{0}",
    "ValidatingAdmissionPolicyBinding": "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings/{0}",
}


def version(hosted: Hosted, thing: str) -> str:
    """Of an object, or empty if it is not there."""
    _, kind, *name = thing.split("/")
    path = PATHS[kind.partition("@")[0]].format(*name)
    return hosted.admin.get(path)["metadata"]["resourceVersion"] if hosted.admin.exists(path) else ""


@pytest.mark.parametrize("flavour", ["cwii"])
def test_what_keeps_it_to_its_own_config_maps_goes_with_them(hosted: Hosted) -> None:
    policies = [thing for thing in conditions(hosted.install("gcp.delivery=config-map")) if "ValidatingAdmissionPolicy" in thing]
    assert [bool(version(hosted, thing)) for thing in policies] == [True, True]

    without = conditions(hosted.install())

    assert {thing: without[thing] for thing in policies} == dict.fromkeys(policies, "left over")
    hosted.uninstall()
    assert [thing for thing in policies if version(hosted, thing)] == []


@azure
def test_nothing_else_of_the_deployment_is_touched_and_what_was_given_it_since_stays(hosted: Hosted) -> None:
    before = hosted.containers()
    hosted.install()
    name = "azure-workload-identity-webhook"
    containers = hosted.containers()
    assert {each: containers[each] for each in before} == before
    assert list(containers) == [*before, name]
    more: Object = {"name": name, "resources": {"requests": {"cpu": "200m", "memory": "64Mi"}}}
    change = {"spec": {"replicas": 1, "template": {"spec": {"containers": [more, {"name": "audit-logs", "image": "example.org/openshift:2"}]}}}}
    hosted.admin.patch(f"{hosted.deployments}/kube-apiserver?fieldManager=kubectl-edit", change, "strategic")

    again = hosted.install("logLevel=info")

    assert set(conditions(again).values()) == {"as wanted"}
    assert hosted.containers()[name]["resources"]["requests"]["cpu"] == "200m"
    hosted.install("azure.tenantId=another")
    assert hosted.deployment()["spec"]["replicas"] == 1
    containers = hosted.containers()
    assert (containers["audit-logs"]["image"], containers[name]["resources"]["requests"]["cpu"]) == ("example.org/openshift:2", "200m")
    assert "--tenant-id=another" in containers[name]["args"]


@azure
def test_a_certificate_is_replaced_where_it_lies_and_rolls_nothing(hosted: Hosted, processes: Processes) -> None:
    hosted.install()
    hosted.start(processes)
    ready(hosted, processes)
    secret, template = hosted.secret("azure-workload-identity-webhook-serving-cert"), hosted.deployment()["spec"]["template"]
    stranger = hosted.cluster.reach.authority.server("other", ["127.0.0.1"])
    hosted.admin.patch(
        f"/api/v1/namespaces/{hosted.namespace}/secrets/azure-workload-identity-webhook-serving-cert?fieldManager=kubectl-edit",
        {"data": {"tls.crt": coded(stranger.certificate), "tls.key": coded(stranger.key)}},
    )

    again = hosted.install()

    assert again.hints == ("the certificate that it shows is made anew: it is of somebody else",)
    changed = {thing for thing, condition in conditions(again).items() if condition != "as wanted"}
    assert changed == {f"k8s/Secret/{hosted.namespace}/azure-workload-identity-webhook-serving-cert"}
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
    client = Client(hosted.cluster.reach.urls[0], hosted.cluster.reach.authority.pem, Shown(kubeconfig["tls.crt"], kubeconfig["tls.key"]))

    assert seen_within(10, lambda: allowed(client, "/api/v1/serviceaccounts"))
    for refused in ("pods", "secrets", "namespaces", "configmaps"):
        assert not allowed(client, f"/api/v1/{refused}")
    assert hosted.cluster.servers[0].requests()[-1]["user"]["username"] == "system:serviceaccount:openshift-authentication:azure-workload-identity-webhook"


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
def test_a_pod_that_comes_while_it_is_still_reading_is_given_its_identity(hosted: Hosted, processes: Processes) -> None:
    hosted.install()
    space = shop(hosted)
    with gate(hosted.beside().port) as (port, opened), ThreadPoolExecutor(1) as pool:
        hosted.start(processes, f"https://localhost:{port}")
        processes.until(lambda: "nobody listens" not in health(hosted, "/healthz"), "the sidecar to listen")
        assert health(hosted) != "ok\n"
        pod = pool.submit(space.create, asking())
        time.sleep(1)
        assert not pod.done(), "it waits for what is read"
        opened.set()

        assert "azure-identity-token" in volumes(pod.result())


@pytest.fixture
def default(hosted: Hosted) -> None:
    """Whose pods it is tried with. Nobody here makes ServiceAccounts."""
    path = "/api/v1/namespaces/default/serviceaccounts"
    if not hosted.admin.exists(f"{path}/default"):
        hosted.admin.create(path, {"metadata": {"name": "default"}})


CONFIGURATION = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/azure-workload-identity-webhook"


@azure
@pytest.mark.usefixtures("default")
def test_the_api_servers_rollout_is_followed_and_then_it_is_shown_with_a_pod(hosted: Hosted, processes: Processes) -> None:
    """And nobody is asked before there is somebody to answer."""
    with ThreadPoolExecutor(1) as pool:
        installing = pool.submit(hosted.install, waits=60.0)
        serving, kubeconfig = (f"/api/v1/namespaces/{hosted.namespace}/secrets/azure-workload-identity-webhook-{of}" for of in ("serving-cert", "kubeconfig"))
        there = (lambda: hosted.admin.exists(serving) and hosted.admin.exists(kubeconfig) and len(hosted.containers()) == 3, "the sidecar to be in it")
        processes.until(*there)
        hosted.start(processes)
        ready(hosted, processes)
        assert not hosted.admin.exists(CONFIGURATION)
        assert not installing.done()
        hosted.has_run()

        result = installing.result()

    assert result.hints == ()
    assert hosted.admin.exists(CONFIGURATION)


def failure(result: Result) -> tuple[str, str]:
    """What it says, and what to do."""
    (told,) = result.failures
    assert isinstance(told, Problem)
    return told.problem, told.remedy


@azure
@pytest.mark.usefixtures("default")
def test_a_sidecar_that_is_not_ready_is_told_with_its_reason_though_its_pod_is(hosted: Hosted, processes: Processes) -> None:
    hosted.install()
    hosted.start(processes, "https://localhost:1")
    processes.until(lambda: "cannot be reached" in health(hosted), f"the sidecar to say why, which says {health(hosted)}")
    hosted.has_run()

    problem, remedy = failure(hosted.tried(waits=3.0))

    assert problem.startswith("the webhook in pod kas-0 is not ready: ")
    assert "cannot be reached" in problem
    assert remedy == "mend what hinders it, and run the same command again to go on"


@azure
@pytest.mark.usefixtures("default")
def test_where_a_pod_is_given_nothing_it_is_told_where_to_look(hosted: Hosted) -> None:
    hosted.install()
    hosted.has_run()

    problem, remedy = failure(hosted.tried(waits=3.0))

    assert problem == "a pod that asks for an identity in the words of azwi is not given it"
    assert remedy.startswith("see kubectl logs of the container azure-workload-identity-webhook beside the kube-apiserver")


@pytest.mark.parametrize("flavour", ["aws"])
def test_where_no_pod_can_ask_by_itself_it_is_told_that_none_was_tried(hosted: Hosted) -> None:
    hosted.install()
    hosted.has_run()

    unheard, untried = hosted.install(waits=10.0).hints

    assert unheard.startswith("Whether the webhook is ready in its pods could not be asked, and was not waited for (kas-0: error trying to reach service: ")
    assert untried == "It was not tried with a pod: in the words of eks only ServiceAccounts ask."


@pytest.mark.parametrize("flavour", ["aws"])
def test_whoever_may_not_ask_the_webhook_is_told_that_it_was_not_heard(hosted: Hosted, tmp_path: Path) -> None:
    hosted.install()
    hosted.has_run()
    somebody = hosted.cluster.reach.authority.client("operator", "operators")
    kubeconfig = hosted.cluster.reach.authority.kubeconfig(tmp_path / "operator", hosted.cluster.reach.urls[0], somebody)
    with allowing(hosted.admin, "operators"):
        unheard, _ = hosted.install(waits=10.0, kubeconfig=kubeconfig).hints

    assert 'User "operator" cannot get resource "pods/proxy"' in unheard


@contextmanager
def allowing(admin: Client, group: str) -> Generator[None]:
    """All that an installation needs, and nothing of pods but to see them."""
    rbac, name = "/apis/rbac.authorization.k8s.io/v1", a_name(group)
    whole = ["apps", "rbac.authorization.k8s.io", "admissionregistration.k8s.io", "flowcontrol.apiserver.k8s.io"]
    rules = [{"apiGroups": whole, "resources": ["*"], "verbs": ["*"]}, {"apiGroups": [""], "resources": ["secrets", "pods", "events"], "verbs": ["*"]}]
    admin.create(f"{rbac}/clusterroles", {"metadata": {"name": name}, "rules": rules})
    bound = {"roleRef": {"kind": "ClusterRole", "name": name}, "subjects": [{"kind": "Group", "name": group}]}
    admin.create(f"{rbac}/clusterrolebindings", {"metadata": {"name": name}, **bound})
    yield
    for kind in ("clusterrolebindings", "clusterroles"):
        admin.delete(f"{rbac}/{kind}/{name}")


@azure
def test_when_it_is_away_pods_go_without_and_at_once(hosted: Hosted) -> None:
    hosted.install()
    space = shop(hosted)
    time.sleep(2)
    began = time.monotonic()

    assert not volumes(space.create(asking()))

    assert time.monotonic() - began < 5
    assert seen_within(10, lambda: 'apiserver_admission_webhook_fail_open_count{name="pod-identity-webhook.azure.mutate.io"' in hosted.admin.text("/metrics"))


@azure
def test_its_status_in_the_hosted_cluster_is_what_is_known_there(hosted: Hosted) -> None:
    hosted.install()
    shop(hosted).create(asking())
    words = ["--kubeconfig", str(hosted.cluster.kubeconfig), "-o", "json"]

    done = CliRunner().invoke(status, ["--webhook", *words], catch_exceptions=False)

    (row,) = json.loads(done.stdout)["things"]
    assert (done.exit_code, row["thing"], row["condition"]) == (0, "k8s/MutatingWebhookConfiguration/azure-workload-identity-webhook", "as wanted")
    assert any("pods were let through because nobody answered" in remark for remark in row["remarks"])
    assert row["remarks"][-1].startswith("it runs in the pod of whichever API server asks: kubectl logs of its container")
    pods = CliRunner().invoke(status, ["--pods", *words], catch_exceptions=False)
    assert pods.exit_code == 1
    assert "how it was started is not known here" in pods.stdout
    assert "kubectl get pods -A -l azure.workload.identity/use=true" in pods.stdout


@azure
def test_a_container_of_that_name_that_is_another_s_is_left_alone(hosted: Hosted) -> None:
    theirs = {"name": "azure-workload-identity-webhook", "image": "example.org/payload:1"}
    hosted.admin.patch(f"{hosted.deployments}/kube-apiserver", {"spec": {"template": {"spec": {"containers": [theirs]}}}}, "strategic")
    before = hosted.deployment()

    with pytest.raises(Conflict, match="has a container azure-workload-identity-webhook already, which is not ours") as refused:
        hosted.install()

    assert "--flavour cwii" in refused.value.remedy
    assert hosted.deployment() == before


@azure
def test_what_is_not_there_is_said_before_anything_is_written(hosted: Hosted) -> None:
    with pytest.raises(BadInput, match=r"there is no Deployment .*/another"):
        hosted.install(deployment="another")
    hosted.admin.delete(f"/api/v1/namespaces/{hosted.namespace}/secrets/root-ca")
    with pytest.raises(BadInput, match=r"there is no Secret .*/root-ca with a CA"):
        hosted.install()

    assert [each["metadata"]["name"] for each in hosted.admin.list(f"/api/v1/namespaces/{hosted.namespace}/secrets")] == ["cluster-signer-ca"]


@azure
def test_two_hosted_clusters_in_one_management_cluster_do_not_know_each_other(hosted: Hosted, tmp_path: Path) -> None:
    """Their guests are one here, so that the second is refused there: but never over what is in the management cluster."""
    hosted.install()
    other = Hosted(hosted.cluster, hosted.clients, tmp_path, "cwii")
    other.install()

    assert set(conditions(other.uninstall()).values()) == {"dropped", "released"}
    assert set(conditions(hosted.install()).values()) == {"as wanted"}
