"""EKS pod identity's words. Their domain is a flag's to choose; `words` makes them for one."""

from __future__ import annotations

from msgspec import Struct

from cwii_webhook.vocabulary import Word

DOMAIN = "eks.amazonaws.com"
POD_IDENTITY = f"{DOMAIN}/pod-identity"  # written under this domain, whatever the flag says
ENABLED = "enabled"


class Words(Struct, frozen=True):
    role_arn: Word
    audience: Word
    regional: Word
    expiration: Word
    skip: Word
    switched_off: Word


def words(domain: str) -> Words:
    return Words(
        Word(f"{domain}/role-arn", "Role to assume. Without it nothing is injected.", ("account",)),
        Word(
            f"{domain}/audience", "For whom the token is.", ("account",), default="--token-audience"
        ),
        Word(
            f"{domain}/sts-regional-endpoints",
            "Use STS of the region.",
            ("account",),
            "flag",
            default="--sts-regional-endpoint",
        ),
        Word(
            f"{domain}/token-expiration",
            "How long the token lasts, in seconds; at least 600.",
            ("pod", "account"),
            "number",
            default="--token-expiration",
        ),
        Word(
            f"{domain}/skip-containers",
            "Containers that get nothing, as one line of CSV.",
            ("pod",),
            "list",
        ),
        Word(
            f"{domain}/skip-pod-identity-webhook",
            "With any value: nothing is injected.",
            ("pod",),
            "presence",
            "label",
        ),
    )


AGENT = Word(
    POD_IDENTITY,
    "On pods that use EKS Pod Identity's agent.",
    ("pod",),
    place="label",
    written=True,
)

ALL: tuple[Word, ...] = (
    *(getattr(words(DOMAIN), name) for name in Words.__struct_fields__),
    AGENT,
)
