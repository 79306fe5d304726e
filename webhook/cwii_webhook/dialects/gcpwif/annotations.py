"""Lists the annotations of gcp-workload-identity-federation-webhook.

A flag chooses their domain.
"""

from __future__ import annotations

from msgspec import Struct

from cwii_webhook.dialects.common.annotations import Annotation

DOMAIN = "cloud.google.com"


class GcpwifAnnotations(Struct, frozen=True):
    provider: Annotation
    email: Annotation
    audience: Annotation
    expiration: Annotation
    user: Annotation
    mode: Annotation
    skip: Annotation
    credentials: Annotation


def gcpwif_annotations(domain: str) -> GcpwifAnnotations:
    return GcpwifAnnotations(
        Annotation(
            f"{domain}/workload-identity-provider",
            "The provider, as `projects/NUMBER/locations/global/workloadIdentityPools/POOL"
            "/providers/PROVIDER`. Written on the pod.",
            ("account",),
        ),
        Annotation(
            f"{domain}/service-account-email",
            "Google service account to act as; goes with the provider. Written on the pod.",
            ("account",),
        ),
        Annotation(
            f"{domain}/audience",
            "For whom the token is. Written on the pod.",
            ("account",),
            default="--token-audience",
        ),
        Annotation(
            f"{domain}/token-expiration",
            "How long the token lasts, in seconds; at least 3600. Written on the pod.",
            ("pod", "account"),
            "number",
            default="--token-expiration",
        ),
        Annotation(
            f"{domain}/gcloud-run-as-user", "User that gcloud is set up as.", ("account",), "number"
        ),
        Annotation(
            f"{domain}/injection-mode",
            "`gcloud`, which sets gcloud up in an init container, or `direct`, which does not.",
            ("account",),
            default="gcloud",
        ),
        Annotation(
            f"{domain}/skip-containers",
            "Containers that get nothing, with commas between them.",
            ("pod",),
            "list",
        ),
        Annotation(
            f"{domain}/external-credentials-json",
            "The credentials' configuration, where containers mount it from.",
            ("pod",),
            is_output=True,
        ),
    )


ALL: tuple[Annotation, ...] = tuple(
    getattr(gcpwif_annotations(DOMAIN), name) for name in GcpwifAnnotations.__struct_fields__
)
