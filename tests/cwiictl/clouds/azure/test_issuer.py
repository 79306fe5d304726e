"""Where the issuer's documents are in Azure: in places of ours, or of the user's own."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from cwiictl.clouds.azure import plan
from cwiictl.clouds.azure.resources.lent_role import LentRole, LentRoleState
from cwiictl.clouds.azure.resources.resource_group import ResourceGroupState, due
from cwiictl.clouds.azure.resources.storage_account import Container, ContainerState, StorageAccount
from cwiictl.engine.resource import Known, Mark, Plan
from cwiictl.engine.run import foretold
from cwiictl.errors import BadInput, Conflict
from cwiictl.issuer.documents import DocumentState, Hosting, Issuer
from cwiictl.issuer.key import SigningKey
from cwiictl.model import Cluster
from tests.contracts.shelf import Shelf, World
from tests.cwiictl.clouds.azure.planned import ISSUER, OWN, found, theirs, wanted
from tests.cwiictl.clouds.azure.told import OTHER, SUBSCRIPTION, a_spec, the_stores
from tests.examples import a_cluster

LENT = Mark("demo", "brought")


def hosted(
    how: Hosting | None = None, cluster: Cluster | None = None, world: str = "", **told: Any
) -> Issuer:
    store: Any = Shelf(World(), "local/key")
    key = SigningKey("signing-key", store)
    return plan.host(
        a_spec(environment=world, **told),
        cluster or a_cluster(),
        the_stores(world),
        key,
        how or Hosting("published"),
    )


@pytest.mark.parametrize(
    ("world", "url"),
    [
        ("", "https://demo.blob.core.windows.net/demo"),
        ("AzureUSGovernmentCloud", "https://demo.blob.core.usgovcloudapi.net/demo"),
        ("AzureChinaCloud", "https://demo.blob.core.chinacloudapi.cn/demo"),
    ],
)
def test_an_issuers_url_is_that_of_its_container(world: str, url: str) -> None:
    issuer = hosted(world=world)
    wants: Any = foretold(Plan([issuer]))

    assert wants[issuer.address].url == url
    assert not issuer.late
    assert (
        wants["azure/documents/demo/demo/.well-known/openid-configuration"].body["jwks_uri"]
        == f"{url}/openid/v1/jwks"
    )
    assert "azure/key_sets/demo/demo/openid/v1/jwks" in wants


def test_everybody_may_read_the_documents_and_nobody_may_list_them_or_use_the_accounts_key() -> (
    None
):
    wants: Any = foretold(Plan([hosted()]))

    account = wants["azure/accounts/demo-oidc/demo"]
    assert (account.public, account.shared_key, account.minimum_tls, account.https_only) == (
        True,
        False,
        "TLS1_2",
        True,
    )
    assert (
        account.id
        == f"/subscriptions/{SUBSCRIPTION}/resourceGroups/demo-oidc/providers/Microsoft.Storage/storageAccounts/demo"
    )
    assert wants["azure/containers/demo/demo"].public == "Blob"
    assert wants["azure/groups/demo-oidc"].region == "eastus"


def test_a_private_account_is_read_by_the_users_own_host_alone() -> None:
    with pytest.raises(BadInput) as raised:
        hosted(private=True)
    assert "--issuer-url" in raised.value.remedy

    wants: Any = foretold(Plan([hosted(Hosting("published", ISSUER), private=True)]))

    assert wants["azure/accounts/demo-oidc/demo"].public is False
    assert wants["azure/containers/demo/demo"].public == "None"
    assert f"azure/issuers/{ISSUER}" in wants
    assert plan.brings(a_spec(private=True)), (
        "so that the documents go there though the URL is another's"
    )


@pytest.mark.parametrize(
    ("told", "brings"),
    [
        ({}, False),
        ({"account": "theirs"}, True),
        ({"container": "theirs"}, True),
        ({"private": True}, True),
    ],
)
def test_a_place_that_was_named_is_one_for_the_documents_wherever_the_url_leads(
    told: dict[str, Any], *, brings: bool
) -> None:
    assert plan.brings(a_spec(**told)) == brings


def test_names_that_azure_would_refuse_are_derived_and_never_found_late() -> None:
    issuer = hosted(cluster=a_cluster("a-long--cluster-name-with-hyphens"))
    wants = foretold(Plan([issuer]))

    (account,) = (address for address in wants if address.startswith("azure/accounts/"))
    title = account.rpartition("/")[2]
    assert title.isalnum()
    assert len(title) == 24
    (container,) = (address for address in wants if address.startswith("azure/containers/"))
    assert "--" not in container
    elsewhere = hosted(cluster=a_cluster("a-long--cluster-name-with-hyphens"), subscription=OTHER)
    assert elsewhere.home.text != issuer.home.text, "the name is the world's"


def test_what_was_lent_is_taken_back_after_the_documents_whatever_became_of_them() -> None:
    issuer = hosted()

    (lent,) = (thing for thing in issuer.behind if isinstance(thing, LentRole))
    assert lent.late
    assert [need.address for need in lent.needs] == ["azure/containers/demo/demo"]
    assert {liked.address for liked in lent.likes} == {thing.address for thing in issuer.behind} - {
        lent.address
    }
    assert [d.field for d in lent.differing(wanted(lent), LentRoleState(lent=True))] == ["lent"]


def account_of(issuer: Issuer) -> StorageAccount:
    (account,) = (thing for thing in Plan([issuer]).values() if isinstance(thing, StorageAccount))
    return account


def container_of(issuer: Issuer) -> Container:
    (container,) = (thing for thing in Plan([issuer]).values() if isinstance(thing, Container))
    return container


def test_an_account_of_the_users_own_stays_as_it_is_and_one_that_we_made_under_a_given_name_is_ours() -> (
    None
):
    account = account_of(hosted(account="theirs"))
    want = wanted(account)

    assert account.brought
    for owner in (None, LENT, Mark("other")):
        have = theirs(account, owner=owner)
        assert account.differing(want, have) == ()
        assert due(replace(want, owner=LENT), have) == have, "only the mark is written"
        assert due(replace(want, owner=LENT), have).owner == LENT
    fields_ = {d.field for d in account.differing(want, theirs(account, owner=OWN))}
    assert fields_ == {"minimum_tls", "https_only", "shared_key", "tags"}
    assert due(replace(want, owner=OWN), theirs(account)) == replace(want, owner=OWN)
    assert due(want, None) is want
    assert account.objection(Known()) is None, "what is not there is made"


def test_a_container_and_a_group_of_the_users_own_stay_as_they_are() -> None:
    container, group = (
        container_of(hosted(container="theirs")),
        account_of(hosted(group="theirs")).group,
    )

    assert container.differing(wanted(container), ContainerState(public="Container")) == ()
    assert group.differing(wanted(group), ResourceGroupState(region="westus")) == ()
    assert [
        d.field
        for d in container.differing(
            wanted(container), ContainerState(public="Container", owner=OWN)
        )
    ] == ["public"]
    assert [
        d.field
        for d in group.differing(wanted(group), ResourceGroupState(region="westus", owner=OWN))
    ] == ["tags"]
    assert not container_of(hosted()).brought
    assert not account_of(hosted()).group.brought


def test_where_a_thing_is_is_no_drift_for_it_is_not_moved() -> None:
    account, group = account_of(hosted()), account_of(hosted()).group

    assert account.differing(wanted(account), replace(wanted(account), region="westus")) == ()
    assert group.differing(wanted(group), replace(wanted(group), region="westus")) == ()
    assert isinstance(
        account.objection(found((account, replace(wanted(account), region="westus", owner=OWN)))),
        BadInput,
    )


def test_a_name_that_is_somebody_elses_in_the_world_stands_against_all_writing() -> None:
    account = account_of(hosted())

    problem = account.objection(found((account, theirs(account, id=""))))

    assert isinstance(problem, Conflict)
    assert "--storage-account-name" in problem.remedy


def test_an_account_in_another_group_is_named_with_it() -> None:
    account = account_of(hosted())
    elsewhere = account.id.replace("demo-oidc", "Other-Group")

    problem = account.objection(found((account, theirs(account, id=elsewhere))))

    assert isinstance(problem, Conflict)
    assert "--oidc-resource-group-name other-group" in problem.remedy
    assert (
        account.objection(found((account, theirs(account, id=account.id.upper(), region="eastus"))))
        is None
    )


@pytest.mark.parametrize(
    ("change", "word"),
    [({"public": False}, "anonymously"), ({"network": "Disabled"}, "public networks")],
)
def test_an_account_of_the_users_own_that_nobody_can_read_is_refused_unless_a_host_stands_before_it(
    change: dict[str, Any], word: str
) -> None:
    account, fronted = (
        account_of(hosted(account="theirs")),
        account_of(hosted(Hosting("published", ISSUER), account="theirs")),
    )

    problem = account.objection(found((account, theirs(account, **change))))

    assert isinstance(problem, BadInput)
    assert word in problem.problem
    assert "--issuer-url" in problem.remedy
    assert fronted.objection(found((fronted, theirs(fronted, **change)))) is None
    assert (
        account.objection(found((account, theirs(account, owner=OWN, region="eastus", **change))))
        is None
    ), "ours is repaired"


def test_a_container_of_the_users_own_that_nobody_can_read_is_refused_unless_a_host_stands_before_it() -> (
    None
):
    container, fronted = (
        container_of(hosted(container="theirs")),
        container_of(hosted(Hosting("published", ISSUER), container="theirs")),
    )

    assert isinstance(
        container.objection(found((container, ContainerState(public="None")))), BadInput
    )
    assert (
        container.objection(
            found((container, ContainerState(public="Blob", stranger="payroll.csv")))
        )
        is None
    )
    assert container.objection(Known()) is None
    assert fronted.objection(found((fronted, ContainerState(public="None")))) is None


def test_what_lies_in_a_container_that_is_not_ours_is_not_published_with_it() -> None:
    container = container_of(hosted())

    problem = container.objection(
        found((container, ContainerState(public="None", stranger="payroll.csv")))
    )

    assert isinstance(problem, Conflict)
    assert "payroll.csv" in problem.problem


def test_another_issuers_document_is_anothers_in_a_container_that_is_not_ours_alone() -> None:
    issuer = hosted(container="theirs")
    (discovery,) = (thing for thing in issuer.behind if thing.name.endswith("openid-configuration"))
    container, other = (
        container_of(issuer),
        DocumentState(body={"issuer": "https://another.example.org"}),
    )

    problem = discovery.objection(found((container, ContainerState()), (discovery, other)))

    assert isinstance(problem, Conflict)
    assert "--blob-container-name" in problem.remedy
    assert (
        discovery.objection(found((container, ContainerState(owner=OWN)), (discovery, other)))
        is None
    ), "ours is repaired"
    assert discovery.objection(found((container, ContainerState()))) is None
