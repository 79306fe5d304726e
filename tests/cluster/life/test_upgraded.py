"""Another installation over the one that is there, while pods come into being that may not go without."""

from __future__ import annotations

import threading
from collections.abc import Generator
from contextlib import contextmanager

import pytest

from tests.cluster.kube.client import Object
from tests.cluster.life.calling import calls, load
from tests.cluster.life.user import CONFIGURATION, User
from tests.cluster.traces import seen_within

pytestmark = [pytest.mark.soak, pytest.mark.timeout(600)]


@contextmanager
def watched(user: User) -> Generator[list[str]]:
    """Whoever would be sent reviews of the dialect eks, and knows no such route. Pods are read first: what has come to the configuration since is later."""
    over, found = threading.Event(), list[str]()

    def look() -> None:
        while not over.wait(0.1):
            serving = [pod for pod in user.pods() if ready(pod)]
            paths = {
                entry["clientConfig"]["service"]["path"]
                for entry in user.admin.get(CONFIGURATION)["webhooks"]
            }
            if any(path.startswith("/eks") for path in paths):
                found.extend(
                    pod["metadata"]["name"]
                    for pod in serving
                    if "eks" not in pod["spec"]["containers"][0]["args"]
                )

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield found
    finally:
        over.set()
        thread.join()


def ready(pod: Object) -> bool:
    conditions = {each["type"]: each["status"] for each in pod["status"].get("conditions", ())}
    return conditions.get("Ready") == "True" and "deletionTimestamp" not in pod["metadata"]


def test_a_route_comes_after_and_goes_before_those_who_answer_it_and_no_pod_is_refused(
    user: User,
) -> None:
    user.has()

    with load(user) as pods, calls(user) as reviews, watched(user) as astray:
        user.has("--dialect=cwii", "--dialect=eks")
        assert len(user.admin.get(CONFIGURATION)["webhooks"]) == 5
        user.has("--dialect=cwii")
        assert len(user.admin.get(CONFIGURATION)["webhooks"]) == 3
        assert seen_within(60, lambda: len(user.pods()) == 2)  # those of before are at their end

    assert (pods.failed, pods.bare, reviews.failed, astray) == ([], [], [], [])
    assert pods.created > 100
    assert reviews.answered > 100
