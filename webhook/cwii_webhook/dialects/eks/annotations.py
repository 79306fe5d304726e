"""Lists the annotations of EKS pod identity. A flag chooses their domain."""

from __future__ import annotations

from msgspec import Struct

from cwii_webhook.dialects.common.annotations import Annotation

DOMAIN = "eks.amazonaws.com"
POD_IDENTITY = f"{DOMAIN}/pod-identity"  # the domain of this label does not depend on the flag
ENABLED = "enabled"


class EksAnnotations(Struct, frozen=True):
    role_arn: Annotation
    audience: Annotation
    regional: Annotation
    expiration: Annotation
    skip_containers: Annotation
    skip_label: Annotation


def eks_annotations(domain: str) -> EksAnnotations:
    return EksAnnotations(
        Annotation(
            f"{domain}/role-arn", "Role to assume. Without it nothing is injected.", ("account",)
        ),
        Annotation(
            f"{domain}/audience", "For whom the token is.", ("account",), default="--token-audience"
        ),
        Annotation(
            f"{domain}/sts-regional-endpoints",
            "Use STS of the region.",
            ("account",),
            "flag",
            default="--sts-regional-endpoint",
        ),
        Annotation(
            f"{domain}/token-expiration",
            "How long the token lasts, in seconds; at least 600.",
            ("pod", "account"),
            "number",
            default="--token-expiration",
        ),
        Annotation(
            f"{domain}/skip-containers",
            "Containers that get nothing, as one line of CSV.",
            ("pod",),
            "list",
        ),
        Annotation(
            f"{domain}/skip-pod-identity-webhook",
            "With any value: nothing is injected.",
            ("pod",),
            "presence",
            "label",
        ),
    )


AGENT = Annotation(
    POD_IDENTITY,
    "On pods that use EKS Pod Identity's agent.",
    ("pod",),
    place="label",
    is_output=True,
)

ALL: tuple[Annotation, ...] = (
    *(getattr(eks_annotations(DOMAIN), name) for name in EksAnnotations.__struct_fields__),
    AGENT,
)
