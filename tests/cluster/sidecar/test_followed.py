"""Followed until it is ready, and shown with a pod; and what hinders it is said, though the API server's pod is ready."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor

import pytest

from cwiictl.actions.result import Result
from cwiictl.errors import Problem
from cwiictl.install.sidecar.flavours import FLAVOURS
from tests.cluster.hosted import Hosted
from tests.cluster.kube.processes import Processes
from tests.cluster.sidecar.operators import operator
from tests.cluster.traces import seen_within

pytestmark = pytest.mark.timeout(180)
azure = pytest.mark.parametrize("flavour", ["azure"])
aws = pytest.mark.parametrize("flavour", ["aws"])


UNHEARD_OF = "arguments.eks={--annotation-prefix=nobody.example.org}"  # a domain that no ServiceAccount here has words of
NOWHERE = "2001:db8::1"  # an address that nobody has, so that whether the webhook is ready cannot be asked
CONFIGURATIONS = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations"


@pytest.mark.usefixtures("default")
def test_the_api_servers_rollout_is_followed_and_then_it_is_shown_with_a_pod(
    hosted: Hosted, processes: Processes
) -> None:
    """And nobody is asked before there is somebody to answer, which nobody is at first. Where only ServiceAccounts ask, the pod is one of theirs."""
    hosted.shop()
    flavour = FLAVOURS[hosted.flavour]
    configuration = f"{CONFIGURATIONS}/{flavour.configuration}"
    with ThreadPoolExecutor(1) as pool:
        installing = pool.submit(hosted.install, waits=60.0)
        serving, kubeconfig = (
            f"/api/v1/namespaces/{hosted.namespace}/secrets/{flavour.name}-{of}"
            for of in ("serving-cert", "kubeconfig")
        )
        there = (
            lambda: (
                hosted.admin.exists(serving)
                and hosted.admin.exists(kubeconfig)
                and len(hosted.containers()) == 3
            ),
            "the sidecar to be in it",
        )
        processes.until(*there)
        hosted.has_run()
        assert not seen_within(3, installing.done)
        assert not hosted.admin.exists(configuration)
        hosted.start(processes)

        result = installing.result()

    assert result.hints == ()
    assert hosted.admin.exists(configuration)


def failure(result: Result) -> tuple[str, str]:
    """What it says, and what to do."""
    (told,) = result.failures
    assert isinstance(told, Problem)
    return told.problem, told.remedy


@azure
@pytest.mark.usefixtures("default")
def test_a_sidecar_that_is_not_ready_is_told_with_its_reason_though_its_pod_is(
    hosted: Hosted, processes: Processes
) -> None:
    hosted.install()
    hosted.start(processes, "https://localhost:1")
    processes.until(
        lambda: "cannot be reached" in hosted.health(),
        f"the sidecar to say why, which says {hosted.health()}",
    )
    hosted.has_run()

    problem, remedy = failure(hosted.tried(waits=3.0))

    assert problem.startswith("the webhook in pod kas-0 is not ready: ")
    assert "cannot be reached" in problem
    assert remedy == "mend what hinders it, and run the same command again to go on"


@azure
def test_a_sidecar_that_does_not_listen_is_not_ready(hosted: Hosted) -> None:
    """A pod's first seconds are told from a network that its API server cannot cross."""
    hosted.install()
    hosted.has_run()

    problem, _ = failure(hosted.tried(waits=3.0))

    assert (
        problem
        == f"the webhook in pod kas-0 is not ready: nobody listens at its port {hosted.ports[1]}"
    )


@azure
@pytest.mark.usefixtures("default")
def test_where_a_pod_is_given_nothing_it_is_told_where_to_look(hosted: Hosted) -> None:
    hosted.install()
    hosted.has_run(NOWHERE)

    problem, remedy = failure(hosted.tried(waits=3.0))

    assert problem == "a pod that asks for an identity in the words of azwi is not given it"
    assert remedy.startswith(
        "see kubectl logs of the container azure-workload-identity-webhook beside the kube-apiserver"
    )


@aws
def test_where_a_pod_of_a_service_account_that_asks_is_given_nothing_it_is_named(
    hosted: Hosted,
) -> None:
    hosted.shop()
    hosted.install()
    hosted.has_run(NOWHERE)

    problem, remedy = failure(hosted.tried(waits=3.0))

    assert re.fullmatch(
        r"a pod of the ServiceAccount space-\w+/worker is not given the identity that it asks for in the words of eks",
        problem,
    )
    assert remedy.startswith(
        "see kubectl logs of the container aws-pod-identity-webhook beside the kube-apiserver"
    )


@aws
def test_where_no_service_account_asks_yet_it_is_told_that_none_was_tried_and_what_to_do(
    hosted: Hosted,
) -> None:
    hosted.install(UNHEARD_OF)
    hosted.has_run(NOWHERE)

    unheard, untried = hosted.install(UNHEARD_OF, waits=10.0).hints

    assert unheard.startswith(
        "Whether the webhook is ready in its pods could not be asked, and was not waited for (kas-0: error trying to reach service: "
    )
    assert untried == (
        "It was not tried with a pod: in the words of eks only ServiceAccounts ask, and none does yet:"
        " annotate one with nobody.example.org/role-arn, and run the same command again."
    )


@aws
def test_whoever_may_not_ask_the_webhook_is_told_that_it_was_not_heard(hosted: Hosted) -> None:
    hosted.install(UNHEARD_OF)
    hosted.has_run()
    with operator(hosted) as kubeconfigs:
        unheard, _ = hosted.install(UNHEARD_OF, waits=10.0, **kubeconfigs).hints

    assert 'User "operator" cannot get resource "pods/proxy"' in unheard
