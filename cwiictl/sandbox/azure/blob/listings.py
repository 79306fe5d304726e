"""Lists of containers and of blobs, page by page."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import quoteattr

from cwiictl.sandbox.azure.world import Account, Blob, Container
from cwiictl.sandbox.exchange import Request, Response

from .answers import Refusal, Tree, date, document, wrong_query
from .containers import etag

_MOST = 5000


@dataclass(frozen=True)
class Page:
    """Which names one request is answered with, and where the next begins."""

    names: Sequence[str]
    marker: str
    size: int

    @classmethod
    def of(cls, request: Request, names: Iterable[str]) -> Page:
        size = _size(request)
        start = _start(request)
        rest = [name for name in sorted(set(names)) if name >= start]
        return cls(rest[:size], _marker(rest[size]) if len(rest) > size else "", size)


def blobs(request: Request, account: Account, container: Container) -> Response:
    prefix, delimiter = request.asked.get("prefix", ""), request.asked.get("delimiter", "")
    matching = [name for name in container.blobs if name.startswith(prefix)]
    page = Page.of(request, (_folded(name, prefix, delimiter) for name in matching))
    include = set(request.asked.get("include", "").lower().split(","))
    entries: list[Tree] = [
        _blob(name, container.blobs[name], include)
        if name in container.blobs
        else {"BlobPrefix": {"Name": name}}
        for name in page.names
    ]
    where = f" ServiceEndpoint={quoteattr(_endpoint(account))} ContainerName={quoteattr(container.name)}"
    return document(
        "EnumerationResults",
        {**_asked(request, page), "Blobs": entries, "NextMarker": page.marker},
        where,
    )


def containers(request: Request, account: Account) -> Response:
    prefix = request.asked.get("prefix", "")
    page = Page.of(request, (name for name in account.containers if name.startswith(prefix)))
    include = set(request.asked.get("include", "").lower().split(","))
    entries: list[Tree] = [_container(account.containers[name], include) for name in page.names]
    tree: Tree = {**_asked(request, page), "Containers": entries, "NextMarker": page.marker}
    return document("EnumerationResults", tree, f" ServiceEndpoint={quoteattr(_endpoint(account))}")


def _asked(request: Request, page: Page) -> Tree:
    told = {
        name: request.asked[name.lower()]
        for name in ("Prefix", "Marker", "Delimiter")
        if request.asked.get(name.lower())
    }
    return {**told, "MaxResults": str(page.size)} if "maxresults" in request.asked else told


def _blob(name: str, blob: Blob, include: Iterable[str]) -> Tree:
    moment = date(blob.modified)
    properties: Mapping[str, str] = {
        "Creation-Time": moment, "Last-Modified": moment, "Etag": blob.etag.strip('"'), "Content-Length": str(len(blob.body)), **blob.headers,
        "BlobType": "BlockBlob", "AccessTier": "Hot", "AccessTierInferred": "true", "LeaseStatus": "unlocked", "LeaseState": "available",
        "ServerEncrypted": "true", **({"TagCount": str(len(blob.tags))} if blob.tags else {}),
    }  # fmt: skip
    entry: dict[str, str | Tree | list[Tree]] = {"Name": name, "Properties": properties}
    if "metadata" in include:
        entry["Metadata"] = blob.metadata
    if "tags" in include and blob.tags:
        entry["Tags"] = {
            "TagSet": [{"Tag": {"Key": key, "Value": value}} for key, value in blob.tags.items()]
        }
    return {"Blob": entry}


def _container(one: Container, include: Iterable[str]) -> Tree:
    openness = {} if one.public == "None" else {"PublicAccess": one.public.lower()}
    properties: Mapping[str, str] = {
        "Last-Modified": date(one.modified), "Etag": etag(one), "LeaseStatus": "unlocked", "LeaseState": "available", **openness,
        "HasImmutabilityPolicy": "false", "HasLegalHold": "false",
    }  # fmt: skip
    return {
        "Container": {
            "Name": one.name,
            "Properties": properties,
            **({"Metadata": one.metadata} if "metadata" in include else {}),
        }
    }


def _folded(name: str, prefix: str, delimiter: str) -> str:
    """A blob's own name, or as much of it as stands for a folder."""
    rest = name[len(prefix) :]
    return (
        prefix + rest.partition(delimiter)[0] + delimiter
        if delimiter and delimiter in rest
        else name
    )


def _endpoint(account: Account) -> str:
    return f"https://{account.name}.blob.{account.suffix}/"


def _size(request: Request) -> int:
    text = request.asked.get("maxresults", str(_MOST))
    if not text.isdigit():
        raise wrong_query("maxresults", text)
    if int(text) == 0:
        sentence = "One of the query parameters specified in the request URI is outside the permissible range."
        named = {
            "QueryParameterName": "maxresults",
            "QueryParameterValue": text,
            "MinimumAllowed": "1",
            "MaximumAllowed": str(2**31 - 1),
        }
        raise Refusal(400, "OutOfRangeQueryParameterValue", sentence, named)
    return min(int(text), _MOST)


def _marker(name: str) -> str:
    return base64.urlsafe_b64encode(name.encode()).decode()


def _start(request: Request) -> str:
    text = request.asked.get("marker", "")
    try:
        return base64.b64decode(text, b"-_", validate=True).decode()
    except (binascii.Error, ValueError) as error:
        raise wrong_query("marker", text) from error
