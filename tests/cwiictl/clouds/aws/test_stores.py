"""AWS's errors in our words, and who acts."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import Any

import pytest
from botocore import exceptions
from botocore.exceptions import ClientError

from cwiictl import names
from cwiictl.clouds.aws.resources.role import RoleState
from cwiictl.clouds.aws.stores.errors import answered, told
from cwiictl.clouds.aws.stores.session import caller
from cwiictl.clouds.aws.stores.tags import Tags, complete, retagged
from cwiictl.engine.resource import Mark
from cwiictl.errors import BadInput, Denied, Failed, NotYet, Problem, Throttled
from tests.examples import a_role


def an_error(
    code: str, status: int = 400, operation: str = "CreateRole", **headers: str
) -> ClientError:
    response: Any = {
        "Error": {"Code": code, "Message": "some\n  words"},
        "ResponseMetadata": {"HTTPStatusCode": status, "HTTPHeaders": headers},
    }
    return ClientError(response, operation)


def the_role(**changes: Any) -> RoleState:
    return a_role(**{"managed": frozenset[str](), "session": 3600, **changes})


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (an_error("Throttling"), Throttled),
        (an_error("SlowDown", 503), Throttled),
        (an_error("Whatever", 429), Throttled),
        (an_error("ServiceUnavailable", 503), Throttled),
        (an_error("InternalFailure", 500), NotYet),
        (an_error("Unknown", 502), NotYet),
        (an_error("NoSuchEntity", 404, operation="AttachRolePolicy"), NotYet),
        (
            an_error("NoSuchEntity", 404),
            Failed,
        ),  # the boundary of a role that is made: it will not come by waiting
        (an_error("DistributionAlreadyExists", 409), NotYet),
        (an_error("OriginAccessControlAlreadyExists", 409), NotYet),
        (an_error("EntityAlreadyExists", 409), NotYet),
        (an_error("PreconditionFailed", 412), NotYet),
        (an_error("ExpiredToken"), BadInput),
        (an_error("InvalidClientTokenId", 403), BadInput),
        (an_error("AccessDenied", 403), Denied),
        (an_error("403", 403), Denied),
        (an_error("MalformedPolicyDocument"), Failed),
        (an_error("LimitExceeded", 409), Failed),
    ],
)
def test_an_answer_is_told_by_what_one_can_do(error: ClientError, kind: type[Problem]) -> None:
    told = answered("iam", error)

    assert type(told) is kind
    assert told.remedy
    assert "\n" not in told.problem


def test_a_denied_call_names_the_permission_that_lacks() -> None:
    told = answered("iam", an_error("AccessDenied", 403))

    assert "iam:CreateRole" in told.problem
    assert "iam:CreateRole" in told.remedy
    assert told.code == 1


def test_the_seconds_that_aws_asks_for_are_handed_on() -> None:
    told = answered("iam", an_error("Throttling", 429, **{"retry-after": "7"}))

    assert isinstance(told, Throttled)
    assert told.after == 7.0


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (exceptions.NoCredentialsError(), BadInput),
        (exceptions.PartialCredentialsError(provider="env", cred_var="x"), BadInput),
        (exceptions.ProfileNotFound(profile="x"), BadInput),
        (exceptions.EndpointConnectionError(endpoint_url="https://x"), NotYet),
        (exceptions.ReadTimeoutError(endpoint_url="https://x"), NotYet),
        (exceptions.ConnectionClosedError(endpoint_url="https://x"), NotYet),
        (exceptions.SSLError(endpoint_url="https://x", error=OSError("x")), Failed),
        (exceptions.ProxyConnectionError(proxy_url="http://x", error=OSError("x")), NotYet),
    ],
)
def test_what_the_sdk_raises_itself_is_told_too(error: Exception, kind: type[Problem]) -> None:
    with pytest.raises(kind) as raised, told("iam"):
        raise error
    assert raised.value.remedy
    assert raised.value.__cause__ is error


@pytest.mark.parametrize(
    ("arn", "told"),
    [
        ("arn:aws:iam::1:user/x", "arn:aws:iam::1:user/x"),
        ("arn:aws:sts::1:assumed-role/admin/monday", "arn:aws:iam::1:role/admin"),
        ("arn:aws-cn:sts::1:assumed-role/admin/b@example.org", "arn:aws-cn:iam::1:role/admin"),
        ("arn:aws:iam::1:root", "arn:aws:iam::1:root"),
    ],
)
def test_a_login_more_is_nobody_else(arn: str, told: str) -> None:
    assert caller(arn) == told


def test_a_mark_is_no_tag() -> None:
    mark = Mark("a-cluster")
    thing = the_role(owner=mark, tags={"Name": "x", "costs": "y"})

    assert names.apart(complete(thing), mark) == {"Name": "x", "costs": "y"}
    assert names.apart(complete(thing), None) == complete(thing)


def test_only_what_differs_is_tagged_and_only_a_mark_is_taken_away() -> None:
    ours, theirs = (
        the_role(owner=Mark("ours")),
        the_role(owner=Mark("theirs"), tags={"Name": "another", "costs": "y"}),
    )

    add, take = retagged(ours, theirs)
    assert {tag["Key"] for tag in add} == {
        "Name",
        "cwii.dev/cluster/ours",
        "openshift.io/cloud-credential-operator/ours",
    }
    assert take == ["cwii.dev/cluster/theirs", "openshift.io/cloud-credential-operator/theirs"]
    assert retagged(ours, ours) == ([], [])
    assert retagged(the_role(), ours)[1] == [
        "cwii.dev/cluster/ours",
        "cwii.dev/origin",
        "openshift.io/cloud-credential-operator/ours",
    ]


def test_two_who_ask_at_once_are_both_told_of_all_things() -> None:
    asked: list[str] = []
    second, over = threading.Event(), threading.Event()

    def ask(thing: str) -> list[dict[str, str]]:
        asked.append(thing)
        if thing == "two" and asked.count("two") == 1:
            second.wait(0.3)  # for another who asks the same, and had better not
        elif thing == "two":
            second.set()
            over.wait(9)
        return [{"Key": key, "Value": value} for key, value in names.marked(Mark("demo")).items()]

    tags = Tags("iam", lambda _cluster: ["one", "two"], ask)
    with ThreadPoolExecutor(2) as pool:
        answers = [pool.submit(tags.owned, "demo") for _ in range(2)]
        next(iter(as_completed(answers))).result()
        over.set()

    assert [sorted(answer.result()) for answer in answers] == [["one", "two"]] * 2
    assert asked == ["one", "two"]
    assert sorted(tags.owned("demo")) == ["one", "two"]
    assert asked == ["one", "two"] * 2


def test_of_a_damaged_mark_all_is_written_again() -> None:
    """What is left of it may say something else than it seems."""
    damaged = the_role(owner=Mark("ours", whole=False), tags={"Name": "a-cluster", "costs": "y"})

    add, take = retagged(the_role(owner=Mark("ours")), damaged)

    assert {tag["Key"] for tag in add} == names.marked(Mark("ours")).keys()
    assert take == []


@pytest.mark.parametrize(
    ("operation", "permissions"),
    [
        ("CreateRole", ("iam:CreateRole", "iam:TagRole")),
        ("CreatePolicy", ("iam:CreatePolicy", "iam:TagPolicy")),
        (
            "CreateOpenIDConnectProvider",
            ("iam:CreateOpenIDConnectProvider", "iam:TagOpenIDConnectProvider"),
        ),
        ("AttachRolePolicy", ("iam:AttachRolePolicy",)),
    ],
)
def test_a_call_that_needs_two_permissions_names_both(
    operation: str, permissions: tuple[str, ...]
) -> None:
    told = answered("iam", an_error("AccessDenied", 403, operation=operation))

    assert all(permission in told.remedy for permission in permissions)
