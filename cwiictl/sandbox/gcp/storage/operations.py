"""What may be asked of Cloud Storage, and the permission that it takes."""

from __future__ import annotations

from dataclasses import dataclass

from cwiictl.sandbox.exchange import Request

from .address import Address
from .answers import Refusal


@dataclass(frozen=True)
class Operation:
    name: str
    permission: str = ""
    mutating: bool = False


_TABLE = {
    ("buckets", "GET"): Operation("storage.buckets.list", "storage.buckets.list"),
    ("buckets", "POST"): Operation(
        "storage.buckets.create", "storage.buckets.create", mutating=True
    ),
    ("bucket", "GET"): Operation("storage.buckets.get", "storage.buckets.get"),
    ("bucket", "PATCH"): Operation(
        "storage.buckets.update", "storage.buckets.update", mutating=True
    ),
    ("bucket", "PUT"): Operation("storage.buckets.update", "storage.buckets.update", mutating=True),
    ("bucket", "DELETE"): Operation(
        "storage.buckets.delete", "storage.buckets.delete", mutating=True
    ),
    ("iam", "GET"): Operation("storage.buckets.getIamPolicy", "storage.buckets.getIamPolicy"),
    ("iam", "PUT"): Operation(
        "storage.buckets.setIamPolicy", "storage.buckets.setIamPolicy", mutating=True
    ),
    ("permissions", "GET"): Operation("storage.buckets.testIamPermissions"),
    ("objects", "GET"): Operation("storage.objects.list", "storage.objects.list"),
    ("objects", "POST"): Operation(
        "storage.objects.create", "storage.objects.create", mutating=True
    ),
    ("objects", "PUT"): Operation(
        "storage.objects.create", "storage.objects.create", mutating=True
    ),  # the rest of a resumable upload
    ("object", "GET"): Operation("storage.objects.get", "storage.objects.get"),
    ("object", "PATCH"): Operation(
        "storage.objects.update", "storage.objects.update", mutating=True
    ),
    ("object", "PUT"): Operation("storage.objects.update", "storage.objects.update", mutating=True),
    ("object", "DELETE"): Operation(
        "storage.objects.delete", "storage.objects.delete", mutating=True
    ),
}
UNKNOWN = Operation("storage.unknown")


def find(request: Request, address: Address) -> Operation:
    method = "GET" if request.method == "HEAD" else request.method
    if address.way == "xml":
        return (
            _TABLE[("object", "GET")] if address.level == "object" and method == "GET" else UNKNOWN
        )
    if (
        address.way == "upload"
        and request.asked.get("uploadType") == "resumable"
        and method == "POST"
        and address.level == "objects"
    ):
        return Operation(
            "storage.objects.create", "storage.objects.create"
        )  # nothing is there before the content has come
    return _TABLE.get((address.level, method), UNKNOWN)


def known(request: Request, address: Address) -> Operation:
    found = find(request, address)
    if found is UNKNOWN:
        raise Refusal(
            404, "notFound", "Not Found: the sandbox does not have this part of Cloud Storage."
        )
    return found
