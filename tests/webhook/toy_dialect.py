"""A dialect of our own making: its words, what it is told, and its mutator. All that a new one needs, besides a line in the table of dialects."""

from __future__ import annotations

from cwii_webhook.dialects import Dialect
from cwii_webhook.injection import Injection, Mount, Nothing, Origin, Touch, Volume, variable
from cwii_webhook.review import Pod
from cwii_webhook.settings.flags import Flag, made
from cwii_webhook.settings.serving import COMMON, Serving
from cwii_webhook.vocabulary import Word
from cwii_webhook.voices import Subject
from msgspec import Struct

DOMAIN = "vault.example.com"
ROLE = Word(f"{DOMAIN}/role", "Role to log in as. Without it nothing is injected.", ("account",))
SKIP = Word(
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
    *COMMON,
)


class Vault:
    gives = "vault"
    volumes = frozenset({"vault-token"})
    variables = frozenset({"VAULT_ADDR", "VAULT_ROLE"})

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

    def skipped(self, pod: Pod) -> frozenset[str]:
        return frozenset((pod.metadata.annotations or {}).get(SKIP.key, "").split(","))

    def __call__(self, subject: Subject) -> Injection | Nothing:
        account = subject.account(subject.pod.spec.service_account_name or "default")
        if account is None or ROLE.key not in account.annotations:
            return Nothing("vault", "not-asked", f"nobody says {ROLE.key}")
        role, skipped = account.annotations[ROLE.key], self.skipped(subject.pod)
        variables, mounts = (
            (variable("VAULT_ADDR", self.address), variable("VAULT_ROLE", role)),
            (Mount("vault-token", "/vault", read_only=True),),
        )
        touches = tuple(Touch(*place, variables, mounts) for place in subject.places(skipped))
        return Injection(
            gives="vault",
            volumes=(self.volume,),
            touches=touches,
            origins=(Origin("VAULT_ROLE", role, ROLE.key, account),),
        )


VAULT = Dialect(
    "vault",
    "/mutate-vault",
    FLAGS,
    Serving(("", 8443)),
    lambda told, _: (Vault(made(told, Settings)),),
    (ROLE, SKIP),
    (),
    DOMAIN,
)
