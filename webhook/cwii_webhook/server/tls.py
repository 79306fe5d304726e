"""TLS settings with Go's names of versions and ciphers, and certificates that reload."""

from __future__ import annotations

import contextlib
import re
import ssl
from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec import Struct

from cwii_webhook.certificates import pem as x509

TLS_VERSIONS = {
    "1.0": ssl.TLSVersion.TLSv1,
    "1.1": ssl.TLSVersion.TLSv1_1,
    "1.2": ssl.TLSVersion.TLSv1_2,
    "1.3": ssl.TLSVersion.TLSv1_3,
}
# TLS 1.3 has only these cipher suites, and Go always enables them.
TLS13_CIPHERS = {
    "TLS_AES_128_GCM_SHA256",
    "TLS_AES_256_GCM_SHA384",
    "TLS_CHACHA20_POLY1305_SHA256",
}
CERTIFICATE_MARKER, KEY_MARKER = b"-----BEGIN CERTIFICATE-----", b"PRIVATE KEY-----"
# Go accepts the names of these ciphers, but current OpenSSL has removed them. They are left out
# of the list without an error.
REMOVED_CIPHERS = ("RC4", "3DES")
VALIDITY_ERRORS = (9, 10)  # OpenSSL: the certificate is not yet valid, or has expired


class InvalidTlsConfig(ValueError):
    """A setting or file prevents TLS. The message names it and says how to fix it."""


class CertificateFiles(Struct, frozen=True):
    """Paths of the certificate, its key, and the CA that signs client certificates.

    With `client_ca`, every client must present a certificate that this CA signed.
    """

    certificate: Path
    key: Path
    client_ca: Path | None = None

    def required_paths(self) -> list[Path]:
        return [path for path in (self.certificate, self.key, self.client_ca) if path]

    @property
    def ca_certificate(self) -> Path | None:
        """The `ca.crt` beside the certificate, as in a TLS Secret. The file is optional."""
        path = self.certificate.with_name("ca.crt")
        return None if path == self.client_ca else path


class TlsSettings(Struct, frozen=True):
    """The minimum TLS version and the cipher list of a listener."""

    min_version: ssl.TLSVersion = ssl.TLSVersion.TLSv1_2
    ciphers: tuple[str, ...] = ()  # OpenSSL's names; empty means OpenSSL's default list


def parse_tls_settings(min_version: str = "", suites: str | Sequence[str] = "") -> TlsSettings:
    """Parse --tls-min-version and --tls-cipher-suites.

    The version is written as VersionTLS12 or 1.2. The suites are Go's names, separated by commas.
    """
    names = [name.strip() for name in (suites.split(",") if isinstance(suites, str) else suites)]
    requested = [name for name in names if name]
    ciphers = tuple(
        cipher
        for name in requested
        if name not in TLS13_CIPHERS
        for cipher in _openssl_ciphers(name)
    )
    if requested and not ciphers:  # TLS 1.2 has no cipher left
        return TlsSettings(ssl.TLSVersion.TLSv1_3)
    return TlsSettings(_parse_version(min_version), ciphers)


def _parse_version(text: str) -> ssl.TLSVersion:
    if not text:
        return ssl.TLSVersion.TLSv1_2
    number = text.removeprefix("VersionTLS").removeprefix("TLSv")
    if number != text and len(number) == 2:
        number = ".".join(number)
    if number not in TLS_VERSIONS:
        raise InvalidTlsConfig(
            f"there is no TLS version {text}: say one of VersionTLS10, VersionTLS11,"
            " VersionTLS12, VersionTLS13, TLSv1.2, or 1.0 to 1.3"
        )
    return TLS_VERSIONS[number]


def _openssl_ciphers(name: str) -> list[str]:
    """Translate Go's name of a cipher suite into OpenSSL's.

    TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256 becomes ECDHE-RSA-AES128-GCM-SHA256. The same rule holds
    for all suites, and OpenSSL decides whether the result exists.
    """
    match = re.fullmatch(r"TLS_(RSA|(?:EC)?DHE_(?:RSA|ECDSA))_WITH_([A-Z0-9_]+)", name)
    if match:
        key_exchange = "" if match[1] == "RSA" else match[1].replace("_", "-") + "-"
        cipher = (
            match[2]
            .replace("3DES_EDE_CBC", "DES-CBC3")
            .replace("_CBC", "")
            .replace("AES_", "AES")
            .replace("RC4_128", "RC4")
        )
        cipher = re.sub(r"CHACHA20_POLY1305(_SHA256)?", "CHACHA20-POLY1305", cipher).replace(
            "_", "-"
        )
        if _is_supported(key_exchange + cipher):
            return [key_exchange + cipher]
        if any(removed in name for removed in REMOVED_CIPHERS):
            return []
    raise InvalidTlsConfig(
        f"there is no cipher suite {name}: give Go's names, like"
        " TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256, with commas between them"
    )


def _is_supported(cipher: str) -> bool:
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).set_ciphers(cipher)
    except ssl.SSLError:
        return False
    return True


