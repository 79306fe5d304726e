"""TLS as the flags of our peers say it: versions and ciphers by Go's names, and certificates that are replaced while we serve."""

from __future__ import annotations

import contextlib
import re
import ssl
from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec import Struct

from cwii_webhook.certificates import pem as x509

VERSIONS = {
    "1.0": ssl.TLSVersion.TLSv1,
    "1.1": ssl.TLSVersion.TLSv1_1,
    "1.2": ssl.TLSVersion.TLSv1_2,
    "1.3": ssl.TLSVersion.TLSv1_3,
}
# Of TLS 1.3, which has no others; Go has them always on.
ALWAYS = {"TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256"}
CERTIFICATE, KEY = b"-----BEGIN CERTIFICATE-----", b"PRIVATE KEY-----"
# Go has a name for them and an OpenSSL of today has not: to leave them out is what whoever listed them can live with.
GONE = ("RC4", "3DES")
TIMES = (9, 10)  # OpenSSL's words for what has not begun, or has ended


class Unusable(ValueError):
    """A setting or a file that TLS cannot be served with; the sentence says which, and what to do."""


class Files(Struct, frozen=True):
    """`client_ca`: whoever calls must show a certificate that it signed."""

    certificate: Path
    key: Path
    client_ca: Path | None = None

    def all(self) -> list[Path]:
        return [path for path in (self.certificate, self.key, self.client_ca) if path]

    @property
    def authority(self) -> Path | None:
        """Where a Secret of a certificate tells whose it is. It can be missing."""
        path = self.certificate.with_name("ca.crt")
        return None if path == self.client_ca else path


class Terms(Struct, frozen=True):
    minimum: ssl.TLSVersion = ssl.TLSVersion.TLSv1_2
    ciphers: tuple[str, ...] = ()  # OpenSSL's names; empty: its own choice


def terms(minimum: str = "", suites: str | Sequence[str] = "") -> Terms:
    """Of --tls-min-version (VersionTLS12, or 1.2) and --tls-cipher-suites (Go's names, between commas)."""
    names = [name.strip() for name in (suites.split(",") if isinstance(suites, str) else suites)]
    asked = [name for name in names if name]
    ciphers = tuple(cipher for name in asked if name not in ALWAYS for cipher in _cipher(name))
    if asked and not ciphers:  # nothing that TLS 1.2 could use
        return Terms(ssl.TLSVersion.TLSv1_3)
    return Terms(_version(minimum), ciphers)


def _version(text: str) -> ssl.TLSVersion:
    if not text:
        return ssl.TLSVersion.TLSv1_2
    number = text.removeprefix("VersionTLS").removeprefix("TLSv")
    if number != text and len(number) == 2:
        number = ".".join(number)
    if number not in VERSIONS:
        raise Unusable(
            f"there is no TLS version {text}: say one of VersionTLS10, VersionTLS11, VersionTLS12, VersionTLS13, TLSv1.2, or 1.0 to 1.3"
        )
    return VERSIONS[number]


def _cipher(name: str) -> list[str]:
    """TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256 is OpenSSL's ECDHE-RSA-AES128-GCM-SHA256: one rule for all, and OpenSSL says what there is."""
    found = re.fullmatch(r"TLS_(RSA|(?:EC)?DHE_(?:RSA|ECDSA))_WITH_([A-Z0-9_]+)", name)
    if found:
        exchange = "" if found[1] == "RSA" else found[1].replace("_", "-") + "-"
        cipher = (
            found[2]
            .replace("3DES_EDE_CBC", "DES-CBC3")
            .replace("_CBC", "")
            .replace("AES_", "AES")
            .replace("RC4_128", "RC4")
        )
        cipher = re.sub(r"CHACHA20_POLY1305(_SHA256)?", "CHACHA20-POLY1305", cipher).replace(
            "_", "-"
        )
        if _known(exchange + cipher):
            return [exchange + cipher]
        if any(gone in name for gone in GONE):
            return []
    raise Unusable(
        f"there is no cipher suite {name}: give Go's names, like TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256, with commas between them"
    )


def _known(cipher: str) -> bool:
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).set_ciphers(cipher)
    except ssl.SSLError:
        return False
    return True


