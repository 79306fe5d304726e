"""Whether API servers believe the webhook: its certificate, when it ends, and whether their bundle has the CA that it is of."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import Any

from cryptography import x509
from cryptography.exceptions import InvalidSignature

from cwiictl.install.health import Finding

Body = Mapping[str, Any]
RENEW = "run renew-certificates, or whoever else makes them"


def certificate(secret: Body | None, now: float) -> Finding:
    chain = _chain(secret)
    if not chain:
        return Finding("missing", (f"there is no certificate to serve with: {RENEW}",))
    ends, issuer = chain[0].not_valid_after_utc, _name(chain[0].issuer)
    told = (f"ends {ends:%Y-%m-%d %H:%M} UTC", f"of the CA {issuer}")
    if ends.timestamp() <= now:
        return Finding(
            "failed", told, f"the certificate has ended on {ends:%Y-%m-%d %H:%M} UTC", RENEW
        )
    return Finding("as wanted", told)


def bundled(configuration: Body | None, secret: Body | None) -> Finding:
    """Each of its entries has a bundle of its own."""
    if configuration is None:
        return Finding("missing", ("nobody is asked: run install-webhook again",))
    entries: Sequence[Body] = configuration.get("webhooks") or ()
    told = tuple(
        f"{entry['name']}: {entry['failurePolicy']} where nobody answers" for entry in entries
    )
    chain = _chain(secret)
    stale = [
        str(entry["name"])
        for entry in entries
        if chain and not _believed(chain, entry["clientConfig"].get("caBundle", ""))
    ]
    if stale:
        return Finding(
            "drifted",
            (
                *told,
                f"the caBundle of {', '.join(stale)} has not the CA of the certificate that is served: {RENEW}",
            ),
        )
    return Finding("as wanted", told)


def _believed(chain: list[x509.Certificate], bundle: str) -> bool:
    """What is served, up to its last certificate, is of one in the bundle, or is one."""
    last = chain[-1]
    return any(last == ca or _issued(last, ca) for ca in _certificates(base64.b64decode(bundle)))


def _issued(leaf: x509.Certificate, ca: x509.Certificate) -> bool:
    try:
        leaf.verify_directly_issued_by(ca)
    except (ValueError, TypeError, InvalidSignature):
        return False
    return True


def _chain(secret: Body | None) -> list[x509.Certificate]:
    data: Mapping[str, str] = (secret or {}).get("data") or {}
    return _certificates(base64.b64decode(data.get("tls.crt", "")))


def _certificates(pem: bytes) -> list[x509.Certificate]:
    try:
        return x509.load_pem_x509_certificates(pem)
    except ValueError:
        return []


def _name(name: x509.Name) -> str:
    common = name.get_attributes_for_oid(x509.NameOID.COMMON_NAME)
    return str(common[0].value) if common else name.rfc4514_string()
