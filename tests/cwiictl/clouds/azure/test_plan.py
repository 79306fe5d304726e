"""What a cluster needs in Azure follows from what was asked, to the letter, and with no call to anybody."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

import pytest

from cwiictl.clouds.azure import connect, plan
from cwiictl.clouds.azure.permissions import COMMANDS, WRITE, Grant, least, making
from cwiictl.clouds.azure.resources.custom_role import CustomRole, CustomRoleState, Powers
from cwiictl.clouds.azure.resources.identity import Credential, Identity, IdentityState
from cwiictl.clouds.azure.resources.known_region import KnownRegion, KnownRegionState
from cwiictl.clouds.azure.resources.lent_role import LentRole, LentRoleState
from cwiictl.clouds.azure.resources.resource_group import ResourceGroupState, due
from cwiictl.clouds.azure.resources.role_assignments import AssignmentsState, RoleAssignments
from cwiictl.clouds.azure.resources.role_assignments import Grant as Given
from cwiictl.clouds.azure.resources.storage_account import Container, ContainerState, StorageAccount, StorageAccountState
from cwiictl.clouds.azure.spec import NETWORK, Ask, Role, Spec
from cwiictl.clouds.permissions import Permissions, PermissionsState
from cwiictl.engine.plain import checksum
from cwiictl.engine.resource import Known, Mark, Plan, Resource
from cwiictl.engine.run import foretold
from cwiictl.errors import BadInput, Conflict, Denied
from cwiictl.issuer.documents import DocumentState, Hosting, Issuer
from cwiictl.issuer.home import Home
from cwiictl.issuer.key import SigningKey
from cwiictl.model import Cluster
from tests.contracts.shelf import Shelf, Thing, World
from tests.cwiictl.clouds.azure.told import OTHER, ROLES, SUBSCRIPTION, TENANT, a_group, a_spec, the_stores
from tests.examples import a_cluster, a_workload

READER = Ask((Role("Reader"),))
ISSUER = "https://issuer.example.org"
OWN = Mark("demo")
LENT = Mark("demo", "brought")


def hosted(how: Hosting | None = None, cluster: Cluster | None = None, world: str = "", **told: Any) -> Issuer:
    store: Any = Shelf(World(), "local/key")
    key = SigningKey("signing-key", store)
    return plan.host(a_spec(environment=world, **told), cluster or a_cluster(), the_stores(world), key, how or Hosting("published"))


def whole(*workloads: Any, asked: Ask = READER, how: Hosting | None = None, **told: Any) -> Plan:
    spec, stores, cluster = a_spec(**told), the_stores(), a_cluster()
    store: Any = Shelf(World(), "local/key")
    issuer = plan.host(spec, cluster, stores, SigningKey("signing-key", store), how or Hosting("published"))
    made = plan.identities(spec, cluster, stores, [(w, asked) for w in workloads], issuer.home)
    return Plan([issuer, *plan.trusting(spec, cluster, stores, issuer, [w.asker for w in workloads]), *made])


def things(spec: Spec | None = None, asked: Ask = READER, world: str = "", **workload: Any) -> tuple[Identity, RoleAssignments]:
    made = plan.identities(spec or a_spec(), a_cluster(), the_stores(world), [(a_workload(**workload), asked)], Home(ISSUER))
    found: Any = tuple(made)
    return found


def identity(spec: Spec | None = None, asked: Ask = READER, world: str = "", **workload: Any) -> Identity:
    return things(spec, asked, world, **workload)[0]


def given(spec: Spec | None = None, asked: Ask = READER, **workload: Any) -> RoleAssignments:
    return things(spec, asked, **workload)[1]


def wanted(thing: Resource[Any]) -> Any:
    """With all that it holds foretold."""
    return foretold(Plan([thing]))[thing.address]


def found(*seen: tuple[Resource[Any], Any]) -> Known:
    known = Known()
    for thing, state in seen:
        known.learn(thing, state)
    return known


# --- the issuer ---


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
    assert wants["azure/documents/demo/demo/.well-known/openid-configuration"].body["jwks_uri"] == f"{url}/openid/v1/jwks"
    assert "azure/key_sets/demo/demo/openid/v1/jwks" in wants


def test_everybody_may_read_the_documents_and_nobody_may_list_them_or_use_the_accounts_key() -> None:
    wants: Any = foretold(Plan([hosted()]))

    account = wants["azure/accounts/demo-oidc/demo"]
    assert (account.public, account.shared_key, account.minimum_tls, account.https_only) == (True, False, "TLS1_2", True)
    assert account.id == f"/subscriptions/{SUBSCRIPTION}/resourceGroups/demo-oidc/providers/Microsoft.Storage/storageAccounts/demo"
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
    assert plan.brings(a_spec(private=True)), "so that the documents go there though the URL is another's"


@pytest.mark.parametrize(("told", "brings"), [({}, False), ({"account": "theirs"}, True), ({"container": "theirs"}, True), ({"private": True}, True)])
def test_a_place_that_was_named_is_one_for_the_documents_wherever_the_url_leads(told: dict[str, Any], *, brings: bool) -> None:
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
    assert {liked.address for liked in lent.likes} == {thing.address for thing in issuer.behind} - {lent.address}
    assert [d.field for d in lent.differing(wanted(lent), LentRoleState(lent=True))] == ["lent"]


# --- what is the user's own ---


def account_of(issuer: Issuer) -> StorageAccount:
    (account,) = (thing for thing in Plan([issuer]).values() if isinstance(thing, StorageAccount))
    return account


def container_of(issuer: Issuer) -> Container:
    (container,) = (thing for thing in Plan([issuer]).values() if isinstance(thing, Container))
    return container


def theirs(account: StorageAccount, **changes: Any) -> StorageAccountState:
    state: dict[str, Any] = {"id": account.id, "region": "westus", "minimum_tls": "TLS1_0", "https_only": False, "public": True, "shared_key": None}
    return StorageAccountState(**{**state, **changes})


def test_an_account_of_the_users_own_stays_as_it_is_and_one_that_we_made_under_a_given_name_is_ours() -> None:
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
    container, group = container_of(hosted(container="theirs")), account_of(hosted(group="theirs")).group

    assert container.differing(wanted(container), ContainerState(public="Container")) == ()
    assert group.differing(wanted(group), ResourceGroupState(region="westus")) == ()
    assert [d.field for d in container.differing(wanted(container), ContainerState(public="Container", owner=OWN))] == ["public"]
    assert [d.field for d in group.differing(wanted(group), ResourceGroupState(region="westus", owner=OWN))] == ["tags"]
    assert not container_of(hosted()).brought
    assert not account_of(hosted()).group.brought


def test_where_a_thing_is_does_not_matter_and_it_is_not_moved() -> None:
    account, group = account_of(hosted()), account_of(hosted()).group

    assert account.differing(wanted(account), replace(wanted(account), region="westus")) == ()
    assert group.differing(wanted(group), replace(wanted(group), region="westus")) == ()
    assert account.objection(found((account, replace(wanted(account), region="westus", owner=OWN)))) is None


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
    assert account.objection(found((account, theirs(account, id=account.id.upper())))) is None


@pytest.mark.parametrize(("change", "word"), [({"public": False}, "anonymously"), ({"network": "Disabled"}, "public networks")])
def test_an_account_of_the_users_own_that_nobody_can_read_is_refused_unless_a_host_stands_before_it(change: dict[str, Any], word: str) -> None:
    account, fronted = account_of(hosted(account="theirs")), account_of(hosted(Hosting("published", ISSUER), account="theirs"))

    problem = account.objection(found((account, theirs(account, **change))))

    assert isinstance(problem, BadInput)
    assert word in problem.problem
    assert "--issuer-url" in problem.remedy
    assert fronted.objection(found((fronted, theirs(fronted, **change)))) is None
    assert account.objection(found((account, theirs(account, owner=OWN, **change)))) is None, "ours is repaired"


def test_a_container_of_the_users_own_that_nobody_can_read_is_refused_unless_a_host_stands_before_it() -> None:
    container, fronted = container_of(hosted(container="theirs")), container_of(hosted(Hosting("published", ISSUER), container="theirs"))

    assert isinstance(container.objection(found((container, ContainerState(public="None")))), BadInput)
    assert container.objection(found((container, ContainerState(public="Blob", stranger="payroll.csv")))) is None
    assert container.objection(Known()) is None
    assert fronted.objection(found((fronted, ContainerState(public="None")))) is None


def test_what_lies_in_a_container_that_is_not_ours_is_not_published_with_it() -> None:
    container = container_of(hosted())

    problem = container.objection(found((container, ContainerState(public="None", stranger="payroll.csv"))))

    assert isinstance(problem, Conflict)
    assert "payroll.csv" in problem.problem


def test_another_issuers_document_is_anothers_in_a_container_that_is_not_ours_alone() -> None:
    issuer = hosted(container="theirs")
    (discovery,) = (thing for thing in issuer.behind if thing.name.endswith("openid-configuration"))
    container, other = container_of(issuer), DocumentState(body={"issuer": "https://another.example.org"})

    problem = discovery.objection(found((container, ContainerState()), (discovery, other)))

    assert isinstance(problem, Conflict)
    assert "--blob-container-name" in problem.remedy
    assert discovery.objection(found((container, ContainerState(owner=OWN)), (discovery, other))) is None, "ours is repaired"
    assert discovery.objection(found((container, ContainerState()))) is None


# --- identities ---


def test_an_identity_believes_exactly_its_service_accounts_each_for_one_audience() -> None:
    asked, projected = identity(service_accounts=("one", "two.x")), identity(asker="webhook")

    subject = "system:serviceaccount:kube-system:"
    assert wanted(asked).credentials == {Credential(ISSUER, f"{subject}one", "openshift"), Credential(ISSUER, f"{subject}two.x", "openshift")}
    assert wanted(projected).credentials == {Credential(ISSUER, f"{subject}operator", "api://AzureADTokenExchange")}
    elsewhere = identity(world="AzureChinaCloud", asker="webhook")
    assert {c.audience for c in wanted(elsewhere).credentials} == {"api://AzureADTokenExchangeChina"}
    titles = {credential.subject: title for credential, title in wanted(asked).titles.items()}
    assert titles[f"{subject}one"] == "one"
    assert titles[f"{subject}two.x"].startswith("two-x-")


OTHERS: list[tuple[str, dict[str, Any]]] = [
    ("credentials", {"credentials": frozenset[Credential]()}),
    ("credentials", {"credentials": frozenset({Credential(f"{ISSUER}/", "system:serviceaccount:kube-system:operator", "openshift")})}),
    ("credentials", {"credentials": frozenset({Credential(ISSUER, "system:serviceaccount:kube-system:Operator", "openshift")})}),
    ("credentials", {"credentials": frozenset({Credential(ISSUER, "system:serviceaccount:kube-system:operator", "another")})}),
    ("tags", {"tags": {"Name": "another"}}),
]


@pytest.mark.parametrize(("field", "change"), OTHERS)
def test_every_field_of_an_identity_is_looked_at(field: str, change: dict[str, Any]) -> None:
    thing = identity()
    have: IdentityState = replace(wanted(thing), region="westus", client_id="c", titles={}, owner=OWN)

    assert thing.differing(wanted(thing), have) == ()
    assert {d.field for d in thing.differing(wanted(thing), replace(have, **change))} == {field}


def test_an_identity_waits_for_its_group_alone() -> None:
    assert [need.address for need in identity().needs] == ["azure/groups/demo-oidc"]


def test_what_entra_would_not_take_is_refused_before_it_is_asked() -> None:
    with pytest.raises(BadInput, match=r"a file: .* 21 ServiceAccounts, and an identity believes at most 20"):
        identity(service_accounts=tuple(f"account-{number}" for number in range(21)))
    with pytest.raises(BadInput, match="longer than the 600 characters"):
        tuple(plan.identities(a_spec(), a_cluster(), the_stores(), [(a_workload(), READER)], Home(f"https://{'x' * 600}")))


def test_two_requests_never_share_an_identity_though_their_names_are_cut_or_written_alike() -> None:
    made = whole(a_workload(name="a" * 150 + "1"), a_workload(name="a" * 150 + "2"), a_workload(name="a.b"), a_workload(name="a-b"))

    assert sum(address.startswith("azure/identities/") for address in made) == 4


def test_a_plan_does_not_depend_on_the_order_of_requests() -> None:
    one, two = a_workload(name="one"), a_workload(name="two")

    assert checksum(foretold(whole(one, two))) == checksum(foretold(whole(two, one)))


# --- roles, and where they hold ---


def test_roles_hold_in_the_installations_group_which_is_made_if_it_is_missing() -> None:
    thing = given()

    assert thing.grants == {Given(a_group("demo"), ROLES["reader"])}
    (group,) = thing.groups
    assert group.address == "azure/groups/demo"
    assert group.brought, "whoever has one lends it"
    assert wanted(thing).principal == f"<principal_id of {thing.identity.address}>"


def test_a_request_that_reaches_into_groups_of_the_users_is_given_its_roles_there_too() -> None:
    asked = replace(READER, groups=(NETWORK, "dns_group"))

    assert {grant.scope for grant in given(asked=asked).grants} == {a_group("demo")}
    everywhere = given(a_spec(network_group="net", dns_group="DNS"), asked)
    assert {grant.scope for grant in everywhere.grants} == {a_group("demo"), a_group("net"), a_group("dns")}


def test_a_role_holds_where_it_says_else_where_the_workload_does() -> None:
    vault, zone = a_group("vault"), a_group("dns", OTHER)

    thing = given(asked=Ask((Role("reader"), Role("Contributor", (zone,))), scopes=(vault,)))

    assert thing.grants == {Given(vault, ROLES["reader"]), Given(zone, ROLES["contributor"])}
    (asked,) = thing.groups
    assert asked.address == "azure/standing_groups/vault", "the one that is in this subscription and not ours must be there"


def test_a_role_that_azure_does_not_have_is_found_before_the_first_write() -> None:
    with pytest.raises(BadInput, match="no role 'Raeder'"):
        given(asked=Ask((Role("Raeder"),)))


def test_what_a_workload_asks_in_so_many_words_becomes_a_role_of_its_own() -> None:
    powers = Powers(frozenset({"Microsoft.Compute/disks/read"}), data_actions=frozenset({"a/b/c"}))
    thing = given(asked=Ask((Role("Reader"),), powers))

    own = thing.own
    assert own is not None
    assert own.name == thing.identity.title
    assert wanted(own).scopes == {f"/subscriptions/{SUBSCRIPTION}"}
    assert (wanted(own).actions, wanted(own).data_actions) == (powers.actions, powers.data_actions)
    known = found((own, replace(wanted(own), id=f"/subscriptions/{SUBSCRIPTION}/providers/Microsoft.Authorization/roleDefinitions/{OTHER.upper()}")))
    known.learn(thing.identity, replace(wanted(thing.identity), principal_id="p"))
    assert thing.want(known) == AssignmentsState(grants=thing.grants | {Given(a_group("demo"), OTHER)}, principal="p")


def test_a_role_of_its_own_is_compared_without_case_and_field_by_field() -> None:
    own = given(asked=Ask(powers=Powers(frozenset({"Microsoft.Compute/disks/read"})))).own
    assert isinstance(own, CustomRole)
    want: CustomRoleState = wanted(own)

    assert own.differing(want, replace(want, actions=frozenset({"microsoft.compute/Disks/READ"}), id="x")) == ()
    for field in ("actions", "not_actions", "data_actions", "not_data_actions", "scopes"):
        change: Any = {field: frozenset({"another"})}
        assert [d.field for d in own.differing(want, replace(want, **change))] == [field]
    assert [d.field for d in own.differing(want, replace(want, description="another"))] == ["description"]


def test_a_role_of_its_own_can_be_given_wherever_it_is_to_hold() -> None:
    scopes = (a_group("a"), a_group("b", OTHER), "/providers/microsoft.management/managementgroups/m")
    own = given(asked=Ask(powers=Powers(frozenset({"*/read"})), scopes=scopes)).own

    assert own is not None
    assert own.scopes == {f"/subscriptions/{SUBSCRIPTION}", f"/subscriptions/{OTHER}", scopes[2]}
    with pytest.raises(BadInput, match="one management group"):
        given(asked=Ask(powers=Powers(frozenset({"*/read"})), scopes=(scopes[2], f"{scopes[2]}2")))


def test_scopes_outside_the_subscription_are_written_on_the_identity_as_exactly_as_fits() -> None:
    inside, one, two = a_group("in"), a_group("a" * 80, OTHER), a_group("b" * 80, OTHER)

    assert "cwii.dev/scopes" not in wanted(identity(asked=Ask((Role("Reader"),), scopes=(inside,)))).tags
    assert wanted(identity(asked=Ask((Role("Reader"),), scopes=(inside, one)))).tags["cwii.dev/scopes"] == one
    both = identity(asked=Ask((Role("Reader"),), scopes=(inside, two, one)))
    assert wanted(both).tags["cwii.dev/scopes"] == f"/subscriptions/{OTHER}"
    some = tuple(a_group("g", f"{OTHER[:-2]}{number:02}") for number in range(20))
    tags = wanted(identity(asked=Ask((Role("Reader"),), scopes=some))).tags
    told = [text for key, text in tags.items() if key.startswith("cwii.dev/scopes")]
    assert " ".join(told).split() == [f"/subscriptions/{OTHER[:-2]}{number:02}" for number in range(20)]
    assert all(len(text) <= 256 for text in told)
    many = tuple(a_group("g", f"{OTHER[:-2]}{number:02}") for number in range(21))
    with pytest.raises(BadInput, match="more subscriptions than can be written"):
        identity(asked=Ask((Role("Reader"),), scopes=many))


def test_what_others_gave_an_identity_is_taken_away_unless_it_is_to_stay() -> None:
    more = Given(a_group("theirs"), ROLES["contributor"])
    for preserve in (False, True):
        thing = given(a_spec(preserve=preserve))
        want = wanted(thing)
        have = AssignmentsState(grants=want.grants, principal=want.principal)

        assert thing.differing(want, have) == ()
        assert [d.field for d in thing.differing(want, replace(have, grants=frozenset()))] == ["grants"]
        added = thing.differing(want, replace(have, grants=have.grants | {more}, unmarked=frozenset({more})))
        assert [d.field for d in added] == ([] if preserve else ["grants"])
        assert [d.field for d in thing.differing(want, replace(have, principal="dead"))] == ["principal"]
        assert [d.field for d in thing.differing(want, replace(have, unmarked=have.grants))] == ["mark"]


def test_who_is_given_nothing_is_given_nothing_by_others_either() -> None:
    thing = given(asked=Ask())
    have = AssignmentsState(grants=frozenset(), principal=wanted(thing).principal)

    assert thing.differing(wanted(thing), have) == ()
    assert thing.differing(wanted(thing), replace(have, principal="dead"))
    assert thing.differing(wanted(thing), replace(have, grants=frozenset({Given(a_group(), ROLES["reader"])})))


# --- what no cluster can be told ---


def test_the_issuer_and_the_cluster_are_not_in_one_group() -> None:
    for told in ({"group": "demo"}, {"installation": "Demo-oidc"}, {"group": "x", "installation": "X"}):
        with pytest.raises(BadInput, match="one resource group"):
            connect(a_spec(**told), a_cluster(), 1)


@pytest.mark.parametrize(
    "tags",
    [{"a/b": ""}, {"a<b": ""}, {"a" * 129: ""}, {"Microsoft.x": ""}, {"a": "x" * 257}, {"a": "", "A": ""}, {"name": "x"}, {f"t{n}": "" for n in range(41)}],
)
def test_tags_that_azure_does_not_take_are_refused_before_the_first_call(tags: dict[str, str]) -> None:
    with pytest.raises(BadInput):
        connect(a_spec(), Cluster("demo", tags), 1)


def test_tags_that_azure_takes_are_taken() -> None:
    plan.judged(a_spec(), Cluster("demo", {"team": "payments, of course", "cost:center": "a/b"}))


# --- permissions, taking down, and what workloads are told ---


def asked_about(things: Sequence[Resource[Any]]) -> list[Permissions]:
    return [asked for asked in plan.permitted(the_stores(), things) if isinstance(asked, Permissions)]


def test_a_region_that_there_is_not_stands_against_a_run_only_if_something_is_to_be_made_in_it() -> None:
    (region,) = (asked for asked in plan.permitted(the_stores(), tuple(whole(a_workload()).values())) if isinstance(asked, KnownRegion))
    seen = found((region, KnownRegionState(others=("eastus2", "westus"))))

    assert region.objection(Known()) is None
    for thing in region.things:
        problem = region.objection(seen)
        assert isinstance(problem, BadInput)
        assert (problem.problem, problem.remedy) == ("Azure has no region eastus for the subscription", "did you mean --region eastus2?")
        seen.learn(thing, KnownRegionState())
    assert region.objection(seen) is None, "what is there stays where it is"


def test_a_lacking_permission_stands_against_a_run_only_if_something_is_missing() -> None:
    made = whole(a_workload(), asked=Ask((Role("Reader"),), Powers(frozenset({"*/read"}))))
    for asked in asked_about(tuple(made.values())):
        assert asked.objection(Known()) is None, "who could not be asked lacks nothing until Azure says so"
        seen = found((asked, PermissionsState(lacking=("Microsoft.Storage/storageAccounts/write",))))

        problem = asked.objection(seen)
        assert isinstance(problem, Denied)
        assert problem.problem.startswith("somebody may not do Microsoft.Storage/storageAccounts/write")
        for thing in asked.things:
            assert asked.objection(seen) is not None
            seen.learn(thing, PermissionsState())
        assert asked.objection(seen) is None
        assert asked.differing(PermissionsState(), PermissionsState(lacking=("x",))) == ()


def test_who_may_make_no_resource_group_is_stopped_only_where_one_is_missing() -> None:
    groups, rest = asked_about(tuple(whole(a_workload()).values()))

    assert {thing.name for thing in groups.things} == {"demo", "demo-oidc"}
    assert groups.address != rest.address
    assert not {thing.address for thing in groups.things} & {thing.address for thing in rest.things}
    (only,) = asked_about(groups.things)
    assert only == groups
    assert not tuple(plan.permitted(the_stores(), ()))


def test_permissions_are_asked_where_things_are_made() -> None:
    grants: list[Grant] = []
    stores = the_stores()
    store: Any = Shelf(World(), "azure/permissions")

    def permissions(asked: tuple[Grant, ...]) -> Any:
        grants.extend(asked)
        return store

    made = whole(a_workload(), asked=Ask((Role("Reader"),), Powers(frozenset({"*/read"})), (a_group("vault"),)))
    tuple(plan.permitted(replace(stores, permissions=permissions), tuple(made.values())))

    scopes = {grant.actions[0].removeprefix("Microsoft.").rpartition("/")[0]: grant.scope for grant in grants}
    assert scopes == {
        "Resources/subscriptions/resourceGroups": f"/subscriptions/{SUBSCRIPTION}",
        "Storage/storageAccounts": a_group("demo-oidc"),
        "Storage/storageAccounts/blobServices/containers": a_group("demo-oidc"),
        "ManagedIdentity/userAssignedIdentities": a_group("demo-oidc"),
        "Authorization/roleDefinitions": f"/subscriptions/{SUBSCRIPTION}",
        "Authorization/roleAssignments": a_group("vault"),
    }


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_the_least_policy_is_a_role_as_az_takes_it(command: str) -> None:
    role = least(command, a_spec(), a_cluster())

    assert role["IsCustom"] is True
    assert role["AssignableScopes"] == [f"/subscriptions/{SUBSCRIPTION}"]
    assert "Microsoft.ManagedIdentity/userAssignedIdentities/read" in role["Actions"]
    assert not any(action.endswith("*") for action in role["Actions"] + role["DataActions"])
    assert any(action.endswith("/delete") for action in role["DataActions"]) == (command == "delete")


def test_who_has_the_least_policy_lacks_nothing() -> None:
    lacking = {action for kind in WRITE for grant in making({kind: ("/",)}) for action in grant.actions}

    assert lacking <= set(least("create", a_spec(), a_cluster())["Actions"])


class Marked(Shelf):
    """It holds what it is told to hold."""

    def owned(self, cluster: str, /) -> dict[str, Mark]:
        return {"demo-oidc": Mark(cluster), "demo": Mark(cluster), "full": Mark(cluster), "theirs": Mark(cluster, "brought")}

    def vacant(self, group: str, /) -> bool:
        return group == "demo"


def test_a_group_of_ours_goes_only_if_it_was_asked_for_and_one_of_the_users_is_let_go() -> None:
    shelf: Any = Marked(World(), "azure/groups", bulk=False)
    for doomed in ("", "demo-oidc"):
        groups = plan.walk(replace(the_stores(doomed=doomed), groups=shelf)).around[0]

        assert groups.owned("demo").keys() == {"theirs", *([doomed, "demo"] if doomed else [])}
        assert (groups.kind, groups.bulk, groups.patience) == (shelf.kind, shelf.bulk, shelf.patience)


def test_a_group_that_is_taken_down_is_looked_at_let_go_and_dropped_where_it_is() -> None:
    shelf: Any = Shelf(World(), "azure/groups")
    groups = plan.walk(replace(the_stores(doomed="demo-oidc"), groups=shelf)).around[0]
    state: Any = Thing(value="x", owner=OWN)
    groups.put("demo-oidc", state, None)

    assert groups.get(["demo-oidc"]) == shelf.get(["demo-oidc"])
    assert groups.get(["demo-oidc"])["demo-oidc"].owner == OWN
    groups.drop("demo-oidc")
    assert not shelf.get(["demo-oidc"])


def test_things_are_taken_down_from_last_made_to_first() -> None:
    stores = the_stores()
    walk = plan.walk(stores)

    assert [store.kind.partition("/")[2] for store in (*walk.around, *walk.hosting)] == ["groups", "accounts", "containers", "issuers"]
    assert [store.kind.partition("/")[2] for store in walk.lent] == ["documents", "key_sets"]
    assert [store.kind.partition("/")[2] for store in (*walk.trusting, *walk.using)] == ["identities", "custom_roles", "assignments", "lent_roles"]


def test_bindings_are_for_the_identities_that_are_there() -> None:
    there, failed = identity(name="there", token_path="/token"), identity(name="failed")
    state = replace(wanted(there), client_id="c", tenant_id=TENANT)

    (binding,) = plan.bindings([there, failed, given()], found((there, state)))

    assert binding.workload.name == "there"
    assert binding.data == {
        "azure_client_id": "c",
        "azure_tenant_id": TENANT,
        "azure_region": "eastus",
        "azure_subscription_id": SUBSCRIPTION,
        "azure_federated_token_file": "/token",
    }
    assert binding.labels == {"azure.workload.identity/use": "true"}


@pytest.mark.parametrize(("world", "more"), [("", {}), ("AzureUSGovernmentCloud", {"cwii.dev/az-authority-host": "https://login.microsoftonline.us/"})])
def test_a_service_account_is_told_in_our_words_and_in_azures(world: str, more: dict[str, str]) -> None:
    there = identity(world=world, asker="webhook")

    (binding,) = plan.bindings([there], found((there, replace(wanted(there), client_id="c", tenant_id="t"))))

    assert binding.annotations == {
        "cwii.dev/az-inject": "true",
        "cwii.dev/az-client-id": "c",
        "cwii.dev/az-tenant-id": "t",
        "cwii.dev/az-audience": f"api://AzureADTokenExchange{'USGov' if world else ''}",
        "azure.workload.identity/client-id": "c",
        "azure.workload.identity/tenant-id": "t",
        **more,
    }


def test_a_cloud_has_all_that_is_asked_of_one() -> None:
    from cwiictl.clouds import aws, azure  # noqa: PLC0415 - side by side

    assert azure.__all__ == aws.__all__
    assert all(hasattr(azure, name) for name in azure.__all__)
    assert {f.name for f in fields(Spec) if "option" not in f.metadata} == set()


def test_a_group_that_a_role_holds_in_and_that_is_not_there_is_found_before_the_first_write() -> None:
    (asked,) = given(asked=Ask((Role("reader"),), scopes=(a_group("valt"),))).groups

    problem = asked.objection(Known())

    assert isinstance(problem, BadInput)
    assert "no resource group valt" in problem.problem
