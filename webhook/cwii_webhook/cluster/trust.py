"""TLS towards the API server: whom we trust, and what we show. Keys are never written to a disk that did not hold them before."""

from __future__ import annotations

import contextlib
import os
import ssl
import tempfile
from collections.abc import Generator

from cwii_webhook.cluster.errors import BadAccess
from cwii_webhook.x509 import Pair


def context(ca: bytes | None, pair: Pair | None, *, verify: bool = True) -> ssl.SSLContext:
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


def _show(context: ssl.SSLContext, pair: Pair) -> None:
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
