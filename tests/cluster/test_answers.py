"""What a running webhook knows, and how soon, on a real API server: accounts made and changed a moment before their pods, and what that costs."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.cluster.calling import called
from tests.cluster.kube.client import Object
from tests.cluster.kube.reach import Reach
from tests.cluster.space import Space, a_name, first, plain, variables
from tests.cluster.webhook import Webhook, running

ROLE = "arn:aws:iam::123456789012:role/"
OLD, NEW = f"{ROLE}old", f"{ROLE}new"
KEY = "cwii.dev/aws-role-arn"
DELAYS = (0.0, 0.01, 0.1, 1.0)


def says(role: str) -> dict[str, str]:
    return {"cwii.dev/aws-inject": "true", KEY: role}


def pod_of(name: str) -> Object:
    return plain(serviceAccountName=name)


def role(pod: Object) -> str:
    return variables(first(pod)).get("AWS_ROLE_ARN", "")


@pytest.fixture(scope="module")
def webhook(reach: Reach, tmp_path_factory: pytest.TempPathFactory) -> Generator[Webhook]:
    with running(reach, tmp_path_factory.mktemp("webhook"), ("cwii",)) as webhook:
        yield webhook


@pytest.fixture(scope="module")
def hook(webhook: Webhook) -> Iterator[str]:
    with called(webhook, "cwii", late="Ignore") as hook:
        yield hook


def in_one_breath(space: Space, count: int) -> list[str]:
    """The roles of pods that come with their accounts."""

    def breathe(number: int) -> str:
        space.account(says(f"{ROLE}{number}"), f"a{number}")
        return role(space.create(pod_of(f"a{number}")))

    with ThreadPoolExecutor(4) as pool:
        return list(pool.map(breathe, range(count)))


@pytest.mark.parametrize("count", [100, pytest.param(500, marks=pytest.mark.soak)])
def test_every_pod_that_comes_in_one_breath_with_its_account_is_injected(
    reach: Reach, hook: str, count: int
) -> None:
    assert in_one_breath(Space(reach, hook=hook), count) == [
        f"{ROLE}{number}" for number in range(count)
    ]


def old_answers(space: Space, delay: float, count: int) -> float:
    """Their share, of pods that come so many seconds after their account was changed."""

    def changed(name: str) -> bool:
        space.account(says(OLD), name)
        assert role(space.tried(pod_of(name))) == OLD
        space.tell(says(NEW), name)
        time.sleep(delay)
        return role(space.tried(pod_of(name))) == OLD

    with ThreadPoolExecutor(4) as pool:
        return sum(pool.map(changed, [a_name("a") for _ in range(count)])) / count


def test_a_second_after_an_account_was_changed_no_pod_has_the_old_role(
    reach: Reach, hook: str
) -> None:
    assert old_answers(Space(reach, hook=hook), 1.0, 8) == 0


@pytest.mark.soak
def test_how_soon_a_change_is_heard_of(
    reach: Reach, hook: str, record_property: Callable[[str, object], None]
) -> None:
    space = Space(reach, hook=hook)

    shares = {delay: old_answers(space, delay, 200) for delay in DELAYS}

    record_property(
        "told",
        "old answers "
        + ", ".join(f"{share:.1%} after {delay * 1000:.0f} ms" for delay, share in shares.items()),
    )
    assert shares[1.0] == 0


def test_in_steady_state_no_admission_costs_the_api_server_a_request(
    reach: Reach, webhook: Webhook, hook: str
) -> None:
    """Watches are made anew every five to ten minutes: those that were in that moment are no admission's."""
    space = Space(reach, hook=hook).account(says(OLD))
    space.tried(plain())
    before = requests(webhook)

    for _ in range(100):
        assert role(space.tried(plain())) == OLD

    assert not [request for request in requests(webhook) - before if "watch=" not in request]
    assert webhook.number("cwii_decisions_total") >= 100


def requests(webhook: Webhook) -> set[str]:
    """All that its account has asked of the API servers."""
    every = [
        request
        for request in webhook.reach.requests()
        if request["user"].get("username") == webhook.told.who.user
    ]
    return {f"{request['auditID']} {request['requestURI']}" for request in every}


def test_what_one_api_server_was_told_holds_for_pods_of_the_other(reach: Reach, hook: str) -> None:
    """The webhook looks at the first."""
    space = Space(reach, hook=hook)

    for there, here in ((0, 1), (1, 0)):
        space.account(says(f"{ROLE}{there}"), f"a{there}", server=there)
        for server in (here, there):
            assert role(space.create(pod_of(f"a{there}"), server)) == f"{ROLE}{there}"


def test_a_container_joins_with_the_webhook_down_and_another_one_with_it_up(
    reach: Reach, webhook: Webhook, hook: str
) -> None:
    """As `kubectl debug` has it."""
    space = Space(reach, hook=hook).account(says(OLD))
    name = space.create(plain())["metadata"]["name"]

    webhook.processes.kill(webhook.name)
    joined(space, name, "first")
    webhook.start()
    webhook.wait()
    pod = joined(space, name, "second")

    there = {
        container["name"]: variables(container) for container in pod["spec"]["ephemeralContainers"]
    }
    assert there["first"] == {}
    assert there["second"]["AWS_ROLE_ARN"] == OLD


def joined(space: Space, pod: str, name: str) -> Object:
    patch = {
        "spec": {
            "ephemeralContainers": [{"name": name, "image": "busybox", "targetContainerName": "c"}]
        }
    }
    return space.admin.patch(f"{space.path('pods')}/{pod}/ephemeralcontainers", patch, "strategic")
