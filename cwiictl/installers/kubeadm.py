"""What kubeadm wants: flags for kube-apiserver in both of its dialects, and the key pair under its own names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

from cwiictl import manifests
from cwiictl.installers import folder
from cwiictl.installers.flags import IN_CLUSTER, ISSUER, flags, former
from cwiictl.installers.folder import Files
from cwiictl.manifests import Template
from cwiictl.model import Handover, Succession, Workload

name = "kubeadm"
folders = folder.folders(name)

OLD = "kubeadm/cluster-configuration-v1beta3.yaml"
NEW = "kubeadm/cluster-configuration-v1beta4.yaml"
issuer_in = NEW
public_in = "kubeadm/pki/sa.pub"
PRIVATE = "kubeadm/pki/sa.key"
SECOND = "kubeadm/patches/kube-apiserver+json.yaml"
RUNNING = (NEW, OLD, SECOND)


def paths(workloads: Iterable[Workload]) -> tuple[str, ...]:
    return folder.paths(name, workloads, (NEW, OLD, SECOND, public_in, PRIVATE), RUNNING)


def render(handover: Handover, template: Template) -> dict[str, bytes]:
    return folder.rendered(
        name,
        handover,
        template,
        _own,
        dict.fromkeys(RUNNING, partial(_own, patches="kubeadm/first/patches")),
    )


def listed(patch: dict[str, Any], handover: Handover) -> dict[str, Any]:
    """v1beta4: arguments are a list."""
    known = {argument["name"]: argument["value"] for argument in patch["apiServer"]["extraArgs"]}
    patch["apiServer"]["extraArgs"] = [
        {"name": flag, "value": value} for flag, value in _flags(handover, known).items()
    ]
    return patch


def succeeded(succession: Succession, template: Template) -> dict[str, bytes]:
    return folder.succeeded(name, succession, template, folder.successors(succession))


def mapped(patch: dict[str, Any], handover: Handover) -> dict[str, Any]:
    """v1beta3: arguments are a map."""
    patch["apiServer"]["extraArgs"] = _flags(handover, patch["apiServer"]["extraArgs"])
    return patch


def _flags(handover: Handover, known: Mapping[str, str]) -> dict[str, str]:
    """Where a cluster that runs has its keys is its own: it may have named several files."""
    return flags(
        handover,
        {
            flag: value
            for flag, value in known.items()
            if not (handover.runs and flag.endswith("-key-file"))
        },
    )


def second(issuer: str) -> bytes:
    """Appended by kubeadm to the command of kube-apiserver. As an extra argument it could come first: kubeadm sorts those of one name by their value."""
    return manifests.dump(
        [{"op": "add", "path": "/spec/containers/0/command/-", "value": f"--{ISSUER}={issuer}"}]
    )


def _own(handover: Handover, template: Template, patches: str = "kubeadm/patches") -> Files:
    """A cluster that has its own key runs already: it gets its new issuer beside the one that it has."""
    had = former(handover, IN_CLUSTER)
    for path, filled in ((NEW, listed), (OLD, mapped)):
        patch = filled(manifests.template(template(path)), handover)
        yield (
            path,
            manifests.dump_all([patch, _patched(patch, template, patches)] if had else [patch]),
        )
    if had:
        yield SECOND, second(had)
    yield from folder.pair(handover, PRIVATE, public_in)


def _patched(patch: Mapping[str, Any], template: Template, patches: str) -> dict[str, Any]:
    """With --config, kubeadm does not take --patches: the folder is said in the same file."""
    return manifests.template(template("kubeadm/init-configuration.yaml")) | {
        "apiVersion": patch["apiVersion"],
        "patches": {"directory": patches},
    }
