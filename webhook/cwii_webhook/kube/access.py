"""Describes how to reach the API server: address, trusted CA and client identity."""

from __future__ import annotations

import contextlib
import os
import ssl
import tempfile
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from cwii_webhook.certificates.pem import KeyPair
from cwii_webhook.kube.clock import Clock
from cwii_webhook.kube.errors import BadAccess
from cwii_webhook.kube.identity import RELOAD_INTERVAL, Credential, Identity, TokenFile

SERVICE_ACCOUNT_DIRECTORY = Path("/var/run/secrets/kubernetes.io/serviceaccount")


@dataclass(frozen=True)
class ApiServer:
    """Address of an API server, and what the client needs to verify its certificate."""

    host: str
    port: int
    prefix: str = ""  # path of an API server that is behind a proxy
    tls: bool = True
    tls_server_name: str = ""  # name in the server's certificate, if it differs from the host
    ca: bytes | Path | None = None
    verify: bool = True

    @property
    def authority(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @classmethod
    def from_url(
        cls,
        url: str,
        *,
        tls_server_name: str = "",
        ca: bytes | Path | None = None,
        verify: bool = True,
    ) -> ApiServer:
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
            tls_server_name,
            ca,
            verify,
        )


class _CachedContext(NamedTuple):
    """A TLS context, and the files' contents that it was built from."""

    read_at: float
    ca: bytes | None
    key_pair: KeyPair | None
    tls_context: ssl.SSLContext


@dataclass
class Access:
    """An API server and the identity that the webhook uses there."""

    server: ApiServer
    identity: Identity
    clock: Clock
    namespace: str = ""  # namespace of the webhook's own pod
    # Called after `replace`, so that clients close their connections to the old server.
    replace_callbacks: list[Callable[[], None]] = field(
        default_factory=list["Callable[[], None]"], repr=False
    )
    _cached_context: _CachedContext | None = field(default=None, repr=False)
    _replacement: Access | None = field(default=None, repr=False)

    @property
    def current(self) -> Access:
        """The access to use for the next request.

        A caller reads it once per request. `replace` can change it at any await, and a token
        must only be sent to the server that it belongs to.
        """
        return self._replacement or self

    def replace(self, replacement: Access) -> None:
        """Sends all later requests to another server, with its identity."""
        self._replacement = replacement
        for callback in self.replace_callbacks:
            callback()

    def tls_context(self, credential: Credential) -> ssl.SSLContext | None:
        """Returns the TLS context for new connections, or None for a server without TLS.

        The CA and the client certificate are rotated while the process runs. The method reads
        the CA again every minute, and builds a new context if the CA or the certificate changed.
        """
        if not self.server.tls:
            return None
        now, cached, key_pair = self.clock.now(), self._cached_context, credential.key_pair
        if cached and now - cached.read_at < RELOAD_INTERVAL and cached.key_pair == key_pair:
            return cached.tls_context
        ca = self._read_ca()
        tls_context = (
            cached.tls_context
            if cached and (cached.ca, cached.key_pair) == (ca, key_pair)
            else make_tls_context(ca, key_pair, verify=self.server.verify)
        )
        self._cached_context = _CachedContext(now, ca, key_pair, tls_context)
        return tls_context

    def _read_ca(self) -> bytes | None:
        if not isinstance(self.server.ca, Path):
            return self.server.ca
        try:
            return self.server.ca.read_bytes()
        except OSError as e:
            raise BadAccess(
                f"the API server's CA certificate cannot be read ({e})",
                remedy="see that the file is mounted",
            ) from None


def in_cluster(
    environment: Mapping[str, str], clock: Clock, directory: Path = SERVICE_ACCOUNT_DIRECTORY
) -> Access:
    """Returns the access that Kubernetes gives to every pod.

    It consists of two environment variables, a CA, and a token that the kubelet renews.
    """
    host, port = (
        environment.get("KUBERNETES_SERVICE_HOST", ""),
        environment.get("KUBERNETES_SERVICE_PORT", "443"),
    )
    if not host or not port.isdigit():
        raise BadAccess(
            "this is not a pod: KUBERNETES_SERVICE_HOST is not set", remedy="name a kubeconfig"
        )
    return Access(
        ApiServer(host, int(port), ca=directory / "ca.crt"),
        TokenFile(directory / "token", clock),
        clock,
        _read_namespace(directory),
    )


def _read_namespace(directory: Path) -> str:
    try:
        return (directory / "namespace").read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        return ""


def make_tls_context(
    ca: bytes | None, key_pair: KeyPair | None, *, verify: bool = True
) -> ssl.SSLContext:
    """Builds a client context that trusts `ca`, or the system's CAs if `ca` is None."""
    try:
        tls_context = ssl.create_default_context(
            cadata=ca.decode("ascii") if ca is not None else None
        )
    except (ssl.SSLError, UnicodeDecodeError) as e:
        raise BadAccess(
            f"the API server's CA certificate cannot be read ({e})", remedy="it must be PEM"
        ) from None
    tls_context.set_alpn_protocols(["http/1.1"])
    if not verify:
        tls_context.check_hostname = False
        tls_context.verify_mode = ssl.CERT_NONE
    if key_pair:
        _load_key_pair(tls_context, key_pair)
    return tls_context


def _load_key_pair(tls_context: ssl.SSLContext, key_pair: KeyPair) -> None:
    try:
        with _temporary_file(key_pair.certificate + b"\n" + key_pair.key) as path:
            tls_context.load_cert_chain(path)
    except ssl.SSLError as e:
        raise BadAccess(
            f"the client certificate for the API server cannot be read ({e})",
            remedy="certificate and key must be PEM, and belong together",
        ) from None


@contextlib.contextmanager
def _temporary_file(content: bytes) -> Generator[str]:
    """Writes `content` to a temporary file, because `ssl` loads certificates from files only.

    The file is in memory where the system supports it: the root file system may be read-only.
    """
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
