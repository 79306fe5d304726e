"""The API server's noes, and what to make of each."""

from __future__ import annotations

from typing import Any

import pytest

from cwiictl.errors import BadInput, Denied, Failed, NotYet, Throttled
from cwiictl.kubernetes.stores.errors import Refused, answered, unreached


def refused(status: int, message: str = "no", after: str = "", **said: Any) -> Refused:
    return Refused(status, {"message": message, **said}, after)


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (refused(401), BadInput),
        (refused(403, 'User "a" cannot patch resource "pods"'), Denied),
        (refused(403, "x is attempting to grant RBAC permissions not currently held"), Denied),
        (refused(403, 'admission webhook "a.b" denied the request: it cannot be'), Failed),
        (refused(403, "ValidatingAdmissionPolicy 'a' with binding 'b' denied request: no"), Failed),
        (
            refused(
                403,
                "it is being terminated",
                details={"causes": [{"reason": "NamespaceTerminating"}]},
            ),
            NotYet,
        ),
        (refused(404, 'namespaces "a" not found'), NotYet),
        (refused(409), NotYet),
        (refused(400), Failed),
        (refused(422, "spec.selector: field is immutable"), Failed),
        (refused(429), Throttled),
        (refused(500, 'failed calling webhook "a.b"'), NotYet),
        (
            refused(
                500, "failed to create typed patch object (a/b; apps/v1): expected string, got int"
            ),
            Failed,
        ),
        (
            refused(
                500,
                "unable to convert unstructured object to apps/v1, Kind=Deployment: quantities must match",
            ),
            Failed,
        ),
        (refused(503), Throttled),
    ],
)
def test_each_is_what_one_can_do_about_it(answer: Refused, problem: type[Exception]) -> None:
    said = answered(answer)
    assert type(said) is problem
    assert said.remedy


def test_how_long_to_wait_is_heard() -> None:
    said = answered(refused(429, after="7"))
    assert isinstance(said, Throttled)
    assert said.after == 7.0


@pytest.mark.parametrize(
    ("why", "problem", "told"),
    [
        (
            "HTTPSConnection(host='a', port=1): Failed to establish a new connection: [Errno 111] Connection refused",
            NotYet,
            "cannot be reached: Failed to establish a new connection: [Errno 111] Connection refused",
        ),
        ("[SSL: CERTIFICATE_VERIFY_FAILED] self signed", Failed, "is not believed"),
        ("[SSL: WRONG_VERSION_NUMBER] wrong version", Failed, "no TLS connection to https://a"),
        (
            "('Unable to connect to proxy', OSError('Tunnel connection failed: 403 '))",
            Failed,
            "the proxy lets nothing through to https://a: it says 403",
        ),
        ("Read timed out. (read timeout=60)", NotYet, "cannot be reached: Read timed out"),
    ],
)
def test_no_answer_is_told_without_the_clients_own_words(
    why: str, problem: type[Exception], told: str
) -> None:
    said = unreached("https://a", why)
    assert type(said) is problem
    assert told in said.problem
