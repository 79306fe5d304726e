"""Under which names, at which ports and in whose words it runs there: HyperShift's for its own two, and ours where it has none.

What HyperShift's own operators make has these names too, so that whoever knows the one finds his way in the other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cwiictl.install.command import Doors
from cwiictl.install.values import Dialect

FOLDER = "/var/run/app"


@dataclass(frozen=True)
class Flavour:
    name: str  # of the container and of its rights; its Secrets and its user begin with it
    namespace: str  # in the guest, of the ServiceAccount that it acts as: neither has to be there
    configuration: str
    volume: str  # what its volumes begin with
    doors: Doors
    dialect: Dialect | None = None  # one alone, however many its users may ask for
    entry: str = ""  # of that dialect in the configuration
    further: Mapping[str, Any] | None = None  # of that entry
    audience: str = ""  # of AWS's tokens, where nobody says one
    words: tuple[str, ...] = ()
    server: str = (
        "https://localhost:{port}"  # HyperShift's certificate of an API server has that name
    )


def _doors(https: int, plain: int, metrics: int = 0) -> Doors:
    return Doors(https, plain, metrics or plain, certificates=f"{FOLDER}/certs")


FLAVOURS: Mapping[str, Flavour] = {
    "azure": Flavour(
        "azure-workload-identity-webhook",
        "openshift-authentication",
        "azure-workload-identity-webhook",
        "azure-wi-webhook",
        _doors(9443, 9440, 9441),
        "azwi",
        "pod-identity-webhook.azure.mutate.io",
        {
            "admissionReviewVersions": ["v1", "v1beta1"],
            "matchPolicy": "Equivalent",
            "objectSelector": {"matchLabels": {"azure.workload.identity/use": "true"}},
            "reinvocationPolicy": "IfNeeded",
        },
        words=("--layout=v1.5",),  # as whoever counts on OpenShift's paths finds the token
    ),
    "aws": Flavour(
        "aws-pod-identity-webhook",
        "openshift-authentication",
        "aws-pod-identity",
        "aws-pod-identity-webhook",
        _doors(4443, 9999),
        "eks",
        "pod-identity-webhook.amazonaws.com",
        {"admissionReviewVersions": ["v1beta1"]},
        audience="openshift",
        server="https://kube-apiserver:{port}",
    ),
    "gcp": Flavour(
        "gcp-workload-identity-federation-webhook",
        "openshift-authentication",
        "gcp-pod-identity",
        "gcp-wif-webhook",
        _doors(9453, 9454),
        "gcpwif",
        "pod-identity-webhook.gcp.mutate.io",
        {"admissionReviewVersions": ["v1"]},
    ),
    "cwii": Flavour(
        "cwii-webhook", "cwii-system", "cwii-webhook", "cwii-webhook", _doors(9463, 9464)
    ),
}

_ECDHE = [
    f"TLS_ECDHE_{kind}_WITH_{cipher}"
    for cipher in ("AES_128_GCM_SHA256", "AES_256_GCM_SHA384", "CHACHA20_POLY1305_SHA256")
    for kind in ("ECDSA", "RSA")
]
PROFILES: Mapping[str, tuple[str, ...]] = {  # of OpenShift's tlsSecurityProfile
    "old": ("--tls-min-version=VersionTLS10",),
    "intermediate": ("--tls-min-version=VersionTLS12", f"--tls-cipher-suites={','.join(_ECDHE)}"),
    "modern": ("--tls-min-version=VersionTLS13",),
}
