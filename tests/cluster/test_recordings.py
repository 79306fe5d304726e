"""Sends all recorded requests over HTTPS to running webhooks, with objects in a real API server."""

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
from tests.webhook.recorded_answers import Recording, find_differences, load_recordings, normalized

# Flags beyond the recorded ones, as in the recordings test of the dialect.
EXTRA_FLAGS: Mapping[str, Line] = {
    "cwii": ("--gcp-delivery=config-map", "--verify-images=my/image:1")
}
IMAGE_VARIABLES = {"PROXY_IMAGE": "/proxy:", "PROXY_INIT_IMAGE": "/proxy-init:"}
EXPECTED: Mapping[str, Callable[[Recording], Any]] = {
    "cwii": test_cwii_recordings.expected,
    "eks": test_eks_recordings.expected,
    "azwi": test_azwi_recordings.expected,
    "gcpwif": test_gcpwif_recordings.expected,
}


def group_by_server(dialect: str) -> list[list[Recording]]:
    """Groups the recordings of a dialect by the command line of the server."""
    groups: dict[tuple[Line, tuple[tuple[str, str], ...]], list[Recording]] = {}
    for recording in load_recordings(dialect):
        groups.setdefault((recording.flags, tuple(recording.env.items())), []).append(recording)
    return list(groups.values())


# One server for each command line of a dialect. It also serves one of each other dialect.
SERVERS = [
    [group for group in groups if group] for groups in zip_longest(*map(group_by_server, EXPECTED))
]


@pytest.mark.parametrize("server", SERVERS, ids=range(1, 5))
def test_pod_is_changed_as_in_the_recording(
    reach: Reach, tmp_path: Path, server: list[list[Recording]]
) -> None:
    all_recordings = [recording for group in server for recording in group]
    with ThreadPoolExecutor(4) as pool:
        objects = dict.fromkeys(map(Told.of, all_recordings))
        objects = dict(zip(objects, pool.map(partial(made, reach), objects), strict=True))
    lines = [
        (first.dialect, *EXTRA_FLAGS.get(first.dialect, ()), *first.flags) for first, *_ in server
    ]
    environ = {name: value for first, *_ in server for name, value in first.env.items()}

    with running(reach, tmp_path, *lines, delivers=True, **environ, **IMAGE_VARIABLES) as webhook:
        connection = webhook.connect()
        requests = [real(recording, objects[Told.of(recording)]) for recording in all_recordings]
        mismatches = [
            line
            for each in requests
            for line in find_mismatches(
                each, post_review(connection, webhook.paths[each.dialect], each.pod)
            )
        ]
        connection.close()

    assert mismatches == []


def test_all_recordings_are_sent() -> None:
    assert sum(len(group) for server in SERVERS for group in server) == 719


def post_review(connection: http.client.HTTPSConnection, path: str, pod: Object) -> Object:
    request = {
        "uid": "u",
        "operation": "CREATE",
        "namespace": pod["metadata"]["namespace"],
        "object": pod,
    }
    review = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request}
    connection.request("POST", path, json.dumps(review), {"Content-Type": "application/json"})
    return json.loads(connection.getresponse().read())["response"]


def find_mismatches(recording: Recording, response: Object) -> Iterator[str]:
    if recording.is_refused or not response["allowed"]:
        if response["allowed"] is recording.is_refused:
            yield f"{recording}: {response.get('status')}"
        return
    ops = [
        Op(op["op"], op["path"], op["value"])
        for op in json.loads(base64.b64decode(response.get("patch", "W10=")))
    ]
    if bool(ops) != ("becomes" in recording.row):
        yield f"{recording}: {len(ops)} operations"
    pod = apply_patch(json.loads(json.dumps(recording.pod)), ops)
    yield from (
        f"{recording}{line}"
        for line in find_differences(EXPECTED[recording.dialect](recording), normalized(pod))
    )
