"""Which of CloudFront's calls a method and a path are."""

from __future__ import annotations

import re

from cwiictl.sandbox.exchange import Request

_ID = r"/(?P<id>[A-Z0-9]+)"
_ROUTES = [
    (method, re.compile(rf"/2020-05-31{path}/?"), name)
    for method, path, name in (
        ("POST", "/distribution", "CreateDistribution"),
        ("GET", "/distribution", "ListDistributions"),
        ("GET", f"/distribution{_ID}", "GetDistribution"),
        ("DELETE", f"/distribution{_ID}", "DeleteDistribution"),
        ("GET", f"/distribution{_ID}/config", "GetDistributionConfig"),
        ("PUT", f"/distribution{_ID}/config", "UpdateDistribution"),
        ("POST", "/origin-access-control", "CreateOriginAccessControl"),
        ("GET", "/origin-access-control", "ListOriginAccessControls"),
        ("GET", f"/origin-access-control{_ID}", "GetOriginAccessControl"),
        ("DELETE", f"/origin-access-control{_ID}", "DeleteOriginAccessControl"),
        ("GET", f"/origin-access-control{_ID}/config", "GetOriginAccessControlConfig"),
        ("PUT", f"/origin-access-control{_ID}/config", "UpdateOriginAccessControl"),
        ("POST", "/origin-access-identity/cloudfront", "CreateCloudFrontOriginAccessIdentity"),
        ("GET", "/origin-access-identity/cloudfront", "ListCloudFrontOriginAccessIdentities"),
        ("GET", f"/origin-access-identity/cloudfront{_ID}", "GetCloudFrontOriginAccessIdentity"),
        (
            "DELETE",
            f"/origin-access-identity/cloudfront{_ID}",
            "DeleteCloudFrontOriginAccessIdentity",
        ),
        (
            "GET",
            f"/origin-access-identity/cloudfront{_ID}/config",
            "GetCloudFrontOriginAccessIdentityConfig",
        ),
        (
            "PUT",
            f"/origin-access-identity/cloudfront{_ID}/config",
            "UpdateCloudFrontOriginAccessIdentity",
        ),
        ("GET", "/tagging", "ListTagsForResource"),
    )
]
_OPERATIONS = {"Tag": "TagResource", "Untag": "UntagResource"}


def name(request: Request) -> str:
    """The call, or the bare method of one that the sandbox does not have."""
    asked = request.asked
    if request.method == "POST" and request.path.rstrip("/") == "/2020-05-31/tagging":
        return _OPERATIONS.get(asked.get("Operation", ""), "POST")
    found = next(
        (
            name
            for method, path, name in _ROUTES
            if method == request.method and path.fullmatch(request.path)
        ),
        request.method,
    )
    return (
        "CreateDistributionWithTags"
        if found == "CreateDistribution" and "WithTags" in asked
        else found
    )


def identifier(request: Request) -> str:
    matches = (
        path.fullmatch(request.path) for method, path, _ in _ROUTES if method == request.method
    )
    return next((str(found.groupdict().get("id") or "") for found in matches if found), "")
