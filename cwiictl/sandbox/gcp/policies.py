"""Policies: who reads one sees what was written, who acts by one what is older than the lag."""

from __future__ import annotations

import base64
import hashlib
import itertools
from collections.abc import Iterable, Mapping
from typing import Any

from . import bindings
from .answers import Refusal, invalid
from .world import Binding, Policy, Project, World

_VERSIONS = (
    "For more information, please refer to https://cloud.google.com/iam/docs/policies#versions."
)
_writes = itertools.count(1)


def effective(world: World, policy: Policy) -> tuple[Binding, ...]:
    """What is acted by: the newest that is older than the lag, or else the oldest that is known."""
    if policy.written + world.lag() <= world.clock():
        return policy.bindings
    old = [one for written, one in policy.past if written + world.lag() <= world.clock()]
    return old[-1] if old else policy.past[0][1] if policy.past else ()


def shown(policy: Policy, version: int = 1) -> dict[str, Any]:
    """As JSON. Who does not ask for version 3 does not see conditions, but roles of strange names."""
    conditional = any(one.condition for one in policy.bindings)
    told: dict[str, Any] = {
        "version": 3 if conditional and version >= 3 else 1,
        "etag": policy.etag,
    }
    if policy.bindings:
        told["bindings"] = [_binding(one, version) for one in policy.bindings]
    return told if policy.bindings or policy.past else {"etag": policy.etag}


def requested(version: object) -> int:
    """The version that is asked for, by whatever name."""
    text = str(version or 0)
    if text not in {"0", "1", "3"}:
        raise invalid(f"Requested policy version ({text}) is not supported. {_VERSIONS}")
    return int(text)


def replace(
    world: World, policy: Policy, asked: Mapping[str, Any], where: Project, *, public: bool = True
) -> None:
    """`asked` is the policy in JSON, as it was sent. `public` is whether the thing can be everybody's: a project cannot."""
    _check_etag(policy, asked)
    new = bindings.read(asked.get("bindings", ()))
    _check_version(policy, asked, new)
    bindings.check(world, new, policy.bindings, where, public=public)
    write(world, policy, new)


def write(world: World, policy: Policy, new: Iterable[Binding]) -> None:
    now, history = world.clock(), [*policy.past, (policy.written, policy.bindings)]
    acted = [place for place, (written, _) in enumerate(history) if written + world.lag() <= now]
    policy.past = history[acted[-1] if acted else 0 :]
    policy.bindings = tuple(sorted(new, key=lambda one: (one.role, one.condition or ("", "", ""))))
    policy.written = now
    policy.etag = base64.b64encode(b"\x07\x06" + next(_writes).to_bytes(6, "big")).decode()


def forget(world: World, email: str, unique_id: str) -> None:
    """A service account is deleted: wherever a policy names it, it names a ghost from now on."""
    gone, ghost = f"serviceAccount:{email}", f"deleted:serviceAccount:{email}?uid={unique_id}"
    for policy in _every(world):
        if any(gone in one.members for one in policy.bindings):
            write(world, policy, [_renamed(one, gone, ghost) for one in policy.bindings])
        policy.past = [
            (written, tuple(_renamed(one, gone, ghost) for one in past))
            for written, past in policy.past
        ]


def strip(world: World, role: str) -> None:
    """A role is gone for good, and its bindings with it."""
    for policy in _every(world):
        if any(one.role == role for one in policy.bindings):
            write(world, policy, [one for one in policy.bindings if one.role != role])


def revive(world: World, email: str, unique_id: str) -> None:
    """It is undeleted: its members are itself again."""
    gone, ghost = f"serviceAccount:{email}", f"deleted:serviceAccount:{email}?uid={unique_id}"
    for policy in _every(world):
        if any(ghost in one.members for one in policy.bindings):
            write(world, policy, [_renamed(one, ghost, gone) for one in policy.bindings])


def _every(world: World) -> list[Policy]:
    return [
        one.policy
        for one in (*world.projects.values(), *world.accounts.values(), *world.buckets.values())
    ]


def _renamed(one: Binding, old: str, new: str) -> Binding:
    return Binding(
        one.role,
        frozenset(new if member == old else member for member in one.members),
        one.condition,
    )


def _check_etag(policy: Policy, asked: Mapping[str, Any]) -> None:
    etag = str(asked.get("etag") or "").replace("-", "+").replace("_", "/")
    if etag and etag != policy.etag:
        words = (
            "There were concurrent policy changes. Please retry the whole read-modify-write with exponential backoff. The request's ETag"
            f" '{etag}' did not match the current policy's ETag '{policy.etag}'."
        )
        raise Refusal(409, "ABORTED", words)


def _check_version(policy: Policy, asked: Mapping[str, Any], new: Iterable[Binding]) -> None:
    """Whoever writes without an etag overwrites blindly; else nobody loses conditions that they have never seen."""
    version = int(asked.get("version") or 0)
    if version not in {0, 1, 3}:
        raise invalid(f"Specified policy version ({version}) is not supported. {_VERSIONS}")
    if version < 3 and any(one.condition for one in new):
        raise invalid(
            f"Conditions can't be set on policies with version ({version}): version 3 is needed. {_VERSIONS}"
        )
    if version < 3 and asked.get("etag") and any(one.condition for one in policy.bindings):
        raise invalid(
            f"Specified policy version ({version}) cannot be less than the existing policy version (3). {_VERSIONS}"
        )


def _binding(one: Binding, version: int) -> dict[str, Any]:
    told: dict[str, Any] = {"role": one.role, "members": sorted(one.members)}
    if one.condition is None:
        return told
    if version < 3:
        mark = hashlib.sha256("\n".join(one.condition).encode()).hexdigest()[:20]
        return {**told, "role": f"{one.role}_withcond_{mark}"}
    title, description, expression = one.condition
    return {
        **told,
        "condition": {
            "title": title,
            **({"description": description} if description else {}),
            "expression": expression,
        },
    }
