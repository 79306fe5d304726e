"""What kubeadm wants: flags for kube-apiserver, the key pair under its own names, and ServiceAccounts that the webhook knows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from cwiictl import manifests
from cwiictl.errors import BadInput
from cwiictl.manifests import Template
from cwiictl.model import Handover, Workload

name = "kubeadm"
folders = ("kubeadm", "kubeadm/credentials")

OLD = "kubeadm/cluster-configuration-v1beta3.yaml"
NEW = "kubeadm/cluster-configuration-v1beta4.yaml"
issuer_in = NEW
PRIVATE = "kubeadm/pki/sa.key"
PUBLIC = "kubeadm/pki/sa.pub"
ACCOUNTS = "kubeadm/serviceaccounts.yaml"
CREDENTIALS = "kubeadm/credentials"
README = "kubeadm/README.txt"
SECOND = "kubeadm/patches/kube-apiserver+json.yaml"

ISSUER = "service-account-issuer"
JWKS_URI = "service-account-jwks-uri"


def paths(workloads: Iterable[Workload]) -> tuple[str, ...]:
    """All that `render` could make for these. The webhook serves a ServiceAccount as one identity."""
    claimed: dict[str, Workload] = {}
    for workload in workloads:
        for subject in workload.subjects:
            other = claimed.setdefault(subject, workload)
            if other != workload:
                raise BadInput(
                    f"{other.title} and {workload.title} both want the ServiceAccount {subject.removeprefix('system:serviceaccount:')}",
                    remedy="give each of the two a ServiceAccount of its own: it is annotated with one identity",
                )
    files = {_credentials(workload) for workload in claimed.values()}
    return (*((ACCOUNTS,) if claimed else ()), *sorted(files), NEW, OLD, README, SECOND, PUBLIC, PRIVATE)


def render(handover: Handover, template: Template) -> dict[str, bytes]:
    paths(binding.workload for binding in handover.bindings)
    accounts = manifests.service_accounts(template("kubernetes/service-account.yaml"), handover.bindings)
    tree = {ACCOUNTS: manifests.dump_all(accounts)} if accounts else {}
    tree |= {_credentials(binding.workload): file for binding in handover.bindings for file in binding.files.values()}
    if not handover.issuer:
        return tree
    told = template("kubeadm/credentials.txt").encode() if any(path.startswith(f"{CREDENTIALS}/") for path in tree) else b""
    files = dict(_api_server(handover, template))
    return {**tree, **files, README: files[README] + told}


def _credentials(workload: Workload) -> str:
    """For whoever mounts them without the webhook."""
    return f"{CREDENTIALS}/{workload.namespace}-{workload.name}.json"


def _api_server(handover: Handover, template: Template) -> Iterator[tuple[str, bytes]]:
    """A cluster that has its own key runs already: it gets its new issuer beside the one that it has."""
    runs = handover.private_key is None
    for path, filled in ((NEW, _listed), (OLD, _mapped)):
        patch = filled(manifests.template(template(path)), handover)
        yield path, manifests.dump_all([patch, _patched(patch, template)] if runs else [patch])
    yield README, template("kubeadm/existing.txt" if runs else "kubeadm/new.txt").encode()
    if runs:
        yield SECOND, template("kubeadm/second-issuer.yaml").encode()
    if handover.public_key is not None:
        yield PUBLIC, handover.public_key
    if handover.private_key is not None:
        yield PRIVATE, handover.private_key


def _patched(patch: Mapping[str, Any], template: Template) -> dict[str, Any]:
    """With --config, kubeadm does not take --patches: the folder is said in the same file."""
    return manifests.template(template("kubeadm/init-configuration.yaml")) | {"apiVersion": patch["apiVersion"]}


def _flags(handover: Handover, known: Mapping[str, str]) -> dict[str, str]:
    """Where the keys are is not known of every issuer: then the API server says so itself, to whoever asks it."""
    flags = {**known, ISSUER: handover.issuer, JWKS_URI: handover.jwks_uri}
    return {flag: value for flag, value in flags.items() if value}


def _listed(patch: dict[str, Any], handover: Handover) -> dict[str, Any]:
    """v1beta4: arguments are a list."""
    known = {argument["name"]: argument["value"] for argument in patch["apiServer"]["extraArgs"]}
    patch["apiServer"]["extraArgs"] = [{"name": flag, "value": value} for flag, value in _flags(handover, known).items()]
    return patch


def _mapped(patch: dict[str, Any], handover: Handover) -> dict[str, Any]:
    """v1beta3: arguments are a map."""
    patch["apiServer"]["extraArgs"] = _flags(handover, patch["apiServer"]["extraArgs"])
    return patch
