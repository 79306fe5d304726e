"""Whatever pod a real API server takes without us, it takes with us: generated pods, tried in namespaces with the webhook and without."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from cwii_webhook.dialects.gcpwif.setup_container import NAME
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.cluster.calling import called
from tests.cluster.kube.client import Object, Refused
from tests.cluster.kube.reach import Reach
from tests.cluster.pods import QUOTAS, RESTRICTED, pods
from tests.cluster.space import Space
from tests.cluster.webhook import running
from tests.webhook.harness import ACCOUNT_ANNOTATIONS, COMMAND_LINES

# Each process serves a dialect once, in one of its shapes.
TOGETHER = (
    ("cwii", "eks", "azwi", "gcpwif"),
    ("cwii by container", "azwi v1.5", "gcpwif direct"),
    ("cwii by ConfigMap", "azwi next"),
)
ENOUGH = 0.5  # of the pods have to be taken without us, or the test says little


@dataclass(frozen=True)
class Place:
    shape: str
    kind: str
    without: Space
    within: Space

    @property
    def pods(self) -> st.SearchStrategy[Object]:
        return pods(self.shape, self.kind)


def a_space(reach: Reach, kind: str, hook: str, shape: str) -> Space:
    space = Space(reach, hook=hook, labels=RESTRICTED if kind == "restricted" else {}).account(
        ACCOUNT_ANNOTATIONS[COMMAND_LINES[shape][0]]
    )
    return space.quota(QUOTAS[kind]) if kind in QUOTAS else space


@contextmanager
def places(reach: Reach, folder: Path, shapes: tuple[str, ...]) -> Generator[list[Place]]:
    lines = [COMMAND_LINES[shape] for shape in shapes]
    with ExitStack() as stack:
        webhook = stack.enter_context(running(reach, folder, *lines, delivers=True))
        hooks = {
            shape: stack.enter_context(called(webhook, COMMAND_LINES[shape][0])) for shape in shapes
        }
        kinds = ("plain", "restricted", *QUOTAS)
        yield [
            Place(shape, kind, a_space(reach, kind, "", shape), a_space(reach, kind, hook, shape))
            for shape, hook in hooks.items()
            for kind in kinds
        ]


@dataclass(frozen=True)
class Tried:
    """What became of a pod: why it was refused, or its QoS class."""

    refused: str
    quality: str

    @classmethod
    def of(cls, space: Space, pod: Object) -> Tried:
        try:
            return cls("", space.tried(pod)["status"]["qosClass"])
        except Refused as refused:
            return cls(refused.message, "")

    @property
    def by_us(self) -> bool:
        return self.refused.startswith("admission webhook ")


def replaced(pod: Object) -> bool:
    """Whether a container of the pod's own bears a name that is ours."""
    return any(container["name"] == NAME for container in pod["spec"].get("initContainers") or ())


def check(reach: Reach, folder: Path, shapes: tuple[str, ...], count: int) -> None:
    taken: list[bool] = []
    with places(reach, folder, shapes) as every:

        @settings(
            max_examples=count,
            suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
            phases=(Phase.generate,),
        )  # to make it smaller would take minutes
        @given(data=st.data(), place=st.sampled_from(every))
        def one(data: st.DataObject, place: Place) -> None:
            pod = data.draw(place.pods)
            without = Tried.of(place.without, pod)
            taken.append(not without.refused)
            if not without.refused:
                within = Tried.of(place.within, pod)
                if replaced(
                    pod
                ):  # what made the pod's class may be gone with it, as a warning says
                    within = replace(within, quality=without.quality)
                assert within == without or within.by_us, (place.shape, place.kind)

        one()
    assert sum(taken) > len(taken) * ENOUGH


@pytest.mark.parametrize("shapes", TOGETHER)
def test_what_it_takes_without_us_it_takes_with_us(
    reach: Reach, tmp_path: Path, shapes: tuple[str, ...]
) -> None:
    check(reach, tmp_path, shapes, 20)


@pytest.mark.soak
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("shapes", TOGETHER)
def test_of_many_more_too(reach: Reach, tmp_path: Path, shapes: tuple[str, ...]) -> None:
    check(reach, tmp_path, shapes, 500)