class Certificates:
    """The TLS context of the certificate files.

    The current context stays in use until the files hold another one that works.
    """

    def __init__(
        self,
        files: CertificateFiles,
        settings: TlsSettings,
        on_problem_change: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.context: ssl.SSLContext | None = None
        self.problem = f"{files.certificate} has not been read yet"
        self.expires_at = 0.0  # seconds since 1970
        self.load_count = 0
        # Why a client that trusts the `ca.crt` beside the certificate rejects the certificate.
        self.ca_mismatch = ""
        self._files = files
        self._settings = settings
        self._on_problem_change = on_problem_change
        self._loaded_signatures: list[tuple[int, ...]] | None = None

    def refresh(self) -> None:
        """Reload changed files. Runs about every second.

        Existing connections keep their certificate, and new connections get the new one.
        """
        paths = (*self._files.required_paths(), self._files.ca_certificate)
        signatures = [_file_signature(path) for path in paths if path]
        if signatures == self._loaded_signatures and not self.problem:
            return
        try:
            context, expires_at = (
                create_context(self._files, self._settings),
                min(x509.expiry_times(self._files.certificate.read_bytes())),
            )
        except (OSError, ValueError) as error:
            self._handle_load_error(error)
            return
        self.context, self.expires_at = context, expires_at
        self._loaded_signatures = signatures
        self.ca_mismatch = _find_ca_mismatch(self._files, context)
        self.load_count += 1
        self._set_problem("")

    def not_ready_reason(self, now: float) -> str:
        """Return why API servers would reject the handshake, or an empty string."""
        if self.context is None:
            return self.problem
        if self.expires_at <= now:
            return (
                f"the certificate of {self._files.certificate} has expired: replace the file,"
                " and it is served at once"
            )
        return self.ca_mismatch

    def _handle_load_error(self, error: Exception) -> None:
        """Store the problem. The next refresh retries, because a replacement can be incomplete."""
        problem = (
            str(error)
            if isinstance(error, InvalidTlsConfig)
            else f"{self._files.certificate} cannot be used: {error}"
        )
        self._set_problem(problem)

    def _set_problem(self, problem: str) -> None:
        if problem != self.problem:
            self.problem = problem
            self._on_problem_change(problem)


def create_context(files: CertificateFiles, settings: TlsSettings) -> ssl.SSLContext:
    _check_files(files)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = settings.min_version
    context.options |= ssl.OP_NO_RENEGOTIATION
    if settings.ciphers:
        context.set_ciphers(":".join(settings.ciphers))
    # API servers use only HTTP/1.1 for webhooks that are reached through a Service.
    context.set_alpn_protocols(["http/1.1"])
    try:
        # Without a password callback, OpenSSL prompts on the terminal for an encrypted key.
        context.load_cert_chain(files.certificate, files.key, password=lambda: "")
    except ssl.SSLError as error:
        raise InvalidTlsConfig(
            f"{files.certificate} and {files.key} are no certificate with its key"
            f" ({error.reason}): both must be PEM, and belong together"
        ) from error
    if files.client_ca:
        context.verify_mode = ssl.CERT_REQUIRED
        try:
            context.load_verify_locations(files.client_ca)
        except ssl.SSLError as error:
            raise InvalidTlsConfig(
                f"{files.client_ca} holds no certificate of an authority: it must be PEM"
            ) from error
    return context


def _find_ca_mismatch(files: CertificateFiles, context: ssl.SSLContext) -> str:
    """Return why `ca.crt` does not verify the certificate, or an empty string.

    Performs a handshake in memory with a client that trusts only this CA, because `ssl` has no
    other way to verify a certificate.
    """
    if not files.ca_certificate or not files.ca_certificate.exists():
        return ""
    client_context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    client_context.check_hostname = False
    client_context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    try:
        client_context.load_verify_locations(files.ca_certificate)
        _do_handshake(client_context, context)
    except ssl.SSLCertVerificationError as error:
        if error.verify_code not in VALIDITY_ERRORS:
            return (
                f"{files.certificate} is not of the authority in {files.ca_certificate}"
                f" ({error.verify_message}): replace both, and whom API servers trust too"
            )
    except (OSError, ValueError):
        return ""  # the file holds no CA certificate, so there is nothing to compare
    return ""


def _do_handshake(client_context: ssl.SSLContext, server_context: ssl.SSLContext) -> None:
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = client_context.wrap_bio(to_client, to_server)
    server = server_context.wrap_bio(to_server, to_client, server_side=True)
    for side in (client, server, client):
        with contextlib.suppress(ssl.SSLWantReadError):
            side.do_handshake()


def _check_files(files: CertificateFiles) -> None:
    """Check that the files exist and hold the right objects. The errors of `ssl` name no file."""
    missing = [str(path) for path in files.required_paths() if not path.exists()]
    if missing:
        raise InvalidTlsConfig(
            f"there is no {' and no '.join(missing)}: put the file there, or name another;"
            " it is served as soon as it is there"
        )
    certificate, key = (path.read_bytes() for path in (files.certificate, files.key))
    if KEY_MARKER in certificate and KEY_MARKER not in key and CERTIFICATE_MARKER in key:
        raise InvalidTlsConfig(
            f"{files.certificate} holds a key, and {files.key} a certificate: swap the two"
        )
    for path, content, marker, expected in (
        (files.certificate, certificate, CERTIFICATE_MARKER, "certificate"),
        (files.key, key, KEY_MARKER, "private key"),
    ):
        if marker not in content:
            raise InvalidTlsConfig(f"{path} holds no {expected}: it must be PEM")


def _file_signature(path: Path) -> tuple[int, ...]:
    try:
        status = path.stat()
    except OSError:
        return ()
    return (status.st_ino, status.st_size, status.st_mtime_ns)
