"""What a renewer finds, and what it writes: plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from cwii_webhook.certificates import pki
from cwii_webhook.certificates.pem import KeyPair

CRT, KEY, CA = "tls.crt", "tls.key", "ca.crt"
NEXT_CRT, NEXT_KEY = "next.crt", "next.key"  # an authority that is to be trusted before it signs
HELD: Final = "Secret"
HOOKS: Final = "MutatingWebhookConfiguration"


@dataclass(frozen=True)
class HeldSecret:
    """A Secret."""

    name: str
    version: str
    data: Mapping[str, bytes]
    uid: str = ""

    def pair(self, certificate: str = CRT, key: str = KEY) -> KeyPair:
        return KeyPair(self.data.get(certificate, b""), self.data.get(key, b""))

    def __repr__(self) -> str:
        return f"Held({self.name!r}, {self.version!r}, ...)"  # keys are never logged


@dataclass(frozen=True)
class WebhookConfiguration:
    """A webhook configuration: whom the API server trusts, by the name of each of its webhooks."""

    name: str
    version: str
    bundles: Mapping[str, bytes]


@dataclass(frozen=True)
class Replica:
    """Shows a certificate, as DER; or none, and why."""

    address: str
    shows: bytes = b""
    trouble: str = ""


@dataclass(frozen=True)
class ClusterState:
    authority: HeldSecret
    serving: HeldSecret
    hooks: tuple[WebhookConfiguration, ...] = ()
    absent: tuple[str, ...] = ()  # configurations that are not there
    replicas: tuple[Replica, ...] = ()

    @property
    def signer(self) -> KeyPair:
        return self.authority.pair()

    @property
    def successor(self) -> KeyPair | None:
        pair = self.authority.pair(NEXT_CRT, NEXT_KEY)
        return pair if pair.certificate or pair.key else None

    @property
    def versions(self) -> tuple[object, ...]:
        """The same as long as nobody has written anything."""
        return (
            self.authority.version,
            self.serving.version,
            *((each.name, each.version) for each in self.hooks),
        )


@dataclass(frozen=True)
class Terms:
    """What is wanted: a pair like this, of an authority that is called and lives so."""

    wish: pki.CertificateSpec
    name: str
    life: pki.Lifetime


@dataclass(frozen=True)
class Write:
    """Parts of one object, where it still is as it was read: keys of a Secret, or the bundles of webhooks. None takes a key away."""

    kind: str
    name: str
    version: str
    content: Mapping[str, bytes | None]

    def __repr__(self) -> str:
        return f"Write({self.kind!r}, {self.name!r}, {self.version!r}, ...)"
