"""Buckets and objects, as JSON shows them."""

from __future__ import annotations

import base64
from urllib.parse import quote

from cwiictl.sandbox.gcp.world import Blob, Bucket, World

from .answers import moment
from .digests import crc32c, md5

_API = "https://www.googleapis.com/storage/v1/b"
_REGIONS = {"US", "EU", "ASIA"}


def bucket(world: World, one: Bucket) -> dict[str, object]:
    project = world.project(one.project)
    created = moment(one.created)
    uniform: dict[str, object] = {
        "enabled": one.uniform,
        **({"lockedTime": moment(one.created + 90 * 86400)} if one.uniform else {}),
    }
    return {
        "kind": "storage#bucket",
        "selfLink": f"{_API}/{one.name}",
        "id": one.name,
        "name": one.name,
        "projectNumber": project.number if project else "0",
        "generation": str(int(one.created * 1_000_000)),
        "metageneration": str(one.metageneration),
        "location": one.location,
        "locationType": "multi-region" if one.location in _REGIONS else "region",
        "storageClass": "STANDARD",
        "etag": etag(one.metageneration),
        "timeCreated": created,
        "updated": created,
        **({"labels": dict(one.labels)} if one.labels else {}),
        "softDeletePolicy": {"retentionDurationSeconds": "604800", "effectiveTime": created},
        "iamConfiguration": {
            "bucketPolicyOnly": uniform,
            "uniformBucketLevelAccess": uniform,
            "publicAccessPrevention": one.prevention,
        },
    }


def blob(where: Bucket, one: Blob) -> dict[str, object]:
    path = f"{where.name}/o/{quote(one.name, safe='')}"
    created = moment(one.created)
    return {
        "kind": "storage#object",
        "id": f"{where.name}/{one.name}/{one.generation}",
        "selfLink": f"{_API}/{path}",
        "mediaLink": f"https://storage.googleapis.com/download/storage/v1/b/{path}?generation={one.generation}&alt=media",
        "name": one.name,
        "bucket": where.name,
        "generation": str(one.generation),
        "metageneration": str(one.metageneration),
        **({"contentType": one.content_type} if one.content_type else {}),
        **({"cacheControl": one.cache_control} if one.cache_control else {}),
        **({"metadata": dict(one.metadata)} if one.metadata else {}),
        "storageClass": "STANDARD",
        "size": str(len(one.body)),
        "md5Hash": md5(one.body),
        "crc32c": crc32c(one.body),
        "etag": etag(one.generation, one.metageneration),
        "timeCreated": created,
        "updated": created,
        "timeStorageClassUpdated": created,
        "timeFinalized": created,
    }


def etag(*numbers: int) -> str:
    return base64.b64encode(
        b"".join(
            b"\x08" + number.to_bytes((number.bit_length() + 7) // 8 or 1, "big")
            for number in numbers
        )
    ).decode()
