"""Identities of the webhook at the API server: tokens, token files and client certificates."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from cwii_webhook.certificates.pem import KeyPair
from cwii_webhook.kube.clock import Clock
from cwii_webhook.kube.errors import BadAccess

# Seconds. The kubelet renews a projected token long before it expires, so a minute is enough.
RELOAD_INTERVAL = 60.0


@dataclass(frozen=True)
class Credential:
    """A bearer token, a client certificate, both, or neither (anonymous)."""

    token: str = ""
    key_pair: KeyPair | None = None

    def __post_init__(self) -> None:
        if not (self.token.isascii() and self.token.isprintable()) or " " in self.token:
            raise BadAccess("the token for the API server is none: it has spaces or lines in it")

    def __repr__(self) -> str:
        return "Credential(...)"  # keeps tokens out of logs


class Identity(Protocol):
    """Source of credentials for the API server."""

    async def credential(self) -> Credential: ...

    def invalidate(self) -> None:
        """Drops the cached credential, because the API server rejected it."""
        ...


class StaticIdentity:
    """A credential that never changes."""

    def __init__(self, credential: Credential) -> None:
        self._credential = credential

    async def credential(self) -> Credential:
        return self._credential

    def invalidate(self) -> None: ...


class TokenFile:
    """A token in a file, which is read again every minute and after a rejection."""

    def __init__(self, path: Path, clock: Clock) -> None:
        self._path, self._clock = path, clock
        self._credential: Credential | None = None
        self._read_at = 0.0

    async def credential(self) -> Credential:
        if self._credential is None or self._clock.now() - self._read_at >= RELOAD_INTERVAL:
            self._credential, self._read_at = Credential(self._read_token()), self._clock.now()
        return self._credential

    def invalidate(self) -> None:
        self._credential = None

    def _read_token(self) -> str:
        try:
            token = self._path.read_text(encoding="ascii").strip()
        except (OSError, UnicodeDecodeError) as e:
            raise BadAccess(
                f"the token in {self._path} cannot be read ({e})",
                remedy="mount a ServiceAccount's token there",
            ) from None
        if not token:
            raise BadAccess(
                f"{self._path} holds no token", remedy="mount a ServiceAccount's token there"
            )
        return token


class ClientCertificateFiles:
    """A client certificate in files, which are read again every minute and after a rejection."""

    def __init__(self, certificate: Path, key: Path, clock: Clock) -> None:
        self._paths, self._clock = (certificate, key), clock
        self._credential: Credential | None = None
        self._read_at = 0.0

    async def credential(self) -> Credential:
        if self._credential is None or self._clock.now() - self._read_at >= RELOAD_INTERVAL:
            try:
                certificate, key = (path.read_bytes() for path in self._paths)
            except OSError as e:
                raise BadAccess(
                    f"the client certificate for the API server cannot be read ({e})",
                    remedy="see the kubeconfig's user",
                ) from None
            self._credential, self._read_at = (
                Credential(key_pair=KeyPair(certificate, key)),
                self._clock.now(),
            )
        return self._credential

    def invalidate(self) -> None:
        self._credential = None
