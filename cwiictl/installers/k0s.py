"""What k0s wants: flags in its ClusterConfig, and the key pair where it would make its own."""

from __future__ import annotations

from collections.abc import Iterable

from cwiictl import manifests
from cwiictl.installers import folder
from cwiictl.installers.flags import ISSUER, flags, former
from cwiictl.installers.folder import Files
from cwiictl.manifests import Template
from cwiictl.model import Handover, Succession, Workload

name = "k0s"
folders = folder.folders(name)

CONFIG = "k0s/k0s.yaml"
issuer_in = CONFIG
public_in = "k0s/pki/sa.pub"
PRIVATE = "k0s/pki/sa.key"
OWN_ISSUER = "https://kubernetes.default.svc"  # whatever the cluster's DNS domain is


def paths(workloads: Iterable[Workload]) -> tuple[str, ...]:
    return folder.paths(name, workloads, (CONFIG, public_in, PRIVATE), (CONFIG,))


def render(handover: Handover, template: Template) -> dict[str, bytes]:
    return folder.rendered(name, handover, template, _own, {CONFIG: _own})


def succeeded(succession: Succession, template: Template) -> dict[str, bytes]:
    return folder.succeeded(name, succession, template, folder.successors(succession))


def _own(handover: Handover, template: Template) -> Files:
    """extraArgs is a map, and rawArgs come behind it: there the second issuer is."""
    filled = manifests.template(template(CONFIG))
    api = filled["spec"]["api"]
    api["extraArgs"] = flags(handover, api["extraArgs"])
    had = former(handover, OWN_ISSUER)
    if had:
        api["rawArgs"] = [f"--{ISSUER}={had}"]
    yield CONFIG, manifests.dump(filled)
    yield from folder.pair(handover, PRIVATE, public_in)
