"""Federated credentials: few, unique, and written one after another."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from azure.core.exceptions import HttpResponseError

from cwiictl.sandbox.azure.answers import Refusal
from cwiictl.sandbox.azure.arm import address
from cwiictl.sandbox.azure.arm.call import Call
from cwiictl.sandbox.azure.arm.writers import Writers
from cwiictl.sandbox.azure.entra import Caller
from cwiictl.sandbox.exchange import Request
from cwiictl.sandbox.faults import Faults
from tests.cwiictl.sandbox.azure.manager import IDENTITIES, Manager, error, told
from tests.cwiictl.sandbox.azure.tenant import MANAGEMENT, Tenant

Begin = Callable[..., Tenant]
VERSION = "2024-11-30"
PATH = f"{IDENTITIES}/one/federatedIdentityCredentials"
TRUST: dict[str, Any] = {
    "issuer": "https://issuer.example.org",
    "subject": "system:serviceaccount:n:s",
    "audiences": ["openshift"],
}


@pytest.fixture
def ready(manager: Manager) -> Manager:
    manager.group()
    manager.identity()
    return manager


def put(manager: Manager, name: str = "fic", **changes: Any) -> Any:
    return manager.ask("PUT", f"{PATH}/{name}", {"properties": {**TRUST, **changes}}, VERSION)


def test_a_credential_is_kept_as_it_was_written(ready: Manager) -> None:
    assert put(ready, issuer="https://Issuer.example.org/", subject="Some:Subject").status == 201
    found = ready.credentials.get("g", "one", "fic")
    assert (found.issuer, found.subject, found.audiences) == (
        "https://Issuer.example.org/",
        "Some:Subject",
        ["openshift"],
    )
    assert put(ready).status == 200
    assert [one.subject for one in ready.credentials.list("g", "one")] == [TRUST["subject"]]
    assert ready.ask("DELETE", f"{PATH}/fic", version=VERSION).status == 200
    assert ready.ask("DELETE", f"{PATH}/fic", version=VERSION).status == 204
    assert told(lambda: ready.credentials.get("g", "one", "fic")) == (404, "ResourceNotFound")


def test_there_is_none_without_its_identity(ready: Manager) -> None:
    assert told(lambda: ready.trust(identity="two")) == (404, "ResourceNotFound")
    assert told(lambda: ready.credentials.list("g", "two")) == (404, "ResourceNotFound")
    ready.trust()
    ready.identities.delete("g", "one")
    ready.identity()
    assert list(ready.credentials.list("g", "one")) == []


@pytest.mark.parametrize("audiences", [[], ["a", "b"], None])
def test_it_has_one_audience(ready: Manager, audiences: object) -> None:
    assert error(put(ready, audiences=audiences))[:2] == (400, "BadRequest")


@pytest.mark.parametrize("name", ["ab", "_abc", "a.b.c", "system:serviceaccount", "x" * 121])
def test_names_that_are_none(ready: Manager, name: str) -> None:
    assert error(put(ready, name))[:2] == (400, "BadRequest")


@pytest.mark.parametrize(
    "changes", [{"issuer": ""}, {"subject": None}, {"issuer": "no-url"}, {"subject": "x" * 601}]
)
def test_what_cannot_be_a_workload(ready: Manager, changes: dict[str, Any]) -> None:
    assert error(put(ready, **changes))[:2] == (400, "BadRequest")


def test_issuer_and_subject_are_one_in_an_identity(ready: Manager) -> None:
    put(ready)
    assert error(put(ready, "other")) == (
        409,
        "Conflict",
        "Issuer and subject combination already exists for this Managed Identity.",
    )
    assert put(ready, "other", subject="System:ServiceAccount:n:s").status == 201
    ready.identity("two")
    ready.trust("fic", "two", subject=TRUST["subject"])


def test_twenty_are_enough(ready: Manager) -> None:
    for number in range(20):
        ready.trust(f"fic{number}")
    assert told(lambda: ready.trust("fic20")) == (400, "BadRequest")
    ready.trust("fic19")


def at_once(manager: Manager, identities: list[str]) -> list[str]:
    """Four writes in the same moment, each with what it heard."""
    manager.tenant.operator.get_token(MANAGEMENT)

    def write(number: int) -> str:
        try:
            return str(manager.trust(f"fic{number}", identities[number % len(identities)]).name)
        except HttpResponseError as refused:
            return f"{refused.status_code} {refused.message}"

    with ThreadPoolExecutor(4) as pool:
        return list(pool.map(write, range(4)))


def test_of_those_written_at_once_one_is_taken(begin: Begin) -> None:
    manager = Manager(begin(latency=0.3))
    manager.group()
    manager.identity()
    found = at_once(manager, ["one"])
    taken = [one for one in found if one.startswith("fic")]
    assert [one.name for one in manager.credentials.list("g", "one")] == taken
    assert len(taken) == 1
    words = f"Too many Federated Identity Credentials are written concurrently for the managed identity '{IDENTITIES.lower()}/one'."
    refused = [one for one in found if one not in taken]
    assert all(
        one.startswith(
            f"409 (ConcurrentFederatedIdentityCredentialsWritesForSingleManagedIdentity) {words}"
        )
        for one in refused
    )


def test_a_write_that_comes_while_another_is_at_work_is_refused() -> None:
    writers, call = (
        Writers(Faults()),
        Call(Request("PUT", "", f"{PATH}/fic"), address.read(f"{PATH}/fic"), Caller("", "", "")),
    )
    with writers.turn(call), pytest.raises(Refusal) as caught, writers.turn(call):
        pass
    assert caught.value.status == 409
    with writers.turn(call):
        pass


@pytest.mark.parametrize("latency", [0.0, 0.1])
def test_one_after_another_is_well_and_so_are_several_identities(
    begin: Begin, latency: float
) -> None:
    manager = Manager(begin(latency=latency))
    manager.group()
    names = [f"id{number}" for number in range(4)]
    for name in names:
        manager.identity(name)
    assert at_once(manager, names) == ["fic0", "fic1", "fic2", "fic3"]
    for number in range(4):
        assert manager.trust(f"next{number}", "id0").name == f"next{number}"
