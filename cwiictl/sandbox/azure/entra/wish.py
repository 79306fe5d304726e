"""For whom a token is asked: a scope in Entra's second version, a resource in its first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from cwiictl.sandbox.azure.clouds import STORAGE, Cloud
from cwiictl.sandbox.azure.world import TENANT
from cwiictl.sandbox.exchange import Request

from . import answers


@dataclass(frozen=True)
class Wish:
    audience: str
    version: int

    @classmethod
    def read(cls, request: Request, cloud: Cloud) -> Wish:
        form = request.form
        grant = _needed(form, "grant_type")
        if grant != "client_credentials":
            raise answers.Refusal(
                400,
                "unsupported_grant_type",
                70003,
                f"The app requested an unsupported grant type '{grant}'.",
            )
        _needed(form, "client_id")
        version = 2 if request.path.rstrip("/").endswith("/v2.0/token") else 1
        audience = _of_scope(_needed(form, "scope")) if version == 2 else _needed(form, "resource")
        if not _known(audience, cloud):
            raise _unknown(audience)
        return cls(audience, version)


def _needed(form: Mapping[str, str], name: str) -> str:
    if not form.get(name):
        raise answers.Refusal(
            400,
            "invalid_request",
            900144,
            f"The request body must contain the following parameter: '{name}'.",
        )
    return form[name]


def _of_scope(scope: str) -> str:
    """Of `https://host//.default` the audience is `https://host/`: the slash belongs to it."""
    asked = [one for one in scope.split() if one not in {"openid", "profile", "offline_access"}]
    if len(asked) == 1 and asked[0].endswith("/.default"):
        return asked[0].removesuffix("/.default")
    words = (
        f"The provided value for scope {scope} is not valid."
        " Client credential flows must have a scope value with /.default suffixed to the resource identifier (application ID URI)."
    )
    raise answers.Refusal(400, "invalid_scope", 1002012, words)


def _known(audience: str, cloud: Cloud) -> bool:
    bare = audience.rstrip("/")
    host = urlsplit(bare).hostname or ""
    return bare in {*cloud.audiences, *cloud.others, STORAGE} or (
        bare == f"https://{host}" and host.endswith(f".blob.{cloud.suffix}")
    )


def _unknown(audience: str) -> answers.Refusal:
    words = (
        f"The resource principal named {audience} was not found in the tenant named {TENANT}. This can happen if the application has not been installed by"
        " the administrator of the tenant or consented to by any user in the tenant. You might have sent your authentication request to the wrong tenant."
    )
    return answers.Refusal(400, "invalid_resource", 500011, words)
