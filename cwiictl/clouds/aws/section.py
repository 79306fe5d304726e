"""What a workload may ask of AWS in cluster.yaml: the keys of its section, with what editors say of them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Annotated, Any, Literal, TypeAlias

import msgspec
from msgspec import UNSET, Meta, UnsetType

from cwiictl.clouds.aws import policy
from cwiictl.clouds.aws.spec import POLICY_ARN, Ask, Machines
from cwiictl.clouds.spec import Wish
from cwiictl.documents import Document
from cwiictl.errors import BadInput
from cwiictl.shapes import Strict, told

Words: TypeAlias = str | list[str]
ROLE, PROFILE = (
    re.compile(r"[\w+=,.@-]{1,64}", re.ASCII),
    re.compile(r"[\w+=,.@-]{1,128}", re.ASCII),
)

WISHES = (
    Wish(
        "--managed-policy-arn",
        "managedPolicyArns",
        "IAM policy to attach to the role. Repeatable.",
        "ARN",
    ),
    Wish(
        "--policy-file", "policy", "IAM policy document of what the role may do.", "FILE", file=True
    ),
)


class Statement(msgspec.Struct, rename="pascal", forbid_unknown_fields=True, kw_only=True):
    effect: Annotated[Literal["Allow", "Deny"], Meta(description="Whether it may.")]
    sid: Annotated[str, Meta(description="A name for people.")] | UnsetType = UNSET
    action: (
        Annotated[Words, Meta(description="What it may do, such as s3:GetObject.")] | UnsetType
    ) = UNSET
    not_action: Annotated[Words, Meta(description="All but these actions.")] | UnsetType = UNSET
    resource: Annotated[Words, Meta(description="With what: ARNs, or *.")] | UnsetType = UNSET
    not_resource: Annotated[Words, Meta(description="With all but these.")] | UnsetType = UNSET
    condition: (
        Annotated[
            dict[str, dict[str, Any]], Meta(description="Only when: operators, keys and values.")
        ]
        | UnsetType
    ) = UNSET


class Policy(msgspec.Struct, rename="pascal", forbid_unknown_fields=True, kw_only=True):
    version: Annotated[
        Literal["2012-10-17", "2008-10-17"],
        Meta(description="The version of IAM's policy language."),
    ] = "2012-10-17"
    id: Annotated[str, Meta(description="A name for people.")] | UnsetType = UNSET
    statement: Annotated[
        list[Statement] | Statement, Meta(description="What is allowed and denied.")
    ]


class Power(Strict):
    """What a role may do."""

    managed_policy_arns: Annotated[
        list[str],
        Meta(
            description="IAM policies to attach to the role.",
            extra_json_schema={"uniqueItems": True},
        ),
    ] = msgspec.field(default_factory=list[str])
    policy: (
        Annotated[Policy, Meta(description="What the role may do, as an IAM policy document.")]
        | UnsetType
    ) = UNSET


class InstanceProfile(Power, kw_only=True):
    name: Annotated[
        str,
        Meta(
            description="The name of the instance profile, which begins with the cluster's.",
            min_length=1,
        ),
    ]
    role_name: Annotated[
        str,
        Meta(
            description="The name of the role in it, which begins with the cluster's.", min_length=1
        ),
    ]


class Section(Power, kw_only=True):
    role_name: (
        Annotated[
            str,
            Meta(
                description="The name of the role, which begins with the cluster's.  [default: made of cluster, namespace and name]",
                min_length=1,
            ),
        ]
        | UnsetType
    ) = UNSET
    instance_profile: (
        Annotated[
            InstanceProfile,
            Meta(description="What machines that it starts run as: EC2 gives them the role in it."),
        ]
        | UnsetType
    ) = UNSET
    max_session_duration: (
        Annotated[
            int,
            Meta(
                description="How long its credentials may last, in seconds.  [default: the cloud's]",
                ge=3600,
                le=43200,
            ),
        ]
        | UnsetType
    ) = UNSET


def ask_of(section: Document) -> Ask:
    """What a workload of cluster.yaml, or of create-identity, asks of AWS."""
    asked = told(section, Section)
    grants = _grants(section, asked)
    role = "" if isinstance(asked.role_name, UnsetType) else asked.role_name
    _check_name(section.where("roleName"), role, ROLE, "a role")
    machines = (
        None
        if isinstance(asked.instance_profile, UnsetType)
        else _machines(section.below("instanceProfile"), asked.instance_profile)
    )
    session = 0 if isinstance(asked.max_session_duration, UnsetType) else asked.max_session_duration
    return Ask(grants, frozenset(asked.managed_policy_arns), session, role, machines)


def _machines(section: Document, asked: InstanceProfile) -> Machines:
    grants = _grants(section, asked)
    _check_name(section.where("name"), asked.name, PROFILE, "an instance profile")
    _check_name(section.where("roleName"), asked.role_name, ROLE, "a role")
    return Machines(asked.name, asked.role_name, grants, frozenset(asked.managed_policy_arns))


def _grants(section: Document, asked: Power) -> policy.Policy | None:
    if isinstance(asked.policy, UnsetType) and not asked.managed_policy_arns:
        raise BadInput(
            f"{section.source}: it asks AWS for nothing",
            remedy="give it managedPolicyArns or a policy; to create-identity, --managed-policy-arn or --policy-file",
        )
    _check_arns(section, asked.managed_policy_arns)
    return (
        None
        if isinstance(asked.policy, UnsetType)
        else policy.read(msgspec.to_builtins(asked.policy))
    )


def _check_arns(section: Document, arns: Iterable[str]) -> None:
    for arn in arns:
        if not POLICY_ARN.fullmatch(arn):
            raise BadInput(
                f"{section.where('managedPolicyArns')}: {arn} is not the ARN of an IAM policy",
                remedy="write it like arn:aws:iam::aws:policy/NAME",
            )


def _check_name(where: str, name: str, pattern: re.Pattern[str], what: str) -> None:
    if name and not pattern.fullmatch(name):
        most = 64 if pattern is ROLE else 128
        raise BadInput(
            f"{where}: {name} is no name of {what}",
            remedy=f"use at most {most} letters, digits and characters of +=,.@_-",
        )
