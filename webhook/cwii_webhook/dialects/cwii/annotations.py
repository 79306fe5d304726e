"""Lists cwii's annotations, which it reads from all sources of a pod."""

from __future__ import annotations

from msgspec import Struct

from cwii_webhook.dialects.common.annotations import Annotation
from cwii_webhook.dialects.gcpwif import annotations as gcpwif

DOMAIN = "cwii.dev"


class CloudAnnotations(Struct, frozen=True):
    """The annotations that each cloud has."""

    inject: Annotation
    audience: Annotation
    expiration: Annotation
    verify: Annotation
    enforce: Annotation
    image: Annotation


def _cloud_annotations(short: str, cloud: str, audience: str) -> CloudAnnotations:
    key = f"{DOMAIN}/{short}"
    return CloudAnnotations(
        Annotation(
            f"{key}-inject",
            f"Give the pod its identity in {cloud}, or, where it is false, do not.",
            kind="flag",
        ),
        Annotation(f"{key}-audience", audience, default=f"--{short}-default-audience"),
        Annotation(
            f"{key}-token-expiration",
            "How long the token lasts, in seconds; at least 600.",
            kind="number",
            default="--token-expiration",
        ),
        Annotation(
            f"{key}-verify",
            f"Try the identity in {cloud} before the pod's containers start.",
            kind="flag",
            default="false",
        ),
        Annotation(
            f"{key}-verify-enforce",
            "Do not start the pod's containers where that fails.",
            kind="flag",
            default="false",
        ),
        Annotation(
            f"{key}-verify-image",
            "Image to try it with; see --verify-images.",
            default=f"--{short}-verify-image",
        ),
    )


AWS = _cloud_annotations("aws", "AWS", "For whom the token is.")
AZURE = _cloud_annotations("az", "Azure", "For whom the token is.")
GCP = _cloud_annotations(
    "gcp",
    "Google Cloud",
    "For whom the token is, and the provider in the credentials file. Required.",
)

AWS_ROLE_ARN = Annotation(f"{DOMAIN}/aws-role-arn", "Role to assume. Required.")
AWS_REGION = Annotation(
    f"{DOMAIN}/aws-region", "Region, for AWS_REGION.", default="--aws-default-region"
)
AWS_SESSION_NAME = Annotation(f"{DOMAIN}/aws-role-session-name", "Name of the role's sessions.")

AZURE_CLIENT_ID = Annotation(
    f"{DOMAIN}/az-client-id", "Client id of the managed identity or application. Required."
)
AZURE_TENANT_ID = Annotation(f"{DOMAIN}/az-tenant-id", "Tenant that it is in. Required.")
AZURE_AUTHORITY_HOST = Annotation(
    f"{DOMAIN}/az-authority-host", "Where to log in, in a sovereign cloud; see --authority-hosts."
)

GCP_SERVICE_ACCOUNT = Annotation(
    f"{DOMAIN}/gcp-service-account",
    "Service account to impersonate. Without it the pod's own principal is used.",
)
GCP_DELIVERY = Annotation(
    f"{DOMAIN}/gcp-delivery",
    "How the credentials file comes to the pod: annotation, config-map or init-container.",
    default="--gcp-delivery",
)
GCP_CREDENTIALS = Annotation(
    f"{DOMAIN}/gcp-credentials",
    "The credentials file, where it is delivered by annotation.",
    ("pod",),
    is_output=True,
)

INJECTED = Annotation(
    f"{DOMAIN}/injected", "What has been injected.", ("pod",), "list", is_output=True
)

NATIVE_AWS_ROLE_ARN = Annotation(
    "eks.amazonaws.com/role-arn",
    "As cwii.dev/aws-role-arn and aws-inject, with --native-annotations.",
)
NATIVE_AZURE_CLIENT_ID = Annotation(
    "azure.workload.identity/client-id",
    "As cwii.dev/az-client-id and az-inject, with --native-annotations.",
)
NATIVE_AZURE_TENANT_ID = Annotation(
    "azure.workload.identity/tenant-id", "As cwii.dev/az-tenant-id, with --native-annotations."
)
NATIVE_GCP_SERVICE_ACCOUNT = Annotation(
    "iam.gke.io/gcp-service-account",
    "As cwii.dev/gcp-service-account and gcp-inject, with --native-annotations.",
)

ALL: tuple[Annotation, ...] = (
    *(
        getattr(cloud, name)
        for cloud in (AWS, AZURE, GCP)
        for name in CloudAnnotations.__struct_fields__
    ),
    AWS_ROLE_ARN,
    AWS_REGION,
    AWS_SESSION_NAME,
    AZURE_CLIENT_ID,
    AZURE_TENANT_ID,
    AZURE_AUTHORITY_HOST,
    GCP_SERVICE_ACCOUNT,
    GCP_DELIVERY,
    GCP_CREDENTIALS,
    INJECTED,
    NATIVE_AWS_ROLE_ARN,
    NATIVE_AZURE_CLIENT_ID,
    NATIVE_AZURE_TENANT_ID,
    NATIVE_GCP_SERVICE_ACCOUNT,
)

# An annotation of gcpwif. cwii does not read its value, and tells the user which dialect does.
GCPWIF_PROVIDER = gcpwif.gcpwif_annotations(gcpwif.DOMAIN).provider

INPUT_KEYS = frozenset(
    [*(annotation.key for annotation in ALL if not annotation.is_output), GCPWIF_PROVIDER.key]
)
