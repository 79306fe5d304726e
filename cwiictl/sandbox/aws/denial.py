"""What the caller may not do, and in which words each service says so."""

from __future__ import annotations

from collections.abc import Collection

from cwiictl.sandbox.exchange import Request

from .address import Address
from .answers import Refusal
from .cloudfront import routes
from .memory import ACCOUNT
from .policy import like

_NEW = {
    "CreateRole",
    "ListRoles",
}  # of which IAM names the ARN; a role that is there it calls by its name


def denied(permission: str, deny: Collection[str]) -> bool:
    """Case does not count in the names of actions."""
    return any(like(permission.lower(), pattern.lower()) for pattern in deny)


def refusal(permission: str, request: Request, address: Address, caller: str) -> Refusal:
    resource = _resource(request, address)
    where = f" on resource: {resource}" if resource else ""
    because = f"because no identity-based policy allows the {permission} action"
    return Refusal(
        403,
        "AccessDenied",
        f"User: {caller} is not authorized to perform: {permission}{where} {because}",
    )


def _resource(request: Request, address: Address) -> str:
    partition = address.partition
    if address.service == "s3":
        return (
            f'"arn:{partition}:s3:::{address.bucket}{"/" if address.key else ""}{address.name}"'
            if address.bucket
            else ""
        )
    if address.service == "cloudfront":
        kind, name = (
            request.path.removeprefix("/2020-05-31/").partition("/")[0],
            routes.identifier(request),
        )
        return (
            f"arn:{partition}:cloudfront::{ACCOUNT}:{kind}/{name}"
            if name
            else request.asked.get("Resource", "")
        )
    return _entity(request, f"arn:{partition}:iam::{ACCOUNT}:") if address.service == "iam" else ""


def _entity(request: Request, account: str) -> str:
    form = request.form
    action, path = form.get("Action", ""), form.get("Path", "/")
    if action in _NEW:
        return f"{account}role{path}{form.get('RoleName', '')}"
    for field, words in (
        ("RoleName", "role "),
        ("PolicyArn", "policy "),
        ("OpenIDConnectProviderArn", ""),
        ("PolicySourceArn", ""),
    ):
        if field in form:
            return f"{words}{form[field]}"
    if "Url" in form:
        return f"{account}oidc-provider/{form['Url'].removeprefix('https://')}"
    if "PolicyName" in form:
        return f"{account}policy{path}{form['PolicyName']}"
    return {
        "ListOpenIDConnectProviders": f"{account}oidc-provider/*",
        "ListPolicies": f"{account}policy{path}",
    }.get(action, "*")
