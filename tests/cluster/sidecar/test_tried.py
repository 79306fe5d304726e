"""Tried with a pod of a ServiceAccount that asks: what others have against it is told, and is no failure of ours."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from cwiictl.actions.trial import Trial
from cwiictl.actions.waiting import Waiting
from cwiictl.engine.pace import Pace
from cwiictl.engine.resource import Event, Report, silent
from cwiictl.errors import NotYet
from cwiictl.install.objects import objects
from cwiictl.install.values import Dialect
from cwiictl.kubernetes import connect
from tests.cluster.conftest import started
from tests.cluster.hosted import Hosted
from tests.cluster.kube.client import Refused
from tests.cluster.kube.cluster import Settings
from tests.cluster.kube.processes import Processes
from tests.cluster.objects import path
from tests.cluster.space import Space, a_name, plain
from tests.cluster.traces import seen_within
from tests.cwiictl.install.installed import some
from tests.webhook.harness import ACCOUNT_ANNOTATIONS, ROLE

pytestmark = pytest.mark.timeout(180)
aws = pytest.mark.parametrize("flavour", ["aws"])
gcp = pytest.mark.parametrize("flavour", ["gcp"])

CONFIGURATIONS = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations"


@pytest.fixture
def domain() -> str:
    """In which nobody asks yet."""
    return f"{a_name('d')}.example.org"


def asking(hosted: Hosted, domain: str, begin: str) -> Space:
    return Space(hosted.cluster.reach, name=a_name(begin)).account({f"{domain}/role-arn": ROLE})


@contextmanager
def trying(
    kubeconfig: Path, domain: str, dialect: Dialect = "eks", report: Report = silent
) -> Generator[Trial]:
    """Not for long."""
    told = {"eks": [f"--annotation-prefix={domain}"]} if dialect == "eks" else {}
    with closing(connect(kubeconfig, None)) as place:
        yield Trial(Waiting(place, Pace(), report, 2.0), some(dialects=[dialect], arguments=told))


# --- what others have against a pod ---


def refused(space: Space, why: str) -> bool:
    try:
        space.tried(plain())
    except Refused as e:
        return why in e.message
    return False


def down(hosted: Hosted, space: Space, entry: str = "inject.example.org") -> None:
    """A webhook without which no pod may be in that namespace, and nobody answers."""
    webhook = {
        "name": entry,
        "clientConfig": {"url": "https://127.0.0.1:1/"},
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": space.name}},
        "rules": [
            {
                "apiGroups": [""],
                "apiVersions": ["v1"],
                "operations": ["CREATE"],
                "resources": ["pods"],
            }
        ],
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
    }
    hosted.admin.create(
        CONFIGURATIONS, {"metadata": {"name": a_name("another")}, "webhooks": [webhook]}
    )
    assert seen_within(30, lambda: refused(space, "failed calling webhook"))


def ending(hosted: Hosted, space: Space) -> None:
    """For good: nobody here takes namespaces away."""
    hosted.admin.delete(f"/api/v1/namespaces/{space.name}")
    assert seen_within(30, lambda: refused(space, "is being terminated"))


Against = Callable[[Hosted, Space], None]


@aws
@pytest.mark.parametrize("against", [down, ending])
def test_where_others_stand_against_one_that_asks_another_is_borrowed(
    hosted: Hosted, processes: Processes, domain: str, against: Against
) -> None:
    first, _ = asking(hosted, domain, "a"), asking(hosted, domain, "b")
    told = f"arguments.eks={{--annotation-prefix={domain}}}"
    hosted.install(told)
    hosted.start(processes)
    hosted.ready(processes)
    hosted.has_run()
    against(hosted, first)

    assert hosted.install(told, waits=20.0).hints == ()


@aws
@pytest.mark.parametrize(
    ("against", "why"),
    [(down, 'failed calling webhook "inject.example.org"'), (ending, "is being terminated")],
)
def test_where_others_stand_against_all_that_ask_it_is_told_that_none_was_tried(
    hosted: Hosted, domain: str, against: Against, why: str
) -> None:
    against(hosted, asking(hosted, domain, "a"))

    with trying(hosted.cluster.kubeconfig, domain) as trial:
        (untried,) = trial.shown()

    assert untried.startswith("It was not tried with a pod: the cluster is not ready for it: ")
    assert why in untried


@aws
def test_where_nobody_can_call_us_it_has_failed(hosted: Hosted, domain: str) -> None:
    """Also if others stand against another that asks."""
    down(hosted, asking(hosted, domain, "a"))
    down(hosted, asking(hosted, domain, "b"), "pods.eks.cwii.dev")

    with (
        trying(hosted.cluster.kubeconfig, domain) as trial,
        pytest.raises(NotYet, match=r'failed calling webhook "pods\.eks\.cwii\.dev"') as failed,
    ):
        trial.shown()

    assert failed.value.remedy == trial.see


@aws
@pytest.mark.usefixtures("default")
def test_where_pods_may_not_go_without_and_none_is_given_anything_it_has_failed(
    hosted: Hosted, domain: str
) -> None:
    """Our own policy refuses them then."""
    values = some(require=True)
    made = [
        each
        for each in objects(values)
        if each["kind"].startswith("ValidatingAdmissionPolicy")
        and each["metadata"]["name"] == "cwii-webhook-require"
    ]
    for body in made:
        hosted.admin.create(path(hosted.admin, body), body)
    with trying(hosted.cluster.kubeconfig, domain, "cwii") as trial:
        assert seen_within(
            30, lambda: "ValidatingAdmissionPolicy 'cwii-webhook-require'" in outcome(trial)
        )
    for body in made:
        hosted.admin.delete(f"{path(hosted.admin, body)}/{body['metadata']['name']}")


def outcome(trial: Trial) -> str:
    try:
        trial.shown()
    except NotYet as e:
        return e.problem
    return ""


@gcp
def test_what_asks_for_what_it_cannot_be_given_is_not_borrowed(hosted: Hosted, domain: str) -> None:
    says = {
        **ACCOUNT_ANNOTATIONS["gcpwif"],
        "cloud.google.com/workload-identity-provider": "//iam.googleapis.com/provider",
    }
    space = Space(hosted.cluster.reach).account(says)

    with trying(hosted.cluster.kubeconfig, domain, "gcpwif") as trial:
        (untried,) = trial.shown()

    assert f"what {space.name}/worker says gives its pods nothing: cwiictl explain" in untried


def test_while_those_that_ask_cannot_be_listed_it_is_waited_for_and_then_told(domain: str) -> None:
    told: list[Event] = []
    with (
        started(Settings()) as cluster,
        trying(cluster.kubeconfig, domain, report=told.append) as trial,
    ):
        cluster.servers[0].stop()
        (untried,) = trial.shown()

    assert untried.startswith("It was not tried with a pod: the cluster at ")
    assert "cannot be reached" in untried
    assert [event.what for event in told][1:] == [*["waiting"] * (len(told) - 2), "done"]
    assert len(told) > 3
