"""What openshift-install wants: the files of its `manifests/` folder, named as ccoctl names them."""

from __future__ import annotations

from collections.abc import Iterable

from cwiictl import manifests
from cwiictl.errors import BadInput
from cwiictl.manifests import Template
from cwiictl.model import Binding, Handover, Workload

name = "openshift"
folders = ("manifests",)

AUTHENTICATION = "manifests/cluster-authentication-02-config.yaml"
issuer_in = AUTHENTICATION
FACTS = {"azure_tenant_id": ("manifests/azure-ad-pod-identity-webhook-config.yaml", "openshift/azure-webhook.yaml")}  # those that it reads, and where
MAX_NAME = 255


def paths(workloads: Iterable[Workload]) -> tuple[str, ...]:
    """All that `render` could make for these, so that what cannot be written is known before a cloud is asked."""
    claimed: dict[str, Workload] = {}
    for workload in workloads:
        path = _path(workload)
        if path in claimed and claimed[path].title != workload.title:
            raise BadInput(
                f"{workload.title} and {claimed[path].title} would both be written to {path}",
                remedy="rename one of the two Secrets: openshift-install names the file after namespace and name",
            )
        claimed[path] = workload
    return (*claimed, AUTHENTICATION, *(path for path, _ in FACTS.values()))


def render(handover: Handover, template: Template) -> dict[str, bytes]:
    paths(binding.workload for binding in handover.bindings)
    secrets: dict[str, list[Binding]] = {}
    for binding in handover.bindings:
        secrets.setdefault(_path(binding.workload), []).append(binding)
    tree = {path: manifests.secret(template("openshift/secret.yaml"), bindings) for path, bindings in secrets.items()}
    if handover.issuer:
        tree[AUTHENTICATION] = manifests.authentication(template("openshift/authentication.yaml"), handover.issuer)
        told = {fact: FACTS[fact] for fact in FACTS if fact in handover.facts}
        tree |= {path: manifests.told(template(text), fact, handover.facts[fact]) for fact, (path, text) in told.items()}
    return {path: manifests.dump(document) for path, document in tree.items()}


def _path(workload: Workload) -> str:
    file = f"{workload.namespace}-{workload.name}-credentials.yaml"
    if len(file) > MAX_NAME:
        raise BadInput(f"the name of the Secret {workload.title} is too long for a file", remedy="give the Secret a shorter name")
    return f"manifests/{file}"
