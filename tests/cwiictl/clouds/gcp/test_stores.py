"""Google's errors in our words, who acts, and how marks, members and policies are written."""

from __future__ import annotations

import json
import threading
import time
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest
import requests
from google.api_core import exceptions
from google.api_core.exceptions import (
    GoogleAPICallError,
    InternalServerError,
    NotFound,
    PermissionDenied,
    ServiceUnavailable,
)
from google.auth.exceptions import DefaultCredentialsError, RefreshError, TransportError
from google.iam.v1.policy_pb2 import Policy
from google.type.expr_pb2 import Expr

from cwiictl import names
from cwiictl.clouds.gcp import ids
from cwiictl.clouds.gcp.resources.bucket import READABLE, BucketState
from cwiictl.clouds.gcp.resources.grant import Condition, Grant
from cwiictl.clouds.gcp.stores import descriptions, labels, trust
from cwiictl.clouds.gcp.stores.errors import Off, answered, told
from cwiictl.clouds.gcp.stores.ledger import grants, rebound
from cwiictl.clouds.gcp.stores.roles import base
from cwiictl.clouds.gcp.stores.services import Opening
from cwiictl.clouds.gcp.stores.tokens import NOBODY, Tokens, caller, quota
from cwiictl.clouds.gcp.stores.wire import authorities, proxied
from cwiictl.engine.resource import Mark
from cwiictl.errors import BadInput, Denied, Failed, NotYet, Problem, Throttled

LACKS = "Permission 'iam.serviceAccounts.create' denied on resource '//iam.googleapis.com/projects/p' (or it may not exist)."
QUOTA = (
    "Caller does not have required permission to use project p. Grant the caller the roles/serviceusage.serviceUsageConsumer role,"
    " or a custom role with the serviceusage.services.use permission, by visiting the console."
)
BLOCKED = "who@example.org does not have storage.buckets.create access to the Google Cloud project. Permission 'storage.buckets.create' denied on resource."


def answer(status: int, error: dict[str, Any], **headers: str) -> GoogleAPICallError:
    response = requests.Response()
    response.status_code = status
    response.headers.update({name.replace("_", "-"): value for name, value in headers.items()})
    response._content = json.dumps({"error": error}).encode()
    response.request = requests.Request(
        "POST", "https://iam.googleapis.com/v1/x?secret=1"
    ).prepare()
    sdk: Any = exceptions  # its types leave something open
    return sdk.from_http_response(response)


def an_error(
    word: str, status: int = 400, message: str = "some\n  words", reason: str = "", **headers: str
) -> GoogleAPICallError:
    """As most of Google says it."""
    info = {
        "@type": "type.googleapis.com/google.rpc.ErrorInfo",
        "reason": reason,
        "metadata": {"service": "iam.googleapis.com"},
    }
    return answer(
        status,
        {"code": status, "message": message, "status": word, "details": [info] if reason else []},
        **headers,
    )


