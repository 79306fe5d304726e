"""What kind wants: the key pair mounted into its node, and patches of the kubeadm configuration that it makes, in both of kubeadm's dialects."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from cwiictl import manifests
from cwiictl.installers import folder
from cwiictl.installers.flags import AUDIENCES, IN_CLUSTER, flags
from cwiictl.installers.folder import Files
from cwiictl.manifests import Template
from cwiictl.model import Handover, Succession, Workload

name = "kind"
folders = folder.folders(name)

CLUSTER = "kind/cluster.yaml"
issuer_in = CLUSTER
public_in = "kind/pki/sa.pub"
PRIVATE = "kind/pki/sa.key"
ARGUMENTS = "/apiServer/extraArgs"


def paths(workloads: Iterable[Workload]) -> tuple[str, ...]:
    return folder.paths(name, workloads, (CLUSTER, public_in, PRIVATE))


def render(handover: Handover, template: Template) -> dict[str, bytes]:
    return folder.rendered(name, handover, template, _own)


def succeeded(succession: Succession, template: Template) -> dict[str, bytes]:
    """For the files that are mounted into the node."""
    return folder.succeeded(name, succession, template, folder.successors(succession))


def _own(handover: Handover, template: Template) -> Files:
    """Each flag is added by itself: a merged list of arguments would replace kind's own."""
    filled = manifests.template(template(CLUSTER))
    new, old = filled["kubeadmConfigPatchesJSON6902"]
    told = flags(handover, {AUDIENCES: IN_CLUSTER})
    new["patch"] = _text(
        {"op": "add", "path": f"{ARGUMENTS}/-", "value": {"name": flag, "value": value}}
        for flag, value in told.items()
    )
    old["patch"] = _text(
        {"op": "add", "path": f"{ARGUMENTS}/{flag}", "value": value} for flag, value in told.items()
    )
    yield CLUSTER, manifests.dump(filled)
    yield from folder.pair(handover, PRIVATE, public_in)


def _text(operations: Iterable[dict[str, Any]]) -> str:
    return manifests.dump(list(operations)).decode()
