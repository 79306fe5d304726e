"""Google's errors in our words, translated once, where they enter."""

from __future__ import annotations

import re
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import requests
from google.api_core.exceptions import GoogleAPICallError, GoogleAPIError
from google.auth.exceptions import (
    DefaultCredentialsError,
    GoogleAuthError,
    RefreshError,
    TransportError,
)
from google.cloud.storage.exceptions import DataCorruption

from cwiictl.errors import BadInput, Denied, Failed, NotYet, Problem, Throttled

OFF = frozenset({"SERVICE_DISABLED", "accessNotConfigured"})
BUSY = frozenset(
    {
        "RATE_LIMIT_EXCEEDED",
        "RESOURCE_EXHAUSTED",
        "UNAVAILABLE",
        "rateLimitExceeded",
        "userRateLimitExceeded",
    }
)
EARLY = re.compile(
    r"does not exist|concurrent policy changes", re.IGNORECASE
)  # in a policy: who or what all of Google does not know yet
UNREACHED = re.compile(
    r"failed to connect|DNS resolution|name resolution|connection (was )?(reset|refused|closed)|socket closed|goaway|recvmsg|handshak",
    re.IGNORECASE,
)
DISTRUSTED = re.compile(r"CERTIFICATE_VERIFY_FAILED|certificate verify failed", re.IGNORECASE)
FULL = re.compile(
    r"maximum number of|limit .*reached", re.IGNORECASE
)  # what no waiting makes room for
BOUND = re.compile(
    r"violates constraint|org(anization)? policy|permitted customer", re.IGNORECASE
)  # by those whose organization it is
PERMISSION = re.compile(
    r"[Pp]ermission '?(?P<one>[a-zA-Z]+\.[\w.]+\w)'?|does not have (?P<other>[a-zA-Z]+\.[\w.]+\w) access|with the (?P<last>[a-zA-Z]+\.[\w.]+\w) permission"
)
LOGIN = "log in (gcloud auth application-default login), or set GOOGLE_APPLICATION_CREDENTIALS"
QUOTA = "wait until there is room, or have the quota that it names raised"


class Off(Denied):
    """The API that it is a thing of is off in the project."""


def status(e: GoogleAPICallError) -> int:
    """As HTTP says it, also of what was said over gRPC."""
    return int(e.code or 500)


def word(e: GoogleAPICallError) -> str:
    """As Google's own code says it, such as NOT_FOUND; of Cloud Storage, which has other words, its reason."""
    if e.grpc_status_code is not None and not _payload(e):
        return str(e.grpc_status_code.name)
    return str(_payload(e).get("status") or _legacy(e) or status(e))


def reason(e: GoogleAPICallError) -> str:
    """More exactly, where Google does."""
    return str(e.reason or _legacy(e) or word(e))


def absent(e: GoogleAPICallError) -> bool:
    """There is no such thing."""
    return status(e) == 404


def off(e: GoogleAPICallError) -> bool:
    return status(e) == 403 and reason(e) in OFF


def denied(e: GoogleAPICallError) -> bool:
    return status(e) == 403 and not off(e) and reason(e) not in BUSY


def bound(e: GoogleAPICallError) -> bool:
    """The organization has said no: no waiting helps, whatever precondition it is that Google calls it."""
    return status(e) in {400, 412} and BOUND.search(message(e)) is not None


@contextmanager
def gone() -> Generator[None]:
    """What is to go and is not there has gone."""
    try:
        yield
    except GoogleAPICallError as e:
        if not absent(e):
            raise


@contextmanager
def told(service: str) -> Generator[None]:
    """What is raised within is in our words. It decorates what a store does."""
    try:
        yield
    except GoogleAPICallError as e:
        raise answered(service, e) from e
    except (
        GoogleAPIError,
        DataCorruption,
        requests.JSONDecodeError,
        requests.exceptions.ChunkedEncodingError,
    ) as e:
        raise NotYet(
            f"Google's answer did not arrive whole: {_sentence(e)}", remedy="run again"
        ) from e
    except (TransportError, requests.RequestException) as e:
        raise unreachable(_sentence(e)) from e
    except GoogleAuthError as e:
        raise refused(e) from e


