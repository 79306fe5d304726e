"""The webhook is down: what becomes of pods then, and how all of it comes up again by itself."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from tests.cluster.kube.client import Object, Refused
from tests.cluster.kube.node import NAME as NODE
from tests.cluster.life.calling import ROLE
from tests.cluster.life.user import OURS, User, space
from tests.cluster.objects import a_pod
from tests.cluster.space import volumes
from tests.cluster.traces import seen_within

pytestmark = [pytest.mark.soak, pytest.mark.timeout(600)]

SHOP, NET = "shop", "net"
TOKEN = "cwii-aws-token"


@pytest.fixture
def shop(user: User) -> Iterator[str]:
    """A namespace that asks for identities for all in it, of which nobody said anything to whoever installs."""
    here = space(user, SHOP, annotations=ROLE)
    yield here
    user.has()


def gone_at_once(user: User) -> None:
    for pod in user.pods():
        user.admin.delete(f"{OURS}/{pod['metadata']['name']}?gracePeriodSeconds=0")


def down(user: User) -> None:
    """By hand, and for as long as nobody installs again."""
    user.admin.patch(
        "/apis/apps/v1/namespaces/cwii-system/deployments/cwii-webhook", {"spec": {"replicas": 0}}
    )
    gone_at_once(user)
    assert seen_within(60, lambda: not user.pods())


def refused(user: User, here: str) -> str:
    """Why a pod would be."""
    try:
        user.admin.create(f"{here}/pods?dryRun=All", a_pod("late", "true"))
    except Refused as told:
        return told.message
    return ""


def many(name: str, **spec: object) -> Object:
    pod = a_pod("", "sleep 1000")["spec"]
    del pod["restartPolicy"]
    return {
        "metadata": {"name": name},
        "spec": {
            "selector": {"matchLabels": {"app": name}},
            "template": {"metadata": {"labels": {"app": name}}, "spec": pod},
            **spec,
        },
    }


def running(user: User, here: str, app: str) -> list[Object]:
    return [
        pod
        for pod in user.admin.list(f"{here}/pods")
        if pod["metadata"].get("labels", {}).get("app") == app
        and pod["status"]["phase"] == "Running"
        and "deletionTimestamp" not in pod["metadata"]
    ]


def test_who_may_go_without_is_let_in_bare(user: User, shop: str) -> None:
    user.has()
    down(user)

    assert seen_within(
        30,
        lambda: (
            TOKEN
            not in volumes(user.admin.create(f"{shop}/pods?dryRun=All", a_pod("bare", "true")))
        ),
    )


def test_who_asks_is_refused_in_a_sentence_where_a_token_is_required(user: User, shop: str) -> None:
    user.has("--require")
    down(user)

    assert seen_within(30, lambda: refused(user, shop))
    assert (
        "cwii.dev/aws-inject asks for an identity in AWS, and the pod was given no token: it would act as its node"
        in refused(user, shop)
    )
    user.admin.create("/api/v1/namespaces/default/pods?dryRun=All", a_pod("indifferent", "true"))


@pytest.fixture
def failing(user: User, shop: str) -> Iterator[str]:
    """With `Fail` everywhere but where it asks for an exception; a word of the command line says which."""
    here = space(user, NET)
    user.admin.create(f"{here}/pods", a_pod("cni", "sleep 1000", hostNetwork=True))
    everywhere = "--set=failurePolicy=Fail"

    said = user.installs(everywhere)

    assert said.code == 2, said
    assert (
        f"a cluster that starts anew needs pods of these namespaces before the webhook: {NET} (hostNetwork)"
        in said
    )
    (asked,) = re.findall(r"--set (excludedNamespaces=\S+)", said.err)
    user.has(everywhere, "--set", asked.rstrip(","))
    yield shop
    user.has()
    for gone in (f"/api/v1/namespaces/{NET}", shop):
        user.admin.delete(gone)


def test_where_nothing_may_go_without_the_only_node_is_drained_and_all_comes_up_again_by_itself(
    user: User, failing: str
) -> None:
    user.admin.create("/apis/apps/v1/namespaces/shop/deployments", many("web", replicas=2))
    assert seen_within(60, lambda: len(running(user, failing, "web")) == 2), user.admin.list(
        f"{failing}/pods"
    )
    node = f"/api/v1/nodes/{NODE}"

    user.admin.patch(node, {"spec": {"unschedulable": True}})
    for here, pods in ((OURS, user.pods()), (f"{failing}/pods", running(user, failing, "web"))):
        for pod in pods:
            about = {"name": pod["metadata"]["name"], "namespace": pod["metadata"]["namespace"]}
            user.admin.create(
                f"{here}/{about['name']}/eviction",
                {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": about},
            )
    assert seen_within(
        60, lambda: not [pod for pod in user.pods() if pod["status"]["phase"] == "Running"]
    ), user.pods()
    user.admin.patch(node, {"spec": {"unschedulable": None}})

    assert seen_within(120, user.ready), user.pods()
    assert seen_within(120, lambda: len(running(user, failing, "web")) == 2), user.admin.list(
        f"{failing}/pods"
    )
    assert all(TOKEN in volumes(pod) for pod in running(user, failing, "web"))

    # --- and now without a word of warning ---
    user.cluster.node.static(
        {"metadata": {"name": "static", "namespace": SHOP}, "spec": a_pod("", "sleep 1000")["spec"]}
    )
    gone_at_once(user)
    user.cluster.node.fail()
    assert "pods.cwii.cwii.dev" in refused(user, failing)
    user.admin.create("/apis/apps/v1/namespaces/shop/daemonsets", many("everywhere"))

    assert seen_within(150, user.ready), user.pods()
    assert seen_within(120, lambda: running(user, failing, "everywhere")), user.admin.list(
        f"{failing}/pods"
    )
    assert all(TOKEN in volumes(pod) for pod in running(user, failing, "everywhere"))
    mirror = f"{failing}/pods/static-{NODE}"
    assert seen_within(
        60,
        lambda: (
            user.admin.exists(mirror) and user.admin.get(mirror)["status"]["phase"] == "Running"
        ),
    ), user.admin.list(f"{failing}/pods")
    assert TOKEN not in volumes(user.admin.get(mirror))
