"""What is in an account of AWS, as plain values."""

from __future__ import annotations

import json
from typing import Any


def role(iam: Any, name: str) -> dict[str, Any]:
    role = iam.get_role(RoleName=name)["Role"]
    names = iam.list_role_policies(RoleName=name)["PolicyNames"]
    return {
        "arn": role["Arn"],
        "path": role["Path"],
        "description": role.get("Description"),
        "trust": role["AssumeRolePolicyDocument"],
        "inline": {
            policy: iam.get_role_policy(RoleName=name, PolicyName=policy)["PolicyDocument"]
            for policy in names
        },
        "managed": sorted(
            policy["PolicyArn"]
            for policy in iam.list_attached_role_policies(RoleName=name)["AttachedPolicies"]
        ),
        "session": role["MaxSessionDuration"],
        "boundary": role.get("PermissionsBoundary", {}).get("PermissionsBoundaryArn"),
        "tags": _tags(role.get("Tags", [])),
    }


def policy(iam: Any, arn: str) -> dict[str, Any]:
    found = iam.get_policy(PolicyArn=arn)["Policy"]
    document = iam.get_policy_version(PolicyArn=arn, VersionId=found["DefaultVersionId"])[
        "PolicyVersion"
    ]["Document"]
    return {"document": document, "tags": _tags(found.get("Tags", []))}


def fronts(front: Any) -> list[Any]:
    return list(front.list_distributions()["DistributionList"].get("Items", []))


def accesses(front: Any) -> list[Any]:
    return list(front.list_origin_access_controls()["OriginAccessControlList"].get("Items", []))


def identities(front: Any) -> list[Any]:
    return list(
        front.list_cloud_front_origin_access_identities()["CloudFrontOriginAccessIdentityList"].get(
            "Items", []
        )
    )


def distribution(front: Any, item: Any) -> dict[str, Any]:
    behaviour = item["DefaultCacheBehavior"]
    return {
        "domain": item["DomainName"],
        "enabled": item["Enabled"],
        "origins": [
            {"domain": origin["DomainName"], "access": origin.get("OriginAccessControlId", "")}
            for origin in item["Origins"]["Items"]
        ],
        "viewers": behaviour["ViewerProtocolPolicy"],
        "caching": behaviour.get("CachePolicyId"),
        "tags": _tags(front.list_tags_for_resource(Resource=item["ARN"])["Tags"].get("Items", [])),
    }


def access(item: Any) -> dict[str, Any]:
    return {
        key: item[key]
        for key in (
            "Description",
            "SigningProtocol",
            "SigningBehavior",
            "OriginAccessControlOriginType",
        )
    }


def provider(iam: Any, arn: str) -> dict[str, Any]:
    found = iam.get_open_id_connect_provider(OpenIDConnectProviderArn=arn)
    return {
        "url": found["Url"],
        "audiences": sorted(found["ClientIDList"]),
        "thumbprints": len(found["ThumbprintList"]),
        "tags": _tags(found["Tags"]),
    }


def bucket(s3: Any, name: str) -> dict[str, Any]:
    objects = [item["Key"] for item in s3.list_objects_v2(Bucket=name).get("Contents", [])]
    return {
        "region": s3.head_bucket(Bucket=name)["BucketRegion"],
        "policy": _asked(lambda: json.loads(s3.get_bucket_policy(Bucket=name)["Policy"])),
        "publicAccessBlock": _asked(
            lambda: s3.get_public_access_block(Bucket=name)["PublicAccessBlockConfiguration"]
        ),
        "tags": _tags(_asked(lambda: s3.get_bucket_tagging(Bucket=name)["TagSet"]) or []),
        "objects": {key: _object(s3, name, key) for key in objects},
    }


def _asked(call: Any) -> Any:
    """None where there is none, which S3 tells as an error."""
    try:
        return call()
    except Exception as e:
        if "NoSuch" in str(e):
            return None
        raise


def _object(s3: Any, bucket: str, key: str) -> dict[str, Any]:
    found = s3.get_object(Bucket=bucket, Key=key)
    with found["Body"] as body:
        text = body.read().decode()
    tags = _tags(s3.get_object_tagging(Bucket=bucket, Key=key)["TagSet"])
    return {
        "contentType": found["ContentType"],
        "cacheControl": found.get("CacheControl"),
        "tags": tags,
        "body": text,
    }


def _tags(tags: list[dict[str, str]]) -> dict[str, str]:
    return {tag["Key"]: tag["Value"] for tag in sorted(tags, key=lambda tag: tag["Key"])}
