"""What a CreateBucket asks for, and which ones S3 does not take."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from dataclasses import dataclass

from .answers import Refusal

_NAME = re.compile(r"(?!xn--)(?!\d+\.\d+\.\d+\.\d+$)[a-z0-9](?:[a-z0-9-]|\.(?!\.)){1,61}[a-z0-9]")


@dataclass(frozen=True)
class Wish:
    location: str = ""
    tagging: bytes = b""  # as a body of PutBucketTagging


def taken() -> Refusal:
    sentence = "The bucket namespace is shared by all users of the system. Please select a different name and try again."
    return Refusal(
        409, "BucketAlreadyExists", f"The requested bucket name is not available. {sentence}"
    )


def wanted(bucket: str, body: bytes) -> Wish:
    if not _NAME.fullmatch(bucket):
        raise Refusal(
            400, "InvalidBucketName", "The specified bucket is not valid.", BucketName=bucket
        )
    if not body.strip():
        return Wish()
    try:
        root = ET.fromstring(body)  # noqa: S314 - from our own client, and bounded
    except ET.ParseError as error:
        raise Refusal(
            400,
            "MalformedXML",
            "The XML you provided was not well-formed or did not validate against our published schema",
        ) from error
    location = next(
        (one.text or "" for one in root.iter() if _plain(one) == "LocationConstraint"), ""
    )
    tags = next((one for one in root.iter() if _plain(one) == "Tags"), None)
    return Wish(location, _tagging(tags) if tags is not None else b"")


def _tagging(tags: ET.Element) -> bytes:
    root = ET.Element("Tagging", xmlns="http://s3.amazonaws.com/doc/2006-03-01/")
    members = ET.SubElement(root, "TagSet")
    for found in tags:
        member = ET.SubElement(members, "Tag")
        for field in found:
            ET.SubElement(member, _plain(field)).text = field.text
    return ET.tostring(root)


def _plain(element: ET.Element) -> str:
    return element.tag.rpartition("}")[2]
