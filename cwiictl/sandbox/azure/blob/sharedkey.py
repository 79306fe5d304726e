"""The signature that only somebody with one of the account's keys can make."""

from __future__ import annotations

import base64
import hashlib
import hmac
from email.utils import parsedate_to_datetime
from urllib.parse import unquote

from cwiictl.sandbox.azure.world import Account
from cwiictl.sandbox.exchange import Request

from .answers import Refusal

_SIGNED = (
    "content-encoding", "content-language", "content-length", "content-md5", "content-type", "date",
    "if-modified-since", "if-match", "if-none-match", "if-unmodified-since", "range",
)  # fmt: skip
_LATEST = 15 * 60


def check(request: Request, account: Account, now: float) -> None:
    """Raises Refusal unless the request is as it was when somebody with a key signed it, a moment ago."""
    name, _, told = request.header("Authorization").partition(" ")[2].partition(":")
    if name != account.name:
        raise failed(
            f"The account name in the Authorization header, {name}, is not that of the host."
        )
    _check_time(request, now)
    text = to_sign(request, account.name)
    if not any(
        hmac.compare_digest(signature(key, text).encode(), told.encode()) for key in account.keys
    ):
        quoted = text.replace("\n", "\\n")
        raise failed(
            f"The MAC signature found in the HTTP request '{told}' is not the same as any computed signature. Server used following string to sign: '{quoted}'."
        )


def failed(detail: str) -> Refusal:
    sentence = "Server failed to authenticate the request. Make sure the value of Authorization header is formed correctly including the signature."
    return Refusal(403, "AuthenticationFailed", sentence, {"AuthenticationErrorDetail": detail})


def to_sign(request: Request, account: str) -> str:
    plain = {name: request.header(name).strip() for name in _SIGNED}
    if plain["content-length"] == "0":
        plain["content-length"] = ""
    if request.header("x-ms-date"):
        plain["date"] = ""
    return "\n".join(
        [
            request.method,
            *plain.values(),
            *_headers(request),
            f"/{account}{request.path}",
            *_query(request),
        ]
    )


def _headers(request: Request) -> list[str]:
    own = [
        (name.lower(), value.strip())
        for name, value in request.headers
        if name.lower().startswith("x-ms-")
    ]
    return [f"{name}:{value}" for name, value in sorted(own, key=lambda one: _order(one[0]))]


def _order(name: str) -> tuple[str, str]:
    """The service's own alphabet: a dash counts only where nothing else decides, and `_` comes before all digits."""
    return name.replace("-", "").replace("_", "!"), name


def _query(request: Request) -> list[str]:
    asked: dict[str, list[str]] = {}
    for part in filter(None, request.query.split("&")):
        name, _, value = part.partition("=")
        asked.setdefault(unquote(name).lower(), []).append(unquote(value))
    return [f"{name}:{','.join(sorted(values))}" for name, values in sorted(asked.items())]


def signature(key: str, text: str) -> str:
    return base64.b64encode(
        hmac.new(base64.b64decode(key), text.encode(), hashlib.sha256).digest()
    ).decode()


def _check_time(request: Request, now: float) -> None:
    told = request.header("x-ms-date") or request.header("Date")
    try:
        moment = parsedate_to_datetime(told).timestamp()
    except ValueError as error:
        raise failed("Request date header is missing or no date.") from error
    if abs(now - moment) > _LATEST:
        raise failed(f"Request date header too old: '{told}'.")
