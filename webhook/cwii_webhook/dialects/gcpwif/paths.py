"""Where Google's dialect puts things: volumes, paths, and the variables that lead there."""

from __future__ import annotations

from collections.abc import Mapping

from cwii_webhook.admission.injection import NO_TOKEN, Json, Mount, Variable, Volume
from cwii_webhook.dialects.gcpwif.settings import Mode

TOKEN = Mount("gcp-iam-token", "/var/run/secrets/sts.googleapis.com/serviceaccount", read_only=True)
GCLOUD = Mount("gcloud-config", "/var/run/secrets/gcloud/config")
DIRECT = Mount("external-credential-config", "/var/run/secrets/workload-identity", read_only=True)
TOKEN_FILE = f"{TOKEN.mount_path}/token"
FILE = "federation.json"
CONFIG = Variable("CLOUDSDK_CONFIG", GCLOUD.mount_path)


def _pointer(mount: Mount) -> Variable:
    return Variable("GOOGLE_APPLICATION_CREDENTIALS", f"{mount.mount_path}/{FILE}")


MOUNTS: Mapping[Mode, tuple[Mount, ...]] = {"gcloud": (TOKEN, GCLOUD), "direct": (TOKEN, DIRECT)}
POINTERS: Mapping[Mode, tuple[Variable, ...]] = {
    "gcloud": (_pointer(GCLOUD), CONFIG),
    "direct": (_pointer(DIRECT),),
}
REPLACED: Mapping[Mode, frozenset[str]] = {
    mode: frozenset(v.name for v in pointers) for mode, pointers in POINTERS.items()
}
OURS: Mapping[Mode, frozenset[str]] = {
    mode: REPLACED[mode] | {m.name for m in mounts} for mode, mounts in MOUNTS.items()
}


def volumes(annotation: str, file_mode: int) -> Mapping[Mode, tuple[Volume, ...]]:
    """Those beside the token's: somewhere for gcloud to write, or the pod's own annotation as a file."""
    field = {"apiVersion": "v1", "fieldPath": f"metadata.annotations['{annotation}']"}
    downward: Json = {"items": [{"path": FILE, "fieldRef": field}], "defaultMode": file_mode}
    return {
        "gcloud": (Volume(GCLOUD.name, {"emptyDir": {}}), NO_TOKEN),
        "direct": (Volume(DIRECT.name, {"downwardAPI": downward}),),
    }
