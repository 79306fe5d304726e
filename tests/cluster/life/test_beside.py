"""Two webhooks that hear the same annotations, in both orders: pods as they were recorded are valid, and nothing is in them twice."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from tests.cluster.kube.client import Object, Refused
from tests.cluster.life.user import User
from tests.cluster.recorded_objects import Told, made, real
from tests.webhook.recorded_answers import Recording, load_recordings

pytestmark = [pytest.mark.soak, pytest.mark.timeout(600)]

DIALECTS = ("cwii", "eks", "azwi", "gcpwif")
ALL = [f"--dialect={dialect}" for dialect in DIALECTS]
EACH = 25  # recordings of each dialect


def pods() -> Iterator[Recording]:
    """Those that were given something by a webhook that was started without a word, spread over all."""
    for dialect in DIALECTS:
        found = [
            each
            for each in load_recordings(dialect)
            if not each.flags and not each.env and not each.is_refused and "becomes" in each.row
        ]
        yield from found[:: max(1, len(found) // EACH)]


@pytest.fixture(scope="module")
def asked(user: User) -> list[Object]:
    """The recorded pods, with the objects that they speak of."""
    reach, objects = user.cluster.reach, dict[Told, Any]()
    every = list(pods())
    for each in every:
        objects.setdefault(told := Told.of(each), None)
        objects[told] = objects[told] or made(reach, told)
    return [real(each, objects[Told.of(each)]).pod for each in every]


def become(user: User, pod: Object) -> Object | str:
    """As the API server would have it, but for the name that it gives to a volume of its own by chance; or why not."""
    try:
        made = user.admin.create(
            f"/api/v1/namespaces/{pod['metadata']['namespace']}/pods?dryRun=All", pod
        )
    except Refused as refused:
        return refused.message.partition(" is invalid: ")[
            2
        ]  # before that is its name, which may be made up
    return json.loads(re.sub(r"kube-api-access-\w+", "kube-api-access", json.dumps(made["spec"])))


def twice(spec: Object) -> list[str]:
    """Names of variables, volumes, mounts and containers that are there more than once."""
    containers = [*spec["containers"], *spec.get("initContainers", ())]
    lists = [
        [each["name"] for each in containers],
        [each["name"] for each in spec.get("volumes", ())],
    ]
    for container in containers:
        lists.append([each["name"] for each in container.get("env", ())])
        lists.append([each["mountPath"] for each in container.get("volumeMounts", ())])
    return [name for names in lists for name, count in Counter(names).items() if count > 1]


@pytest.mark.parametrize("name", ["aaa-peer", "zzz-peer"])
def test_two_of_them_give_what_one_gives(user: User, asked: list[Object], name: str) -> None:
    user.has(*ALL)
    alone = [become(user, pod) for pod in asked]
    peer = [*ALL, f"--set=name={name}", f"--set=namespace={name}", "--set=replicas=1"]

    refused = user.installs(*peer)
    assert refused.code == 4, refused
    assert (
        "Another webhook hears the same annotations: MutatingWebhookConfiguration cwii-webhook (cwii, eks, azwi, gcpwif)"
        in refused
    )
    installed = user.installs(*peer, "--beside")
    assert installed.code == 0, installed
    both = [become(user, pod) for pod in asked]

    gone = user.says("uninstall-webhook", "--yes", "--name", name)
    assert gone.code == 0, gone
    before = [Counter(twice(pod["spec"])) for pod in asked]
    assert [
        (index, now)
        for index, now in enumerate(both)
        if isinstance(now, dict) and Counter(twice(now)) - before[index]
    ] == []
    assert [(now, then) for now, then in zip(both, alone, strict=True) if now != then] == []
    assert (
        sum(
            isinstance(spec, dict) and spec != pod["spec"]
            for spec, pod in zip(alone, asked, strict=True)
        )
        > 50
    )
