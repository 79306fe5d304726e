"""Names the volumes, paths and variables that gcp-workload-identity-federation-webhook uses."""

from __future__ import annotations

from collections.abc import Mapping

from cwii_webhook.admission.injection import NO_TOKEN, EnvVar, Volume, VolumeMount
from cwii_webhook.dialects.gcpwif.settings import Mode

TOKEN = VolumeMount(
    "gcp-iam-token", "/var/run/secrets/sts.googleapis.com/serviceaccount", read_only=True
)
GCLOUD = VolumeMount("gcloud-config", "/var/run/secrets/gcloud/config")
DIRECT = VolumeMount(
    "external-credential-config", "/var/run/secrets/workload-identity", read_only=True
)
TOKEN_FILE = f"{TOKEN.mount_path}/token"
CREDENTIALS_FILE = "federation.json"
CLOUDSDK_CONFIG = EnvVar("CLOUDSDK_CONFIG", GCLOUD.mount_path)


def _credentials(mount: VolumeMount) -> EnvVar:
    return EnvVar("GOOGLE_APPLICATION_CREDENTIALS", f"{mount.mount_path}/{CREDENTIALS_FILE}")


VOLUME_MOUNTS: Mapping[Mode, tuple[VolumeMount, ...]] = {
    "gcloud": (TOKEN, GCLOUD),
    "direct": (TOKEN, DIRECT),
}
PATH_VARIABLES: Mapping[Mode, tuple[EnvVar, ...]] = {
    "gcloud": (_credentials(GCLOUD), CLOUDSDK_CONFIG),
    "direct": (_credentials(DIRECT),),
}
# The peer overwrites these variables, and the volumes and mounts of these names.
REPLACED_ENV: Mapping[Mode, frozenset[str]] = {
    mode: frozenset([variable.name for variable in env]) for mode, env in PATH_VARIABLES.items()
}
REPLACED_NAMES: Mapping[Mode, frozenset[str]] = {
    mode: REPLACED_ENV[mode] | {mount.name for mount in mounts}
    for mode, mounts in VOLUME_MOUNTS.items()
}


def credentials_volumes(annotation: str, file_mode: int) -> Mapping[Mode, tuple[Volume, ...]]:
    """Returns the volumes besides the token's.

    In gcloud mode, gcloud writes its configuration into one. In direct mode, one shows the pod's
    own annotation as a file.
    """
    field = {"apiVersion": "v1", "fieldPath": f"metadata.annotations['{annotation}']"}
    items = [{"path": CREDENTIALS_FILE, "fieldRef": field}]
    downward_api = {"items": items, "defaultMode": file_mode}
    return {
        "gcloud": (Volume(GCLOUD.name, {"emptyDir": {}}), NO_TOKEN),
        "direct": (Volume(DIRECT.name, {"downwardAPI": downward_api}),),
    }
