"""Objects: read, listed, changed and deleted."""

from __future__ import annotations

import base64
import re
from email.utils import formatdate
from typing import Any, cast

from cwiictl.sandbox.exchange import Request, Response
from cwiictl.sandbox.gcp.tokens import NOBODY, Caller
from cwiictl.sandbox.gcp.world import Blob, Bucket

from . import documents, wishes
from .address import Address
from .answers import Refusal, invalid, json_response, no_object
from .conditions import check_object
from .digests import crc32c, md5
from .guard import Guard

PUBLIC = "public, max-age=3600"  # what everybody may read is kept for an hour wherever it passes, unless the object says otherwise
PRIVATE = "private, max-age=0"
_PAGE = 1000
_RANGE = re.compile(r"bytes=(\d+)-(\d*)")


class Objects:
    def __init__(self, guard: Guard) -> None:
        self._guard = guard

    def get(self, request: Request, caller: Caller, bucket: Bucket, where: Address) -> Response:
        blob = self._found(request, caller, bucket, where.object)
        check_object(request, blob, reading=True)
        if where.way or request.asked.get("alt") == "media":
            return _ranged(request.header("Range"), self._content(caller, bucket, blob))
        return json_response(
            documents.blob(bucket, blob),
            headers=(("ETag", documents.etag(blob.generation, blob.metageneration)),),
        )

    def all(self, request: Request, bucket: Bucket) -> Response:
        asked = request.asked
        prefix, delimiter, after = (
            asked.get("prefix", ""),
            asked.get("delimiter", ""),
            _read_token(asked.get("pageToken", "")),
        )
        names = [
            name for name in sorted(bucket.objects) if name.startswith(prefix) and name > after
        ]
        folders = sorted({_folder(name, prefix, delimiter) for name in names} - {""})
        own = [name for name in names if not _folder(name, prefix, delimiter)]
        most = min(int(asked.get("maxResults") or _PAGE), _PAGE)
        page: dict[str, object] = {"kind": "storage#objects"}
        if len(own) > most:
            page["nextPageToken"] = base64.b64encode(own[most - 1].encode()).decode()
        if folders:
            page["prefixes"] = folders
        if own:
            page["items"] = [documents.blob(bucket, bucket.objects[name]) for name in own[:most]]
        return json_response(page)

    def change(self, request: Request, bucket: Bucket, name: str) -> Response:
        blob = _known(bucket, name)
        check_object(request, blob)
        describe(blob, wishes.body(request), patch=request.method == "PATCH")
        blob.metageneration += 1
        return json_response(documents.blob(bucket, blob))

    def delete(self, request: Request, bucket: Bucket, name: str) -> Response:
        check_object(request, _known(bucket, name))
        del bucket.objects[name]
        return Response(204)

    def _found(self, request: Request, caller: Caller, bucket: Bucket, name: str) -> Blob:
        """Who may not list the bucket does not hear that an object is not there."""
        self._guard.check_bucket(caller, "storage.objects.get", bucket, name)
        blob = bucket.objects.get(name)
        generation = request.asked.get("generation")
        if blob is None or (generation and generation != str(blob.generation)):
            self._guard.check_bucket(caller, "storage.objects.list", bucket)
            raise no_object(bucket.name, name)
        return blob

    def _content(self, caller: Caller, bucket: Bucket, blob: Blob) -> Response:
        kept = blob.cache_control or (
            PUBLIC if caller is NOBODY and self._guard.public(bucket, blob.name) else PRIVATE
        )
        sums = (
            ("x-goog-hash", f"crc32c={crc32c(blob.body)}"),
            ("x-goog-hash", f"md5={md5(blob.body)}"),
        )
        known = (
            ("x-goog-generation", str(blob.generation)),
            ("x-goog-metageneration", str(blob.metageneration)),
            ("x-goog-storage-class", "STANDARD"),
        )
        stored = (
            ("x-goog-stored-content-encoding", "identity"),
            ("x-goog-stored-content-length", str(len(blob.body))),
        )
        own = tuple((f"x-goog-meta-{key}", value) for key, value in blob.metadata.items())
        rest = (
            ("Content-Type", blob.content_type or "application/octet-stream"),
            ("Content-Length", str(len(blob.body))),
            ("Cache-Control", kept),
            ("ETag", f'"{base64.b64decode(md5(blob.body)).hex()}"'),
            ("Last-Modified", formatdate(blob.created, usegmt=True)),
            ("Accept-Ranges", "bytes"),
            ("Server", "UploadServer"),
        )
        return Response(200, (*rest, *known, *stored, *sums, *own), blob.body)


def _ranged(asked: str, whole: Response) -> Response:
    """The part that was asked for; all of it for a range that is none."""
    found = _RANGE.fullmatch(asked)
    if found is None:
        return whole
    size = len(whole.body)
    first, last = int(found[1]), min(int(found[2] or size - 1), size - 1)
    if first >= size or first > last:
        raise Refusal(
            416,
            "requestedRangeNotSatisfiable",
            "Request range not satisfiable",
            ("header", "Range"),
        )
    part = Response(206, whole.headers, whole.body[first : last + 1])
    return part.but(
        (
            ("Content-Range", f"bytes {first}-{last}/{size}"),
            ("Content-Length", str(last - first + 1)),
        )
    )


def describe(blob: Blob, asked: dict[str, Any], *, patch: bool) -> None:
    """What an object says of itself besides its content; null takes it away."""
    old = {"contentType": blob.content_type, "cacheControl": blob.cache_control} if patch else {}
    blob.content_type = str(asked.get("contentType", old.get("contentType")) or "")
    blob.cache_control = str(asked.get("cacheControl", old.get("cacheControl")) or "")
    told = asked.get("metadata", {})
    if told is not None and not isinstance(told, dict):
        raise invalid("Invalid value for metadata.")
    new = {
        **(blob.metadata if patch and told is not None else {}),
        **cast("dict[str, Any]", told or {}),
    }
    blob.metadata = {key: str(value) for key, value in new.items() if value is not None}


def check_sums(asked: dict[str, Any], body: bytes) -> None:
    """Who says what they send is told when something else came."""
    for name, found in (("md5Hash", md5(body)), ("crc32c", crc32c(body))):
        told = asked.get(name)
        if told and told != found:
            kind = "MD5 hash" if name == "md5Hash" else "CRC32C"
            raise Refusal(
                400,
                "invalid",
                f'Provided {kind} "{told}" doesn\'t match calculated {kind} "{found}".',
            )


def _known(bucket: Bucket, name: str) -> Blob:
    if name not in bucket.objects:
        raise no_object(bucket.name, name)
    return bucket.objects[name]


def _folder(name: str, prefix: str, delimiter: str) -> str:
    first, found, _ = name.removeprefix(prefix).partition(delimiter) if delimiter else ("", "", "")
    return f"{prefix}{first}{found}" if found else ""


def _read_token(token: str) -> str:
    try:
        return base64.b64decode(token).decode()
    except ValueError as error:
        raise invalid("Invalid page token.") from error
