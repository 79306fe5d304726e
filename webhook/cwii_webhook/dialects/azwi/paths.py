"""Names the token volume and its paths, as releases of azure-workload-identity do."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256

from msgspec import Struct

from cwii_webhook.admission.injection import EnvVar, VolumeMount, env_var
from cwii_webhook.admission.review import Pod
from cwii_webhook.dialects.azwi.settings import Layout

PREFIX = "azure-workload-identity-reserved-"
CA_PATH = "ca-cert/ca.crt"
_MAX_VOLUME_NAME = 63


class TokenPaths(Struct, frozen=True, gc=False):
    """The mount for one pod, and the variables that name the files in it."""

    mount: VolumeMount
    token: EnvVar
    ca: EnvVar


class TokenLayout(Struct, frozen=True):
    """The names that a release uses."""

    volume: str
    mount_path: str
    token: str
    is_named_after_pod: bool = True  # the volume
    is_path_per_volume: bool = False

    @property
    def volume_pattern(self) -> str:
        return f"{self.volume}*" if self.is_named_after_pod else self.volume

    def volume_name(self, pod: Pod) -> str:
        return _reserved_name(pod) if self.is_named_after_pod else self.volume

    def paths(self, volume: str) -> TokenPaths:
        path = self.mount_path
        if self.is_path_per_volume:
            path = f"{path}/{volume.removeprefix(PREFIX)}"
        return TokenPaths(
            VolumeMount(volume, path, read_only=True),
            env_var("AZURE_FEDERATED_TOKEN_FILE", f"{path}/{self.token}"),
            env_var("AZURE_KUBERNETES_CA_FILE", f"{path}/{CA_PATH}"),
        )


_MOUNT_PATH, _TOKEN = "/var/run/secrets/azure/wi", "token/azure-identity-token"
LAYOUTS: Mapping[Layout, TokenLayout] = {
    "v1.5": TokenLayout(
        "azure-identity-token",
        "/var/run/secrets/azure/tokens",
        "azure-identity-token",
        is_named_after_pod=False,
    ),
    "v1.6": TokenLayout(PREFIX, _MOUNT_PATH, _TOKEN),
    "next": TokenLayout(PREFIX, _MOUNT_PATH, _TOKEN, is_path_per_volume=True),
}


def _reserved_name(pod: Pod) -> str:
    """Derives the volume's name from the pod's.

    A reserved volume that exists keeps its name. The pod may have got its name after the first
    pass, and two mounts at one path are invalid.
    """
    for volume in pod.spec.volumes or ():
        if volume.name.startswith(PREFIX):
            return volume.name
    key = pod.metadata.name or f"{pod.metadata.generate_name or ''} (prefix)"
    return (PREFIX + sha256(key.encode()).hexdigest())[:_MAX_VOLUME_NAME]
