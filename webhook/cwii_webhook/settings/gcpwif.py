"""What gcp-workload-identity-federation-webhook is told, under its own names and with its own defaults."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

from cwii_webhook.vocabulary.gcpwif import DOMAIN

Mode = Literal["gcloud", "direct"]

LEAST, DAY = 3600, 86400


class Settings(Struct, frozen=True):
    domain: str = DOMAIN
    audience: str = "sts.googleapis.com"
    expiration: float = DAY
    region: str = ""
    image: str = "gcr.io/google.com/cloudsdktool/google-cloud-cli:stable"
    file_mode: int = 0o440
    mode: Mode = "gcloud"
    resources: Mapping[str, object] | None = None  # of the container that sets gcloud up
