"""A bucket of Cloud Storage, and what is put into it."""

from __future__ import annotations

from typing import Any

from tests.cwiictl.sandbox.gcp.owner import BUCKET, ISSUER, Owner

READER = "roles/storage.objectViewer"
KEYS = f"{ISSUER}/keys.json"


def bucket(owner: Owner, name: str = BUCKET, *, uniform: bool = True) -> Any:
    made = owner.storage.bucket(name)
    made.iam_configuration.uniform_bucket_level_access_enabled = uniform
    made.create(location="EU")
    return made


def let(
    where: Any, role: str, member: str = "allUsers", condition: dict[str, str] | None = None
) -> None:
    policy = where.get_iam_policy(requested_policy_version=3)
    policy.version = 3
    policy.bindings.append(
        {"role": role, "members": {member}, **({"condition": condition} if condition else {})}
    )
    where.set_iam_policy(policy)


def put(
    where: Any, name: str = "keys.json", body: bytes | str = b'{"keys":[]}', **conditions: Any
) -> Any:
    blob = where.blob(name)
    blob.upload_from_string(body, "application/json", **conditions)
    return blob