def unreachable(why: str) -> Problem:
    if DISTRUSTED.search(why):
        remedy = "name the right authorities with REQUESTS_CA_BUNDLE and GRPC_DEFAULT_SSL_ROOTS_FILE_PATH"
        return Failed(f"the certificate of Google's host is not believed: {why}", remedy=remedy)
    return NotYet(
        f"Google cannot be reached: {why}",
        remedy="see that the network, the proxy and --universe-domain are right",
    )


def refused(e: GoogleAuthError) -> Problem:
    """Nobody can act with these credentials."""
    if e.retryable:
        return NotYet(
            f"Google is not ready to give out a token: {_sentence(e)}", remedy="run again later"
        )
    if isinstance(e, RefreshError):
        return BadInput(
            f"Google does not accept the credentials, or no longer: {_first(e)}", remedy=LOGIN
        )
    if isinstance(e, DefaultCredentialsError) and "default credentials were not found" in str(e):
        return BadInput("there are no Google credentials to act with", remedy=LOGIN)
    return BadInput(f"the Google credentials are not whole: {_first(e)}", remedy=LOGIN)


def answered(service: str, e: GoogleAPICallError) -> Problem:
    said = f"{service}: {message(e)}"
    if status(e) == 401:
        return BadInput(
            f"Google does not accept the credentials, or no longer ({message(e)})", remedy=LOGIN
        )
    if status(e) == 503 and (UNREACHED.search(e.message) or DISTRUSTED.search(e.message)):
        return unreachable(message(e))
    if FULL.search(message(e)):
        return Failed(f"Google refuses {said}", remedy=QUOTA)
    if status(e) in {429, 503} or reason(e) in BUSY:
        return Throttled(
            f"Google asks for patience ({said})",
            remedy="run again later, or with a lower --concurrency",
            after=_retry_after(e),
        )
    if not bound(e) and (
        status(e) in {404, 408, 409, 412}
        or status(e) >= 499
        or (status(e) == 400 and EARLY.search(message(e)))
    ):
        return NotYet(
            f"Google is not ready for {said}", remedy="run again later", after=_retry_after(e)
        )
    return _no(service, e, said)


def _no(service: str, e: GoogleAPICallError, said: str) -> Problem:
    """For good, unless somebody does something about it."""
    if off(e):
        api = str((e.metadata or {}).get("service") or f"{service}.googleapis.com")
        return Off(
            f"Google does not allow {said}",
            remedy=f"turn it on with gcloud services enable {api}, or give --enable-apis, and run again in some minutes",
        )
    if status(e) == 403:
        return Denied(
            f"Google does not allow {said}",
            remedy=f"have {permission(e) or 'that'} granted to who runs this",
        )
    if bound(e):
        return Denied(
            f"a policy of your organization does not allow {said}",
            remedy="ask for what it allows, such as another --region, or have it changed",
        )
    return Failed(f"Google refuses {said}", remedy="mend what it says and run again")


def permission(e: GoogleAPICallError) -> str:
    """The one that lacks, if Google names it."""
    named = (e.metadata or {}).get("permission")
    found = PERMISSION.search(message(e))
    return str(named) if named else next(filter(None, found.groups())) if found else ""


def message(e: GoogleAPICallError) -> str:
    """Over HTTP the SDK puts the address before it."""
    text = str(_payload(e).get("message") or e.message)
    return f"{' '.join(text.split()).rstrip('.') or 'no reason given'} ({reason(e)})"


def _payload(e: GoogleAPICallError) -> dict[str, Any]:
    """What was answered over HTTP."""
    response: Any = e.response
    if not isinstance(response, requests.Response):
        return {}
    try:
        told: Any = response.json()
    except requests.JSONDecodeError:
        return {}
    error = told.get("error") if isinstance(told, dict) else None
    return error if isinstance(error, dict) else {}


def _legacy(e: GoogleAPICallError) -> str:
    """Cloud Storage's own words."""
    first: Any = next(iter(_payload(e).get("errors") or ()), {})
    return str(first.get("reason") or "")


def _retry_after(e: GoogleAPICallError) -> float | None:
    headers: Any = getattr(e.response, "headers", None) or {}
    value = str(headers.get("Retry-After", ""))
    return float(value) if value.isdigit() else None


def _first(e: Exception) -> str:
    """What Google's token service says, without the whole of its answer."""
    return " ".join(str(e.args[0] if e.args else e).split()).rstrip(".")


def _sentence(e: Exception) -> str:
    return " ".join(str(e).split()).rstrip(".")
