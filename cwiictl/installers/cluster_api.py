"""What Cluster API wants of a KubeadmControlPlane: kubeadm's configuration inside it, in both of its dialects, and the key as a Secret."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable
from typing import Any

from cwiictl import manifests
from cwiictl.installers import folder, kubeadm
from cwiictl.installers.flags import IN_CLUSTER, former
from cwiictl.installers.folder import Files
from cwiictl.manifests import Template
from cwiictl.model import Handover, Succession, Workload

name = "cluster-api"
folders = folder.folders(name)

OLD = "cluster-api/kubeadm-control-plane-v1beta1.yaml"
NEW = "cluster-api/kubeadm-control-plane-v1beta2.yaml"
issuer_in = NEW
public_in = ""
SECRET = "cluster-api/secret.yaml"  # noqa: S105 - a file's name
PATCHES = "/etc/kubernetes/patches"


def paths(workloads: Iterable[Workload]) -> tuple[str, ...]:
    return folder.paths(name, workloads, (NEW, OLD, SECRET), (NEW, OLD))


def render(handover: Handover, template: Template) -> dict[str, bytes]:
    return folder.rendered(name, handover, template, _own, dict.fromkeys((NEW, OLD), _own))


def succeeded(succession: Succession, template: Template) -> dict[str, bytes]:
    """Each machine of the control plane is made anew with what the Secret has then: its public half may be several."""
    keys = {"tls.crt": succession.accepted, "tls.key": succession.private_key}
    patch = {"data": {key: base64.b64encode(pem).decode() for key, pem in keys.items() if pem}}
    return folder.succeeded(
        name, succession, template, {"secret.json": json.dumps(patch, indent=2).encode() + b"\n"}
    )


def _own(handover: Handover, template: Template) -> Files:
    for path, filled in ((NEW, kubeadm.listed), (OLD, kubeadm.mapped)):
        patch = manifests.template(template(path))
        config = patch["spec"]["kubeadmConfigSpec"]
        config["clusterConfiguration"] = filled(config["clusterConfiguration"], handover)
        config |= _second(former(handover, IN_CLUSTER))
        yield path, manifests.dump(patch)
    if handover.private_key is not None:
        yield (
            SECRET,
            manifests.dump(
                _secret(manifests.template(template(SECRET)), handover, handover.private_key)
            ),
        )


def _second(issuer: str) -> dict[str, Any]:
    """Every machine joins but the first: both read the patch."""
    if not issuer:
        return {}
    patches = {"patches": {"directory": PATCHES}}
    file = {
        "path": f"{PATCHES}/kube-apiserver+json.yaml",
        "owner": "root:root",
        "permissions": "0644",
        "content": kubeadm.second(issuer).decode(),
    }
    return {"initConfiguration": patches, "joinConfiguration": patches, "files": [file]}


def _secret(filled: dict[str, Any], handover: Handover, private: bytes) -> dict[str, Any]:
    """Cluster API makes a key of its own only where it finds none of this name."""
    filled["metadata"]["name"] = f"{handover.cluster}-sa"
    filled["metadata"]["labels"]["cluster.x-k8s.io/cluster-name"] = handover.cluster
    pair = {"tls.crt": handover.public_key or b"", "tls.key": private}
    return filled | {"data": {name: base64.b64encode(pem).decode() for name, pem in pair.items()}}
