"""Defines a sample dialect: annotations, flags, settings and mutator.

A new dialect needs no more than this, and an entry in the registry.
"""

from __future__ import annotations

from cwii_webhook.admission.annotation_sources import PodContext
from cwii_webhook.admission.injection import (
    ContainerInjection,
    Injection,
    Origin,
    Skip,
    Volume,
    VolumeMount,
    env_var,
)
from cwii_webhook.admission.review import Pod
from cwii_webhook.dialects.common.annotations import Annotation
from cwii_webhook.dialects.dialect import Dialect, DialectBehavior
from cwii_webhook.settings.flags import Flag, build_settings
from cwii_webhook.settings.serving import COMMON_FLAGS, ServingSettings
from msgspec import Struct

DOMAIN = "vault.example.com"
ROLE = Annotation(
    f"{DOMAIN}/role", "Role to log in as. Without it nothing is injected.", ("account",)
)
SKIP = Annotation(
    f"{DOMAIN}/skip-containers",
    "Containers that get nothing, with commas between them.",
    ("pod",),
    "list",
)


class Settings(Struct, frozen=True):
    address: str = "https://vault.example.com"
    seconds: int = 600


FLAGS = (
    Flag("vault-address", "text", "Where the vault is.", "address", "VAULT_ADDR"),
    Flag("token-expiration", "number", "How long tokens last, in seconds.", "seconds"),
    *COMMON_FLAGS,
)


class Vault:
    provider = "vault"
    volume_names = frozenset({"vault-token"})
    env_names = frozenset({"VAULT_ADDR", "VAULT_ROLE"})

    def __init__(self, settings: Settings) -> None:
        token = {
            "audience": settings.address,
            "expirationSeconds": settings.seconds,
            "path": "token",
        }
        self.volume = Volume(
            "vault-token", {"projected": {"sources": [{"serviceAccountToken": token}]}}
        )
        self.address = settings.address

    def skipped_containers(self, pod: Pod) -> frozenset[str]:
        return frozenset((pod.metadata.annotations or {}).get(SKIP.key, "").split(","))

    def __call__(self, context: PodContext) -> Injection | Skip:
        account = context.service_account(context.pod.spec.service_account_name or "default")
        if account is None or ROLE.key not in account.annotations:
            return Skip("vault", "not-asked", f"nobody says {ROLE.key}")
        role, skipped = account.annotations[ROLE.key], self.skipped_containers(context.pod)
        variables, mounts = (
            (env_var("VAULT_ADDR", self.address), env_var("VAULT_ROLE", role)),
            (VolumeMount("vault-token", "/vault", read_only=True),),
        )
        containers = tuple(
            ContainerInjection(*container_ref, variables, mounts)
            for container_ref in context.container_refs(skipped)
        )
        return Injection(
            provider="vault",
            volumes=(self.volume,),
            containers=containers,
            origins=(Origin("VAULT_ROLE", role, ROLE.key, account),),
        )


VAULT = Dialect(
    name="vault",
    path="/mutate-vault",
    flags=FLAGS,
    serving=ServingSettings(("", 8443)),
    build=lambda flags, _: DialectBehavior((Vault(build_settings(flags, Settings)),)),
    annotations=(ROLE, SKIP),
    domain=DOMAIN,
)
