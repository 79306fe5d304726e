"""What a kubelet does for a pod's identity, where none can run: tokens are asked for as it asks for them, and lie in a folder where the pod's files would.

It starts no container: the pod's program is run on this machine, in the environment that the admitted pod has.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tests.cluster.kube.client import Client, Object
from tests.federation import program

Tokens = Callable[[Object, Object], str]  # for a pod, what a source of its volume asks for

_ANNOTATION = re.compile(r"metadata\.annotations\['(?P<key>[^']+)'\]")


def run(pod: Object, tokens: Tokens, folder: Path, surroundings: dict[str, str]) -> dict[str, Any]:
    """What the program in its first container says, by cloud."""
    for name, content in _files(pod, tokens):
        path = folder / name.lstrip("/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(
            content.replace('"/var/run/', f'"{folder}/var/run/')
        )  # of a credentials file that names another
    variables = {
        each["name"]: _moved(each.get("value", ""), folder)
        for each in _container(pod).get("env", ())
    }
    done = subprocess.run(
        [sys.executable, program.__file__],
        env={**surroundings, **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return {line["cloud"]: line for line in map(json.loads, done.stdout.splitlines())}


def _files(pod: Object, tokens: Tokens) -> Iterator[tuple[str, str]]:
    """Where the container has mounted them."""
    volumes = {volume["name"]: volume for volume in pod["spec"].get("volumes", ())}
    for mount in _container(pod).get("volumeMounts", ()):
        volume, place = volumes[mount["name"]], mount["mountPath"]
        for source in volume.get("projected", {}).get("sources", ()):
            if token := source.get("serviceAccountToken"):
                yield f"{place}/{token['path']}", tokens(pod, token)
        for item in volume.get("downwardAPI", {}).get("items", ()):
            yield f"{place}/{item['path']}", _told(pod, item["fieldRef"]["fieldPath"])


def requested(admin: Client, pod: Object, asked: Object) -> str:
    """Bound to the pod, as the kubelet's are."""
    about = pod["metadata"]
    path = f"/api/v1/namespaces/{about['namespace']}/serviceaccounts/{pod['spec']['serviceAccountName']}/token"
    bound = {"apiVersion": "v1", "kind": "Pod", "name": about["name"], "uid": about["uid"]}
    audiences = [asked["audience"]] if asked.get("audience") else []
    made = admin.create(
        path,
        {
            "spec": {
                "audiences": audiences,
                "expirationSeconds": asked["expirationSeconds"],
                "boundObjectRef": bound,
            }
        },
    )
    return made["status"]["token"]


def _told(pod: Object, field: str) -> str:
    found = _ANNOTATION.fullmatch(field)
    assert found, field
    return pod["metadata"]["annotations"][found["key"]]


def _moved(value: str, folder: Path) -> str:
    return f"{folder}{value}" if value.startswith("/var/run/") else value


def _container(pod: Object) -> Object:
    return pod["spec"]["containers"][0]
