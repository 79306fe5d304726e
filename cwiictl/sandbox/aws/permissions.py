"""Which permissions a request needs, in IAM's words: mostly the name of the call, and here is where it is not."""

from __future__ import annotations

from cwiictl.sandbox.exchange import Request

from . import actions
from .address import Address
from .keyring import key_of

_FREE = {
    "sts:GetCallerIdentity",
    "sts:GetSessionToken",
    "sts:AssumeRoleWithWebIdentity",
    "sts:AssumeRoleWithSAML",
}
_OTHER = {
    "s3:ListBuckets": "s3:ListAllMyBuckets", "s3:HeadBucket": "s3:ListBucket", "s3:ListObjects": "s3:ListBucket", "s3:ListObjectsV2": "s3:ListBucket",
    "s3:ListObjectVersions": "s3:ListBucketVersions", "s3:ListMultipartUploads": "s3:ListBucketMultipartUploads",
    "s3:GetPublicAccessBlock": "s3:GetBucketPublicAccessBlock", "s3:PutPublicAccessBlock": "s3:PutBucketPublicAccessBlock",
    "s3:DeletePublicAccessBlock": "s3:PutBucketPublicAccessBlock", "s3:DeleteBucketTagging": "s3:PutBucketTagging",
    "s3:GetBucketCors": "s3:GetBucketCORS", "s3:PutBucketCors": "s3:PutBucketCORS", "s3:DeleteBucketCors": "s3:PutBucketCORS",
    "s3:GetBucketEncryption": "s3:GetEncryptionConfiguration", "s3:PutBucketEncryption": "s3:PutEncryptionConfiguration",
    "s3:DeleteBucketEncryption": "s3:PutEncryptionConfiguration", "s3:DeleteBucketOwnershipControls": "s3:PutBucketOwnershipControls",
    "s3:GetBucketLifecycleConfiguration": "s3:GetLifecycleConfiguration", "s3:PutBucketLifecycleConfiguration": "s3:PutLifecycleConfiguration",
    "s3:DeleteBucketLifecycleConfiguration": "s3:PutLifecycleConfiguration", "s3:GetBucketNotificationConfiguration": "s3:GetBucketNotification",
    "s3:PutBucketNotificationConfiguration": "s3:PutBucketNotification", "s3:GetBucketReplication": "s3:GetReplicationConfiguration",
    "s3:PutBucketReplication": "s3:PutReplicationConfiguration", "s3:DeleteBucketReplication": "s3:PutReplicationConfiguration",
    "s3:GetBucketAccelerateConfiguration": "s3:GetAccelerateConfiguration", "s3:PutBucketAccelerateConfiguration": "s3:PutAccelerateConfiguration",
    "s3:GetObjectLockConfiguration": "s3:GetBucketObjectLockConfiguration", "s3:PutObjectLockConfiguration": "s3:PutBucketObjectLockConfiguration",
    "s3:HeadObject": "s3:GetObject", "s3:DeleteObjects": "s3:DeleteObject", "s3:ListParts": "s3:ListMultipartUploadParts",
    "s3:CreateMultipartUpload": "s3:PutObject", "s3:UploadPart": "s3:PutObject", "s3:CompleteMultipartUpload": "s3:PutObject", "s3:PostObject": "s3:PutObject",
    "s3control:GetPublicAccessBlock": "s3:GetAccountPublicAccessBlock", "s3control:PutPublicAccessBlock": "s3:PutAccountPublicAccessBlock",
    "s3control:DeletePublicAccessBlock": "s3:PutAccountPublicAccessBlock",
    "cloudfront:CreateDistributionWithTags": "cloudfront:CreateDistribution",
}  # fmt: skip
_TAGGING = {
    "OpenIDConnectProvider": "TagOpenIDConnectProvider",
    "Role": "TagRole",
    "Policy": "TagPolicy",
    "InstanceProfile": "TagInstanceProfile",
}


def needed(request: Request, address: Address) -> tuple[str, ...]:
    """None for an anonymous request: nobody's policy speaks for it."""
    action = actions.name(request, address)
    if address.service == "edge" or action in _FREE or not key_of(request):
        return ()
    return (_OTHER.get(action, action), *_besides(action, request))


def _besides(action: str, request: Request) -> tuple[str, ...]:
    """What a call does besides what it is called for."""
    if action.startswith("iam:Create"):
        return _with_entity(action.removeprefix("iam:Create"), request)
    return {
        "iam:AddRoleToInstanceProfile": ("iam:PassRole",),
        "s3:CreateBucket": ("s3:TagResource",) if b"<Tag>" in request.body else (),
        "s3:PutObject": ("s3:PutObjectTagging",) if request.header("x-amz-tagging") else (),
        "s3:CopyObject": ("s3:GetObject",),
        "s3:GetObjectAttributes": ("s3:GetObject",),
        "cloudfront:CreateDistributionWithTags": ("cloudfront:TagResource",),
    }.get(action, ())


def _with_entity(kind: str, request: Request) -> tuple[str, ...]:
    form = request.form
    tagging = (
        (f"iam:{_TAGGING[kind]}",)
        if kind in _TAGGING and any(key.startswith("Tags.member.") for key in form)
        else ()
    )
    return (
        *tagging,
        *(
            ("iam:PutRolePermissionsBoundary",)
            if kind == "Role" and form.get("PermissionsBoundary")
            else ()
        ),
    )
