"""Azure's errors in our words, and who acts."""

from __future__ import annotations

import base64
import json
import threading
import time
from types import SimpleNamespace
from typing import Any

import pytest
from azure.core.credentials import AccessToken
from azure.core.exceptions import (
    ClientAuthenticationError,
    HttpResponseError,
    IncompleteReadError,
    ServiceRequestError,
    ServiceRequestTimeoutError,
    ServiceResponseError,
    ServiceResponseTimeoutError,
)
from azure.identity import CredentialUnavailableError

from cwiictl import names
from cwiictl.clouds.azure.resources.resource_group import ResourceGroupState
from cwiictl.clouds.azure.stores import tags
from cwiictl.clouds.azure.stores.errors import answered, told
from cwiictl.clouds.azure.stores.permissions import allowed
from cwiictl.clouds.azure.stores.tokens import Caller, Tokens
from cwiictl.engine.resource import Mark
from cwiictl.errors import BadInput, Denied, Failed, NotYet, Problem, Throttled

DENIED = (
    "The client 'somebody' with object id 'x' does not have authorization to perform action 'Microsoft.Storage/storageAccounts/write' over scope 'y'"
    " or the scope is invalid."
)


def an_error(
    code: str, status: int = 400, message: str = "some\n  words", **headers: str
) -> HttpResponseError:
    """As ARM says it."""
    body = json.dumps({"error": {"code": code, "message": message}})
    response: Any = SimpleNamespace(
        status_code=status,
        reason="Reason",
        headers={name.replace("_", "-"): value for name, value in headers.items()},
        text=lambda: body,
    )
    return HttpResponseError(response=response)


def a_blob_error(code: str, status: int) -> HttpResponseError:
    """As Blob says it: in a header, and in XML."""
    response: Any = SimpleNamespace(
        status_code=status,
        reason="Reason",
        headers={"x-ms-error-code": code},
        text=lambda: "<Error />",
    )
    return HttpResponseError(message="some words\nRequestId:1\nTime:2", response=response)


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (an_error("TooManyRequests", 429), Throttled),
        (an_error("Whatever", 429), Throttled),
        (an_error("ServiceUnavailable", 503), Throttled),
        (a_blob_error("ServerBusy", 503), Throttled),
        (an_error("InternalServerError", 500), NotYet),
        (a_blob_error("InternalError", 500), NotYet),
        (an_error("BadGateway", 502), NotYet),
        (an_error("PrincipalNotFound"), NotYet),
        (an_error("RoleDefinitionDoesNotExist"), NotYet),
        (an_error("RoleDefinitionHasAssignments"), NotYet),
        (
            an_error("ConcurrentFederatedIdentityCredentialsWritesForSingleManagedIdentity", 409),
            NotYet,
        ),
        (an_error("ParentResourceNotFound", 404), NotYet),
        (an_error("ResourceGroupBeingDeleted", 409), NotYet),
        (a_blob_error("ConditionNotMet", 412), NotYet),
        (a_blob_error("BlobAlreadyExists", 409), NotYet),
        (an_error("ExpiredAuthenticationToken", 401), BadInput),
        (a_blob_error("InvalidAuthenticationInfo", 401), BadInput),
        (an_error("SubscriptionNotFound", 404), BadInput),
        (an_error("AuthorizationFailed", 403, DENIED), Denied),
        (an_error("LinkedAuthorizationFailed", 403), Denied),
        (a_blob_error("AuthorizationPermissionMismatch", 403), Denied),
        (a_blob_error("AuthorizationFailure", 403), Denied),
        (an_error("RequestDisallowedByPolicy", 403), Failed),
        (an_error("ScopeLocked", 409), Failed),
        (an_error("MissingSubscriptionRegistration", 409), Failed),
        (an_error("BadRequest"), Failed),
    ],
)
def test_an_answer_is_told_by_what_one_can_do(
    error: HttpResponseError, kind: type[Problem]
) -> None:
    told = answered("Microsoft.Storage", error)

    assert type(told) is kind
    assert told.remedy
    assert "\n" not in told.problem


def test_a_denied_call_names_the_action_that_lacks() -> None:
    told = answered("Microsoft.Storage", an_error("AuthorizationFailed", 403, DENIED))

    assert "Microsoft.Storage/storageAccounts/write" in told.problem
    assert "Microsoft.Storage/storageAccounts/write" in told.remedy
    assert told.code == 1


def test_a_provider_that_is_not_registered_is_named() -> None:
    message = "The subscription is not registered to use namespace 'Microsoft.ManagedIdentity'. See https://aka.ms/rps-not-found."

    assert answered("x", an_error("MissingSubscriptionRegistration", 409, message)).remedy.endswith(
        "--namespace Microsoft.ManagedIdentity"
    )


def test_a_network_that_is_not_let_in_is_told_where_to_run_from() -> None:
    assert (
        "from a network that it lets in"
        in answered("Microsoft.Storage", a_blob_error("AuthorizationFailure", 403)).remedy
    )


def test_the_seconds_that_azure_asks_for_are_handed_on() -> None:
    told = answered("Microsoft.Storage", an_error("TooManyRequests", 429, Retry_After="7"))

    assert isinstance(told, Throttled)
    assert told.after == 7.0


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (ServiceRequestError("no such host"), NotYet),
        (ServiceRequestTimeoutError("too late"), NotYet),
        (ServiceResponseError("closed"), NotYet),
        (ServiceResponseTimeoutError("too late"), NotYet),
        (IncompleteReadError("half of it"), NotYet),
        (ServiceRequestError("[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed"), Failed),
    ],
)
def test_what_the_sdk_raises_itself_is_told_too(error: Exception, kind: type[Problem]) -> None:
    with pytest.raises(kind) as raised, told("Microsoft.Storage"):
        raise error
    assert raised.value.remedy
    assert raised.value.__cause__ is error


