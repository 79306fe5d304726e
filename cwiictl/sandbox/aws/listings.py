"""IAM's long lists: the roles, and all that may do anything in an account. Each lacks what the other has, and neither is ever whole."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import TypeVar
from urllib.parse import quote

from .answers import Tree
from .limits import Form, invalid
from .things import Policy, Role

T = TypeVar("T")


def page(form: Form, found: Iterable[tuple[str, T]]) -> tuple[list[T], Tree]:
    """What comes after the marker, and what IAM says of the rest."""
    most = form.get("MaxItems", "100")
    if not most.isdigit() or not 1 <= int(most) <= 1000:
        raise invalid(most, "maxItems", "Member must have value between 1 and 1000")
    after = _opened(form["Marker"]) if form.get("Marker") else ""
    left = sorted((one for one in found if one[0] > after), key=lambda one: one[0])
    shown = left[: int(most)]
    rest: Tree = {"IsTruncated": "false"}
    if len(left) > len(shown):
        rest = {"IsTruncated": "true", "Marker": base64.b64encode(shown[-1][0].encode()).decode()}
    return [one for _, one in shown], rest


def _opened(marker: str) -> str:
    try:
        return base64.b64decode(marker, validate=True).decode()
    except (binascii.Error, UnicodeDecodeError) as error:
        raise invalid(marker, "marker", "Invalid Marker.") from error


def roles(form: Form, found: Iterable[Role]) -> Tree:
    """Without tags, policies and boundary."""
    prefix = form.get("PathPrefix", "/")
    shown, rest = page(
        form, ((f"{role.path}{role.name}", role) for role in found if role.path.startswith(prefix))
    )
    return {"Roles": [_listed(role) for role in shown], **rest}


def authorization(form: Form, found: Iterable[Role], policies: Mapping[str, Policy]) -> Tree:
    """Without the description and the duration of sessions. AWS's own policies are in it as far as they are attached."""
    wanted = {text for key, text in form.items() if key.startswith("Filter.member.")} or {
        "Role",
        "LocalManagedPolicy",
        "AWSManagedPolicy",
    }
    members: list[tuple[str, tuple[str, Tree]]] = []
    if "Role" in wanted:
        members += [
            (f"1{role.path}{role.name}", ("RoleDetailList", _detailed(role))) for role in found
        ]
    for arn, policy in policies.items():
        kind = "AWSManagedPolicy" if ":iam::aws:" in arn else "LocalManagedPolicy"
        if kind in wanted and (kind == "LocalManagedPolicy" or policy.attachment_count):
            members.append((f"2{arn}", ("Policies", _policy(policy))))
    shown, rest = page(form, members)
    lists = ("UserDetailList", "GroupDetailList", "RoleDetailList", "Policies")
    return {**{name: [tree for kind, tree in shown if kind == name] for name in lists}, **rest}


def _named(role: Role) -> Tree:
    own = {
        "Path": role.path,
        "RoleName": role.name,
        "RoleId": role.id,
        "Arn": role.arn,
        "CreateDate": _time(role.create_date),
    }
    return {**own, "AssumeRolePolicyDocument": quote(role.assume_role_policy_document)}


def _listed(role: Role) -> Tree:
    described: Tree = {"Description": role.description} if role.description else {}
    return {
        **_named(role),
        **described,
        "MaxSessionDuration": str(role.max_session_duration or 3600),
    }


def _detailed(role: Role) -> Tree:
    boundary = role.permissions_boundary_arn
    limited: Tree = (
        {
            "PermissionsBoundary": {
                "PermissionsBoundaryType": "Policy",
                "PermissionsBoundaryArn": boundary,
            }
        }
        if boundary
        else {}
    )
    return {
        **_named(role),
        "InstanceProfileList": [],
        "RolePolicyList": [
            {"PolicyName": name, "PolicyDocument": quote(document)}
            for name, document in role.policies.items()
        ],
        "AttachedManagedPolicies": [
            {"PolicyName": policy.name, "PolicyArn": policy.arn}
            for policy in role.managed_policies.values()
        ],
        **limited,
        "Tags": [{"Key": tag["Key"], "Value": tag["Value"]} for tag in role.tags],
        "RoleLastUsed": {},
    }


def _policy(policy: Policy) -> Tree:
    versions: list[Tree] = [
        {
            "Document": quote(one.document),
            "VersionId": one.version_id,
            "IsDefaultVersion": str(one.is_default).lower(),
            "CreateDate": _time(one.create_date),
        }
        for one in policy.versions
    ]
    return {
        "PolicyName": policy.name,
        "PolicyId": policy.id,
        "Arn": policy.arn,
        "Path": policy.path,
        "DefaultVersionId": policy.default_version_id,
        "AttachmentCount": str(policy.attachment_count),
        "PermissionsBoundaryUsageCount": "0",
        "IsAttachable": "true",
        "CreateDate": _time(policy.create_date),
        "UpdateDate": _time(policy.update_date),
        "PolicyVersionList": versions,
    }


def _time(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
