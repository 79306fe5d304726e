"""What RKE2 wants, which is k3s with pods for its parts: the same, in its own places."""

from __future__ import annotations

from collections.abc import Iterable

from cwiictl.installers import folder, k3s
from cwiictl.installers.folder import Files
from cwiictl.manifests import Template
from cwiictl.model import Handover, Succession, Workload

name = "rke2"
folders = folder.folders(name)

CONFIG = "rke2/config.yaml"
issuer_in = CONFIG
public_in = ""
KEY = "rke2/service.key"


def paths(workloads: Iterable[Workload]) -> tuple[str, ...]:
    return folder.paths(name, workloads, (CONFIG, KEY), (CONFIG,))


def render(handover: Handover, template: Template) -> dict[str, bytes]:
    return folder.rendered(name, handover, template, _own, {CONFIG: _own})


def succeeded(succession: Succession, template: Template) -> dict[str, bytes]:
    return folder.succeeded(
        name, succession, template, k3s.successors(template(f"{name}/rotation.yaml"), succession)
    )


def _own(handover: Handover, template: Template) -> Files:
    yield CONFIG, k3s.config(template(CONFIG), handover)
    yield from folder.pair(handover, KEY)