class Asked:
    """A credential that counts how often it is asked, and takes its time."""

    def __init__(self, *answers: AccessToken | Exception) -> None:
        self.answers = list(answers)
        self.calls: list[tuple[tuple[str, ...], dict[str, Any]]] = []

    def get_token(self, *scopes: str, **asked: Any) -> AccessToken:
        self.calls.append((scopes, asked))
        time.sleep(0.05)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


def a_token(text: str = "x", seconds: float = 3600) -> AccessToken:
    return AccessToken(text, int(time.time() + seconds))


def test_sixteen_threads_ask_once() -> None:
    credential = Asked(a_token())
    tokens, seen = Tokens(credential), list[str]()
    threads = [
        threading.Thread(target=lambda: seen.append(tokens.get_token("scope").token))
        for _ in range(16)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert seen == ["x"] * 16
    assert len(credential.calls) == 1


def test_another_scope_a_token_that_ends_soon_and_a_challenge_want_a_token_of_their_own() -> None:
    credential = Asked(
        a_token("short", 60), a_token("long"), a_token("other"), a_token("challenged")
    )
    tokens = Tokens(credential, "tenant")

    assert [tokens.get_token("a").token for _ in range(3)] == ["short", "long", "long"]
    assert tokens.get_token("b").token == "other"
    assert tokens.get_token("a", claims="c").token == "challenged"
    assert tokens.get_token("a").token == "challenged"
    assert [asked for _, asked in credential.calls] == [{"tenant_id": "tenant"}] * 3 + [
        {"tenant_id": "tenant", "claims": "c"}
    ]


@pytest.mark.parametrize(
    ("error", "kind", "said"),
    [
        (
            CredentialUnavailableError(
                "EnvironmentCredential authentication unavailable.\nMany lines."
            ),
            BadInput,
            "there are no Azure credentials",
        ),
        (
            ClientAuthenticationError(
                "x failed: AADSTS7000222: The secret has expired. Trace ID: 1"
            ),
            BadInput,
            "AADSTS7000222: The secret has expired.",
        ),
        (ServiceRequestError("no such host"), NotYet, "cannot be reached"),
        (ValueError("no tenant"), BadInput, "not whole"),
    ],
)
def test_who_gets_no_token_is_told_why(error: Exception, kind: type[Problem], said: str) -> None:
    with pytest.raises(kind, match=said) as raised:
        Tokens(Asked(error)).get_token("scope")
    assert raised.value.remedy
    assert "\n" not in raised.value.problem
    assert "Trace" not in raised.value.problem


@pytest.mark.parametrize(
    ("claims", "caller"),
    [
        (
            {"oid": "o", "tid": "t", "idtyp": "app", "appid": "a"},
            Caller("o", "ServicePrincipal", "a", "t"),
        ),
        (
            {
                "oid": "o",
                "tid": "t",
                "scp": "user_impersonation",
                "upn": "me@example.org",
                "appid": "a",
            },
            Caller("o", "User", "me@example.org", "t"),
        ),
        ({"oid": "o", "tid": "t"}, Caller("o", "ServicePrincipal", "o", "t")),
    ],
)
def test_a_token_says_whose_it_is(claims: dict[str, str], caller: Caller) -> None:
    body = base64.urlsafe_b64encode(json.dumps(claims).encode()).decode().rstrip("=")

    assert Caller.read(f"e30.{body}.x") == caller


def a_group(owner: Mark | None = None, **given: str) -> ResourceGroupState:
    return ResourceGroupState(region="eastus", tags=given, owner=owner)


def test_a_mark_is_no_tag_and_has_no_slash_in_azure() -> None:
    mark = Mark("a_cluster-1")
    sent = tags.written(a_group(mark, Name="x", costs="y"), None)

    assert sent == {
        "Name": "x",
        "costs": "y",
        "cwii.dev_cluster_a_cluster-1": "owned",
        "cwii.dev_origin": "create-all",
        "openshift.io_cloud-credential-operator_a_cluster-1": "owned",
    }
    assert tags.read(sent) == {"Name": "x", "costs": "y", **names.marked(mark)}
    assert names.mark(tags.read(sent), "a_cluster-1") == mark
    assert names.apart(tags.read(sent), mark) == {"Name": "x", "costs": "y"}


def test_tags_of_others_are_given_back_and_a_mark_is_taken_away() -> None:
    theirs = a_group(Mark("theirs"), Name="another", costs="y")

    assert tags.written(a_group(Name="x"), theirs) == {"Name": "x", "costs": "y"}
    assert tags.retagged(a_group(Name="x"), theirs)
    assert tags.retagged(a_group(Mark("theirs"), Name="x"), theirs)
    assert not tags.retagged(a_group(Mark("theirs"), Name="another"), theirs)
    assert tags.retagged(
        a_group(Mark("theirs"), Name="another"),
        a_group(Mark("theirs", whole=False), Name="another"),
    )


@pytest.mark.parametrize(
    ("held", "may"),
    [
        ([{"actions": ["*"], "notActions": []}], True),
        ([{"actions": ["microsoft.storage/*/WRITE"]}], True),
        ([{"actions": ["*"], "notActions": ["Microsoft.Storage/storageAccounts/*"]}], False),
        (
            [
                {"actions": ["*"], "notActions": ["*/write"]},
                {"actions": ["Microsoft.Storage/storageAccounts/write"]},
            ],
            True,
        ),
        ([{"actions": ["*/read"]}], False),
        ([], False),
    ],
)
def test_what_one_role_forbids_another_may_give(held: list[dict[str, Any]], may: bool) -> None:
    assert allowed("Microsoft.Storage/storageAccounts/write", held) is may
