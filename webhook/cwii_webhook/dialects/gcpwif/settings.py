"""Defines the flags of gcp-workload-identity-federation-webhook, with its names and defaults."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, cast, get_args

import msgspec
from msgspec import Struct

from cwii_webhook.dialects.gcpwif.annotations import DOMAIN
from cwii_webhook.settings.flags import BadFlag, Flag, ParsedFlags, build_settings
from cwii_webhook.settings.formats import ANY_IMAGE, MAX_TOKEN_SECONDS, QUANTITY, check_flag
from cwii_webhook.settings.formats import DOMAIN as ANNOTATIONS
from cwii_webhook.settings.serving import COMMON_FLAGS, LOG_LEVEL, ZAP_FLAGS, ServingSettings

Mode = Literal["gcloud", "direct"]

MIN_SECONDS, DAY = 3600, 86400


class Settings(Struct, frozen=True):
    domain: str = DOMAIN
    audience: str = "sts.googleapis.com"
    expiration: float = DAY
    region: str = ""
    image: str = "gcr.io/google.com/cloudsdktool/google-cloud-cli:stable"
    file_mode: int = 0o440
    mode: Mode = "gcloud"
    resources: Mapping[str, object] | None = None  # of gcloud-setup

    def __post_init__(self) -> None:
        """Checks values with which the API server would refuse every injected pod."""
        check_flag("annotation-prefix", self.domain, ANNOTATIONS)
        check_flag("gcloud-image", self.image, ANY_IMAGE)


FLAGS: tuple[Flag, ...] = (
    Flag("annotation-prefix", "text", "Domain of the annotations.", "domain"),
    Flag("token-audience", "text", "For whom tokens are, where no annotation says so.", "audience"),
    Flag(
        "token-expiration",
        "duration",
        "How long tokens last, where no annotation says so; an hour at least.",
        "expiration",
    ),
    Flag(
        "gcp-default-region",
        "text",
        "Set CLOUDSDK_COMPUTE_REGION where the container has not.",
        "region",
    ),
    Flag("gcloud-image", "text", "Image of gcloud-setup.", "image"),
    Flag("token-default-mode", "number", "Mode of the token's file; 0440.", "file_mode"),
    Flag(
        "default-injection-mode", "text", "gcloud or direct, where no annotation says so.", "mode"
    ),
    Flag(
        "setup-container-resources",
        "text",
        "Requests and limits of gcloud-setup, as JSON.",
        "resources",
    ),
    Flag("webhook-cert-dir", "text", "Folder of tls.crt and tls.key.", "serving.cert_dir"),
    Flag("port", "number", "Port of the webhook.", "serving.port"),
    Flag(
        "health-probe-bind-address",
        "address",
        "Where health is asked for, without TLS.",
        "serving.health",
    ),
    Flag(
        "metrics-bind-address",
        "address",
        "Where metrics are asked for, without TLS.",
        "serving.metrics",
    ),
    Flag("leader-elect", "switch", "all replicas serve"),
    LOG_LEVEL,
    *COMMON_FLAGS,
    *ZAP_FLAGS,
)
SERVING = ServingSettings(
    address=("", 9443),
    cert_dir="/tmp/k8s-webhook-server/serving-certs",  # noqa: S108 - as its peer has it
    health=("", 8081),
    metrics=("", 8080),
)


def parse_settings(flags: ParsedFlags) -> Settings:
    values = {**flags.values}
    if values.get("mode", "gcloud") not in get_args(Mode):
        raise BadFlag(f"--default-injection-mode is {values['mode']!r}", "use gcloud or direct")
    if not 0 <= cast("int", values.get("file_mode", 0)) <= 0o777:
        raise BadFlag(
            f"--token-default-mode is {values['file_mode']}, which is no file's mode",
            "use one such as 0440",
        )
    if cast("float", values.get("expiration", 0)) > MAX_TOKEN_SECONDS:
        raise BadFlag(
            f"--token-expiration is {values['expiration']:.0f} seconds, "
            "and no token may last so long",
            f"give {MAX_TOKEN_SECONDS} seconds at most",
        )
    if "resources" in values:
        values["resources"] = _resources(cast("str", values["resources"]))
    return build_settings(ParsedFlags(values), Settings)


def _resources(text: str) -> object:
    """Parses the resources. An empty text means none."""
    example = 'say it as {"requests": {"cpu": "100m"}}'
    try:
        resources = (
            msgspec.json.decode(
                text, type=dict[Literal["requests", "limits"], dict[str, str | int | float]]
            )
            if text
            else None
        )
    except msgspec.MsgspecError as e:
        raise BadFlag(f"--setup-container-resources is {text!r}: {e}", example) from e
    for kind, amounts in (resources or {}).items():
        for name, amount in amounts.items():
            if str(amount).startswith("-") or not QUANTITY.pattern.fullmatch(str(amount)):
                raise BadFlag(
                    f"--setup-container-resources has {amount!r} for {name} of its {kind}, "
                    "which is no quantity",
                    example,
                )
    return resources
