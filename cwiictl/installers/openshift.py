"""What openshift-install wants: the files of its `manifests/` folder, named as ccoctl names them."""

from __future__ import annotations

import json
from collections.abc import Iterable

from cwiictl import manifests
from cwiictl.errors import BadInput
from cwiictl.installers import folder
from cwiictl.manifests import Template
from cwiictl.model import Binding, Handover, Succession, Workload

name = "openshift"
folders = ("manifests",)

AUTHENTICATION = "manifests/cluster-authentication-02-config.yaml"
issuer_in = AUTHENTICATION
public_in = ""
FACTS = {
    "azure_tenant_id": (
        "manifests/azure-ad-pod-identity-webhook-config.yaml",
        "openshift/azure-webhook.yaml",
    )
}  # those that it reads, and where
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
    tree = {
        path: manifests.secret(template("openshift/secret.yaml"), bindings)
        for path, bindings in secrets.items()
    }
    if handover.issuer:
        tree[AUTHENTICATION] = manifests.authentication(
            template("openshift/authentication.yaml"), handover.issuer
        )
        told = {fact: FACTS[fact] for fact in FACTS if fact in handover.facts}
        tree |= {
            path: manifests.told(template(text), fact, handover.facts[fact])
            for fact, (path, text) in told.items()
        }
    return {path: manifests.dump(document) for path, document in tree.items()}


def succeeded(succession: Succession, template: Template) -> dict[str, bytes]:
    """In its operator's own objects: a ConfigMap of the keys that are accepted, and the Secret of the pair that is to sign next."""
    made = {"accept": _accepted, "sign": _next, "forget": _old}[succession.stage]
    return folder.succeeded(name, succession, template, made(succession, template))


def _accepted(succession: Succession, _template: Template) -> dict[str, bytes]:
    patch = {"data": {f"service-account-{succession.kid}.pub": succession.public_key.decode()}}
    return {"accepted.json": json.dumps(patch, indent=2).encode() + b"\n"}


def _next(succession: Succession, template: Template) -> dict[str, bytes]:
    pair = {
        "service-account.key": succession.private_key.decode(),
        "service-account.pub": succession.public_key.decode(),
    }
    return {
        "next-signing-key.yaml": manifests.dump(
            manifests.template(template("openshift/next-signing-key.yaml")) | {"stringData": pair}
        )
    }


def _old(succession: Succession, _template: Template) -> dict[str, bytes]:
    return {"old.pub": succession.old}


def _path(workload: Workload) -> str:
    file = f"{workload.namespace}-{workload.name}-credentials.yaml"
    if len(file) > MAX_NAME:
        raise BadInput(
            f"the name of the Secret {workload.title} is too long for a file",
            remedy="give the Secret a shorter name",
        )
    return f"manifests/{file}"
