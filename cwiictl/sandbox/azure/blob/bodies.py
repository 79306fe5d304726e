"""What a blob is: its bytes, and the headers that are kept with them and served again."""

from __future__ import annotations

import base64
import hashlib
import re
import secrets
from urllib.parse import parse_qsl

from cwiictl.sandbox.azure.world import Blob
from cwiictl.sandbox.exchange import Headers, Request

from .answers import Refusal, date, wrong_header

_KEPT = (
    "Content-Type",
    "Content-Encoding",
    "Content-Language",
    "Content-Disposition",
    "Cache-Control",
    "Content-MD5",
)
_PREFIX = "x-ms-meta-"
_TAG = re.compile(r"[A-Za-z0-9 +\-./:=_]{1,128}")
_VALUE = re.compile(r"[A-Za-z0-9 +\-./:=_]{0,256}")


def new_etag() -> str:
    return f'"0x8{secrets.token_hex(7).upper()}"'


def metadata(request: Request) -> dict[str, str]:
    return {
        name[len(_PREFIX) :]: value
        for name, value in request.headers
        if name.lower().startswith(_PREFIX)
    }


def tags(request: Request) -> dict[str, str]:
    """At most ten, each a word with a value."""
    found = dict(parse_qsl(request.header("x-ms-tags"), keep_blank_values=True))
    check_tags(found)
    return found


def check_tags(found: dict[str, str]) -> None:
    if len(found) > 10 or not all(
        _TAG.fullmatch(name) and _VALUE.fullmatch(value) for name, value in found.items()
    ):
        raise Refusal(
            400,
            "InvalidTag",
            "The tags specified are invalid. It contains characters that are not permitted.",
        )


def kept(request: Request, *, whole: bool) -> dict[str, str]:
    """Of a request that brings the bytes too (`whole`), its own headers count where the blob's are not named."""
    found: dict[str, str] = {}
    for name in _KEPT:
        value = request.header(f"x-ms-blob-{name.lower()}") or (
            request.header(name) if whole else ""
        )
        if value:
            found[name] = value
    return {"Content-Type": "application/octet-stream", **found}


def made(body: bytes, headers: dict[str, str], request: Request, now: float) -> Blob:
    return Blob(body, headers, new_etag(), now, metadata(request), tags(request))


def digest(body: bytes) -> str:
    return base64.b64encode(hashlib.md5(body, usedforsecurity=False).digest()).decode()


def check_digest(request: Request) -> None:
    told = request.header("Content-MD5")
    if told and told != digest(request.body):
        words = "The MD5 value specified in the request did not match with the MD5 value calculated by the server."
        raise Refusal(
            400,
            "Md5Mismatch",
            words,
            {"UserSpecifiedMd5": told, "ServerCalculatedMd5": digest(request.body)},
        )


def check_kind(request: Request) -> None:
    """Page and append blobs are for disks and logs; nobody here writes them."""
    kind = request.header("x-ms-blob-type")
    if kind != "BlockBlob":
        raise wrong_header("x-ms-blob-type", kind)


def state(blob: Blob) -> Headers:
    return (("ETag", blob.etag), ("Last-Modified", date(blob.modified)))


def described(blob: Blob) -> Headers:
    """All that is served with it, but its length."""
    own = tuple((f"{_PREFIX}{name}", value) for name, value in blob.metadata.items())
    count = (("x-ms-tag-count", str(len(blob.tags))),) if blob.tags else ()
    constant = (
        ("x-ms-blob-type", "BlockBlob"),
        ("x-ms-lease-status", "unlocked"),
        ("x-ms-lease-state", "available"),
        ("x-ms-server-encrypted", "true"),
    )
    times = (("x-ms-creation-time", date(blob.modified)), ("Accept-Ranges", "bytes"))
    return (*blob.headers.items(), *state(blob), *constant, *times, *count, *own)
