"""Who we are to the API server: a token that changes in its file, one that never does, a client certificate, or nobody."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from cwii_webhook.certificates.pem import KeyPair
from cwii_webhook.kube.clock import Clock
from cwii_webhook.kube.errors import BadAccess

FRESH = 60.0  # seconds: kubelet renews a projected token long before it ends, so a minute is soon enough


@dataclass(frozen=True)
class Credential:
    token: str = ""
    pair: KeyPair | None = None

    def __post_init__(self) -> None:
        if not (self.token.isascii() and self.token.isprintable()) or " " in self.token:
            raise BadAccess("the token for the API server is none: it has spaces or lines in it")

    def __repr__(self) -> str:
        return "Shown(...)"  # a token is never logged


class Identity(Protocol):
    async def shown(self) -> Credential: ...

    def refused(self) -> None:
        """What was shown last was not accepted: the next must be made anew."""
        ...


class Same:
    """What is shown never changes."""

    def __init__(self, shown: Credential) -> None:
        self._shown = shown

    async def shown(self) -> Credential:
        return self._shown

    def refused(self) -> None: ...


class TokenFile:
    """Read again every minute, and when it was refused."""

    def __init__(self, path: Path, clock: Clock) -> None:
        self._path, self._clock = path, clock
        self._shown: Credential | None = None
        self._read = 0.0

    async def shown(self) -> Credential:
        if self._shown is None or self._clock.now() - self._read >= FRESH:
            self._shown, self._read = Credential(self._content()), self._clock.now()
        return self._shown

    def refused(self) -> None:
        self._shown = None

    def _content(self) -> str:
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


class PairFiles:
    """A client certificate in files, which whoever renews it replaces."""

    def __init__(self, certificate: Path, key: Path, clock: Clock) -> None:
        self._paths, self._clock = (certificate, key), clock
        self._shown: Credential | None = None
        self._read = 0.0

    async def shown(self) -> Credential:
        if self._shown is None or self._clock.now() - self._read >= FRESH:
            try:
                certificate, key = (path.read_bytes() for path in self._paths)
            except OSError as e:
                raise BadAccess(
                    f"the client certificate for the API server cannot be read ({e})",
                    remedy="see the kubeconfig's user",
                ) from None
            self._shown, self._read = Credential(pair=KeyPair(certificate, key)), self._clock.now()
        return self._shown

    def refused(self) -> None:
        self._shown = None
