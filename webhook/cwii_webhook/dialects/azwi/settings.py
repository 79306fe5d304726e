"""Defines the flags of azure-workload-identity's webhook, with its names and defaults."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal, get_args

from msgspec import Struct

from cwii_webhook.settings.flags import BadFlag, Flag, ParsedFlags, build_settings
from cwii_webhook.settings.formats import ANY_IMAGE, NAME, check_flag
from cwii_webhook.settings.serving import COMMON_FLAGS, ServingSettings

Layout = Literal["v1.5", "v1.6", "next"]

AUDIENCE = "api://AzureADTokenExchange"
REGISTRY, RELEASE = "mcr.microsoft.com/oss/v2/azure/workload-identity", "v1.6.0"
# OpenShift's name of the binary, also in hosted control planes.
HOSTED_PROGRAM = "azure-workload-identity-webhook"
LOG_LEVELS = ("", "info", "debug", "trace", "all")  # the peer's proxies exit on any other
NATIVE_SIDECARS = (1, 32)  # the first version whose oldest supported nodes have them

_PUBLIC, _US, _CHINA, _GERMANY = (
    "https://login.microsoftonline.com/",
    "https://login.microsoftonline.us/",
    "https://login.chinacloudapi.cn/",
    "https://login.microsoftonline.de/",
)
AUTHORITIES: Mapping[str, str] = {
    "AzurePublicCloud": _PUBLIC,
    "AzureUSGovernmentCloud": _US,
    "AzureUSGovernment": _US,
    "AzureChinaCloud": _CHINA,
    "AzureGermanCloud": _GERMANY,
}
_AUTHORITIES = {name.lower(): host for name, host in AUTHORITIES.items()}
# The name of an annotation has at most 63 characters, `use-` among them.
_SUFFIX = re.compile(r"[a-z0-9A-Z]([-a-z0-9A-Z_.]{0,57}[a-z0-9A-Z])?")


class Proxy(Struct, frozen=True):
    """Settings of the proxy sidecar, which answers in place of the node's metadata service."""

    image: str = f"{REGISTRY}/proxy:{RELEASE}"
    init_image: str = f"{REGISTRY}/proxy-init:{RELEASE}"
    log_level: str = ""

    def __post_init__(self) -> None:
        if self.log_level not in LOG_LEVELS:
            raise BadFlag(
                f"--log-level is {self.log_level!r}, which the proxies do not know",
                f"use one of {', '.join(filter(None, LOG_LEVELS))}",
            )
        check_flag("proxy-image", self.image, ANY_IMAGE)
        check_flag("proxy-init-image", self.init_image, ANY_IMAGE)


class Endpoint(Struct, frozen=True):
    """Settings of the cluster's own token endpoint, which replaces Entra ID, and of its CA."""

    suffix: str = ""
    audience: str = ""
    proxy: str = ""
    sni_name: str = ""
    ca_data: str = ""
    ca_config_map: str = ""
    ca_signer: str = ""
    ca_selector: Mapping[str, object] | None = None

    def __post_init__(self) -> None:
        if bool(self.suffix) != bool(self.audience):
            raise BadFlag(
                "custom token endpoint: "
                f"{'no audience' if self.suffix else 'no annotation suffix'}",
                "give both flags or neither",
            )
        if self.suffix and not _SUFFIX.fullmatch(self.suffix):
            raise BadFlag(
                f"--custom-token-endpoint-annotation-suffix is {self.suffix!r}",
                "use letters, digits, - _ and ., at most 59",
            )
        if self.audience.lower() == AUDIENCE.lower():
            raise BadFlag(
                f"--custom-token-endpoint-audience is {self.audience}, the default audience",
                "choose another",
            )
        if sum(map(bool, (self.ca_data, self.ca_config_map, self.ca_signer))) > 1:
            raise BadFlag(
                "the custom token endpoint's authority is said more than once",
                "give its data, or a ConfigMap, or a signer",
            )
        if self.ca_config_map:
            check_flag("kubernetes-ca-configmap-name", self.ca_config_map, NAME)
        if self.ca_selector is not None and not self.ca_signer:
            raise BadFlag(
                "AZURE_KUBERNETES_CA_CTB_LABEL_SELECTOR is set without a signer",
                "set AZURE_KUBERNETES_CA_CTB_SIGNER_NAME too",
            )


class Settings(Struct, frozen=True):
    tenant_id: str = ""
    cloud: str = ""
    audience: str = ""
    layout: Layout = "v1.6"
    label: bool = False  # check the label; else a selector in the webhook configuration does
    kubernetes: tuple[int, int] = NATIVE_SIDECARS  # version of the API server at the start
    proxy: Proxy = Proxy()
    endpoint: Endpoint = Endpoint()

    def __post_init__(self) -> None:
        if self.cloud.lower() not in {"", *_AUTHORITIES}:
            raise BadFlag(
                f"AZURE_ENVIRONMENT is {self.cloud!r}, which is no cloud of Azure's",
                f"use one of {', '.join(AUTHORITIES)}",
            )

    @property
    def authority(self) -> str:
        return _AUTHORITIES[self.cloud.lower()] if self.cloud else _PUBLIC


