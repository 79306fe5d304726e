"""An order to install the webhook in a cluster without nodes, and what it wrote there: certificates come from files, so that nobody is waited for."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from cwiictl.actions.cluster import Installation
from cwiictl.actions.install import install
from cwiictl.actions.result import Result
from cwiictl.actions.uninstall import uninstall
from cwiictl.engine.resource import silent
from tests.cluster.kube.cluster import Cluster
from tests.cwiictl.install.installed import CA, IMAGE

FILES = ("certificates.by=files", "certificates.secret=made-by-hand", f"certificates.ca={CA}")
REVIEWS = ("selfsubjectreviews", "selfsubjectaccessreviews")
WRITES = {"create", "update", "patch", "delete"}


def ordered(cluster: Cluster, folder: Path, *sets: str) -> Installation:
    return Installation(
        kubeconfig=cluster.kubeconfig, output=folder, sets=(f"image={IMAGE}", *sets), wait=False
    )


def tried(order: Installation) -> Result:
    """Nobody here makes certificates, so whoever is waited for is not waited for long."""
    return install(replace(order, timeout=1), silent, lambda _: True)


def installed(order: Installation) -> Result:
    result = tried(order)
    assert not result.code, [(row.thing, row.problem) for row in result.rows]
    return result


def removed(cluster: Cluster, folder: Path) -> Result:
    return uninstall(ordered(cluster, folder), "cwii-webhook", silent, lambda _: True)


def writes(cluster: Cluster) -> list[str]:
    """Of ours, and of what."""
    asked = (
        one
        for one in cluster.reach.requests()
        if one.get("userAgent") == "cwiictl" and one["verb"] in WRITES
    )
    return [
        one["requestURI"]
        for one in asked
        if not any(word in one["requestURI"] for word in ("dryRun", *REVIEWS))
    ]
