"""Uploads: content alone, content and description in one body, or a description first and its content in pieces."""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, cast

from cwiictl.sandbox.exchange import Request, Response
from cwiictl.sandbox.gcp.tokens import Caller
from cwiictl.sandbox.gcp.world import Blob, Bucket

from . import documents, wishes
from .answers import Refusal, invalid, json_response
from .conditions import check_object
from .guard import Guard
from .objects import check_sums, describe

_BOUNDARY = re.compile(r'boundary="?([^";]+)"?')
_KIND = re.compile(r"(?im)^content-type:[ \t]*([^\r\n]+)")


@dataclass
class Pending:
    """A resumable upload: the request that began it holds its conditions."""

    request: Request
    asked: dict[str, Any]
    body: bytearray = field(default_factory=bytearray)


class Uploads:
    def __init__(self, guard: Guard, clock: Callable[[], float]) -> None:
        self._guard = guard
        self._clock = clock
        self._pending: dict[str, Pending] = {}
        self._last = 0

    def clear(self) -> None:
        self._pending.clear()

    def take(self, request: Request, caller: Caller, bucket: Bucket) -> Response:
        match request.asked.get("uploadType"):
            case "media":
                asked: dict[str, Any] = {"contentType": request.header("Content-Type")}
                return self._keep(request, caller, bucket, asked, request.body)
            case "multipart":
                asked, body = _parts(request)
                return self._keep(request, caller, bucket, asked, body)
            case "resumable" if request.method == "PUT" or request.asked.get("upload_id"):
                return self._more(request, caller, bucket)
            case "resumable":
                return self._begin(request, caller, bucket)
            case _:
                raise invalid("Upload type must be one of media, multipart, resumable.")

    def _begin(self, request: Request, caller: Caller, bucket: Bucket) -> Response:
        asked = wishes.body(request)
        name = _name(request, asked)
        self._check(request, caller, bucket, name)
        asked.setdefault("contentType", request.header("X-Upload-Content-Type"))
        key = secrets.token_urlsafe(40)
        self._pending[key] = Pending(request, asked)
        where = f"https://{request.host}/upload/storage/v1/b/{bucket.name}/o?uploadType=resumable&upload_id={key}"
        return Response(200, (("Location", where), ("X-GUploader-UploadID", key)))

    def _more(self, request: Request, caller: Caller, bucket: Bucket) -> Response:
        key = request.asked.get("upload_id", "")
        if key not in self._pending:
            raise Refusal(404, "notFound", "Not Found")
        pending = self._pending[key]
        pending.body += request.body
        whole = request.header("Content-Range").rpartition("/")[2]
        if whole == "*" or (whole and int(whole) > len(pending.body)):
            return Response(
                308, (("Range", f"bytes=0-{len(pending.body) - 1}"),) if pending.body else ()
            )
        del self._pending[key]
        return self._keep(pending.request, caller, bucket, pending.asked, bytes(pending.body))

    def _keep(
        self, request: Request, caller: Caller, bucket: Bucket, asked: dict[str, Any], body: bytes
    ) -> Response:
        name = _name(request, asked)
        self._check(request, caller, bucket, name)
        check_sums(asked, body)
        blob = Blob(name, body, "", "", self._generation(), 1, self._clock())
        describe(blob, asked, patch=False)
        bucket.objects[name] = blob
        return json_response(documents.blob(bucket, blob))

    def _check(self, request: Request, caller: Caller, bucket: Bucket, name: str) -> None:
        """To write over an object is to delete it, too."""
        self._guard.check_bucket(caller, "storage.objects.create", bucket, name)
        check_object(request, bucket.objects.get(name))
        if name in bucket.objects:
            self._guard.check_bucket(caller, "storage.objects.delete", bucket, name)
        if bucket.uniform and request.asked.get("predefinedAcl"):
            see = "Read more at https://cloud.google.com/storage/docs/uniform-bucket-level-access"
            raise invalid(
                f"Cannot insert legacy ACL for an object when uniform bucket-level access is enabled. {see}"
            )

    def _generation(self) -> int:
        """Microseconds; never the same twice."""
        self._last = max(self._last + 1, int(self._clock() * 1_000_000))
        return self._last


def _name(request: Request, asked: dict[str, Any]) -> str:
    name = request.asked.get("name") or str(asked.get("name") or "")
    if not name:
        raise Refusal(400, "required", "Required")
    if len(name.encode()) > 1024 or "\n" in name or "\r" in name:
        raise invalid(f"Invalid object name: '{name}'")
    return name


def _parts(request: Request) -> tuple[dict[str, Any], bytes]:
    """Of a multipart/related body: what is said of the content, and the content. Split by hand: a mail parser may touch what is between the lines."""
    found = _BOUNDARY.search(request.header("Content-Type"))
    pieces = (b"\r\n" + request.body).split(b"\r\n--" + found[1].encode()) if found else []
    if len(pieces) != 4 or not pieces[3].startswith(b"--"):
        raise invalid("Bad Request: a multipart upload has two parts.")
    (_, _, described), (head, _, content) = (piece.partition(b"\r\n\r\n") for piece in pieces[1:3])
    try:
        asked: Any = json.loads(described)
    except ValueError as error:
        raise Refusal(400, "parseError", "Parse Error") from error
    if not isinstance(asked, dict):
        raise Refusal(400, "parseError", "Parse Error")
    kind = _KIND.search(head.decode("latin-1"))
    return {"contentType": kind[1] if kind else "", **cast("dict[str, Any]", asked)}, content
