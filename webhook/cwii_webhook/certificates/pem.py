"""Reads the expiry times of PEM certificates without a cryptography library.

The `ssl` module reports the expiry of a peer's certificate only, not of the local one. A library
that can parse certificates is larger than the rest of the webhook.
"""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

BEGIN, END = "-----BEGIN CERTIFICATE-----", "-----END CERTIFICATE-----"
UTC_TIME_TAG = 0x17
VERSION_TAG = 0xA0


@dataclass(frozen=True)
class KeyPair:
    """A certificate and its private key, as PEM."""

    certificate: bytes
    key: bytes

    def __repr__(self) -> str:
        return "KeyPair(...)"  # keeps the key out of logs


def expiry_times(pem: bytes) -> list[float]:
    """Returns the expiry of each certificate of a chain, in seconds since 1970."""
    blocks = pem.decode("ascii", "replace").split(BEGIN)[1:]
    times = [
        _not_after(ssl.PEM_cert_to_DER_cert(BEGIN + block.partition(END)[0] + END + "\n"))
        for block in blocks
    ]
    if not times:
        raise ValueError("there is no certificate in it")
    return times


def _not_after(der: bytes) -> float:
    """Reads notAfter from a DER certificate.

    Certificate { tbs { [version], serial, algorithm, issuer, validity { from, to } ... } ... }
    """
    try:
        (_, certificate), *_ = _der_elements(der)
        (_, tbs), *_ = _der_elements(certificate)
        fields = [field for field in _der_elements(tbs) if field[0] != VERSION_TAG]
        _, (tag, text) = _der_elements(fields[3][1])
        time_format = "%y%m%d%H%M%SZ" if tag == UTC_TIME_TAG else "%Y%m%d%H%M%SZ"
        return datetime.strptime(text.decode(), time_format).replace(tzinfo=UTC).timestamp()
    except (IndexError, ValueError) as error:
        raise ValueError("there is no certificate in it that can be read") from error


def _der_elements(der: bytes) -> Iterator[tuple[int, bytes]]:
    """Yields the tag and the content of each element on the top level."""
    offset = 0
    while offset < len(der):
        tag, size, offset = der[offset], der[offset + 1], offset + 2
        if size & 0x80:
            count = size & 0x7F
            size = int.from_bytes(der[offset : offset + count], "big")
            offset += count
        yield tag, der[offset : offset + size]
        offset += size
