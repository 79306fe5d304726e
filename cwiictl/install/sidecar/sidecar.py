"""What is wanted beside a kube-apiserver, and what of it is told to which cluster as Values."""

from __future__ import annotations

from dataclasses import dataclass, replace

import msgspec

from cwiictl import names
from cwiictl.errors import BadInput
from cwiictl.install.sidecar.flavours import FLAVOURS, PROFILES, Flavour
from cwiictl.install.values import Certificates, Resources, Values

PORT, HTTPS = 6443, 443  # a pod of HyperShift's has no port 443: whoever is told so means the other
KUBE_APISERVER = "kube-apiserver"  # what its Deployment is called, and in any pod its container
LONGEST = 63  # characters of a label's value
_RESOURCES = Resources(requests={"cpu": "10m", "memory": "64Mi"}, limits={})


@dataclass(frozen=True)
class Sidecar:
    """`namespace` and `deployment` are where the kube-apiserver runs, in the management cluster."""

    values: Values
    flavour: Flavour
    namespace: str
    deployment: str = KUBE_APISERVER
    port: int = PORT
    profile: str = "intermediate"
    readiness: bool = False

    @property
    def serving(self) -> str:
        return f"{self.flavour.name}-serving-cert"

    @property
    def kubeconfig(self) -> str:
        return f"{self.flavour.name}-kubeconfig"

    @property
    def unsized(self) -> bool:
        """Whether nobody has said how much it is to have."""
        return self.values.resources == _RESOURCES

    @property
    def management(self) -> Values:
        return msgspec.structs.replace(
            self.values, name=self.flavour.name, namespace=self.namespace
        )

    def guest(self, authority: bytes) -> Values:
        """`authority`: the certificates of the CA that the serving certificate is of."""
        files = Certificates(by="files", secret=self.serving, ca=authority.decode())
        return msgspec.structs.replace(
            self.values,
            name=self.flavour.name,
            namespace=self.flavour.namespace,
            certificates=files,
        )

    @property
    def user(self) -> tuple[str, tuple[str, ...]]:
        """Who it is to the guest's API server, and in which groups: a ServiceAccount by a certificate, so that none has to be there."""
        groups = ("system:serviceaccounts", f"system:serviceaccounts:{self.flavour.namespace}")
        return f"system:serviceaccount:{self.flavour.namespace}:{self.flavour.name}", groups


def sidecar(wanted: Sidecar) -> Sidecar:
    """Checked, and with what is so where nobody says otherwise."""
    values, kind = wanted.values, wanted.flavour
    if kind.dialect and values.dialects != (kind.dialect,):
        raise BadInput(
            f"this flavour serves the dialect {kind.dialect} alone",
            remedy="leave dialects out, or say --flavour cwii to have several",
        )
    if values.require or values.failure_policy == "Fail":
        raise BadInput(
            "beside a kube-apiserver nobody is refused for want of the webhook: it begins with the API server, and not before",
            remedy="leave require and failurePolicy out",
        )
    if wanted.profile not in PROFILES:
        raise BadInput(
            f"there is no TLS profile {wanted.profile!r}",
            remedy=f"use one of {', '.join(PROFILES)}",
        )
    aws = (
        values.aws
        if values.aws.audience
        else msgspec.structs.replace(values.aws, audience=kind.audience)
    )
    asked = values.resources if values.resources != Resources() else _RESOURCES
    return replace(
        wanted,
        values=msgspec.structs.replace(values, aws=aws, resources=asked),
        port=PORT if wanted.port == HTTPS else wanted.port,
    )


def flavour(name: str, https: int = 0, plain: int = 0) -> Flavour:
    """With other ports, if they are said: in a static pod they are its node's."""
    kind = FLAVOURS[name]
    own = kind.doors
    return replace(
        kind,
        doors=replace(
            own, https=https or own.https, plain=plain or own.plain, metrics=plain or own.metrics
        ),
    )


def installation(flavour: str, namespace: str) -> str:
    """What all parts of it are found by in both clusters: one management cluster has many that are hosted."""
    return names.fit(f"{flavour}.{namespace}", LONGEST)


def parted(installation: str) -> tuple[str, str] | None:
    """The flavour and the namespace in such a name, if it is one; no namespace where it may have been shortened."""
    kind, _, namespace = installation.partition(".")
    return (
        (kind, namespace if len(installation) < LONGEST else "")
        if kind in FLAVOURS and namespace
        else None
    )
