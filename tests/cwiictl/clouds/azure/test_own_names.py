"""What a workload may say itself: what its identity and its credentials are called, and that others may give it roles."""

from __future__ import annotations

import json
from typing import Any

import pytest

from cwiictl.clouds.azure import plan
from cwiictl.clouds.azure.resources.identity import Identity
from cwiictl.clouds.azure.resources.role_assignments import RoleAssignments
from cwiictl.clouds.azure.section import ask_of
from cwiictl.clouds.azure.spec import Ask
from cwiictl.documents import documents
from cwiictl.engine.resource import Known, Plan
from cwiictl.errors import BadInput
from cwiictl.issuer.home import Home
from tests.cwiictl.clouds.azure.told import a_spec, the_stores
from tests.examples import a_cluster, a_workload


def asked(**section: Any) -> Ask:
    (document,) = documents("cluster.yaml", json.dumps(section).encode())
    return ask_of(document)


def planned(*asks: tuple[Any, Ask]) -> list[Any]:
    return list(
        Plan(
            plan.identities(
                a_spec(), a_cluster(), the_stores(), asks, Home("https://issuer.example.org")
            )
        ).values()
    )


def an_identity(ask: Ask, **changes: Any) -> Identity:
    (identity,) = (
        thing for thing in planned((a_workload(**changes), ask)) if isinstance(thing, Identity)
    )
    return identity


def test_an_identity_has_the_name_that_it_was_given_or_one_of_ours() -> None:
    assert an_identity(asked(identityName="Guest_Disk-x7")).name == "demo-oidc/guest_disk-x7", (
        "Azure compares names without case"
    )
    assert an_identity(asked()).name == "demo-oidc/demo-kube-system-cloud-credentials"


def test_a_credential_has_the_name_that_it_was_given_or_its_service_accounts() -> None:
    identity = an_identity(
        asked(credentialNames={"one": "The-First"}), service_accounts=("one", "two")
    )

    subjects = {
        "system:serviceaccount:kube-system:one": "The-First",
        "system:serviceaccount:kube-system:two": "two",
    }
    assert dict(identity.entitled) == subjects
    assert {
        credential.subject: title for credential, title in identity.want(Known()).titles.items()
    } == subjects


def test_two_identities_of_one_name_are_a_mistake() -> None:
    with pytest.raises(BadInput, match=r"two different things would be azure/.*/demo-oidc/same"):
        planned(
            (a_workload(), asked(identityName="same")),
            (a_workload(name="other"), asked(identityName="Same")),
        )


@pytest.mark.parametrize("preserve", [True, False])
def test_what_others_gave_it_can_be_left(*, preserve: bool) -> None:
    (given,) = (
        thing
        for thing in planned((a_workload(), asked(preserveExistingRoles=preserve)))
        if isinstance(thing, RoleAssignments)
    )
    assert given.preserve == preserve


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"identityName": "a.b.c"}, "cluster.yaml:1: a.b.c is no name of an identity"),
    ({"identityName": "ab"}, "cluster.yaml:1: ab is no name of an identity"),
    ({"identityName": "-abc"}, "cluster.yaml:1: -abc is no name of an identity"),
    ({"identityName": "a" * 129}, "is no name of an identity"),
    (
        {"identityName": "Guest-Windows-x7"},
        "cluster.yaml:1: Guest-Windows-x7 holds a word that Azure keeps for itself",
    ),
    (
        {"credentialNames": {"one": "a.b"}},
        "cluster.yaml:1: a.b is no name of a federated credential",
    ),
    ({"credentialNames": {"one": "a" * 121}}, "is no name of a federated credential"),
    (
        {"credentialNames": {"one": "Same", "two": "same"}},
        "the federated credential same is asked for twice",
    ),
]


@pytest.mark.parametrize(("section", "problem"), WRONG)
def test_names_that_azure_would_refuse_are_found_at_once(
    section: dict[str, Any], problem: str
) -> None:
    with pytest.raises(BadInput) as e:
        asked(**section)

    assert problem in e.value.problem


def test_a_name_that_was_given_cannot_be_anothers_by_default() -> None:
    with pytest.raises(
        BadInput, match="two credentials of kube-system/cloud-credentials would be called two"
    ):
        planned(
            (a_workload(service_accounts=("one", "two")), asked(credentialNames={"one": "Two"}))
        )


def test_a_credential_can_only_be_named_for_a_service_account_that_is_there() -> None:
    with pytest.raises(BadInput) as e:
        planned(
            (a_workload(service_accounts=("operator",)), asked(credentialNames={"operater": "abc"}))
        )

    assert (
        "a credential is named for operater, which is none of the ServiceAccounts of kube-system/cloud-credentials"
        in e.value.problem
    )
    assert e.value.remedy == "did you mean operator?"
