"""Azure's errors in our words, translated once, where they enter."""

from __future__ import annotations

import re
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from azure.core.exceptions import (
    AzureError,
    HttpResponseError,
    IncompleteReadError,
    ServiceRequestError,
    ServiceResponseError,
)

from cwiictl.errors import BadInput, Denied, Failed, NotYet, Problem, Throttled

BUSY = frozenset(
    {
        "OperationNotAllowedOnThrottledAccount",
        "ServerBusy",
        "SubscriptionRequestsThrottled",
        "TooManyRequests",
    }
)
EARLY = frozenset(
    {
        "AccountBeingCreated",
        "AnotherOperationInProgress",
        "BlobAlreadyExists",
        "ConcurrentFederatedIdentityCredentialsWritesForSingleManagedIdentity",
        "ConditionNotMet",
        "ContainerBeingDeleted",
        "ContainerNotFound",
        "LeaseIdMissing",  # somebody else writes it at this moment
        "ParentResourceNotFound",
        "PrincipalNotFound",
        "ResourceGroupBeingDeleted",
        "ResourceGroupNotFound",
        "ResourceNotFound",
        "RetryableError",
        "RoleAssignmentExists",  # under another name, which the list shows in a while
        "RoleDefinitionDoesNotExist",
        "RoleDefinitionHasAssignments",  # what was taken away a moment ago may hold on for another
        "StorageAccountIsNotProvisioned",
        "StorageAccountOperationInProgress",
    }
)
ABSENT = frozenset(
    {
        "BlobNotFound",
        "ContainerNotFound",
        "NotFound",
        "ParentResourceNotFound",
        "ResourceGroupNotFound",
        "ResourceNotFound",
        "RoleAssignmentNotFound",
        "RoleDefinitionDoesNotExist",
    }
)
DENIED = frozenset(
    {
        "AuthorizationFailed",
        "AuthorizationPermissionMismatch",
        "InsufficientAccountPermissions",
        "LinkedAuthorizationFailed",
    }
)
NOWHERE = frozenset({"InvalidSubscriptionId", "SubscriptionNotFound"})
ACTION = re.compile(r"perform action '([^']+)'")
PROVIDER = re.compile(r"namespace '([^']+)'")
LOGIN = "log in (az login), or set AZURE_TENANT_ID and AZURE_CLIENT_ID with AZURE_CLIENT_SECRET or AZURE_FEDERATED_TOKEN_FILE"


def code(e: HttpResponseError) -> str:
    """ARM says it in a JSON body, Blob in a header."""
    if e.error and e.error.code:
        return e.error.code
    told: Any = getattr(e, "error_code", None)
    return str(getattr(told, "value", told) or _header(e, "x-ms-error-code"))


def status(e: HttpResponseError) -> int:
    return e.status_code or 0


def absent(e: HttpResponseError) -> bool:
    """There is no such thing."""
    return status(e) == 404 and (code(e) in ABSENT or not code(e))


def denied(e: HttpResponseError) -> bool:
    return status(e) == 403 and code(e) in DENIED


@contextmanager
def gone() -> Generator[None]:
    """What is to go and is not there has gone."""
    try:
        yield
    except HttpResponseError as e:
        if not absent(e):
            raise


@contextmanager
def told(provider: str) -> Generator[None]:
    """What is raised within is in our words. It decorates what a store does."""
    try:
        yield
    except (IncompleteReadError, ServiceResponseError) as e:
        raise NotYet(
            f"Azure's answer did not arrive whole: {_sentence(e)}", remedy="run again"
        ) from e
    except HttpResponseError as e:
        raise answered(provider, e) from e
    except ServiceRequestError as e:
        raise unreachable(e) from e
    except AzureError as e:
        raise NotYet(f"Azure's answer is not understood: {_sentence(e)}", remedy="run again") from e


def unreachable(e: ServiceRequestError) -> Problem:
    if "CERTIFICATE_VERIFY_FAILED" in str(e):
        return Failed(
            f"the certificate of Azure's host is not believed: {_sentence(e)}",
            remedy="name the right authorities with REQUESTS_CA_BUNDLE",
        )
    return NotYet(
        f"Azure cannot be reached: {_sentence(e)}",
        remedy="see that the network, the proxy and --azure-env are right",
    )


def answered(provider: str, e: HttpResponseError) -> Problem:
    said = f"{provider}: {message(e)}"
    if status(e) == 401:
        return BadInput(
            f"Azure does not accept the credentials, or no longer ({message(e)})", remedy=LOGIN
        )
    if code(e) in NOWHERE:
        return BadInput(
            f"Azure does not show who asks that subscription ({message(e)})",
            remedy="give the right --subscription-id, or log in to its tenant",
        )
    if code(e) in BUSY or status(e) in {429, 503}:
        return Throttled(
            f"Azure asks for patience ({said})",
            remedy="run again later, or with a lower --concurrency",
            after=_retry_after(e),
        )
    if code(e) in EARLY or status(e) in {408, 412} or status(e) >= 500:
        return NotYet(
            f"Azure is not ready for {said}", remedy="run again later", after=_retry_after(e)
        )
    return _refused(provider, e, said)


def _refused(provider: str, e: HttpResponseError, said: str) -> Problem:
    """For good, unless somebody does something about it."""
    if denied(e):
        return Denied(
            f"Azure does not allow {said}",
            remedy=f"have {action(e) or 'that'} granted to who runs this",
        )
    if code(e) == "AuthorizationFailure":
        return Denied(
            f"the storage account lets nobody in from this network ({said})",
            remedy="run this from a network that it lets in, or let this one in",
        )
    if code(e) == "MissingSubscriptionRegistration":
        namespace = PROVIDER.search(message(e))
        return Failed(
            f"Azure refuses {said}",
            remedy=f"az provider register --wait --namespace {namespace[1] if namespace else provider}",
        )
    remedies = {
        "ScopeLocked": "have the lock taken away and run again",
        "RequestDisallowedByPolicy": "have an exemption made from the policy that it names",
    }
    return Failed(
        f"Azure refuses {said}", remedy=remedies.get(code(e), "mend what it says and run again")
    )


def action(e: HttpResponseError) -> str:
    """The one that is not allowed, if Azure names it."""
    found = ACTION.search(message(e))
    return found[1] if found else ""


def message(e: HttpResponseError) -> str:
    text = (e.error.message if e.error else None) or e.message.partition("\nRequestId")[
        0
    ].partition("\nErrorCode")[0]
    return f"{' '.join(text.split()) or 'no reason given'} ({code(e) or status(e)})"


def _sentence(e: Exception) -> str:
    return " ".join(str(e).split()).rstrip(".")


def _header(e: HttpResponseError, name: str) -> str:
    headers: Any = getattr(e.response, "headers", None) or {}
    return str(headers.get(name, ""))


def _retry_after(e: HttpResponseError) -> float | None:
    value = _header(e, "Retry-After")
    return float(value) if value.isdigit() else None
