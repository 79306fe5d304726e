"""How to reach the API server: where it is, whom to trust there, and who we are. From inside a pod, or from a kubeconfig."""

from __future__ import annotations

import contextlib
import os
import ssl
import tempfile
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from cwii_webhook.certificates.pem import KeyPair
from cwii_webhook.kube.clock import Clock
from cwii_webhook.kube.errors import BadAccess
from cwii_webhook.kube.identity import FRESH, Credential, Identity, TokenFile

POD_FILES = Path("/var/run/secrets/kubernetes.io/serviceaccount")


@dataclass(frozen=True)
class Server:
    host: str
    port: int
    prefix: str = ""  # some API servers are behind a path
    tls: bool = True
    name: str = ""  # that its certificate must bear, if not the host
    ca: bytes | Path | None = None
    verify: bool = True

    @property
    def authority(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @classmethod
    def at(
        cls, url: str, *, name: str = "", ca: bytes | Path | None = None, verify: bool = True
    ) -> Server:
        try:
            parts = urlsplit(url)
            port = parts.port
        except ValueError:
            parts, port = urlsplit(""), None
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise BadAccess(
                f"the API server's address {url!r} is no URL",
                remedy="write it as https://HOST:PORT",
            )
        tls = parts.scheme == "https"
        return cls(
            parts.hostname,
            port or (443 if tls else 80),
            parts.path.rstrip("/"),
            tls,
            name,
            ca,
            verify,
        )


@dataclass
class Access:
    server: Server
    identity: Identity
    clock: Clock
    namespace: str = ""  # that we are in ourselves
    leaving: list[Callable[[], None]] = field(
        default_factory=list["Callable[[], None]"], repr=False
    )  # called when another takes its place
    _made: tuple[float, bytes | None, KeyPair | None, ssl.SSLContext] | None = field(
        default=None, repr=False
    )
    _other: Access | None = field(default=None, repr=False)

    @property
    def current(self) -> Access:
        """Whoever asks takes it once, and shows its token to its server alone: between two moments it may be another."""
        return self._other or self

    def become(self, other: Access) -> None:
        """Whatever is asked from now on is asked there, and so; nobody stays with the server that was left."""
        self._other = other
        for leave in self.leaving:
            leave()

    def tls(self, shown: Credential) -> ssl.SSLContext | None:
        """Made again when the CA or what we show has changed: both are renewed under a program that runs on."""
        if not self.server.tls:
            return None
        now = self.clock.now()
        if self._made and now - self._made[0] < FRESH and self._made[2] == shown.pair:
            return self._made[3]
        ca = self._ca()
        same = self._made is not None and self._made[1:3] == (ca, shown.pair)
        made = (
            self._made[3]
            if self._made and same
            else context(ca, shown.pair, verify=self.server.verify)
        )
        self._made = now, ca, shown.pair, made
        return made

    def _ca(self) -> bytes | None:
        if not isinstance(self.server.ca, Path):
            return self.server.ca
        try:
            return self.server.ca.read_bytes()
        except OSError as e:
            raise BadAccess(
                f"the API server's CA certificate cannot be read ({e})",
                remedy="see that the file is mounted",
            ) from None


def in_cluster(environment: Mapping[str, str], clock: Clock, files: Path = POD_FILES) -> Access:
    """As every pod is told: two variables, a CA and a token that kubelet renews."""
    host, port = (
        environment.get("KUBERNETES_SERVICE_HOST", ""),
        environment.get("KUBERNETES_SERVICE_PORT", "443"),
    )
    if not host or not port.isdigit():
        raise BadAccess(
            "this is not a pod: KUBERNETES_SERVICE_HOST is not set", remedy="name a kubeconfig"
        )
    return Access(
        Server(host, int(port), ca=files / "ca.crt"),
        TokenFile(files / "token", clock),
        clock,
        _namespace(files),
    )


def _namespace(files: Path) -> str:
    try:
        return (files / "namespace").read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        return ""


def context(ca: bytes | None, pair: KeyPair | None, *, verify: bool = True) -> ssl.SSLContext:
    """Without a CA, the system's own are trusted."""
    try:
        made = ssl.create_default_context(cadata=ca.decode("ascii") if ca is not None else None)
    except (ssl.SSLError, UnicodeDecodeError) as e:
        raise BadAccess(
            f"the API server's CA certificate cannot be read ({e})", remedy="it must be PEM"
        ) from None
    made.set_alpn_protocols(["http/1.1"])
    if not verify:
        made.check_hostname = False
        made.verify_mode = ssl.CERT_NONE
    if pair:
        _show(made, pair)
    return made


def _show(context: ssl.SSLContext, pair: KeyPair) -> None:
    try:
        with _held(pair.certificate + b"\n" + pair.key) as path:
            context.load_cert_chain(path)
    except ssl.SSLError as e:
        raise BadAccess(
            f"the client certificate for the API server cannot be read ({e})",
            remedy="certificate and key must be PEM, and belong together",
        ) from None


@contextlib.contextmanager
def _held(content: bytes) -> Generator[str]:
    """A file for as long as `ssl` reads it: it takes certificates from files only. In memory where the system can: the root may be read-only."""
    if not hasattr(os, "memfd_create"):
        with tempfile.NamedTemporaryFile(prefix="cwii-") as file:  # 0600
            file.write(content)
            file.flush()
            yield file.name
        return
    with open(os.memfd_create("cwii"), "wb") as file:  # noqa: PTH123 - it has no path
        file.write(content)
        file.flush()
        yield f"/proc/self/fd/{file.fileno()}"
