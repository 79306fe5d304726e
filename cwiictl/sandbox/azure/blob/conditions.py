"""If-Match and its kin: whether a blob is still what somebody took it for."""

from __future__ import annotations

from email.utils import parsedate_to_datetime

from cwiictl.sandbox.azure.world import Blob
from cwiictl.sandbox.exchange import Request

from .answers import Refusal, wrong_header

_NOT_MET = "The condition specified using HTTP conditional header(s) is not met."


def check_put(request: Request, blob: Blob | None) -> None:
    """Of a write that makes the blob where it is not there."""
    if blob is not None and request.header("If-None-Match").strip() == "*":
        raise Refusal(409, "BlobAlreadyExists", "The specified blob already exists.")
    if blob is None:
        if request.header("If-Match"):
            raise _not_met(412)
        return
    check(request, blob, unchanged=412)


def check_read(request: Request, blob: Blob) -> None:
    check(request, blob, unchanged=304)


def check(request: Request, blob: Blob, *, unchanged: int = 412) -> None:
    """`unchanged` is the status for those who want it only when it is another than theirs."""
    wanted, unwanted = request.header("If-Match"), request.header("If-None-Match")
    if wanted and not _named(wanted, blob.etag):
        raise _not_met(412)
    if (before := _moment(request, "If-Unmodified-Since")) is not None and int(
        blob.modified
    ) > before:
        raise _not_met(412)
    if unwanted and _named(unwanted, blob.etag):
        raise _not_met(unchanged)
    if (
        not unwanted
        and (since := _moment(request, "If-Modified-Since")) is not None
        and int(blob.modified) <= since
    ):
        raise _not_met(unchanged)


def _not_met(status: int) -> Refusal:
    return Refusal(status, "ConditionNotMet", _NOT_MET)


def _named(header: str, etag: str) -> bool:
    names = {one.strip().removeprefix("W/").strip('"') for one in header.split(",")}
    return "*" in names or etag.strip('"') in names


def _moment(request: Request, name: str) -> float | None:
    text = request.header(name)
    if not text:
        return None
    try:
        return parsedate_to_datetime(text).timestamp()
    except ValueError as error:
        raise wrong_header(name, text) from error
