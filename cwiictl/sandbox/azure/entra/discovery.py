"""What clients ask before they ask for a token: which authorities are Microsoft's own, and where this one's token endpoint is."""

from __future__ import annotations

from urllib.parse import urlsplit

from cwiictl.sandbox.azure.clouds import BY_AUTHORITY, CLOUDS, Cloud
from cwiictl.sandbox.azure.world import TENANT
from cwiictl.sandbox.exchange import Request, Response

from .answers import Refusal, json_response


def instances(request: Request) -> Response:
    """Every authority knows those of all clouds."""
    asked = request.asked.get("authorization_endpoint", "")
    if not asked:
        raise Refusal(
            400,
            "invalid_request",
            900144,
            "The request body must contain the following parameter: 'authorization_endpoint'.",
        )
    url = urlsplit(asked)
    if (url.hostname or "") not in BY_AUTHORITY:
        raise Refusal(400, "invalid_instance", 50049, "Unknown or invalid instance.")
    tenant = url.path.strip("/").partition("/")[0]
    metadata = [
        {
            "preferred_network": one.authority,
            "preferred_cache": one.authorities[1],
            "aliases": list(one.authorities),
        }
        for one in CLOUDS
    ]
    endpoint = f"https://{url.hostname}/{tenant}/v2.0/.well-known/openid-configuration"
    return json_response(
        200, {"tenant_discovery_endpoint": endpoint, "api-version": "1.1", "metadata": metadata}
    )


def realm(cloud: Cloud) -> Response:
    return json_response(
        200, {"ver": "1.0", "account_type": "Unknown", "cloud_instance_name": cloud.authority}
    )


def configuration(cloud: Cloud, tenant: str, *, version: int) -> Response:
    """Clients take the endpoints from here, whatever they would have guessed."""
    root = f"https://{cloud.authority}/{tenant}"
    path = "oauth2/v2.0" if version == 2 else "oauth2"
    document = {
        "token_endpoint": f"{root}/{path}/token",
        "token_endpoint_auth_methods_supported": [
            "client_secret_post",
            "private_key_jwt",
            "client_secret_basic",
        ],
        "jwks_uri": f"{root}/discovery/{'v2.0/' if version == 2 else ''}keys",
        "response_modes_supported": ["query", "fragment", "form_post"],
        "subject_types_supported": ["pairwise"],
        "id_token_signing_alg_values_supported": ["RS256"],
        "response_types_supported": ["code", "id_token", "code id_token", "id_token token"],
        "scopes_supported": ["openid", "profile", "email", "offline_access"],
        "issuer": f"https://{cloud.authority}/{TENANT}/v2.0"
        if version == 2
        else f"https://sts.windows.net/{TENANT}/",
        "authorization_endpoint": f"{root}/{path}/authorize",
        "device_authorization_endpoint": f"{root}/{path}/devicecode",
        "tenant_region_scope": "EU",
        "cloud_instance_name": cloud.authority,
    }
    return json_response(200, document)
