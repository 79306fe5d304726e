"""The container beside kube-apiserver, and its volumes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from cwiictl.install.body import Object
from cwiictl.install.command import Doors, command, understood
from cwiictl.install.pod import CLOSED, image
from cwiictl.install.sidecar.flavours import FOLDER, PROFILES
from cwiictl.install.sidecar.sidecar import Sidecar

FILES = {"certs": f"{FOLDER}/certs", "kubeconfig": f"{FOLDER}/kubeconfig"}  # volumes
KUBECONFIG = f"{FILES['kubeconfig']}/kubeconfig"
# Read by the user of our container, who need not be the pod's: nobody else in the pod has them mounted.
MODE = 0o444


def container(
    sidecar: Sidecar, doors: Doors | None = None, resources: Mapping[str, Any] | None = None
) -> Object:
    """It waits for its files and for the API server by itself. `resources` are those that somebody has given it since."""
    at, words = doors or sidecar.flavour.doors, _words(sidecar)
    understood(sidecar.values, at, words)
    own = {
        "requests": dict(sidecar.values.resources.requests),
        "limits": dict(sidecar.values.resources.limits),
    }
    return {
        "name": sidecar.flavour.name,
        "image": image(sidecar.values),
        "imagePullPolicy": "IfNotPresent",
        "args": command(sidecar.values, at, words),
        "resources": dict(resources)
        if resources
        else {key: amounts for key, amounts in own.items() if amounts},
        **_probes(sidecar, at),
        "securityContext": CLOSED,  # whose user it runs as is the pod's to say: a wrong one would be refused with all of the pod
        "terminationMessagePolicy": "FallbackToLogsOnError",
        "volumeMounts": [
            {"name": _volume(sidecar, what), "mountPath": path, "readOnly": True}
            for what, path in FILES.items()
        ],
    }


def volumes(sidecar: Sidecar) -> list[Object]:
    """Their absence is ours to bear, and holds up no API server."""
    secrets = {"certs": sidecar.serving, "kubeconfig": sidecar.kubeconfig}
    return [
        {
            "name": _volume(sidecar, what),
            "secret": {"secretName": name, "defaultMode": MODE, "optional": True},
        }
        for what, name in secrets.items()
    ]


def on_its_node(sidecar: Sidecar, folder: str) -> tuple[Object, list[Object]]:
    """In a static pod, which may refer to no Secret and has its node's network: files of the node's, and nothing that others could reach.

    The files are root's alone, and root of a container without capabilities can read no more than those.
    """
    alone = replace(sidecar.flavour.doors, host="127.0.0.1")
    one = container(sidecar, alone)
    root: Object = {**CLOSED, "runAsUser": 0, "runAsGroup": 0}
    mounted = [
        {
            "name": _volume(sidecar, "certs"),
            "hostPath": {"path": folder, "type": "DirectoryOrCreate"},
        }
    ]
    mounts = [
        {"name": _volume(sidecar, "certs"), "mountPath": path, "readOnly": True}
        for path in FILES.values()
    ]
    return {**one, "securityContext": root, "volumeMounts": mounts}, mounted


def _volume(sidecar: Sidecar, what: str) -> str:
    return f"{sidecar.flavour.volume}-{'serving-certs' if what == 'certs' else what}"


def _words(sidecar: Sidecar) -> tuple[str, ...]:
    return (
        "--sidecar",
        f"--kubeconfig={KUBECONFIG}",
        *PROFILES[sidecar.profile],
        *sidecar.flavour.words,
    )


def _probes(sidecar: Sidecar, doors: Doors) -> Object:
    """None that would restart it: who hangs ends by itself, and where another process has the plain port a probe would restart it on and on.

    None that the API server's pod waits for, unless that is asked: it is not ready while one of its containers is not, and its hosted cluster has none.
    """
    ready = {"path": "/readyz", "port": doors.plain, **({"host": doors.host} if doors.host else {})}
    return (
        {"readinessProbe": {"httpGet": ready, "initialDelaySeconds": 5, "periodSeconds": 10}}
        if sidecar.readiness
        else {}
    )
