"""All recorded questions once more: over HTTPS, to running webhooks, about objects in a real API server."""

from __future__ import annotations

import base64
import http.client
import json
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pytest
from cwii_webhook.admission.dry_run import apply_patch
from cwii_webhook.admission.patch import Op

from tests.cluster.kube.client import Object
from tests.cluster.kube.reach import Reach
from tests.cluster.recorded_objects import Told, made, real
from tests.cluster.webhook import Line, running
from tests.webhook.dialects.azwi import test_recordings as test_azwi_recordings
from tests.webhook.dialects.cwii import test_recordings as test_cwii_recordings
from tests.webhook.dialects.eks import test_recordings as test_eks_recordings
from tests.webhook.dialects.gcpwif import test_recordings as test_gcpwif_recordings
from tests.webhook.recorded_answers import Recording, differing, normal, recordings

# What each was told beyond what was recorded; see there.
MORE: Mapping[str, Line] = {"cwii": ("--gcp-delivery=config-map", "--verify-images=my/image:1")}
BUILT = {"PROXY_IMAGE": "/proxy:", "PROXY_INIT_IMAGE": "/proxy-init:"}
EXPECTED: Mapping[str, Callable[[Recording], Any]] = {
    "cwii": test_cwii_recordings.expected,
    "eks": test_eks_recordings.expected,
    "azwi": test_azwi_recordings.expected,
    "gcpwif": test_gcpwif_recordings.expected,
}


def groups(dialect: str) -> list[list[Recording]]:
    """Those that were asked of one server, together."""
    found: dict[tuple[Line, tuple[tuple[str, str], ...]], list[Recording]] = {}
    for recording in recordings(dialect):
        found.setdefault((recording.flags, tuple(recording.env.items())), []).append(recording)
    return list(found.values())


# As many servers as there are command lines of one dialect: the others' are served beside it.
SERVERS = [[group for group in beside if group] for beside in zip_longest(*map(groups, EXPECTED))]


@pytest.mark.parametrize("server", SERVERS, ids=range(1, 5))
def test_a_pod_becomes_what_it_became(
    reach: Reach, tmp_path: Path, server: list[list[Recording]]
) -> None:
    every = [recording for group in server for recording in group]
    with ThreadPoolExecutor(4) as pool:
        objects = dict.fromkeys(map(Told.of, every))
        objects = dict(zip(objects, pool.map(partial(made, reach), objects), strict=True))
    lines = [(one.dialect, *MORE.get(one.dialect, ()), *one.flags) for one, *_ in server]
    environ = {name: value for one, *_ in server for name, value in one.env.items()}

    with running(reach, tmp_path, *lines, delivers=True, **environ, **BUILT) as webhook:
        connection = webhook.connect()
        asked = [real(recording, objects[Told.of(recording)]) for recording in every]
        wrong = [
            line
            for one in asked
            for line in judged(one, posted(connection, webhook.paths[one.dialect], one.pod))
        ]
        connection.close()

    assert wrong == []


def test_none_is_left_out() -> None:
    assert sum(len(group) for server in SERVERS for group in server) == 719


def posted(connection: http.client.HTTPSConnection, path: str, pod: Object) -> Object:
    asked = {
        "uid": "u",
        "operation": "CREATE",
        "namespace": pod["metadata"]["namespace"],
        "object": pod,
    }
    review = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": asked}
    connection.request("POST", path, json.dumps(review), {"Content-Type": "application/json"})
    return json.loads(connection.getresponse().read())["response"]


def judged(recording: Recording, answer: Object) -> Iterator[str]:
    if recording.refused or not answer["allowed"]:
        if answer["allowed"] is recording.refused:
            yield f"{recording}: {answer.get('status')}"
        return
    ops = [
        Op(op["op"], op["path"], op["value"])
        for op in json.loads(base64.b64decode(answer.get("patch", "W10=")))
    ]
    if bool(ops) != ("becomes" in recording.row):
        yield f"{recording}: {len(ops)} operations"
    pod = apply_patch(json.loads(json.dumps(recording.pod)), ops)
    yield from (
        f"{recording}{line}"
        for line in differing(EXPECTED[recording.dialect](recording), normal(pod))
    )
