"""What whoever runs cwiictl must be allowed to do in AWS, command by command, and no more."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from cwiictl import names
from cwiictl.clouds.aws import policy
from cwiictl.clouds.aws.partitions import partition
from cwiictl.clouds.aws.policy import Policy
from cwiictl.clouds.aws.spec import Spec
from cwiictl.model import Cluster

READ: Mapping[str, tuple[str, ...]] = {
    "bucket": (
        "s3:GetBucketPolicy",
        "s3:GetBucketPublicAccessBlock",
        "s3:GetBucketTagging",
        "s3:ListBucket",
    ),
    "object": ("s3:GetObject", "s3:GetObjectTagging"),
    "provider": ("iam:GetOpenIDConnectProvider", "iam:ListOpenIDConnectProviderTags"),
    "role": (
        "iam:GetRole",
        "iam:GetRolePolicy",
        "iam:ListAttachedRolePolicies",
        "iam:ListRolePolicies",
        "iam:ListRoleTags",
    ),
    "policy": ("iam:GetPolicy", "iam:GetPolicyVersion", "iam:ListPolicyTags"),
    "profile": ("iam:GetInstanceProfile",),
    "account": (
        "iam:GetAccountAuthorizationDetails",
        "iam:ListInstanceProfiles",
        "iam:ListOpenIDConnectProviders",
        "iam:ListPolicies",
        "iam:ListRoles",
    ),
    "front": (
        "cloudfront:ListCloudFrontOriginAccessIdentities",
        "cloudfront:ListDistributions",
        "cloudfront:ListOriginAccessControls",
        "cloudfront:ListTagsForResource",
    ),
}
WRITE: Mapping[str, tuple[str, ...]] = {
    "account": ("iam:SimulatePrincipalPolicy",),
    "bucket": (
        "s3:CreateBucket",
        "s3:PutBucketPolicy",
        "s3:PutBucketPublicAccessBlock",
        "s3:PutBucketTagging",
        "s3:TagResource",
    ),
    "object": ("s3:PutObject", "s3:PutObjectTagging"),
    "provider": (
        "iam:AddClientIDToOpenIDConnectProvider",
        "iam:CreateOpenIDConnectProvider",
        "iam:RemoveClientIDFromOpenIDConnectProvider",
        "iam:TagOpenIDConnectProvider",
    ),
    "role": (
        "iam:AttachRolePolicy",
        "iam:CreateRole",
        "iam:DeleteRolePolicy",
        "iam:DetachRolePolicy",
        "iam:PutRolePermissionsBoundary",
        "iam:PutRolePolicy",
        "iam:TagRole",
        "iam:UpdateAssumeRolePolicy",
        "iam:UpdateRole",
    ),
    "profile": (
        "iam:AddRoleToInstanceProfile",
        "iam:CreateInstanceProfile",
        "iam:RemoveRoleFromInstanceProfile",
        "iam:TagInstanceProfile",
    ),
    "passed": ("iam:PassRole",),
    "named": ("iam:GetPolicy",),
    "policy": (
        "iam:CreatePolicy",
        "iam:CreatePolicyVersion",
        "iam:DeletePolicyVersion",
        "iam:ListPolicyVersions",
        "iam:TagPolicy",
    ),
    "front": (
        "cloudfront:CreateDistribution",
        "cloudfront:CreateOriginAccessControl",
        "cloudfront:GetCloudFrontOriginAccessIdentityConfig",
        "cloudfront:GetDistributionConfig",
        "cloudfront:GetOriginAccessControl",
        "cloudfront:TagResource",
        "cloudfront:UpdateCloudFrontOriginAccessIdentity",
        "cloudfront:UpdateDistribution",
        "cloudfront:UpdateOriginAccessControl",
    ),
}
DROP: Mapping[str, tuple[str, ...]] = {
    "account": WRITE["account"],
    "bucket": ("s3:DeleteBucket", "s3:PutBucketTagging"),
    "object": ("s3:DeleteObject",),
    "provider": ("iam:DeleteOpenIDConnectProvider", "iam:UntagOpenIDConnectProvider"),
    "role": (
        "iam:DeleteRole",
        "iam:DeleteRolePolicy",
        "iam:DetachRolePolicy",
        "iam:ListInstanceProfilesForRole",
        "iam:UntagRole",
    ),
    "profile": (
        "iam:DeleteInstanceProfile",
        "iam:RemoveRoleFromInstanceProfile",
        "iam:UntagInstanceProfile",
    ),
    "policy": (
        "iam:DeletePolicy",
        "iam:DeletePolicyVersion",
        "iam:ListPolicyVersions",
        "iam:UntagPolicy",
    ),
    "front": (
        "cloudfront:DeleteCloudFrontOriginAccessIdentity",
        "cloudfront:DeleteDistribution",
        "cloudfront:DeleteOriginAccessControl",
        "cloudfront:GetCloudFrontOriginAccessIdentityConfig",
        "cloudfront:GetDistribution",
        "cloudfront:GetDistributionConfig",
        "cloudfront:GetOriginAccessControl",
        "cloudfront:UntagResource",
        "cloudfront:UpdateDistribution",
        "cloudfront:UpdateOriginAccessControl",
    ),
}
ROTATE: Mapping[str, tuple[str, ...]] = {"object": WRITE["object"]}

# To whom roles are passed: who may pass them to any service can act as them in it.
CONDITIONS: Mapping[str, Mapping[str, object]] = {
    "passed": {
        "StringEquals": {"iam:PassedToService": ["ec2.amazonaws.com", "ec2.amazonaws.com.cn"]}
    }
}

COMMANDS: Mapping[str, tuple[Mapping[str, tuple[str, ...]], ...]] = {
    "create": (READ, WRITE),
    "status": (READ,),
    "delete": (READ, DROP),
    "rotate": (READ, ROTATE),
}


@dataclass(frozen=True)
class Grant:
    """Actions on one kind of thing."""

    actions: tuple[str, ...]
    resources: tuple[str, ...]
    condition: Mapping[str, object] | None = None


def grants(command: str, spec: Spec, cluster: Cluster, account: str = "*") -> Iterator[Grant]:
    """On things of this cluster alone, wherever AWS can tell them apart."""
    sets = COMMANDS[command]
    for scope, resources in _scopes(spec, cluster, account).items():
        actions = sorted({action for granted in sets for action in granted.get(scope, ())})
        if actions:
            yield Grant(tuple(actions), resources, CONDITIONS.get(scope))


def making(kinds: Mapping[str, tuple[str, ...]]) -> Iterator[Grant]:
    """What making these kinds needs, on these very things."""
    yield from (Grant(WRITE[kind], resources) for kind, resources in kinds.items() if resources)


def dropping(kind: str, *, owned: bool) -> tuple[str, ...]:
    """What taking down one of a kind needs; to let go of one is no more than to take our mark away."""
    return tuple(
        action for action in DROP[kind] if ("Untag" in action or "Tagging" in action) != owned
    )


def least(command: str, spec: Spec, cluster: Cluster) -> Policy:
    asked = grants(command, spec, cluster)
    return policy.canonical(
        *(
            policy.allow(grant.actions, Resource=list(grant.resources), Condition=grant.condition)
            for grant in asked
        )
    )


def _scopes(spec: Spec, cluster: Cluster, account: str) -> dict[str, tuple[str, ...]]:
    where = partition(spec.region)
    iam, bucket = (
        f"arn:{where.name}:iam::{account}:",
        f"arn:{where.name}:s3:::{spec.bucket or names.bucket(cluster)}",
    )
    scopes = {
        "bucket": (bucket,),
        "object": (f"{bucket}/{spec.folder}*",),
        "provider": (f"{iam}oidc-provider/*",),
        "role": (f"{iam}role{spec.path or '/'}{names.role_prefix(cluster.name)}*",),
        "passed": (
            f"{iam}role{spec.path or '/'}{names.role_prefix(cluster.name)}*",
        ),  # to machines, by a profile
        "profile": (f"{iam}instance-profile/{names.role_prefix(cluster.name)}*",),
        "policy": (f"{iam}policy/{names.role_prefix(cluster.name)}*",),
        "named": (
            f"arn:{where.name}:iam::aws:policy/*",
            f"{iam}policy/*",
        ),  # whether a policy is there that a role is to be given
        "account": ("*",),
    }
    return {**scopes, **({"front": ("*",)} if where.cloudfront else {})}
