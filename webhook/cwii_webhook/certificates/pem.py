"""When certificates end. `ssl` tells it of a peer's certificate, and never of one's own; a library that does weighs more than all the rest of us."""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

BEGIN, END = "-----BEGIN CERTIFICATE-----", "-----END CERTIFICATE-----"
UTC_TIME = 0x17
VERSION = 0xA0


@dataclass(frozen=True)
class KeyPair:
    """A certificate and its key, as PEM."""

    certificate: bytes
    key: bytes

    def __repr__(self) -> str:
        return "Pair(...)"  # the key is never logged


def ends(pem: bytes) -> list[float]:
    """Of each certificate of a chain, in seconds since 1970."""
    blocks = pem.decode("ascii", "replace").split(BEGIN)[1:]
    found = [
        _end(ssl.PEM_cert_to_DER_cert(BEGIN + block.partition(END)[0] + END + "\n"))
        for block in blocks
    ]
    if not found:
        raise ValueError("there is no certificate in it")
    return found


def _end(der: bytes) -> float:
    """Certificate { tbs { [version], serial, algorithm, issuer, validity { from, to } ... } ... }"""
    try:
        (_, certificate), *_ = _parts(der)
        (_, tbs), *_ = _parts(certificate)
        fields = [field for field in _parts(tbs) if field[0] != VERSION]
        _, (kind, text) = _parts(fields[3][1])
        return (
            datetime.strptime(
                text.decode(), "%y%m%d%H%M%SZ" if kind == UTC_TIME else "%Y%m%d%H%M%SZ"
            )
            .replace(tzinfo=UTC)
            .timestamp()
        )
    except (IndexError, ValueError) as error:
        raise ValueError("there is no certificate in it that can be read") from error


def _parts(der: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at < len(der):
        kind, size, at = der[at], der[at + 1], at + 2
        if size & 0x80:
            count = size & 0x7F
            size, at = int.from_bytes(der[at : at + count], "big"), at + count
        yield kind, der[at : at + size]
        at += size
