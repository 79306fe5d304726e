"""The two sums by which Cloud Storage knows a body: MD5, and CRC-32C in big-endian base64."""

from __future__ import annotations

import base64
import hashlib
from functools import cache

_POLYNOMIAL = 0x82F63B78


def md5(body: bytes) -> str:
    return base64.b64encode(hashlib.md5(body, usedforsecurity=False).digest()).decode()


def crc32c(body: bytes) -> str:
    table, value = _table(), 0xFFFFFFFF
    for byte in body:
        value = table[(value ^ byte) & 0xFF] ^ (value >> 8)
    return base64.b64encode((value ^ 0xFFFFFFFF).to_bytes(4, "big")).decode()


@cache
def _table() -> tuple[int, ...]:
    return tuple(_entry(index) for index in range(256))


def _entry(value: int) -> int:
    for _ in range(8):
        value = (value >> 1) ^ (_POLYNOMIAL if value & 1 else 0)
    return value
