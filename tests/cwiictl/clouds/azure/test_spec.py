"""What Azure is told, and what a request may ask of it: right from birth, or refused with what to do."""

from __future__ import annotations

import json
from typing import Any

import pytest

from cwiictl.audiences import ASKERS, AZURE
from cwiictl.clouds.azure.environments import ENVIRONMENTS, environment
from cwiictl.clouds.azure.section import WISHES, ask_of
from cwiictl.clouds.azure.spec import DNS, KIND, NETWORK, Ask, Role, ask
from cwiictl.documents import Document, documents
from cwiictl.errors import BadInput
from tests.cwiictl.clouds.azure.told import OTHER, SUBSCRIPTION, TENANT, a_group, a_spec
from tests.examples import a_cluster, a_request


@pytest.mark.parametrize(
    ("name", "authority", "manager", "host"),
    [
        ("", "login.microsoftonline.com", "management.azure.com", "x.blob.core.windows.net"),
        (
            "azurepubliccloud",
            "login.microsoftonline.com",
            "management.azure.com",
            "x.blob.core.windows.net",
        ),
        (
            "AzureUSGovernmentCloud",
            "login.microsoftonline.us",
            "management.usgovcloudapi.net",
            "x.blob.core.usgovcloudapi.net",
        ),
        (
            "AzureChinaCloud",
            "login.chinacloudapi.cn",
            "management.chinacloudapi.cn",
            "x.blob.core.chinacloudapi.cn",
        ),
    ],
)
def test_each_world_has_its_own_hosts(name: str, authority: str, manager: str, host: str) -> None:
    found = environment(name)

    assert (found.authority, found.manager, found.blobs("x"), found.scope) == (
        authority,
        manager,
        host,
        f"https://{manager}/.default",
    )


def test_each_world_has_one_audience_for_each_who_asks() -> None:
    assert {each.name for each in ENVIRONMENTS} == AZURE.keys()
    assert all(each.audiences.keys() == set(ASKERS) for each in ENVIRONMENTS)
    assert all(each.audiences["request"] == "openshift" for each in ENVIRONMENTS)


def test_a_world_that_does_not_exist_is_refused_with_the_nearest() -> None:
    with pytest.raises(BadInput, match="AzureGermanCloud"):
        a_spec(environment="AzureGermanCloud")
    with pytest.raises(BadInput) as raised:
        a_spec(environment="AzureUSGovermentCloud")
    assert raised.value.remedy == "did you mean --azure-env AzureUSGovernmentCloud?"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("region", "us-east-1"),
        ("region", "../x"),
        ("subscription", "x"),
        ("subscription", f"{SUBSCRIPTION}0"),
        ("tenant", "contoso.onmicrosoft.com"),
        ("account", "ab"),
        ("account", "with-hyphen"),
        ("account", "a" * 25),
        ("account", "azure"),
        ("account", "ourwindows"),
        ("container", "ab"),
        ("container", "a--b"),
        ("container", "-ab"),
        ("container", "a" * 64),
        ("group", "ends."),
        ("group", "a" * 91),
        ("installation", "a/b"),
        ("dns_group", "a b"),
        ("network_group", "a?b"),
        ("also", "somewhere"),
        ("also", f"{a_group()},/subscriptions/x"),
    ],
)
def test_what_does_not_look_like_what_it_must_be_is_refused(field: str, value: str) -> None:
    with pytest.raises(BadInput) as raised:
        a_spec(**{field: value})
    assert value.rsplit(",", maxsplit=1)[-1] in raised.value.problem
    assert raised.value.remedy


def test_names_are_lower_case_for_azure_compares_them_without_case() -> None:
    named = {"group": "Our-Group", "container": "Docs", "account": "Docs"}
    told = a_spec(
        region="East US",
        subscription=SUBSCRIPTION.upper(),
        tenant=TENANT.upper(),
        also=a_group("X"),
        **named,
    )

    assert (told.region, told.subscription, told.tenant) == ("eastus", SUBSCRIPTION, TENANT)
    assert (told.group, told.container, told.account) == ("our-group", "docs", "docs")
    assert told.elsewhere == (a_group("x"),)


def test_groups_have_ccoctls_names_unless_others_are_given_and_one_goes_only_if_that_is_asked_for() -> (
    None
):
    plain, named = a_spec(), a_spec(group="a", installation="b", delete_group=True)

    assert (plain.home(a_cluster()), plain.site(a_cluster()), plain.doomed(a_cluster())) == (
        "demo-oidc",
        "demo",
        "",
    )
    assert (named.home(a_cluster()), named.site(a_cluster()), named.doomed(a_cluster())) == (
        "a",
        "b",
        "a",
    )


