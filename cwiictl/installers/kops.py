"""What kOps wants: fields of its Cluster, and the key for its own store."""

from __future__ import annotations

from collections.abc import Iterable

from cwiictl import manifests
from cwiictl.installers import folder
from cwiictl.installers.flags import former
from cwiictl.installers.folder import Files
from cwiictl.manifests import Template
from cwiictl.model import Handover, Succession, Workload

name = "kops"
folders = folder.folders(name)

CLUSTER = "kops/cluster.yaml"
issuer_in = CLUSTER
public_in = ""
KEY = "kops/service-account.key"


def paths(workloads: Iterable[Workload]) -> tuple[str, ...]:
    return folder.paths(name, workloads, (CLUSTER, KEY), (CLUSTER,))


def render(handover: Handover, template: Template) -> dict[str, bytes]:
    return folder.rendered(name, handover, template, _own, {CLUSTER: _own})


def succeeded(succession: Succession, template: Template) -> dict[str, bytes]:
    """Its store takes whole pairs, of which one is to sign: the private key comes with the first stage."""
    return folder.succeeded(
        name,
        succession,
        template,
        {"service-account.key": succession.pair if succession.stage == "accept" else b""},
    )


def _own(handover: Handover, template: Template) -> Files:
    """What its issuer has been so far is made of its DNS name, and known only of whoever was asked."""
    filled = manifests.template(template(CLUSTER))
    server = filled["spec"]["kubeAPIServer"]
    server |= {"serviceAccountIssuer": handover.issuer, "serviceAccountJWKSURI": handover.jwks_uri}
    if handover.audiences:
        server["apiAudiences"] = list(handover.audiences)
    if had := former(handover):
        server["additionalServiceAccountIssuers"] = [had]
    filled["spec"]["kubeAPIServer"] = {field: value for field, value in server.items() if value}
    yield CLUSTER, manifests.dump(filled)
    yield from folder.pair(handover, KEY)
