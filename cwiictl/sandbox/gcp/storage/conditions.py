"""ifGenerationMatch and its kin: whether a thing is still what somebody took it for."""

from __future__ import annotations

from cwiictl.sandbox.exchange import Request
from cwiictl.sandbox.gcp.world import Blob, Bucket

from .answers import invalid, not_met


def check_bucket(request: Request, bucket: Bucket, *, reading: bool = False) -> None:
    _check(request, "ifMetageneration", bucket.metageneration, reading=reading)


def check_object(request: Request, blob: Blob | None, *, reading: bool = False) -> None:
    """An object that is not there has generation 0."""
    _check(request, "ifGeneration", blob.generation if blob else 0, reading=reading)
    if blob is not None or request.asked.get("ifMetagenerationMatch"):
        _check(request, "ifMetageneration", blob.metageneration if blob else 0, reading=reading)


def _check(request: Request, name: str, found: int, *, reading: bool) -> None:
    wanted, unwanted = _number(request, f"{name}Match"), _number(request, f"{name}NotMatch")
    if wanted is not None and wanted != found:
        raise not_met()
    if unwanted is not None and unwanted == found:
        raise not_met(304 if reading else 412)


def _number(request: Request, name: str) -> int | None:
    text = request.asked.get(name, "")
    if not text:
        return None
    if not text.isdigit():
        raise invalid(f"Invalid long value: '{text}'.")
    return int(text)
