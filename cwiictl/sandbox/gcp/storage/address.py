"""Where a request goes: a bucket or an object, by the JSON API's paths or by plain addresses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal
from urllib.parse import unquote

from cwiictl.sandbox.exchange import Request

HOST = "storage.googleapis.com"
_JSON = {
    "/storage/v1": "",
    "/upload/storage/v1": "upload",
    "/resumable/upload/storage/v1": "upload",
    "/download/storage/v1": "download",
}
Level = Literal["buckets", "bucket", "iam", "permissions", "objects", "object", "nothing"]

_PARTS: dict[str, Level] = {
    "": "bucket",
    "iam": "iam",
    "iam/testPermissions": "permissions",
    "o": "objects",
}


@dataclass(frozen=True)
class Address:
    level: Level
    bucket: str = ""
    object: str = ""
    way: Literal["", "upload", "download", "xml"] = ""

    @property
    def resource(self) -> str:
        """As IAM names it."""
        return f"projects/_/buckets/{self.bucket}" + (
            f"/objects/{self.object}" if self.object else ""
        )


def read(request: Request) -> Address:
    for prefix, way in _JSON.items():
        if request.path == prefix or request.path.startswith(f"{prefix}/"):
            return _json(request.path.removeprefix(prefix).strip("/"), way)  # pyright: ignore[reportArgumentType] - of the table above
    return _plain(request)


def _json(path: str, way: Literal["", "upload", "download"]) -> Address:
    """Each part is encoded by itself: an object's slashes are %2F."""
    match [unquote(part) for part in path.split("/")]:
        case ["b"]:
            return Address("buckets", way=way)
        case ["b", bucket, *rest] if "/".join(rest) in _PARTS:
            return Address(_PARTS["/".join(rest)], bucket, way=way)
        case ["b", bucket, "o", *rest]:
            return Address("object", bucket, "/".join(rest), way)
        case _:
            return Address("nothing", way=way)


def _plain(request: Request) -> Address:
    """https://storage.googleapis.com/BUCKET/OBJECT, or https://BUCKET.storage.googleapis.com/OBJECT."""
    path = unquote(request.path.lstrip("/"))
    inside = request.host.lower().removesuffix(HOST).rstrip(".")
    bucket, _, name = (inside, "", path) if inside else path.partition("/")
    return Address("object" if name else "bucket" if bucket else "buckets", bucket, name, "xml")
