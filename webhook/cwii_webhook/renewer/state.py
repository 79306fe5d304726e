"""Plain data of the renewer: what it reads from the cluster, and what it writes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from cwii_webhook.certificates import pki
from cwii_webhook.certificates.pem import KeyPair

TLS_CRT, TLS_KEY, CA_CRT = "tls.crt", "tls.key", "ca.crt"
# The next authority. The API servers trust it before it signs.
NEXT_CRT, NEXT_KEY = "next.crt", "next.key"
SECRET: Final = "Secret"  # noqa: S105 - a kind, not a password
WEBHOOK_CONFIGURATION: Final = "MutatingWebhookConfiguration"


class RenewalBlocked(Exception):
    """The renewal cannot continue until a person acts. The message says how."""


@dataclass(frozen=True)
class HeldSecret:
    """A Secret that holds a key pair."""

    name: str
    resource_version: str
    data: Mapping[str, bytes]
    uid: str = ""

    def key_pair(self, certificate: str = TLS_CRT, key: str = TLS_KEY) -> KeyPair:
        return KeyPair(self.data.get(certificate, b""), self.data.get(key, b""))

    def __repr__(self) -> str:
        # Keeps the keys out of logs.
        return f"HeldSecret({self.name!r}, {self.resource_version!r}, ...)"


@dataclass(frozen=True)
class WebhookConfiguration:
    """A MutatingWebhookConfiguration: the caBundle of each of its webhooks, by name."""

    name: str
    resource_version: str
    ca_bundles: Mapping[str, bytes]


@dataclass(frozen=True)
class Replica:
    """A replica of the webhook: the certificate that it serves, or why it serves none."""

    address: str
    certificate_der: bytes = b""
    problem: str = ""


@dataclass(frozen=True)
class ClusterState:
    """Everything that the renewer reads before a step."""

    authority: HeldSecret
    serving: HeldSecret
    configurations: tuple[WebhookConfiguration, ...] = ()
    missing_configurations: tuple[str, ...] = ()
    replicas: tuple[Replica, ...] = ()

    @property
    def signer(self) -> KeyPair:
        return self.authority.key_pair()

    @property
    def next_signer(self) -> KeyPair | None:
        pair = self.authority.key_pair(NEXT_CRT, NEXT_KEY)
        return pair if pair.certificate or pair.key else None

    @property
    def ca_bundles(self) -> list[bytes]:
        """The caBundles of all webhooks in all configurations."""
        return [
            bundle
            for configuration in self.configurations
            for bundle in configuration.ca_bundles.values()
        ]

    @property
    def resource_versions(self) -> tuple[object, ...]:
        """Changes with every write to one of the objects."""
        return (
            self.authority.resource_version,
            self.serving.resource_version,
            *((each.name, each.resource_version) for each in self.configurations),
        )


@dataclass(frozen=True)
class DesiredCertificates:
    """The serving certificate to make, and the authority that signs it."""

    serving: pki.CertificateSpec
    authority_name: str
    authority_lifetime: pki.Lifetime


@dataclass(frozen=True)
class Write:
    """A partial update of one object, for the resource version that was read.

    The content is keys of a Secret, or caBundles of webhooks. None removes a key.
    """

    kind: str
    name: str
    resource_version: str
    content: Mapping[str, bytes | None]

    def __repr__(self) -> str:
        return f"Write({self.kind!r}, {self.name!r}, {self.resource_version!r}, ...)"
