"""The same as files, for whoever puts them where they belong: kubectl's, or kubeadm's for a static pod."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cwiictl import manifests
from cwiictl.install.sidecar.container import on_its_node
from cwiictl.install.sidecar.guest import guest
from cwiictl.install.sidecar.patch import behind, merged, patch, removal, sized, strategic
from cwiictl.install.sidecar.secrets import CA, CRT, KEY, KUBECONFIG, Certified, access, secrets
from cwiictl.install.sidecar.sidecar import Sidecar
from cwiictl.manifests import Template

SIDECAR, STATIC = "sidecar", "static-pod"
SECRETS, GUEST, PATCH = (
    f"{SIDECAR}/secrets.yaml",
    "guest.yaml",
    f"{SIDECAR}/kube-apiserver-patch.yaml",
)
REMOVAL, WHOLE = f"{SIDECAR}/kube-apiserver-removal.yaml", f"{SIDECAR}/kube-apiserver.yaml"
FILES = f"{STATIC}/files"
PATCHED = f"{STATIC}/patches/kube-apiserver-webhook+strategic.yaml"  # as kubeadm knows of what it is, and how it is meant
SERVER = "https://127.0.0.1:{port}"
SAN = "kubernetes"  # a name that kubeadm's certificate of an API server has on every node


def sidecar_tree(
    sidecar: Sidecar,
    certified: Certified,
    template: Template,
    deployment: Mapping[str, Any] | None = None,
) -> dict[str, bytes]:
    """With a Deployment, as it is to be, too."""
    words = {"deployment": sidecar.deployment, "namespace": sidecar.namespace}
    part = patch(sidecar, sized(sidecar, deployment) if deployment else None)
    tree = {
        SECRETS: manifests.dump_all(secrets(sidecar, certified)),
        PATCH: manifests.dump(strategic(part)),
        REMOVAL: manifests.dump(removal(sidecar)),
        f"{SIDECAR}/{GUEST}": manifests.dump_all(guest(sidecar, certified.authority)),
        f"{SIDECAR}/README.txt": template("sidecar/deployment.txt").format_map(words).encode(),
    }
    return tree | ({WHOLE: manifests.dump(merged(deployment, part))} if deployment else {})


def static_tree(sidecar: Sidecar, certified: Certified, template: Template) -> dict[str, bytes]:
    """kubeadm writes a static pod's manifest anew whenever it likes, and adds to it what is in a folder of patches."""
    folder = f"/etc/kubernetes/{sidecar.flavour.name}"
    container, volumes = on_its_node(sidecar, folder)
    files = {
        CRT: certified.serving.certificate,
        KEY: certified.serving.key,
        CA: certified.authority,
        KUBECONFIG: access(SERVER.format(port=sidecar.port), certified, SAN),
    }
    return {
        **{f"{FILES}/{name}": content for name, content in files.items()},
        PATCHED: manifests.dump({"spec": behind({"containers": [container], "volumes": volumes})}),
        f"{STATIC}/{GUEST}": manifests.dump_all(guest(sidecar, certified.authority)),
        f"{STATIC}/README.txt": template("sidecar/static-pod.txt")
        .format_map({"folder": folder, "patch": PATCHED.rpartition("/")[2]})
        .encode(),
    }
