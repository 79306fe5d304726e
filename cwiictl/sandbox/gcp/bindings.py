"""The bindings of a policy that somebody wants to write, and what Google does not take for one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, cast

from . import roles
from .answers import Refusal, failed, invalid
from .world import Binding, Project, World

EVERYBODY = frozenset({"allUsers", "allAuthenticatedUsers"})
_MOST = 1500
_BASIC = frozenset({"roles/owner", "roles/editor", "roles/viewer"})
_KINDS = (
    "user",
    "group",
    "domain",
    "serviceAccount",
    "projectOwner",
    "projectEditor",
    "projectViewer",
    "deleted",
)
_POOL = re.compile(
    r"principal(?:Set)?://iam\.googleapis\.com/projects/(\d+)/locations/global/workloadIdentityPools/([^/]+)/(?:subject/.+|group/.+|attribute\.[^/]+/.+|\*)"
)
_OURS = re.compile(r"[^@]+@([a-z][a-z0-9-]+)\.iam\.gserviceaccount\.com")
_AGENTS = re.compile(
    r"gcp-sa-.*|gs-project-accounts|.*-robot|.*robot-.*|cloudservices|dlp-api|serverless-.*|compute-system|container-.*"
)


def read(asked: object) -> tuple[Binding, ...]:
    """Those of the same role and condition are one; without members they are none."""
    found: dict[tuple[str, Any], set[str]] = {}
    for one in _list(asked):
        if not isinstance(one, dict):
            raise invalid("Invalid value at 'policy.bindings'.")
        own = cast("dict[str, Any]", one)
        members = {_member(each) for each in _list(own.get("members", ()))}
        found.setdefault(
            (str(own.get("role") or ""), _condition(own.get("condition"))), set()
        ).update(members)
    return tuple(
        Binding(role, frozenset(members), condition)
        for (role, condition), members in found.items()
        if members
    )


def check(
    world: World, new: Iterable[Binding], old: Iterable[Binding], where: Project, *, public: bool
) -> None:
    """What stands in the policy already may stay, but for service accounts that are not there."""
    known = {(one.role, one.condition) for one in old}
    members = {member for one in new for member in one.members}
    if sum(len(one.members) for one in new) > _MOST:
        raise invalid(
            f"The number of members in the policy ({sum(len(one.members) for one in new):,}) is larger than the maximum allowed size {_MOST:,}."
        )
    for one in new:
        if one.condition and one.role in _BASIC:
            raise invalid("Conditions can't be set on primitive roles")
        if (one.role, one.condition) not in known:
            _check_role(world, one.role, where)
    for member in sorted(members):
        _check_member(world, member, where, public=public)


def _check_role(world: World, role: str, where: Project) -> None:
    if not role or "_withcond_" in role:
        raise invalid(f"Role {role} is not supported for this resource.")
    if role.startswith("roles/"):
        if role not in roles.PREDEFINED:
            raise invalid(f"Role {role} is not supported for this resource.")
        return
    project, _, name = role.removeprefix("projects/").partition("/roles/")
    found = world.roles.get((project, name))
    if found is None or project != where.id or found.born + world.lag() > world.clock():
        raise invalid(f"Role ({role}) does not exist in the resource's hierarchy.")
    if found.deleted is not None:
        raise failed(f"The role ({role}) is marked for deletion and cannot be granted.")


def _check_member(world: World, member: str, where: Project, *, public: bool) -> None:
    if member in EVERYBODY:
        if not public:
            raise invalid(f"Member {member} is not supported for this resource.")
        if where.domains_only:
            raise Refusal(
                400,
                "FAILED_PRECONDITION",
                "One or more users named in the policy do not belong to a permitted customer.",
            )
    elif member.startswith("serviceAccount:"):
        _check_account(world, member.removeprefix("serviceAccount:"))
    elif member.startswith(("principal://", "principalSet://")):
        _check_pool(world, member)


def _check_account(world: World, email: str) -> None:
    found = world.accounts.get(email)
    if found is not None and found.born + world.lag() <= world.clock():
        return
    ours = _OURS.fullmatch(email)
    agent = ours is not None and ours[1] not in world.projects and _AGENTS.fullmatch(ours[1])
    if not agent and not email.endswith(
        ("@developer.gserviceaccount.com", "@cloudservices.gserviceaccount.com", ".svc.id.goog]")
    ):
        raise invalid(f"Service account {email} does not exist.")


def _check_pool(world: World, member: str) -> None:
    found = _POOL.fullmatch(member)
    if found is None:
        raise invalid(f"Invalid principal identifier: {member}")
    project = world.project(found[1])
    if project is None or (project.id, found[2]) not in world.pools:
        pool = f"projects/{found[1]}/locations/global/workloadIdentityPools/{found[2]}"
        words = "Please check that you specified a valid resource name as returned in the `name` attribute in the configuration API."
        raise invalid(f"Identity Pool does not exist ({pool}). {words}")


def _member(one: object) -> str:
    text = str(one)
    kind, colon, rest = text.partition(":")
    if text in EVERYBODY or text.startswith(
        ("principal://", "principalSet://", "deleted:principal://", "deleted:principalSet://")
    ):
        return text
    if kind not in _KINDS or not colon or not rest:
        raise invalid('Policy members must be of the form "<type>:<value>".')
    return (
        f"{kind}:{rest.lower()}" if kind in {"user", "group", "domain", "serviceAccount"} else text
    )


def _condition(asked: object) -> tuple[str, str, str] | None:
    if not isinstance(asked, Mapping) or not asked:
        return None
    own = cast("Mapping[str, Any]", asked)
    title, expression = str(own.get("title") or ""), str(own.get("expression") or "")
    if not title or len(title) > 100 or not expression:
        raise invalid("Condition must have a title of up to 100 characters, and an expression.")
    return title, str(own.get("description") or ""), expression


def _list(asked: object) -> list[object]:
    if not isinstance(asked, list | tuple):
        raise invalid("Invalid value at 'policy.bindings'.")
    return list(cast("list[object]", asked))
