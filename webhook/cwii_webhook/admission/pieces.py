"""Ops of a JSON patch beside their wire form: what pod after pod is given is encoded once.

A patch is sent in base64, three bytes as four characters. Pieces are filled with blanks to whole threes, so that what was encoded once can be joined.
"""

from __future__ import annotations

from binascii import b2a_base64
from collections.abc import Iterable, Sequence
from typing import Literal

from msgspec import Raw, Struct

from cwii_webhook.admission.review import encode


def _base64(text: bytes) -> bytes:
    return b2a_base64(text + b" " * (-len(text) % 3), newline=False)


_BEGIN, _NEXT, _END = map(_base64, (b"[", b",", b"]"))


class Op(Struct, frozen=True, gc=False):
    op: Literal["add", "replace"]
    path: str
    value: object


class Piece(Struct, frozen=True, gc=False):
    """Some ops, one at least, and the same as they are sent: in base64, without what stands around and between pieces."""

    ops: Sequence[Op]
    wire: bytes


def piece(ops: Sequence[Op]) -> Piece:
    return Piece(ops, _base64(encode(ops)[1:-1]))


def sent(pieces: Iterable[Piece]) -> Raw:
    """The string that stands in the answer."""
    return Raw(b'"%b%b%b"' % (_BEGIN, _NEXT.join([piece.wire for piece in pieces]), _END))