def a_storage_error(reason: str, status: int, message: str = "some words") -> GoogleAPICallError:
    """As Cloud Storage says it."""
    return answer(
        status,
        {
            "code": status,
            "message": message,
            "errors": [{"reason": reason, "domain": "global", "message": message}],
        },
    )


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (an_error("RESOURCE_EXHAUSTED", 429, reason="RATE_LIMIT_EXCEEDED"), Throttled),
        (an_error("UNAVAILABLE", 503), Throttled),
        (ServiceUnavailable("try again"), Throttled),
        (a_storage_error("rateLimitExceeded", 429), Throttled),
        (a_storage_error("userRateLimitExceeded", 403), Throttled),
        (
            an_error(
                "RESOURCE_EXHAUSTED", 429, "Maximum number of service accounts on project reached."
            ),
            Failed,
        ),
        (an_error("INTERNAL", 500), NotYet),
        (InternalServerError("x"), NotYet),
        (an_error("DEADLINE_EXCEEDED", 504), NotYet),
        (an_error("NOT_FOUND", 404), NotYet),
        (NotFound("x"), NotYet),
        (an_error("ALREADY_EXISTS", 409), NotYet),
        (an_error("ABORTED", 409), NotYet),
        (a_storage_error("conditionNotMet", 412), NotYet),
        (
            a_storage_error(
                "conditionNotMet",
                412,
                "'us' violates constraint 'constraints/gcp.resourceLocations'",
            ),
            Denied,
        ),
        (
            an_error(
                "FAILED_PRECONDITION",
                400,
                "One or more users named in the policy do not belong to a permitted customer.",
            ),
            Denied,
        ),
        (an_error("INVALID_ARGUMENT", 400, "Service account x@p does not exist."), NotYet),
        (
            an_error("INVALID_ARGUMENT", 400, "Identity Pool does not exist (projects/1/...)."),
            NotYet,
        ),
        (an_error("UNAUTHENTICATED", 401), BadInput),
        (an_error("PERMISSION_DENIED", 403, LACKS), Denied),
        (PermissionDenied(LACKS), Denied),
        (a_storage_error("forbidden", 403, BLOCKED), Denied),
        (an_error("PERMISSION_DENIED", 403, reason="SERVICE_DISABLED"), Off),
        (an_error("INVALID_ARGUMENT"), Failed),
        (an_error("FAILED_PRECONDITION"), Failed),
        (
            ServiceUnavailable(
                "failed to connect to all addresses; last error: UNKNOWN: connection refused"
            ),
            NotYet,
        ),
        (
            ServiceUnavailable(
                "failed to connect to all addresses: CERTIFICATE_VERIFY_FAILED: self signed certificate"
            ),
            Failed,
        ),
    ],
)
def test_an_answer_is_told_by_what_one_can_do(
    error: GoogleAPICallError, kind: type[Problem]
) -> None:
    told = answered("iam", error)

    assert type(told) is kind
    assert told.remedy
    assert "\n" not in told.problem
    assert "secret" not in told.problem


@pytest.mark.parametrize(
    ("error", "permission"),
    [
        (an_error("PERMISSION_DENIED", 403, LACKS), "iam.serviceAccounts.create"),
        (PermissionDenied(LACKS), "iam.serviceAccounts.create"),
        (a_storage_error("forbidden", 403, BLOCKED), "storage.buckets.create"),
        (an_error("PERMISSION_DENIED", 403, QUOTA), "serviceusage.services.use"),
    ],
)
def test_a_denied_call_names_the_permission_that_lacks(
    error: GoogleAPICallError, permission: str
) -> None:
    assert f"have {permission} granted" in answered("iam", error).remedy


def test_an_api_that_is_off_is_named() -> None:
    told = answered("iam", an_error("PERMISSION_DENIED", 403, reason="SERVICE_DISABLED"))

    assert "gcloud services enable iam.googleapis.com" in told.remedy


def test_the_seconds_that_google_asks_for_are_handed_on() -> None:
    told = answered("iam", an_error("RESOURCE_EXHAUSTED", 429, Retry_After="7"))

    assert isinstance(told, Throttled)
    assert told.after == 7.0


@pytest.mark.parametrize(
    ("error", "kind", "said"),
    [
        (requests.ConnectionError("no such host"), NotYet, "cannot be reached"),
        (requests.Timeout("too late"), NotYet, "cannot be reached"),
        (
            requests.exceptions.SSLError(
                "[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed"
            ),
            Failed,
            "not believed",
        ),
        (requests.exceptions.ChunkedEncodingError("half of it"), NotYet, "did not arrive whole"),
        (TransportError("no such host"), NotYet, "cannot be reached"),
        (
            RefreshError("invalid_grant: Token has been expired or revoked.", {"error": "x"}),
            BadInput,
            "expired or revoked$",
        ),
        (RefreshError("try again", retryable=True), NotYet, "not ready to give out a token"),
        (
            DefaultCredentialsError("Your default credentials were not found. To set up ..."),
            BadInput,
            "there are no Google credentials",
        ),
        (
            DefaultCredentialsError("File x was not found."),
            BadInput,
            "not whole: File x was not found",
        ),
        (DefaultCredentialsError("The file x does not have a valid type."), BadInput, "not whole"),
    ],
)
def test_what_the_sdks_raise_themselves_is_told_too(
    error: Exception, kind: type[Problem], said: str
) -> None:
    with pytest.raises(kind, match=said) as raised, told("iam"):
        raise error
    assert raised.value.remedy
    assert raised.value.__cause__ is error