# --- requests ---


def asked(name: str = "a-request", **spec: Any) -> Ask:
    return ask(a_request({"kind": KIND, **spec}, name=name, kind=KIND))


def test_a_request_asks_for_roles_and_for_what_it_says_in_so_many_words() -> None:
    found = asked(
        roleBindings=[{"role": "Contributor"}, {"role": "Contributor"}],
        permissions=["a.b/c/read"],
        dataPermissions=["a.b/c/d/action"],
    )

    assert found.roles == (Role("Contributor"),)
    assert found.powers.actions == {"a.b/c/read"}
    assert found.powers.data_actions == {"a.b/c/d/action"}
    assert (found.scopes, found.groups) == ((), ())


@pytest.mark.parametrize(
    ("name", "groups"),
    [
        ("openshift-ingress-azure", (DNS, NETWORK)),
        ("openshift-image-registry-azure", (NETWORK,)),
        ("openshift-machine-api-azure", (NETWORK,)),
        ("azure-file-csi-driver-operator", (NETWORK,)),
        ("openshift-cloud-network-config-controller-azure", (NETWORK,)),
        ("openshift-azure-cloud-controller-manager", (NETWORK,)),
        ("azure-disk-csi-driver-operator", ()),
    ],
)
def test_some_requests_of_openshift_reach_into_groups_of_the_users(
    name: str, groups: tuple[str, ...]
) -> None:
    assert asked(name, roleBindings=[{"role": "Reader"}]).groups == groups


WRONG: list[dict[str, Any]] = [
    {},
    {"roleBindings": []},
    {"roleBindings": [{}]},
    {"roleBindings": [{"role": " "}]},
    {"roleBindings": "Reader"},
    {"permissions": []},
    {"permissions": "a/b"},
    {"permissions": ["read all"]},
    {"dataPermissions": [""]},
]


@pytest.mark.parametrize("spec", WRONG)
def test_what_asks_for_nothing_or_wrongly_is_refused_by_name(spec: dict[str, Any]) -> None:
    with pytest.raises(BadInput, match="a file") as raised:
        asked(**spec)
    assert raised.value.remedy


# --- cluster.yaml ---


def section(**said: Any) -> Document:
    return next(iter(documents("cluster.yaml", json.dumps(said).encode())))


def test_a_workload_of_cluster_yaml_says_its_roles_and_where_they_hold() -> None:
    elsewhere = a_group("dns", OTHER)
    found = ask_of(
        section(
            roles=["Reader"],
            scopes=[a_group("Vault").upper().replace("SUBSCRIPTIONS", "subscriptions")],
            roleAssignments=[
                {"role": "DNS Zone Contributor", "scopes": [f"{elsewhere}/"]},
                {"role": "Contributor"},
            ],
            permissions=["*/read"],
            notPermissions=["Microsoft.Authorization/*/read"],
            dataPermissions=["Microsoft.KeyVault/vaults/secrets/getSecret/action"],
            notDataPermissions=["Microsoft.KeyVault/vaults/secrets/x"],
        )
    )

    assert found.roles == (
        Role("Reader"),
        Role("DNS Zone Contributor", (elsewhere,)),
        Role("Contributor"),
    )
    assert found.scopes == (a_group("vault"),)
    assert found.powers.not_actions == {"Microsoft.Authorization/*/read"}
    assert found.powers.not_data_actions == {"Microsoft.KeyVault/vaults/secrets/x"}


def test_an_identity_may_ask_for_no_role_at_all() -> None:
    """It may be known elsewhere: to a database, or to Microsoft Graph."""
    assert ask_of(section()) == Ask()


@pytest.mark.parametrize(
    "said",
    [
        {"role": "Reader"},
        {"roles": [""]},
        {"roles": ["Reader"], "scopes": ["/subscriptions/x"]},
        {"roleAssignments": [{"scopes": [a_group()]}]},
        {"roleAssignments": [{"role": "Reader", "scopes": ["here"]}]},
        {"scopes": [a_group()]},
        {"scopes": [a_group()], "roleAssignments": [{"role": "Reader", "scopes": [a_group("b")]}]},
        {"notPermissions": ["a/b"]},
        {"permissions": ["a b"]},
    ],
)
def test_what_cannot_be_meant_is_refused_with_its_place(said: dict[str, Any]) -> None:
    with pytest.raises(BadInput, match=r"cluster\.yaml"):
        ask_of(section(**said))


def test_what_create_identity_takes_are_keys_of_the_section() -> None:
    wished = {wish.key: [a_group()] if wish.key == "scopes" else ["Reader"] for wish in WISHES}

    assert ask_of(section(**wished)) == Ask((Role("Reader"),), scopes=(a_group(),))
