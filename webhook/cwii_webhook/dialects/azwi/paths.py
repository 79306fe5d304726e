"""Where releases of Azure workload identity put the token: the volume's name, its path and the file in it."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256

from msgspec import Struct

from cwii_webhook.admission.injection import Mount, Variable, variable
from cwii_webhook.admission.review import Pod
from cwii_webhook.dialects.azwi.settings import Layout

PREFIX = "azure-workload-identity-reserved-"
CA_PATH = "ca-cert/ca.crt"
_LONGEST = 63  # a volume's name


class TokenPaths(Struct, frozen=True, gc=False):
    """For one pod: the mount, and the variables that lead to the files in it."""

    mount: Mount
    token: Variable
    ca: Variable


class TokenLayout(Struct, frozen=True):
    """A release's: whether the volume's name goes with the pod's, and whether the path goes with the volume's."""

    volume: str
    mount_path: str
    token: str
    named: bool = True
    apart: bool = False

    @property
    def volumes(self) -> str:
        return f"{self.volume}*" if self.named else self.volume

    def called(self, pod: Pod) -> str:
        """The volume."""
        return _reserved(pod) if self.named else self.volume

    def at(self, volume: str) -> TokenPaths:
        path = f"{self.mount_path}/{volume.removeprefix(PREFIX)}" if self.apart else self.mount_path
        return TokenPaths(
            Mount(volume, path, read_only=True),
            variable("AZURE_FEDERATED_TOKEN_FILE", f"{path}/{self.token}"),
            variable("AZURE_KUBERNETES_CA_FILE", f"{path}/{CA_PATH}"),
        )


LAYOUTS: Mapping[Layout, TokenLayout] = {
    "v1.5": TokenLayout(
        "azure-identity-token", "/var/run/secrets/azure/tokens", "azure-identity-token", named=False
    ),
    "v1.6": TokenLayout(PREFIX, "/var/run/secrets/azure/wi", "token/azure-identity-token"),
    "next": TokenLayout(
        PREFIX, "/var/run/secrets/azure/wi", "token/azure-identity-token", apart=True
    ),
}


def _reserved(pod: Pod) -> str:
    """One that is there stays, though the pod may have come by its name since: two mounts at one path are refused."""
    for volume in pod.spec.volumes or ():
        if volume.name.startswith(PREFIX):
            return volume.name
    key = pod.metadata.name or f"{pod.metadata.generate_name or ''} (prefix)"
    return (PREFIX + sha256(key.encode()).hexdigest())[:_LONGEST]