FLAGS: tuple[Flag, ...] = (
    Flag("audience", "text", f"For whom tokens are; {AUDIENCE} if empty.", "audience"),
    Flag(
        "tenant-id",
        "text",
        "Tenant of pods whose ServiceAccount names none.",
        "tenant_id",
        "AZURE_TENANT_ID",
    ),
    Flag(
        "azure-environment",
        "text",
        f"Cloud of Azure's: {', '.join(AUTHORITIES)}.",
        "cloud",
        "AZURE_ENVIRONMENT",
    ),
    Flag(
        "layout",
        "text",
        f"Where the token is put, as releases do it: {', '.join(get_args(Layout))}.",
        "layout",
    ),
    Flag(
        "check-label",
        "switch",
        "Look at the label azure.workload.identity/use here, "
        "and not only in the webhook's configuration.",
        "label",
    ),
    Flag("proxy-image", "text", "Image of the proxy sidecar.", "proxy.image", "PROXY_IMAGE"),
    Flag(
        "proxy-init-image",
        "text",
        "Image of what leads the pod's traffic to it.",
        "proxy.init_image",
        "PROXY_INIT_IMAGE",
    ),
    Flag(
        "log-level",
        "text",
        f"How much the log tells, and the proxies': {', '.join(LOG_LEVELS[1:])}.",
        "proxy.log_level",
    ),
    Flag(
        "custom-token-endpoint-annotation-suffix",
        "text",
        "Pods with azure.workload.identity/use-SUFFIX use the endpoint.",
        "endpoint.suffix",
    ),
    Flag(
        "custom-token-endpoint-audience",
        "text",
        "For whom the tokens for it are.",
        "endpoint.audience",
    ),
    Flag(
        "kubernetes-token-proxy",
        "text",
        "The endpoint.",
        "endpoint.proxy",
        "AZURE_KUBERNETES_TOKEN_PROXY",
    ),
    Flag(
        "kubernetes-sni-name",
        "text",
        "Its name in TLS.",
        "endpoint.sni_name",
        "AZURE_KUBERNETES_SNI_NAME",
    ),
    Flag(
        "kubernetes-ca-data",
        "text",
        "Its authority's certificates.",
        "endpoint.ca_data",
        "AZURE_KUBERNETES_CA_DATA",
    ),
    Flag(
        "kubernetes-ca-configmap-name",
        "text",
        "The ConfigMap with them.",
        "endpoint.ca_config_map",
        "AZURE_KUBERNETES_CA_CONFIGMAP_NAME",
    ),
    Flag(
        "kubernetes-ca-ctb-signer-name",
        "text",
        "The signer of their trust bundle.",
        "endpoint.ca_signer",
        "AZURE_KUBERNETES_CA_CTB_SIGNER_NAME",
    ),
    Flag(
        "kubernetes-ca-ctb-label-selector",
        "json",
        "Which of its bundles.",
        "endpoint.ca_selector",
        "AZURE_KUBERNETES_CA_CTB_LABEL_SELECTOR",
    ),
    Flag("webhook-cert-dir", "text", "Folder of tls.crt and tls.key.", "serving.cert_dir"),
    Flag("port", "number", "Port of the webhook.", "serving.port"),
    Flag("health-addr", "address", "Where health is asked for, without TLS.", "serving.health"),
    Flag("metrics-addr", "address", "Where metrics are asked for, without TLS.", "serving.metrics"),
    Flag("metrics-backend", "text", "there is no other than Prometheus"),
    Flag(
        "disable-cert-rotation",
        "switch",
        "certificates are files here, and are read again when they change",
    ),
    *COMMON_FLAGS,
)
SERVING = ServingSettings(
    address=("", 9443), cert_dir="/certs", health=("", 9440), metrics=("", 8095), tls_min="1.3"
)


def parse_settings(flags: ParsedFlags, program: str = "") -> Settings:
    """Builds the settings. Raises BadFlag without a tenant, as the peer does.

    Under OpenShift's name of the binary, the layout of v1.5 is the default.
    """
    defaults: dict[str, object] = {"layout": "v1.5"} if program == HOSTED_PROGRAM else {}
    values = {**defaults, **flags.values}
    if values.get("layout", "v1.6") not in get_args(Layout):
        raise BadFlag(
            f"--layout is {values['layout']!r}", f"use one of {', '.join(get_args(Layout))}"
        )
    if not isinstance(values.get("endpoint.ca_selector", {}), dict):
        raise BadFlag(
            "AZURE_KUBERNETES_CA_CTB_LABEL_SELECTOR is no label selector",
            'say it as {"matchLabels": {"name": "value"}}',
        )
    if not values.get("tenant_id"):
        raise BadFlag(
            "AZURE_TENANT_ID is not set",
            "set it, or --tenant-id, to the tenant of pods whose ServiceAccount names none",
        )
    return build_settings(ParsedFlags(values), Settings)