class Certificates:
    """The files, and what they were last good for. What is served goes on being served until something better can be loaded."""

    def __init__(
        self, files: Files, terms: Terms, told: Callable[[str], None] = lambda _: None
    ) -> None:
        self.context: ssl.SSLContext | None = None
        self.problem = f"{files.certificate} has not been read yet"
        self.ends = 0.0  # seconds since 1970
        self.loads = 0
        self.stray = (
            ""  # why whoever trusts the authority beside it would not trust the certificate
        )
        self._files = files
        self._terms = terms
        self._told = told
        self._seen: list[tuple[int, ...]] | None = None

    def refresh(self) -> None:
        """Called every second or so. Connections that are there keep what they were made with; new ones get the new certificate."""
        seen = [_looks(path) for path in (*self._files.all(), self._files.authority) if path]
        if seen == self._seen and not self.problem:
            return
        try:
            context, ends = (
                context_of(self._files, self._terms),
                min(x509.expiry_times(self._files.certificate.read_bytes())),
            )
        except (OSError, ValueError) as error:
            self._fail(error)
            return
        self.context, self.ends, self._seen = context, ends, seen
        self.stray = _stray(self._files, context)
        self.loads += 1
        self._say("")

    def state(self, now: float) -> str:
        """Why there can be no handshake that an API server accepts; empty if there can."""
        if self.context is None:
            return self.problem
        if self.ends <= now:
            return f"the certificate of {self._files.certificate} has expired: replace the file, and it is served at once"
        return self.stray

    def _fail(self, error: Exception) -> None:
        """Half of a replacement looks like this too, so it is tried again until it is good."""
        reason = (
            str(error)
            if isinstance(error, Unusable)
            else f"{self._files.certificate} cannot be used: {error}"
        )
        self._say(reason)

    def _say(self, problem: str) -> None:
        if problem != self.problem:
            self.problem = problem
            self._told(problem)


def context_of(files: Files, terms: Terms) -> ssl.SSLContext:
    _present(files)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = terms.minimum
    context.options |= ssl.OP_NO_RENEGOTIATION
    if terms.ciphers:
        context.set_ciphers(":".join(terms.ciphers))
    context.set_alpn_protocols(["http/1.1"])  # an API server speaks no other to a Service
    try:
        context.load_cert_chain(
            files.certificate, files.key, password=lambda: ""
        )  # without one, OpenSSL would ask at the terminal
    except ssl.SSLError as error:
        raise Unusable(
            f"{files.certificate} and {files.key} are no certificate with its key ({error.reason}): both must be PEM, and belong together"
        ) from error
    if files.client_ca:
        context.verify_mode = ssl.CERT_REQUIRED
        try:
            context.load_verify_locations(files.client_ca)
        except ssl.SSLError as error:
            raise Unusable(
                f"{files.client_ca} holds no certificate of an authority: it must be PEM"
            ) from error
    return context


def _stray(files: Files, context: ssl.SSLContext) -> str:
    """A handshake in memory with one who trusts nobody else: `ssl` verifies in no other way."""
    if not files.authority or not files.authority.exists():
        return ""
    trusting = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    trusting.check_hostname = False
    trusting.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    try:
        trusting.load_verify_locations(files.authority)
        _shake(trusting, context)
    except ssl.SSLCertVerificationError as error:
        if error.verify_code not in TIMES:
            return f"{files.certificate} is not of the authority in {files.authority} ({error.verify_message}): replace both, and whom API servers trust too"
    except (OSError, ValueError):
        return ""  # there is nothing in it that anybody could trust
    return ""


def _shake(trusting: ssl.SSLContext, serving: ssl.SSLContext) -> None:
    there, back = ssl.MemoryBIO(), ssl.MemoryBIO()
    client, server = trusting.wrap_bio(back, there), serving.wrap_bio(there, back, server_side=True)
    for side in (client, server, client):
        with contextlib.suppress(ssl.SSLWantReadError):
            side.do_handshake()


def _present(files: Files) -> None:
    """What `ssl` says of a file that is not there, or that is another, does not name it."""
    missing = [str(path) for path in files.all() if not path.exists()]
    if missing:
        raise Unusable(
            f"there is no {' and no '.join(missing)}: put the file there, or name another; it is served as soon as it is there"
        )
    certificate, key = (path.read_bytes() for path in (files.certificate, files.key))
    if KEY in certificate and KEY not in key and CERTIFICATE in key:
        raise Unusable(
            f"{files.certificate} holds a key, and {files.key} a certificate: swap the two"
        )
    for path, content, mark, what in (
        (files.certificate, certificate, CERTIFICATE, "certificate"),
        (files.key, key, KEY, "private key"),
    ):
        if mark not in content:
            raise Unusable(f"{path} holds no {what}: it must be PEM")


def _looks(path: Path) -> tuple[int, ...]:
    try:
        found = path.stat()
    except OSError:
        return ()
    return (found.st_ino, found.st_size, found.st_mtime_ns)
