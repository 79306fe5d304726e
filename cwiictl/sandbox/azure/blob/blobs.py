"""Blobs: put, read, changed and deleted."""

from __future__ import annotations

import re
from collections.abc import Callable
from xml.etree import ElementTree as ET

from cwiictl.sandbox.azure.world import Blob, Container
from cwiictl.sandbox.exchange import Request, Response

from . import bodies
from .answers import Refusal, document, empty, missing_header, not_found
from .conditions import check, check_put, check_read

_ENCRYPTED = ("x-ms-request-server-encrypted", "true")


class Blobs:
    """Those of one container."""

    def __init__(self, container: Container, clock: Callable[[], float]) -> None:
        self._all = container.blobs
        self._clock = clock

    def put(self, request: Request, name: str) -> Response:
        if not request.header("x-ms-blob-type"):
            raise missing_header("x-ms-blob-type")
        bodies.check_kind(request)
        bodies.check_digest(request)
        headers = {"Content-MD5": bodies.digest(request.body), **bodies.kept(request, whole=True)}
        return self.keep(request, name, request.body, headers)

    def keep(self, request: Request, name: str, body: bytes, headers: dict[str, str]) -> Response:
        """Whole, in place of what was there."""
        check_put(request, self._all.get(name))
        blob = self._all[name] = bodies.made(body, headers, request, self._clock())
        md5 = [("Content-MD5", bodies.digest(request.body))]
        return empty(201, (*bodies.state(blob), *md5, _ENCRYPTED))

    def get(self, request: Request, name: str) -> Response:
        blob = self._known(name)
        check_read(request, blob)
        size, described = len(blob.body), bodies.described(blob)
        span = (
            _span(request.header("x-ms-range") or request.header("Range"), size)
            if request.method == "GET"
            else None
        )
        if span is None:
            body = b"" if request.method == "HEAD" else blob.body
            return Response(200, (("Content-Length", str(size)), *described), body)
        first, last = span
        whole = [
            ("x-ms-blob-content-md5", value) for key, value in described if key == "Content-MD5"
        ]
        rest = [header for header in described if header[0] != "Content-MD5"]
        return Response(
            206,
            (*rest, *whole, ("Content-Range", f"bytes {first}-{last}/{size}")),
            blob.body[first : last + 1],
        )

    def describe(self, request: Request, name: str) -> Response:
        """Its metadata alone."""
        blob = self._known(name)
        check_read(request, blob)
        return empty(
            200,
            (
                *bodies.state(blob),
                *(
                    header
                    for header in bodies.described(blob)
                    if header[0].startswith("x-ms-meta-")
                ),
            ),
        )

    def set_properties(self, request: Request, name: str) -> Response:
        """What is not named goes."""
        return self._changed(
            request, name, lambda blob: setattr(blob, "headers", bodies.kept(request, whole=False))
        )

    def set_metadata(self, request: Request, name: str) -> Response:
        return self._changed(
            request, name, lambda blob: setattr(blob, "metadata", bodies.metadata(request))
        )

    def get_tags(self, request: Request, name: str) -> Response:
        del request
        tags = self._known(name).tags
        return document(
            "Tags",
            {"TagSet": [{"Tag": {"Key": key, "Value": value}} for key, value in tags.items()]},
        )

    def set_tags(self, request: Request, name: str) -> Response:
        """Not a change of the blob: its ETag stays."""
        found = {
            one.findtext("Key", ""): one.findtext("Value", "")
            for one in elements(request.body).iter("Tag")
        }
        bodies.check_tags(found)
        self._known(name).tags = found
        return empty(204)

    def delete(self, request: Request, name: str) -> Response:
        check(request, self._known(name))
        del self._all[name]
        return empty(202, [("x-ms-delete-type-permanent", "true")])

    def _known(self, name: str) -> Blob:
        if name not in self._all:
            raise not_found("blob")
        return self._all[name]

    def _changed(self, request: Request, name: str, change: Callable[[Blob], None]) -> Response:
        blob = self._known(name)
        check(request, blob)
        change(blob)
        blob.etag, blob.modified = bodies.new_etag(), self._clock()
        return empty(200, bodies.state(blob))


def elements(body: bytes) -> ET.Element:
    refusal = Refusal(400, "InvalidXmlDocument", "XML specified is not syntactically valid.")
    if b"<!" in body:  # a document type: nobody needs one who means well
        raise refusal
    try:
        return ET.fromstring(body)  # noqa: S314 - without a document type there are no entities to expand
    except ET.ParseError as error:
        raise refusal from error


def _span(header: str, size: int) -> tuple[int, int] | None:
    """First and last byte; None for all, as for a range that is none."""
    found = re.fullmatch(r"bytes=(\d+)-(\d*)", header)
    if found is None:
        return None
    first, last = int(found[1]), min(int(found[2] or size - 1), size - 1)
    if first >= size or first > last:
        words = "The range specified is invalid for the current size of the resource."
        raise Refusal(416, "InvalidRange", words, headers=(("Content-Range", f"bytes */{size}"),))
    return first, last