class Asked:
    """A credential that counts how often it is asked, and takes its time."""

    universe_domain, quota_project_id = "googleapis.com", None

    def __init__(self, *lives: float) -> None:
        self.lives = list(lives)
        self.token, self.expiry, self.calls = "", datetime.min, 0  # noqa: DTZ901 - as the SDK has it

    def refresh(self, _request: Any) -> None:
        time.sleep(0.05)
        self.calls += 1
        self.token = f"token-{self.calls}"
        self.expiry = datetime.now(UTC).replace(tzinfo=None) + timedelta(seconds=self.lives.pop(0))


def test_sixteen_threads_ask_once() -> None:
    credential, seen = Asked(3600), list[str]()
    tokens = Tokens(credential, "a-project")
    threads = [
        threading.Thread(target=lambda: seen.append(tokens.headers()["authorization"]))
        for _ in range(16)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert seen == ["Bearer token-1"] * 16
    assert credential.calls == 1
    assert tokens.headers()["x-goog-user-project"] == "a-project"


def test_a_token_that_ends_soon_or_was_refused_is_followed_by_another() -> None:
    credential = Asked(60, 3600, 3600)
    tokens = Tokens(credential)

    assert [tokens.headers()["authorization"] for _ in range(3)] == [
        "Bearer token-1",
        "Bearer token-2",
        "Bearer token-2",
    ]
    tokens.refresh(None)

    assert tokens.headers() == {"authorization": "Bearer token-3"}


@pytest.mark.parametrize(
    ("credential", "who", "project"),
    [
        (
            SimpleNamespace(
                service_account_email="sa@p.iam.gserviceaccount.com", quota_project_id=None
            ),
            "sa@p.iam.gserviceaccount.com",
            "",
        ),
        (
            SimpleNamespace(account="who@example.org", refresh_token="x", quota_project_id=None),
            "who@example.org",
            "a-project",
        ),
        (SimpleNamespace(account="", refresh_token="x", quota_project_id="mine"), NOBODY, ""),
        (
            SimpleNamespace(
                service_account_email=None,
                _audience="//iam.googleapis.com/x",
                quota_project_id=None,
            ),
            "//iam.googleapis.com/x",
            "",
        ),
    ],
)
def test_whoever_acts_is_named_and_a_person_acts_on_the_quota_of_the_project(
    credential: Any, who: str, project: str
) -> None:
    assert caller(credential) == who
    assert quota(credential, "a-project") == project


def test_over_grpc_the_same_way_and_the_same_authorities_are_taken(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    for name in (
        "https_proxy",
        "no_proxy",
        "all_proxy",
        "GRPC_DEFAULT_SSL_ROOTS_FILE_PATH",
        "CURL_CA_BUNDLE",
    ):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    (tmp_path / "ca.pem").write_bytes(b"a certificate")
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(tmp_path / "ca.pem"))
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy.example.org:3128")

    assert authorities() == b"a certificate"
    assert proxied("iam.googleapis.com") == [("grpc.http_proxy", "http://proxy.example.org:3128")]
    monkeypatch.setenv("NO_PROXY", "googleapis.com")
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", "")

    assert authorities() is None
    assert proxied("iam.googleapis.com") == []


@pytest.mark.parametrize("cluster", ["a-cluster", "a-cluster-whose-name-is-as-long-as-it-gets"])
def test_a_mark_is_read_from_labels_as_it_was_written(cluster: str) -> None:
    mark = Mark(cluster, origin="create-identity")
    told = {"Name": "x", "costs": "1", **names.trusted(["azure"])}
    written = labels.written(
        BucketState(location="us", project="1", access=READABLE, labels=told, owner=mark), None
    )

    assert all(
        len(key) <= 63 and key == key.lower() and not set("./") & set(key) for key in written
    )
    assert written[f"cwii-dev_cluster_{cluster}"] == "owned"
    assert labels.owner(written, cluster) == mark
    assert names.apart(labels.read(written), mark) == told


def test_labels_of_others_stay_and_what_is_let_go_of_keeps_none_of_our_words() -> None:
    have = BucketState(
        location="us",
        project="1",
        access=READABLE,
        labels={"theirs": "x", **names.trusted(["azure"])},
        owner=Mark("a-cluster"),
    )
    want = BucketState(location="us", project="1", access=READABLE, labels={"Name": "y"})

    assert labels.written(want, have) == {"theirs": "x", "name": "y"}


def test_a_description_holds_a_sentence_other_projects_and_a_mark() -> None:
    mark = Mark("a-cluster")
    text = descriptions.written("Somebody.", mark, ["p3", "p2"])

    assert descriptions.read(text, "a-cluster") == ("Somebody.", {"p2", "p3"}, mark, "")
    assert descriptions.read(descriptions.written("Somebody.", None, ["p2"]), "a-cluster") == (
        "Somebody.",
        {"p2"},
        None,
        "",
    )
    with pytest.raises(BadInput, match="longer than the 256"):
        descriptions.written(
            "Somebody.", mark, [f"another-project-{number}" for number in range(20)]
        )


def test_of_a_policy_only_our_part_changes() -> None:
    when = {"title": "soon", "expression": "true"}
    document: Any = {
        "bindings": [
            {"role": "roles/a", "members": ["user:them", "user:us"]},
            {"role": "roles/a", "members": ["user:us"], "condition": when},
            {"role": "roles/b", "members": ["user:us"]},
        ]
    }
    before = frozenset(grants(document))
    after = {
        Grant("roles/a", "user:them"),
        Grant("roles/a", "user:us", Condition("soon", "true")),
        Grant("roles/a", "user:new"),
        Grant("roles/c", "user:us"),
    }

    bindings = rebound(document["bindings"], before - after, after - before)

    assert bindings[:2] == [
        {"role": "roles/a", "members": ["user:them", "user:new"]},
        {"role": "roles/a", "members": ["user:us"], "condition": when},
    ]
    assert frozenset(grants({"bindings": bindings})) == after


def test_of_a_service_accounts_policy_only_our_pool_changes() -> None:
    ours, theirs = trust.Pool("1", "ours"), ids.principal("1", "theirs", "x")
    one, two = (ids.principal("1", "ours", name) for name in ("one", "two"))
    everybody = (
        "principalSet://iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/ours/*"
    )
    policy = Policy(etag=b"seen")
    policy.bindings.add(role=trust.USER, members=[one, theirs, everybody])
    policy.bindings.add(role=trust.USER, members=[two], condition=Expr(expression="true"))
    policy.bindings.add(role="roles/x", members=[one])
    assert ours.principals(policy) == {one, everybody, f"{two} if true"}

    after = ours.entrusted(policy, [two])

    assert ours.principals(after) == {two}
    assert after.etag == b"seen"
    assert [(each.role, list(each.members)) for each in after.bindings] == [
        (trust.USER, [theirs, two]),
        ("roles/x", [one]),
    ]


@pytest.mark.parametrize(
    ("id_", "name"),
    [
        ("cwii_0123456789ab", None),
        ("cwii_0123456789ab_2", "cwii_0123456789ab"),
        ("cwii_a_b_12345678", None),
    ],
)
def test_the_number_behind_a_roles_id_is_not_its_name(id_: str, name: str | None) -> None:
    assert base(id_) == (name or id_)


class Closed:
    """A store whose API is off."""

    kind, bulk, patience = "gcp/thing", False, 60.0

    def get(self, *_asked: Any) -> Any:
        raise Off("it is off", remedy="turn it on")

    put = drop = owned = get


class Told:
    """What is known of all that are needed."""

    def __init__(self, *, shut: bool) -> None:
        self.shut = lambda: shut


def opening_of(*, shut: bool, opens: bool) -> Opening:
    apis: Any = Told(shut=shut)
    return Opening(Closed(), apis, opens=opens)


def test_behind_an_api_that_is_off_there_is_nothing_where_that_has_its_own_word_to_say() -> None:
    assert opening_of(shut=True, opens=False).get(["x"]) == {}
    with pytest.raises(Off):
        opening_of(shut=True, opens=False).put("x", None, None)
    with pytest.raises(Off):
        opening_of(shut=False, opens=False).get(["x"])


def test_behind_an_api_that_is_being_turned_on_there_is_nothing_and_then_it_is_waited_for() -> None:
    opening = opening_of(shut=False, opens=True)

    assert opening.get(["x"]) == {}
    with pytest.raises(NotYet, match="it is off"):
        opening.put("x", None, None)
    assert opening.owned("a-cluster") == {}
