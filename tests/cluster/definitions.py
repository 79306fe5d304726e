"""Kinds that others bring: their CustomResourceDefinitions, as they were released in Go modules, and an API server that serves them."""

from __future__ import annotations

from collections.abc import Iterable

from cwiictl.documents import documents
from tests.cluster.installers.modules import source
from tests.cluster.kube.client import Client, Object, Refused
from tests.cluster.kube.cluster import Cluster

Module = tuple[str, str]

CERT_MANAGER: Module = ("github.com/cert-manager/cert-manager", "v1.21.2")
PROMETHEUS: Module = ("github.com/prometheus-operator/prometheus-operator", "v0.85.0")
_FILES: dict[Module, list[str]] = {
    CERT_MANAGER: [
        f"deploy/crds/cert-manager.io_{plural}.yaml" for plural in ("certificates", "issuers")
    ],
    PROMETHEUS: [
        f"example/prometheus-operator-crd/monitoring.coreos.com_{plural}.yaml"
        for plural in ("servicemonitors", "prometheusrules")
    ],
}


def definitions(*modules: Module) -> Iterable[Object]:
    for module in modules:
        for name in _FILES[module]:
            yield from (
                dict(each.value) for each in documents(name, (source(module) / name).read_bytes())
            )


def serve(cluster: Cluster, *bodies: Object) -> None:
    """Until each is there for whoever looks."""
    for body in bodies:
        cluster.admin.create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", body)
    for body in bodies:
        cluster.processes.until(
            lambda body=body: served(cluster.admin, body["spec"]), body["metadata"]["name"]
        )


def served(admin: Client, spec: Object) -> bool:
    """Group, version, kind and what is kept of it come one after the other, and are refused in several ways until then."""
    version = f"/apis/{spec['group']}/{spec['versions'][0]['name']}"
    try:
        return spec["names"]["kind"] in admin.text(version) and admin.exists(
            f"{version}/{spec['names']['plural']}"
        )
    except Refused:
        return False
