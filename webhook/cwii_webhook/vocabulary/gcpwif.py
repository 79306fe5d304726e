"""The words of Google's workload identity federation. Their domain is a flag's to choose; `words` makes them for one."""

from __future__ import annotations

from msgspec import Struct

from cwii_webhook.vocabulary import Word

DOMAIN = "cloud.google.com"


class Words(Struct, frozen=True):
    provider: Word
    email: Word
    audience: Word
    expiration: Word
    user: Word
    mode: Word
    skip: Word
    credentials: Word


def words(domain: str) -> Words:
    return Words(
        Word(
            f"{domain}/workload-identity-provider",
            "The provider, as `projects/NUMBER/locations/global/workloadIdentityPools/POOL/providers/PROVIDER`. Written on the pod.",
            ("account",),
        ),
        Word(
            f"{domain}/service-account-email",
            "Google service account to act as; goes with the provider. Written on the pod.",
            ("account",),
        ),
        Word(
            f"{domain}/audience",
            "For whom the token is. Written on the pod.",
            ("account",),
            default="--token-audience",
        ),
        Word(
            f"{domain}/token-expiration",
            "How long the token lasts, in seconds; at least 3600. Written on the pod.",
            ("pod", "account"),
            "number",
            default="--token-expiration",
        ),
        Word(
            f"{domain}/gcloud-run-as-user", "User that gcloud is set up as.", ("account",), "number"
        ),
        Word(
            f"{domain}/injection-mode",
            "`gcloud`, which sets gcloud up in an init container, or `direct`, which does not.",
            ("account",),
            default="gcloud",
        ),
        Word(
            f"{domain}/skip-containers",
            "Containers that get nothing, with commas between them.",
            ("pod",),
            "list",
        ),
        Word(
            f"{domain}/external-credentials-json",
            "The credentials' configuration, where containers mount it from.",
            ("pod",),
            written=True,
        ),
    )


ALL: tuple[Word, ...] = tuple(getattr(words(DOMAIN), name) for name in Words.__struct_fields__)
