"""Lists the annotations and labels of azure-workload-identity."""

from __future__ import annotations

from cwii_webhook.dialects.common.annotations import Annotation

DOMAIN = "azure.workload.identity"
TRUE = "true"

USE = Annotation(f"{DOMAIN}/use", 'Only pods with "true" are asked about.', ("pod",), place="label")
CLIENT_ID = Annotation(
    f"{DOMAIN}/client-id",
    "Client ID of the identity. Without it `AZURE_CLIENT_ID` is not set; the rest is.",
    ("account",),
)
TENANT_ID = Annotation(
    f"{DOMAIN}/tenant-id",
    "Tenant of the identity; empty, `AZURE_TENANT_ID` is not set.",
    ("account",),
    default="`AZURE_TENANT_ID` of the webhook",
)
EXPIRATION = Annotation(
    f"{DOMAIN}/service-account-token-expiration",
    "How long the token lasts, in seconds; 3600 to 86400.",
    ("pod", "account"),
    "number",
    default="3600",
)
SKIP = Annotation(
    f"{DOMAIN}/skip-containers",
    "Containers that get nothing, with semicolons between them.",
    ("pod",),
    "list",
)
PROXY = Annotation(
    f"{DOMAIN}/inject-proxy-sidecar",
    "With any value: a proxy that answers in place of the node's metadata service.",
    ("pod",),
    "presence",
)
PORT = Annotation(
    f"{DOMAIN}/proxy-sidecar-port", "Where that proxy listens.", ("pod",), "number", default="8000"
)


def endpoint_annotation(suffix: str) -> Annotation:
    """Returns the annotation that asks for the cluster's own token endpoint.

    A flag chooses the suffix.
    """
    return Annotation(
        f"{DOMAIN}/use-{suffix}",
        'With "true": tokens are exchanged at the endpoint that the webhook was told.',
        ("pod",),
        "flag",
    )


ALL: tuple[Annotation, ...] = (
    USE,
    CLIENT_ID,
    TENANT_ID,
    EXPIRATION,
    SKIP,
    PROXY,
    PORT,
    endpoint_annotation("<suffix>"),
)
