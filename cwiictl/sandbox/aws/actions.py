"""What a request is called in IAM's words, and whether it is a write."""

from __future__ import annotations

from cwiictl.sandbox.exchange import Request

from .address import Address
from .cloudfront import routes

_READS = ("Get", "List", "Head", "Describe", "Simulate", "Generate", "Decode", "AssumeRole")
_BUCKET = {
    "policy": "BucketPolicy", "policyStatus": "BucketPolicyStatus", "tagging": "BucketTagging", "publicAccessBlock": "PublicAccessBlock", "acl": "BucketAcl",
    "location": "BucketLocation", "versioning": "BucketVersioning", "encryption": "BucketEncryption", "ownershipControls": "BucketOwnershipControls",
    "cors": "BucketCors", "website": "BucketWebsite", "lifecycle": "BucketLifecycleConfiguration", "logging": "BucketLogging",
    "notification": "BucketNotificationConfiguration", "replication": "BucketReplication", "accelerate": "BucketAccelerateConfiguration",
    "requestPayment": "BucketRequestPayment", "object-lock": "ObjectLockConfiguration",
}  # fmt: skip
_OBJECT = {
    "tagging": "ObjectTagging",
    "acl": "ObjectAcl",
    "retention": "ObjectRetention",
    "legal-hold": "ObjectLegalHold",
    "attributes": "ObjectAttributes",
}
_CONTROL = {"publicAccessBlock": "PublicAccessBlock"}


def name(request: Request, address: Address) -> str:
    if address.service == "s3":
        return f"s3:{_object(request) if address.key else _bucket(request) if address.bucket else 'ListBuckets'}"
    if address.service == "s3control":
        last = request.path.rstrip("/").rpartition("/")[2]
        return f"s3control:{_verb(request.method)}{_CONTROL.get(last, last)}"
    if address.service == "cloudfront":
        return f"cloudfront:{routes.name(request)}"
    if address.service == "edge":
        return f"web:{request.method.capitalize()}"
    return f"{address.service}:{_query_action(request) or request.method}"


def mutating(action: str) -> bool:
    """Tokens of AssumeRole change nothing that anybody could see."""
    verb = action.partition(":")[2]
    return (
        not action.startswith("web:")
        and not verb.startswith(_READS)
        and verb not in {"GET", "HEAD", "OPTIONS"}
    )


def _query_action(request: Request) -> str:
    target = request.header("x-amz-target").rpartition(".")[2]
    return target or request.form.get("Action") or request.asked.get("Action", "")


def _verb(method: str) -> str:
    return {"GET": "Get", "HEAD": "Head", "PUT": "Put", "DELETE": "Delete", "POST": "Post"}.get(
        method, method.capitalize()
    )


def _bucket(request: Request) -> str:
    asked, verb = request.asked, _verb(request.method)
    for word, noun in _BUCKET.items():
        if word in asked:
            return f"{verb}{noun}"
    if request.method == "POST":
        return "DeleteObjects" if "delete" in asked else "PostObject"
    if request.method == "GET":
        return (
            "ListObjectVersions"
            if "versions" in asked
            else "ListMultipartUploads"
            if "uploads" in asked
            else "ListObjectsV2"
            if "list-type" in asked
            else "ListObjects"
        )
    return {"PUT": "CreateBucket", "DELETE": "DeleteBucket", "HEAD": "HeadBucket"}.get(
        request.method, verb
    )


def _object(request: Request) -> str:
    asked, verb = request.asked, _verb(request.method)
    for word, noun in _OBJECT.items():
        if word in asked:
            return f"{verb}{noun}"
    if "uploadId" in asked:
        return {
            "PUT": "UploadPart",
            "POST": "CompleteMultipartUpload",
            "DELETE": "AbortMultipartUpload",
        }.get(request.method, "ListParts")
    if request.method == "POST":
        return "CreateMultipartUpload" if "uploads" in asked else "PostObject"
    return (
        "CopyObject"
        if request.method == "PUT" and request.header("x-amz-copy-source")
        else f"{verb}Object"
    )
