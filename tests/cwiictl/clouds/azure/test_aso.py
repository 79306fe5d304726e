"""Identities as resources of Azure Service Operator: accepted by its definitions, and the same as would be made."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from cwiictl import files, names
from cwiictl.clouds.azure import aso, plan
from cwiictl.clouds.azure.resources.custom_role import Powers
from cwiictl.clouds.azure.resources.identity import Identity
from cwiictl.clouds.azure.resources.role_assignments import RoleAssignments
from cwiictl.clouds.azure.spec import Ask, Role
from cwiictl.clouds.azure.stores import Stores
from cwiictl.engine.resource import Known, Plan
from cwiictl.errors import BadInput
from cwiictl.issuer.home import Home
from cwiictl.model import SUBDOMAIN
from tests.cwiictl.clouds.azure.crds import refusals, schemas
from tests.cwiictl.clouds.azure.told import ROLES, SUBSCRIPTION, a_group, a_spec
from tests.examples import a_cluster, a_workload

ISSUER = "https://issuer.example.org"
READER = ROLES["reader"]
DISKS = frozenset({"Microsoft.Compute/disks/read"})
ASKED = Ask(
    (Role(READER), Role(READER, ("/providers/microsoft.management/managementgroups/all",))),
    Powers(DISKS, data_actions=frozenset({"a/b"})),
)


def nobody() -> Stores:
    raise BadInput("Azure is asked")


def planned(*asks: tuple[Any, Ask], **told: Any) -> Plan:
    spec = a_spec(**told)
    return Plan(
        plan.identities(
            spec,
            a_cluster(),
            aso.unconnected(spec, a_cluster(), nobody),
            asks or [(a_workload(), ASKED)],
            Home(ISSUER),
        )
    )


def declared(*asks: tuple[Any, Ask], secret: str = "", **told: Any) -> dict[str, list[Any]]:
    return aso.objects(planned(*asks, **told), secret, files.template)


def every(found: dict[str, list[Any]], kind: str = "") -> list[Any]:
    return [one for objects in found.values() for one in objects if kind in {"", one["kind"]}]


def accepted(objects: Iterable[Any]) -> bool:
    return [refusal for one in objects for refusal in refusals(one)] == []


@pytest.mark.parametrize("told", [{}, {"group": "theirs"}, {"environment": "AzureChinaCloud"}])
@pytest.mark.parametrize("secret", ["", "aso-credential"])
def test_the_definitions_accept_every_object(told: dict[str, Any], secret: str) -> None:
    found = declared(secret=secret, **told)

    assert accepted(every(found))
    kinds = {one["kind"] for one in every(found)}
    assert {kind for _, kind in schemas()} - kinds == (
        {"ResourceGroup"} if "group" in told else set()
    )


def test_the_definitions_refuse_what_they_do_not_know() -> None:
    (one,) = every(declared(), "FederatedIdentityCredential")

    assert refusals({**one, "spec": {**one["spec"], "audience": "openshift"}}) != []
    assert (
        refusals(
            {**one, "spec": {key: value for key, value in one["spec"].items() if key != "owner"}}
        )
        != []
    )
    (assignment, *_) = every(declared(), "RoleAssignment")
    assert (
        refusals({**assignment, "spec": {**assignment["spec"], "owner": {"armId": "demo"}}}) != []
    )
    assert refusals({**one, "apiVersion": "managedidentity.azure.com/v1"}) != []


def test_owners_are_named_and_a_group_of_the_users_own_is_left_alone() -> None:
    found = declared()
    (group,), (identity,), (credential,) = (
        every(found, kind)
        for kind in ("ResourceGroup", "UserAssignedIdentity", "FederatedIdentityCredential")
    )
    assert identity["spec"]["owner"] == {"name": group["metadata"]["name"]}
    assert credential["spec"]["owner"] == {"name": identity["metadata"]["name"]}

    theirs = declared(group="theirs")
    assert every(theirs, "ResourceGroup") == [], "it would go with the object"
    assert every(theirs, "UserAssignedIdentity")[0]["spec"]["owner"]["armId"].lower() == a_group(
        "theirs"
    )


def test_a_role_is_given_to_whom_the_identitys_config_map_says() -> None:
    found = declared()
    (identity,) = every(found, "UserAssignedIdentity")
    kept = identity["spec"]["operatorSpec"]["configMaps"]

    assert set(kept) == {"clientId", "principalId", "tenantId"}
    assert {
        str(each["spec"]["principalIdFromConfig"]) for each in every(found, "RoleAssignment")
    } == {str(kept["principalId"])}


def test_a_role_of_its_own_is_declared_and_given_by_its_name() -> None:
    found = declared()
    (role,) = every(found, "RoleDefinition")
    own = [
        each
        for each in every(found, "RoleAssignment")
        if "name" in each["spec"]["roleDefinitionReference"]
    ]

    assert role["spec"]["permissions"] == [{"actions": sorted(DISKS), "dataActions": ["a/b"]}]
    assert role["spec"]["assignableScopesReferences"] == [
        {"armId": f"/subscriptions/{SUBSCRIPTION}"}
    ]
    assert role["spec"]["azureName"] == names.custom_role(
        SUBSCRIPTION, "demo-kube-system-cloud-credentials"
    )
    assert [each["spec"]["roleDefinitionReference"] for each in own] == [
        {
            "group": "authorization.azure.com",
            "kind": "RoleDefinition",
            "name": role["metadata"]["name"],
        }
    ]


def test_they_trust_and_are_given_exactly_what_would_be_made() -> None:
    things = planned()
    (identity,) = (thing for thing in things.values() if isinstance(thing, Identity))
    (given,) = (thing for thing in things.values() if isinstance(thing, RoleAssignments))
    found = declared()

    (credential,) = identity.want(Known()).credentials
    specs = [each["spec"] for each in every(found, "FederatedIdentityCredential")]
    assert [(each["issuer"], each["subject"], each["audiences"]) for each in specs] == [
        (credential.issuer, credential.subject, [credential.audience])
    ]
    references = [
        each["spec"]
        for each in every(found, "RoleAssignment")
        if "armId" in each["spec"]["roleDefinitionReference"]
    ]
    assert {
        (each["owner"]["armId"], each["roleDefinitionReference"]["armId"].rpartition("/")[2])
        for each in references
    } == {(grant.scope, grant.role) for grant in given.grants}
    assert {each["azureName"] for each in references} == {
        names.assignment(grant.scope, grant.role, identity.name) for grant in given.grants
    }


def test_whose_secret_the_operator_acts_with_is_said_on_every_object_or_on_none() -> None:
    assert {str(one["metadata"]["annotations"]) for one in every(declared(secret="s"))} == {
        "{'serviceoperator.azure.com/credential-from': 's'}"
    }
    assert all("annotations" not in one["metadata"] for one in every(declared()))


def test_names_that_kubernetes_would_refuse_are_derived_and_stay_apart() -> None:
    accounts = ("one", "two", "three")
    asked = Ask(identity="demo_x", credentials={"one": "A_B", "two": "a-b", "three": "a_c"})
    found = every(declared((a_workload(service_accounts=accounts), asked)))

    titles = [(one["kind"], one["metadata"]["name"]) for one in found]
    assert len(set(titles)) == len(titles)
    assert all(SUBDOMAIN.fullmatch(title) for _, title in titles)
    assert [
        each["spec"]["azureName"] for each in found if each["kind"] == "FederatedIdentityCredential"
    ] == ["A_B", "a-b", "a_c"]
    assert accepted(found)


@pytest.mark.parametrize(
    "role",
    [
        READER,
        READER.upper(),
        f"/subscriptions/{SUBSCRIPTION}/providers/Microsoft.Authorization/roleDefinitions/{READER}",
    ],
)
def test_nobody_is_asked_what_a_guid_means(role: str) -> None:
    (one,) = every(declared((a_workload(), Ask((Role(role),)))), "RoleAssignment")
    assert one["spec"]["roleDefinitionReference"]["armId"].endswith(READER)

    with pytest.raises(BadInput, match="Azure is asked"):
        declared((a_workload(), Ask((Role("Reader"),))))
