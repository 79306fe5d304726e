"""Google's credentials file: what stands in it, and the three ways in which it comes to a pod."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping

from msgspec import Struct

from cwii_webhook.admission.injection import ConfigMap, Mount, Volume, variable
from cwii_webhook.dialects.common.helper_container import HelperSpec
from cwii_webhook.dialects.cwii.annotations import GCP_CREDENTIALS

NAME = "cwii-gcp-creds"
FILE = "credentials.json"
CONFIG_MAP_LABELS = {
    "app.kubernetes.io/managed-by": "cwii"
}  # of a ConfigMap; by these three whoever installs the webhook says what it may write
STS = "https://sts.googleapis.com/v1"
IMPERSONATION = (
    "https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/{}:generateAccessToken"
)
WRITING = Mount(NAME, "/cwii/gcp")
SCRIPT = f"printf '%s' \"$CWII_GCP_CREDS_JSON\" > {WRITING.mount_path}/{FILE}"


class Delivered(Struct, frozen=True):
    """What a way of delivery needs in the pod, or beside it."""

    volume: Volume
    annotations: Mapping[str, str] = {}
    before: tuple[ConfigMap, ...] = ()
    guests: tuple[HelperSpec, ...] = ()


def document(audience: str, account: str, token: str) -> str:
    """An empty account is none: the pod's own principal is used."""
    text: dict[str, object] = {
        "type": "external_account",
        "audience": audience,
        "subject_token_type": "urn:ietf:params:oauth:token-type:jwt",
        "token_url": f"{STS}/token",
        "token_info_url": f"{STS}/introspect",
        "credential_source": {"file": token},
    }
    if account:
        text["service_account_impersonation_url"] = IMPERSONATION.format(account)
    return json.dumps(text, separators=(",", ":"), sort_keys=True)


def name(audience: str, account: str, *, windows: bool = False) -> str:
    """A ConfigMap's, of what is in it: pods that want the same share it."""
    content = "\0".join((audience, account, *(("windows",) if windows else ())))
    return f"{NAME}-{hashlib.sha256(content.encode()).hexdigest()[:12]}"


def annotation(text: str) -> Delivered:
    """Nothing is written to the cluster, and nothing is run."""
    item = {
        "path": FILE,
        "fieldRef": {
            "apiVersion": "v1",
            "fieldPath": f"metadata.annotations['{GCP_CREDENTIALS.key}']",
        },
    }
    return Delivered(Volume(NAME, {"downwardAPI": {"items": [item]}}), {GCP_CREDENTIALS.key: text})


def config_map(namespace: str, called: str, text: str) -> Delivered:
    volume = Volume(NAME, {"configMap": {"name": called, "items": [{"key": FILE, "path": FILE}]}})
    return Delivered(
        volume, before=(ConfigMap(namespace, called, {FILE: text}, CONFIG_MAP_LABELS),)
    )


def written(image: str, text: str) -> Delivered:
    """A container writes it before any of the pod's own starts."""
    writer = HelperSpec(
        f"{NAME}-writer",
        image,
        SCRIPT,
        (variable("CWII_GCP_CREDS_JSON", text),),
        (WRITING,),
        "10m",
        "32Mi",
        runs_first=True,
    )
    return Delivered(Volume(NAME, {"emptyDir": {}}), guests=(writer,))
