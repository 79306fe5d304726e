"""What openshift-install wants: the files of its `manifests/` folder, named as ccoctl names them."""

from __future__ import annotations

from collections.abc import Iterable

from cwiictl import manifests
from cwiictl.errors import BadInput
from cwiictl.manifests import Template
from cwiictl.model import Binding, Handover, Workload

name = "openshift"

AUTHENTICATION = "manifests/cluster-authentication-02-config.yaml"
AZURE_WEBHOOK = "manifests/azure-ad-pod-identity-webhook-config.yaml"
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
    return (*claimed, AUTHENTICATION, AZURE_WEBHOOK)


def render(handover: Handover, template: Template) -> dict[str, bytes]:
    paths(binding.workload for binding in handover.bindings)
    told: dict[str, list[Binding]] = {}
    for binding in handover.bindings:
        told.setdefault(_path(binding.workload), []).append(binding)
    tree = {path: manifests.secret(template("openshift/secret.yaml"), bindings) for path, bindings in told.items()}
    if handover.issuer:
        tree[AUTHENTICATION] = manifests.authentication(template("openshift/authentication.yaml"), handover.issuer)
    if handover.issuer and handover.tenant:
        tree[AZURE_WEBHOOK] = manifests.azure_webhook(template("openshift/azure-webhook.yaml"), handover.tenant)
    return {path: manifests.dump(document) for path, document in tree.items()}


def _path(workload: Workload) -> str:
    file = f"{workload.namespace}-{workload.name}-credentials.yaml"
    if len(file) > MAX_NAME:
        raise BadInput(f"the name of the Secret {workload.title} is too long for a file", remedy="give the Secret a shorter name")
    return f"manifests/{file}"
