"""Followed until it is ready, and shown with a pod; and what hinders it is said, though the API server's pod is ready."""

from __future__ import annotations

from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from cwiictl.actions.result import Result
from cwiictl.errors import Problem
from tests.cluster.hosted import Hosted
from tests.cluster.kube.client import Client
from tests.cluster.kube.processes import Processes
from tests.cluster.space import a_name

pytestmark = pytest.mark.timeout(180)
azure = pytest.mark.parametrize("flavour", ["azure"])


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
        hosted.ready(processes)
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
    processes.until(lambda: "cannot be reached" in hosted.health(), f"the sidecar to say why, which says {hosted.health()}")
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
