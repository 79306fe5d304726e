"""Builds Google's credentials file, and the three ways in which it reaches a pod."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping

from msgspec import Struct

from cwii_webhook.admission.injection import ConfigMap, Volume, VolumeMount, env_var
from cwii_webhook.dialects.common.helper_container import HelperSpec
from cwii_webhook.dialects.cwii.annotations import GCP_CREDENTIALS

NAME = "cwii-gcp-creds"
FILE = "credentials.json"
# cwiictl's admission policy allows the webhook to write only ConfigMaps with these labels, NAME and
# FILE.
CONFIG_MAP_LABELS = {"app.kubernetes.io/managed-by": "cwii"}
STS = "https://sts.googleapis.com/v1"
IMPERSONATION = (
    "https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/{}:generateAccessToken"
)
WRITER_MOUNT = VolumeMount(NAME, "/cwii/gcp")
WRITER_SCRIPT = f"printf '%s' \"$CWII_GCP_CREDS_JSON\" > {WRITER_MOUNT.mount_path}/{FILE}"


class CredentialsDelivery(Struct, frozen=True):
    """The volume with the credentials file, and what fills it."""

    volume: Volume
    annotations: Mapping[str, str] = {}
    prerequisites: tuple[ConfigMap, ...] = ()
    helpers: tuple[HelperSpec, ...] = ()


def credentials_file(audience: str, account: str, token_path: str) -> str:
    """Returns the JSON of the file. Without an account, the pod's own principal is used."""
    document: dict[str, object] = {
        "type": "external_account",
        "audience": audience,
        "subject_token_type": "urn:ietf:params:oauth:token-type:jwt",
        "token_url": f"{STS}/token",
        "token_info_url": f"{STS}/introspect",
        "credential_source": {"file": token_path},
    }
    if account:
        document["service_account_impersonation_url"] = IMPERSONATION.format(account)
    return json.dumps(document, separators=(",", ":"), sort_keys=True)


def config_map_name(audience: str, account: str, *, is_windows: bool = False) -> str:
    """Derives the name from the content, so that pods with the same content share a ConfigMap."""
    content = "\0".join((audience, account, *(("windows",) if is_windows else ())))
    return f"{NAME}-{hashlib.sha256(content.encode()).hexdigest()[:12]}"


def by_annotation(text: str) -> CredentialsDelivery:
    """Delivers the file as an annotation that a downwardAPI volume shows."""
    field = {"apiVersion": "v1", "fieldPath": f"metadata.annotations['{GCP_CREDENTIALS.key}']"}
    volume = Volume(NAME, {"downwardAPI": {"items": [{"path": FILE, "fieldRef": field}]}})
    return CredentialsDelivery(volume, {GCP_CREDENTIALS.key: text})


def by_config_map(namespace: str, name: str, text: str) -> CredentialsDelivery:
    """Delivers the file as a ConfigMap, which the webhook writes before the pod is created."""
    items = [{"key": FILE, "path": FILE}]
    volume = Volume(NAME, {"configMap": {"name": name, "items": items}})
    config_map = ConfigMap(namespace, name, {FILE: text}, CONFIG_MAP_LABELS)
    return CredentialsDelivery(volume, prerequisites=(config_map,))


def by_init_container(image: str, text: str) -> CredentialsDelivery:
    """Delivers the file through an init container, which runs before all others."""
    writer = HelperSpec(
        f"{NAME}-writer",
        image,
        WRITER_SCRIPT,
        (env_var("CWII_GCP_CREDS_JSON", text),),
        (WRITER_MOUNT,),
        "10m",
        "32Mi",
        runs_first=True,
    )
    return CredentialsDelivery(Volume(NAME, {"emptyDir": {}}), helpers=(writer,))
