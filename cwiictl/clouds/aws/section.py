"""What a workload may ask of AWS in cluster.yaml: the keys of its section, with what editors say of them."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

import msgspec
from msgspec import UNSET, Meta, UnsetType

from cwiictl.clouds.aws import policy
from cwiictl.clouds.aws.spec import POLICY_ARN, Ask
from cwiictl.clouds.spec import Wish
from cwiictl.documents import Document
from cwiictl.errors import BadInput
from cwiictl.shapes import Strict, told

Words: TypeAlias = str | list[str]


WISHES = (
    Wish("--managed-policy-arn", "managedPolicyArns", "IAM policy to attach to the role. Repeatable.", "ARN"),
    Wish("--policy-file", "policy", "IAM policy document of what the role may do.", "FILE", file=True),
)


class Statement(msgspec.Struct, rename="pascal", forbid_unknown_fields=True, kw_only=True):
    effect: Annotated[Literal["Allow", "Deny"], Meta(description="Whether it may.")]
    sid: Annotated[str, Meta(description="A name for people.")] | UnsetType = UNSET
    action: Annotated[Words, Meta(description="What it may do, such as s3:GetObject.")] | UnsetType = UNSET
    not_action: Annotated[Words, Meta(description="All but these actions.")] | UnsetType = UNSET
    resource: Annotated[Words, Meta(description="With what: ARNs, or *.")] | UnsetType = UNSET
    not_resource: Annotated[Words, Meta(description="With all but these.")] | UnsetType = UNSET
    condition: Annotated[dict[str, dict[str, Any]], Meta(description="Only when: operators, keys and values.")] | UnsetType = UNSET


class Policy(msgspec.Struct, rename="pascal", forbid_unknown_fields=True, kw_only=True):
    version: Annotated[Literal["2012-10-17", "2008-10-17"], Meta(description="The version of IAM's policy language.")] = "2012-10-17"
    id: Annotated[str, Meta(description="A name for people.")] | UnsetType = UNSET
    statement: Annotated[list[Statement] | Statement, Meta(description="What is allowed and denied.")]


class Section(Strict):
    managed_policy_arns: Annotated[list[str], Meta(description="IAM policies to attach to the role.", extra_json_schema={"uniqueItems": True})] = msgspec.field(
        default_factory=list[str]
    )
    policy: Annotated[Policy, Meta(description="What the role may do, as an IAM policy document.")] | UnsetType = UNSET
    max_session_duration: (
        Annotated[int, Meta(description="How long its credentials may last, in seconds.  [default: the cloud's]", ge=3600, le=43200)] | UnsetType
    ) = UNSET


def ask_of(section: Document) -> Ask:
    """What a workload of cluster.yaml, or of create-identity, asks of AWS."""
    asked = told(section, Section)
    grants = None if isinstance(asked.policy, UnsetType) else policy.read(msgspec.to_builtins(asked.policy))
    if grants is None and not asked.managed_policy_arns:
        raise BadInput(
            f"{section.source}: it asks AWS for nothing",
            remedy="give it managedPolicyArns or a policy; to create-identity, --managed-policy-arn or --policy-file",
        )
    for arn in asked.managed_policy_arns:
        if not POLICY_ARN.fullmatch(arn):
            raise BadInput(f"{section.where('managedPolicyArns')}: {arn} is not the ARN of an IAM policy", remedy="write it like arn:aws:iam::aws:policy/NAME")
    session = asked.max_session_duration
    return Ask(grants, frozenset(asked.managed_policy_arns), 0 if isinstance(session, UnsetType) else session)
