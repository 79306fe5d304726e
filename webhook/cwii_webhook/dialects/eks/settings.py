"""Defines the flags of amazon-eks-pod-identity-webhook, with its names and defaults."""

from __future__ import annotations

import re

from msgspec import Struct

from cwii_webhook.dialects.eks.annotations import DOMAIN
from cwii_webhook.settings.flags import BadFlag, Flag
from cwii_webhook.settings.formats import DOMAIN as ANNOTATIONS
from cwii_webhook.settings.formats import FILE, MAX_TOKEN_SECONDS, MIN_TOKEN_SECONDS, check_flag
from cwii_webhook.settings.serving import (
    COMMON_FLAGS,
    KLOG_FLAGS,
    LOG_LEVEL,
    ServingSettings,
    ignored_flags,
)

DAY = 86400

_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
_MOUNT = re.compile(r"/[^:]*")


class Agent(Struct, frozen=True):
    """Settings of EKS Pod Identity's agent, which runs on each node."""

    audience: str = "pods.eks.amazonaws.com"
    mount_path: str = "/var/run/secrets/pods.eks.amazonaws.com/serviceaccount"
    volume_name: str = "eks-pod-identity-token"
    token_path: str = "eks-pod-identity-token"  # noqa: S105 - a file's name
    full_uri: str = "http://169.254.170.23/v1/credentials"


class Settings(Struct, frozen=True):
    domain: str = DOMAIN
    audience: str = "sts.amazonaws.com"
    mount_path: str = "/var/run/secrets/eks.amazonaws.com/serviceaccount"
    expiration: int = DAY
    region: str = ""
    regional: bool = False
    config_map: bool = False
    namespace: str = "eks"
    compose: bool = False
    identities: str = ""  # path of the file with the identities that use the agent
    container: Agent = Agent()

    def __post_init__(self) -> None:
        """Checks values with which the API server would refuse every injected pod."""
        check_flag("annotation-prefix", self.domain, ANNOTATIONS)
        check_flag("container-credentials-token-path", self.container.token_path, FILE)
        if not _LABEL.fullmatch(self.namespace):
            raise BadFlag(
                f"--namespace is {self.namespace!r}, which is no namespace",
                "use up to 63 small letters, digits and -",
            )
        if not _LABEL.fullmatch(self.container.volume_name):
            raise BadFlag(
                f"--container-credentials-volume-name is {self.container.volume_name!r}, "
                "which is no volume's",
                "use small letters, digits and -",
            )
        for flag, path in (
            ("token-mount-path", self.mount_path),
            ("container-credentials-mount-path", self.container.mount_path),
        ):
            if not _MOUNT.fullmatch(path):
                raise BadFlag(
                    f"--{flag} is {path!r}, which is no path", "begin it with /, and leave out :"
                )
        if self.expiration > MAX_TOKEN_SECONDS:
            raise BadFlag(
                f"--token-expiration is {self.expiration}, and no token may last so long",
                f"give {MIN_TOKEN_SECONDS} to {MAX_TOKEN_SECONDS} seconds",
            )


_NOT_HERE = "certificates are files here, and are read again when they change"

FLAGS: tuple[Flag, ...] = (
    Flag("annotation-prefix", "text", "Domain of the annotations.", "domain"),
    Flag("token-audience", "text", "For whom tokens are, where no annotation says so.", "audience"),
    Flag("token-mount-path", "text", "Where the token is mounted.", "mount_path"),
    Flag(
        "token-expiration",
        "number",
        "How long tokens last, in seconds; 600 at least.",
        "expiration",
    ),
    Flag(
        "aws-default-region",
        "text",
        "Set AWS_REGION and AWS_DEFAULT_REGION where the container has neither.",
        "region",
    ),
    Flag(
        "sts-regional-endpoint",
        "switch",
        "Use STS of the region, where no annotation says otherwise.",
        "regional",
    ),
    Flag(
        "watch-config-map",
        "switch",
        "Read the roles of ServiceAccounts from the ConfigMap pod-identity-webhook too.",
        "config_map",
    ),
    Flag("namespace", "text", "Namespace of that ConfigMap.", "namespace"),
    Flag(
        "compose-role-arn",
        "switch",
        "Make an ARN of a role's bare name, with the account and partition of this node.",
        "compose",
    ),
    Flag(
        "watch-container-credentials-config",
        "text",
        "File of the ServiceAccounts that get their credentials of EKS Pod Identity's agent.",
        "identities",
    ),
    Flag(
        "container-credentials-audience",
        "text",
        "For whom the tokens for the agent are.",
        "container.audience",
    ),
    Flag(
        "container-credentials-mount-path",
        "text",
        "Where they are mounted.",
        "container.mount_path",
    ),
    Flag(
        "container-credentials-token-mount-path",
        "text",
        "Where they are mounted.",
        "container.mount_path",
    ),
    Flag(
        "container-credentials-volume-name",
        "text",
        "The volume they are in.",
        "container.volume_name",
    ),
    Flag(
        "container-credentials-token-volume-name",
        "text",
        "The volume they are in.",
        "container.volume_name",
    ),
    Flag(
        "container-credentials-token-path",
        "text",
        "The token's file in that volume.",
        "container.token_path",
    ),
    Flag("container-credentials-full-uri", "text", "Where the agent is.", "container.full_uri"),
    Flag("port", "number", "Port of the webhook.", "serving.port"),
    Flag(
        "metrics-port", "number", "Port of health and metrics, without TLS.", "serving.metrics_port"
    ),
    Flag(
        "metrics-addr",
        "address",
        "Where they are asked for, if not on that port of every address.",
        "serving.metrics",
    ),
    Flag("tls-cert", "text", "File of the certificate.", "serving.cert"),
    Flag("tls-key", "text", "File of its key.", "serving.key"),
    Flag("kube-api", "text", "URL of the API server, instead of the kubeconfig's.", "serving.api"),
    Flag(
        "service-account-lookup-grace-period",
        "duration",
        "How long a ServiceAccount that is not there yet is looked for.",
        "serving.grace",
    ),
    Flag("in-cluster", "switch", _NOT_HERE),
    *ignored_flags("service-name tls-secret", _NOT_HERE),
    *ignored_flags("resync-period", "watches are resumed, and nothing is handled anew"),
    Flag("enable-debugging-handlers", "switch", "there are none"),
    LOG_LEVEL,
    *COMMON_FLAGS,
    *KLOG_FLAGS,
)
SERVING = ServingSettings(
    address=("", 443),
    metrics=("", 9999),
    cert="/etc/webhook/certs/tls.crt",
    key="/etc/webhook/certs/tls.key",
)
