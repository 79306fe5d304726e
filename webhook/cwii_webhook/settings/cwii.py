"""What cwii's server is told, under its own names and with its own defaults."""

from __future__ import annotations

import re
from typing import Literal, cast

from msgspec import Struct

Delivery = Literal["annotation", "config-map", "init-container"]

_SPELLINGS = {"configmap": "config-map", "initcontainer": "init-container"}
_ROOT = re.compile(r"/[A-Za-z0-9._-]+(/[A-Za-z0-9._-]+)*/?")


class Settings(Struct, frozen=True):
    mount_root: str = "/var/run/secrets/cwii.dev"
    token_expiration: int = 3600
    native_annotations: bool = False
    gcp_enabled: bool = True
    aws_enabled: bool = True
    az_enabled: bool = True
    gcp_default_audience: str = ""
    gcp_delivery: str = "annotation"
    gcp_init_image: str = "busybox:1.38.0"
    gcp_verify_image: str = "google/cloud-sdk:572.0.0-slim"
    aws_default_audience: str = "sts.amazonaws.com"
    aws_verify_image: str = "amazon/aws-cli:2.35.4"
    az_default_audience: str = "api://AzureADTokenExchange"
    az_verify_image: str = "mcr.microsoft.com/azure-cli:2.84.0"
    verify_images: tuple[str, ...] = ()
    authority_hosts: tuple[str, ...] = ()

    @property
    def root(self) -> str:
        return self.mount_root.rstrip("/")

    @property
    def delivery(self) -> Delivery:
        return delivery(self.gcp_delivery) or "annotation"

    @property
    def own_images(self) -> frozenset[str]:
        return frozenset({self.gcp_verify_image, self.aws_verify_image, self.az_verify_image})


def delivery(text: str) -> Delivery | None:
    """In any of the spellings that are taken; None for another word."""
    word = text.strip().lower().replace("_", "-")
    word = _SPELLINGS.get(word, word)
    return cast("Delivery", word) if word in {"annotation", "config-map", "init-container"} else None
