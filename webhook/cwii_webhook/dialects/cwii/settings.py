"""Defines the flags of cwii's server, with its names, environment variables and defaults."""

from __future__ import annotations

import re
from typing import Literal, cast, get_args

from msgspec import Struct

from cwii_webhook.settings.flags import BadFlag, Flag, ParsedFlags, build_settings
from cwii_webhook.settings.formats import (
    AUDIENCE,
    IMAGE,
    MAX_TOKEN_SECONDS,
    MIN_TOKEN_SECONDS,
    REGION,
    check_flag,
)
from cwii_webhook.settings.serving import COMMON_FLAGS, LOG_LEVEL, ServingSettings

Delivery = Literal["annotation", "config-map", "init-container"]

_SPELLINGS = {"configmap": "config-map", "initcontainer": "init-container"}

_HOST = re.compile(r"[a-z0-9][a-z0-9.-]{0,252}(:[0-9]{1,5})?")
_PATH = re.compile(r"/[A-Za-z0-9._-]+(/[A-Za-z0-9._-]+)*/?")


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
    aws_default_region: str = ""
    aws_verify_image: str = "amazon/aws-cli:2.35.4"
    az_default_audience: str = "api://AzureADTokenExchange"
    az_verify_image: str = "mcr.microsoft.com/azure-cli:2.84.0"
    verify_images: tuple[str, ...] = ()
    authority_hosts: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not _PATH.fullmatch(self.mount_root):
            raise BadFlag(
                f"--mount-root is {self.mount_root!r}, which is no path",
                "begin it with /, and use letters, digits and ._-",
            )
        if self.token_expiration > MAX_TOKEN_SECONDS:
            raise BadFlag(
                f"--token-expiration is {self.token_expiration}, and no token may last so long",
                f"give {MIN_TOKEN_SECONDS} to {MAX_TOKEN_SECONDS} seconds",
            )
        if parse_delivery(self.gcp_delivery) is None:
            raise BadFlag(
                f"--gcp-delivery is {self.gcp_delivery!r}",
                f"use one of {', '.join(get_args(Delivery))}",
            )
        if self.gcp_default_audience:
            check_flag("gcp-default-audience", self.gcp_default_audience, AUDIENCE)
        if self.aws_default_region:
            check_flag("aws-default-region", self.aws_default_region, REGION)
        check_flag("aws-default-audience", self.aws_default_audience, AUDIENCE)
        check_flag("az-default-audience", self.az_default_audience, AUDIENCE)
        for flag in ("gcp-init-image", "gcp-verify-image", "aws-verify-image", "az-verify-image"):
            check_flag(flag, getattr(self, flag.replace("-", "_")), IMAGE)
        for host in self.authority_hosts:
            if not _HOST.fullmatch(host):
                raise BadFlag(
                    f"--authority-hosts lists {host!r}, which is no host",
                    "list names alone, such as login.example.com",
                )

    @property
    def expiration(self) -> int:
        return max(MIN_TOKEN_SECONDS, self.token_expiration)

    @property
    def root(self) -> str:
        return self.mount_root.rstrip("/")

    @property
    def delivery(self) -> Delivery:
        return parse_delivery(self.gcp_delivery) or "annotation"

    @property
    def own_images(self) -> frozenset[str]:
        return frozenset({self.gcp_verify_image, self.aws_verify_image, self.az_verify_image})


def parse_delivery(text: str) -> Delivery | None:
    """Parses a delivery method in any accepted spelling. Returns None if it is unknown."""
    word = text.strip().lower().replace("_", "-")
    word = _SPELLINGS.get(word, word)
    return cast("Delivery", word) if word in get_args(Delivery) else None


def _cloud(short: str, audience: str) -> tuple[Flag, ...]:
    key, env = f"{short}_", f"CWII_{short.upper()}_"
    return (
        Flag(
            f"{short}-enabled",
            "switch",
            "Whether its annotations are heard at all.",
            f"{key}enabled",
            f"{env}ENABLED",
            explicit=True,
        ),
        Flag(
            f"{short}-default-audience",
            "text",
            audience,
            f"{key}default_audience",
            f"{env}DEFAULT_AUDIENCE",
        ),
        Flag(
            f"{short}-verify-image",
            "text",
            "Image to try an identity with.",
            f"{key}verify_image",
            f"{env}VERIFY_IMAGE",
        ),
    )


FLAGS: tuple[Flag, ...] = (
    Flag("addr", "address", "Where to listen.", "serving.address", "CWII_ADDR"),
    Flag("tls-cert", "text", "File of the certificate.", "serving.cert", "CWII_TLS_CERT"),
    Flag("tls-key", "text", "File of its key.", "serving.key", "CWII_TLS_KEY"),
    Flag("port", "number", "Port of the webhook, instead of the address's.", "serving.port"),
    Flag(
        "health-addr",
        "address",
        "Where health and metrics are asked for, without TLS.",
        "serving.health",
    ),
    Flag("mount-root", "text", "Where tokens are mounted.", "mount_root", "CWII_MOUNT_ROOT"),
    Flag(
        "token-expiration",
        "number",
        "How long tokens last, in seconds.",
        "token_expiration",
        "CWII_TOKEN_EXPIRATION",
    ),
    Flag(
        "native-annotations",
        "switch",
        "Hear some words of other webhooks too.",
        "native_annotations",
        "CWII_NATIVE_ANNOTATIONS",
        explicit=True,
    ),
    *_cloud("gcp", "For whom tokens for Google Cloud are; without it, pods have to say."),
    *_cloud("aws", "For whom tokens for AWS are."),
    Flag(
        "aws-default-region",
        "text",
        "Region, for AWS_REGION, of pods for which nobody says one.",
        "aws_default_region",
        "CWII_AWS_DEFAULT_REGION",
    ),
    *_cloud("az", "For whom tokens for Azure are."),
    Flag(
        "gcp-delivery",
        "text",
        f"How Google's credentials come to a pod: {', '.join(get_args(Delivery))}.",
        "gcp_delivery",
        "CWII_GCP_DELIVERY",
    ),
    Flag(
        "gcp-init-image",
        "text",
        "Image that writes them, where a container does.",
        "gcp_init_image",
        "CWII_GCP_INIT_IMAGE",
    ),
    Flag(
        "verify-images",
        "words",
        "Images that annotations may name to try an identity with; * at the end is any.",
        "verify_images",
        "CWII_VERIFY_IMAGES",
    ),
    Flag(
        "authority-hosts",
        "words",
        "Hosts that annotations may name for Azure, besides its clouds'.",
        "authority_hosts",
        "CWII_AUTHORITY_HOSTS",
    ),
    Flag(
        "otel-enabled",
        "switch",
        "metrics are there to be scraped",
        env="CWII_OTEL_ENABLED",
        explicit=True,
    ),
    Flag(
        "otel-endpoint",
        "text",
        "metrics are there to be scraped, and --otlp-endpoint pushes them",
        env="CWII_OTEL_ENDPOINT",
    ),
    Flag("log-level", "level", LOG_LEVEL.help, LOG_LEVEL.field, "RUST_LOG"),
    *COMMON_FLAGS,
)
SERVING = ServingSettings(address=("0.0.0.0", 8443), cert="/tls/tls.crt", key="/tls/tls.key")  # noqa: S104 - as cwii does, in a pod of its own


def parse_settings(flags: ParsedFlags) -> Settings:
    return build_settings(flags, Settings)
