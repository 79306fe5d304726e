"""CloudFront's XML: read from requests with its namespace taken away, and written with it."""

from __future__ import annotations

import copy
import uuid
import xml.etree.ElementTree as ET
from collections.abc import Iterable

from cwiictl.sandbox.aws.answers import Refusal
from cwiictl.sandbox.exchange import Headers, Response

XMLNS = "http://cloudfront.amazonaws.com/doc/2020-05-31/"


def parsed(body: bytes, root: str) -> ET.Element:
    """The document of a request, which must have this root."""
    if not body.strip():
        raise Refusal(
            400,
            "MissingBody",
            "This operation requires a body. Ensure that the body is present and the Content-Type header is set.",
        )
    try:
        found = ET.fromstring(body)  # noqa: S314 - from our own client, and bounded
    except ET.ParseError as error:
        raise malformed("Could not parse document.") from error
    for element in found.iter():
        element.tag = element.tag.rpartition("}")[2]
        element.text = (element.text or "") if len(element) == 0 else None
        element.tail = None
    if found.tag != root:
        raise malformed(f"unexpected element {found.tag}")
    return found


def malformed(why: str) -> Refusal:
    return Refusal(400, "MalformedXML", f"1 validation error detected: {why}")


def new(tag: str, *children: ET.Element | tuple[str, str]) -> ET.Element:
    element = ET.Element(tag)
    for child in children:
        if isinstance(child, tuple):
            ET.SubElement(element, child[0]).text = child[1]
        else:
            element.append(child)
    return element


def value(element: ET.Element, path: str) -> str:
    return element.findtext(path) or ""


def named(tag: str, element: ET.Element) -> ET.Element:
    """The same content under another name."""
    renamed = copy.deepcopy(element)
    renamed.tag = tag
    return renamed


def filled(element: ET.Element, usual: ET.Element) -> ET.Element:
    """With everything that `usual` has and it lacks, in the order of `usual`. Lists stay as they are."""
    if len(usual) == 0 or usual.tag == "Items":
        return copy.deepcopy(element)
    kept = {child.tag: child for child in element}
    whole = [
        filled(kept[child.tag], child) if child.tag in kept else copy.deepcopy(child)
        for child in usual
    ]
    known = {child.tag for child in usual}
    return new(
        element.tag, *whole, *(copy.deepcopy(child) for child in element if child.tag not in known)
    )


def answer(root: ET.Element, status: int = 200, headers: Headers = ()) -> Response:
    shown = copy.deepcopy(root)
    shown.set("xmlns", XMLNS)
    body = b'<?xml version="1.0"?>\n' + ET.tostring(shown)
    return Response(
        status,
        (("Content-Type", "text/xml"), ("x-amzn-RequestId", str(uuid.uuid4())), *headers),
        body,
    )


def page(root: str, found: Iterable[tuple[str, ET.Element]], asked: dict[str, str]) -> Response:
    """A list of CloudFront's: what comes after the marker, and no more than was asked for."""
    most = asked.get("MaxItems", "100")
    if not most.isdigit() or not 1 <= int(most) <= 100:
        raise Refusal(400, "InvalidArgument", "The parameter MaxItems is invalid.")
    marker = asked.get("Marker", "")
    left = [
        (key, element) for key, element in sorted(found, key=lambda one: one[0]) if key > marker
    ]
    shown = left[: int(most)]
    more = len(left) > len(shown)
    head = [
        ("Marker", marker),
        *([("NextMarker", shown[-1][0])] if more else []),
        ("MaxItems", most),
        ("IsTruncated", str(more).lower()),
    ]
    items = [new("Items", *(element for _, element in shown))] if shown else []
    return answer(new(root, *head, ("Quantity", str(len(shown))), *items))
