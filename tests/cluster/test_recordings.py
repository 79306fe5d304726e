"""All recorded questions once more: over HTTPS, to running webhooks, about objects in a real API server."""

from __future__ import annotations

import base64
import http.client
import json
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from cwii_webhook.patch import applied
from cwii_webhook.pieces import Op

from tests.cluster.kube.client import Object
from tests.cluster.kube.reach import Reach
from tests.cluster.recorded_objects import real
from tests.cluster.webhook import Line, running
from tests.webhook import test_azwi_recordings, test_cwii_recordings, test_gcpwif_recordings
from tests.webhook.recorded import Recording, differing, normal, once, recordings

# What each was told beyond what was recorded; see there.
MORE: Mapping[str, Line] = {"cwii": ("--gcp-delivery=config-map", "--verify-images=my/image:1")}
BUILT = {"PROXY_IMAGE": "/proxy:", "PROXY_INIT_IMAGE": "/proxy-init:"}
EXPECTED: Mapping[str, Callable[[Recording], Any]] = {
    "cwii": lambda recording: test_cwii_recordings.ours(recording)[0],
    "eks": lambda recording: once(normal(recording.becomes), "aws-iam-token"),
    "azwi": test_azwi_recordings.expected,
    "gcpwif": test_gcpwif_recordings.expected,
}


def told() -> Iterator[Any]:
    """Those that were asked of one server, together."""
    for dialect in EXPECTED:
        groups: dict[tuple[Line, tuple[tuple[str, str], ...]], list[Recording]] = {}
        for recording in recordings(dialect):
            groups.setdefault((recording.flags, tuple(recording.env.items())), []).append(recording)
        yield from (pytest.param(group, id=f"{dialect}-{number}") for number, group in enumerate(groups.values(), 1))


@pytest.mark.parametrize("group", list(told()))
def test_a_pod_becomes_what_it_became(reach: Reach, tmp_path: Path, group: list[Recording]) -> None:
    dialect, flags, environ = group[0].dialect, group[0].flags, {**group[0].env, **BUILT}
    with ThreadPoolExecutor(4) as pool:
        asked = list(pool.map(partial(real, reach), group))

    with running(reach, tmp_path, (dialect, *MORE.get(dialect, ()), *flags), delivers=True, **environ) as webhook:
        connection = webhook.connect()
        wrong = [line for one in asked for line in judged(one, posted(connection, webhook.paths[dialect], one.pod))]
        connection.close()

    assert wrong == []


def posted(connection: http.client.HTTPSConnection, path: str, pod: Object) -> Object:
    asked = {"uid": "u", "operation": "CREATE", "namespace": pod["metadata"]["namespace"], "object": pod}
    review = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": asked}
    connection.request("POST", path, json.dumps(review), {"Content-Type": "application/json"})
    return json.loads(connection.getresponse().read())["response"]


def judged(recording: Recording, answer: Object) -> Iterator[str]:
    if recording.refused or not answer["allowed"]:
        if answer["allowed"] is recording.refused:
            yield f"{recording}: {answer.get('status')}"
        return
    ops = [Op(op["op"], op["path"], op["value"]) for op in json.loads(base64.b64decode(answer.get("patch", "W10=")))]
    if bool(ops) != ("becomes" in recording.row):
        yield f"{recording}: {len(ops)} operations"
    pod = applied(json.loads(json.dumps(recording.pod)), ops)
    yield from (f"{recording}{line}" for line in differing(EXPECTED[recording.dialect](recording), normal(pod)))
