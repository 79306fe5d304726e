"""Azure's stores, on the sandbox through the real SDKs, keep what every store promises."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from cwiictl import names, oidc
from cwiictl.clouds.azure import ids
from cwiictl.clouds.azure.permissions import Grant as Asked
from cwiictl.clouds.azure.resources.custom_role import CustomRoleState
from cwiictl.clouds.azure.resources.identity import Credential, IdentityState
from cwiictl.clouds.azure.resources.lent_role import LentRoleState
from cwiictl.clouds.azure.resources.resource_group import ResourceGroupState
from cwiictl.clouds.azure.resources.role_assignments import Assignment, AssignmentsState, Grant
from cwiictl.clouds.azure.resources.storage_account import ContainerState, StorageAccountState
from cwiictl.clouds.azure.spec import Spec
from cwiictl.clouds.azure.stores import Stores
from cwiictl.clouds.azure.stores.lent import CONTRIBUTOR, Lender
from cwiictl.clouds.azure.stores.session import connect
from cwiictl.clouds.azure.stores.tokens import Caller
from cwiictl.engine.resource import Mark
from cwiictl.errors import BadInput, Conflict, Denied, Failed, NotYet
from cwiictl.issuer.documents import DocumentState, Keys, KeySetState
from cwiictl.model import Cluster
from cwiictl.sandbox import Sandbox, Settings
from cwiictl.sandbox.azure.world import CLIENT, SECOND, SUBSCRIPTION, TENANT
from tests.contracts.store import Specimen, StoreContract

CLUSTER = "a-cluster"
GROUP = f"{CLUSTER}-oidc"
ACCOUNT = "acluster"
CONTAINER = f"{ACCOUNT}/{CLUSTER}"
DISCOVERY = f"{CONTAINER}/.well-known/openid-configuration"
JWKS = f"{CONTAINER}/openid/v1/jwks"
SITE = ids.folded(ids.group(SUBSCRIPTION, CLUSTER))
READER = "acdd72a7-3385-48ef-bd42-f606fba81ae7"
NETWORK = "4d97b98b-1d4f-4787-a291-c67834d212e7"


@pytest.fixture
def sandbox(monkeypatch: pytest.MonkeyPatch) -> Iterator[Sandbox]:
    with Sandbox(Settings(deploy=0.0)) as running:
        for name, value in running.variables().items():
            monkeypatch.setenv(name, value)
        yield running


@pytest.fixture
def stores(sandbox: Sandbox) -> Iterator[Stores]:  # noqa: ARG001 - it must run first
    yield from connected()


@pytest.fixture
def rival(sandbox: Sandbox) -> Iterator[Stores]:  # noqa: ARG001 - it must run first
    """Another process."""
    yield from connected()


def connected() -> Iterator[Stores]:
    made = connect(Spec(region="eastus", subscription=SUBSCRIPTION), Cluster(CLUSTER), 4)
    try:
        yield made
    finally:
        made.close()


@pytest.fixture
def group(stores: Stores) -> None:
    for name in (GROUP, CLUSTER):
        stores.groups.put(name, ResourceGroupState(region="eastus", owner=Mark(CLUSTER)), None)


@pytest.fixture
def account(stores: Stores, group: None) -> None:  # noqa: ARG001 - it must be there first
    Specimen(stores.accounts, f"{GROUP}/{ACCOUNT}", an_account(), an_account()).put(an_account(), Mark(CLUSTER))


@pytest.fixture
def container(stores: Stores, account: None) -> None:  # noqa: ARG001 - it must be there first
    stores.containers.put(CONTAINER, ContainerState(owner=Mark(CLUSTER)), None)


def an_account(**changes: Any) -> StorageAccountState:
    told: dict[str, Any] = {"id": "", "region": "eastus", "tags": {"Name": CLUSTER}}
    return StorageAccountState(**{**told, **changes})


def an_identity(*credentials: tuple[str, str], **changes: Any) -> IdentityState:
    trusted = {Credential("https://issuer.example.org", f"system:serviceaccount:ns:{name}", audience): name for name, audience in credentials}
    told: dict[str, Any] = {"region": "eastus", "credentials": frozenset(trusted), "titles": trusted, "tags": {"Name": CLUSTER}}
    return IdentityState(**{**told, **changes})


@cache
def key(number: int) -> oidc.VerificationKey:
    del number  # each its own
    public = rsa.generate_private_key(65537, 2048).public_key()
    return oidc.public_key(public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo), "a key")


def a_key_set(number: int, mode: Keys = "replace") -> KeySetState:
    return KeySetState(kids=frozenset({key(number).kid}), mode=mode, keys=(key(number),))


class TestResourceGroups(StoreContract):
    @pytest.fixture
    def specimen(self, stores: Stores) -> Specimen:
        want = ResourceGroupState(region="eastus", tags={"Name": CLUSTER})
        return Specimen(stores.groups, GROUP, want, replace(want, tags={"Name": "another"}))

    def test_one_that_holds_what_is_not_ours_stays(self, specimen: Specimen, stores: Stores) -> None:
        specimen.put(specimen.want, specimen.mark)
        stores.identities.put(f"{GROUP}/theirs", an_identity(), None)

        with pytest.raises(Conflict, match="theirs"):
            specimen.drop()

        assert specimen.get()

    def test_one_that_holds_only_what_is_ours_goes_with_it(self, specimen: Specimen, stores: Stores) -> None:
        specimen.put(specimen.want, specimen.mark)
        stores.identities.put(f"{GROUP}/ours", an_identity(owner=Mark(CLUSTER)), None)

        specimen.drop()

        assert specimen.get() is None

    def test_it_goes_in_its_own_time(self, specimen: Specimen, sandbox: Sandbox) -> None:
        specimen.put(specimen.want, specimen.mark)
        sandbox.faults.deploy = 0.5

        with pytest.raises(NotYet, match="deleted"):
            specimen.store.drop(GROUP)
        specimen.drop()

        assert specimen.get() is None

    def test_of_one_that_was_brought_only_the_mark_is_ours_to_write(self, specimen: Specimen) -> None:
        specimen.put(specimen.other, None)

        specimen.put(specimen.want, replace(specimen.mark, hold="brought"))

        assert specimen.get().owner.hold == "brought"
        assert specimen.get() == specimen.other

    def test_one_that_is_there_stays_in_its_region(self, specimen: Specimen) -> None:
        specimen.put(specimen.want, specimen.mark)

        specimen.put(replace(specimen.other, region="westeurope"), specimen.mark)

        assert specimen.get().region == "eastus"
        assert specimen.get().tags == {"Name": "another"}


def looking(stores: Stores) -> None:
    """Who may not look into a container drops none."""
    lent: Any = stores.lent_roles
    lender: Lender = lent.lender
    scope = ids.account(SUBSCRIPTION, GROUP, ACCOUNT)
    granted = Assignment(ids.assignment(scope, names.assignment(scope, CONTRIBUTOR, lender.caller.id)), Grant(scope, CONTRIBUTOR), lender.caller.id)
    lender.ledger.write(granted, lender.caller.kind)


class TestStorageAccounts(StoreContract):
    @pytest.fixture
    def specimen(self, stores: Stores, group: None) -> Specimen:  # noqa: ARG002 - it must be there first
        other = an_account(public=False, shared_key=True, minimum_tls="TLS1_1", https_only=False, tags={"Name": "another"})
        return Specimen(stores.accounts, f"{GROUP}/{ACCOUNT}", an_account(), other, unknown=f"{GROUP}/unknown")

    def test_it_is_waited_for_and_not_in_a_call(self, specimen: Specimen, sandbox: Sandbox) -> None:
        sandbox.faults.deploy = 0.5

        with pytest.raises(NotYet):
            specimen.store.put(specimen.name, specimen.want, None)
        specimen.put(specimen.want, specimen.mark)

        assert specimen.get() == specimen.want

    def test_one_of_that_name_in_another_group_says_where_it_is(self, specimen: Specimen) -> None:
        specimen.put(specimen.want, specimen.mark)

        found = specimen.store.get([f"{CLUSTER}/{ACCOUNT}"])[f"{CLUSTER}/{ACCOUNT}"]

        assert ids.group_of(found.id) == GROUP

    def test_one_that_holds_a_container_of_others_stays(self, specimen: Specimen, stores: Stores) -> None:
        specimen.put(specimen.want, specimen.mark)
        looking(stores)
        stores.containers.put(f"{ACCOUNT}/ours", ContainerState(owner=Mark(CLUSTER)), None)
        stores.containers.put(f"{ACCOUNT}/theirs", ContainerState(), None)

        with pytest.raises(Failed, match="theirs"):
            specimen.drop()
        stores.containers.drop(f"{ACCOUNT}/theirs")
        specimen.drop()

        assert specimen.get() is None

    def test_of_one_that_was_brought_only_the_mark_is_ours_to_write(self, specimen: Specimen) -> None:
        specimen.put(specimen.other, None)

        made = specimen.put(specimen.want, replace(specimen.mark, hold="brought"))

        assert made.owner.hold == "brought"
        assert made == specimen.get() == specimen.other

    def test_what_others_have_tagged_stays(self, specimen: Specimen) -> None:
        specimen.put(replace(specimen.want, tags={"Name": CLUSTER, "costs": "theirs"}), specimen.mark)

        specimen.put(specimen.other, specimen.mark)

        assert specimen.get().tags == {"Name": "another", "costs": "theirs"}


class TestContainers(StoreContract):
    @pytest.fixture
    def specimen(self, stores: Stores, account: None) -> Specimen:  # noqa: ARG002 - it must be there first
        stores.accounts.get([f"{GROUP}/{ACCOUNT}"])
        looking(stores)
        return Specimen(stores.containers, CONTAINER, ContainerState(), ContainerState(public="None"), unknown=f"{ACCOUNT}/unknown")

    def test_of_one_that_was_brought_only_the_mark_is_ours_to_write(self, specimen: Specimen) -> None:
        specimen.put(specimen.other, None)

        specimen.put(specimen.want, replace(specimen.mark, hold="brought"))

        assert specimen.get().owner.hold == "brought"
        assert specimen.get() == specimen.other

    def test_in_no_account_there_is_none(self, specimen: Specimen) -> None:
        assert specimen.store.get(["nowhere/unknown"]) == {}
        specimen.store.drop("nowhere/unknown")
        with pytest.raises(NotYet):
            specimen.store.put("nowhere/unknown", specimen.want, None)

    def test_while_its_account_lets_nobody_read_it_is_not_yet(self, specimen: Specimen, stores: Stores) -> None:
        name = f"{GROUP}/{ACCOUNT}"
        stores.accounts.put(name, an_account(public=False, owner=Mark(CLUSTER)), stores.accounts.get([name])[name])

        with pytest.raises(NotYet, match="be read by everybody") as raised:
            specimen.store.put(CONTAINER, specimen.want, None)
        assert "--create-private-storage-account" in raised.value.remedy


class WithDocuments(StoreContract):
    """The operator has a role for data, or is lent one."""

    @pytest.fixture(autouse=True)
    def hosted(self, stores: Stores, container: None) -> None:  # noqa: ARG002 - it must be there first
        stores.lent_roles.put(CONTAINER, LentRoleState(lent=True), None)


class TestDocuments(WithDocuments):
    @pytest.fixture
    def specimen(self, stores: Stores) -> Specimen:
        other = DocumentState(body={"issuer": "another"}, cache_control="no-store", content_type="application/jwk-set+json")
        return Specimen(stores.documents, DISCOVERY, DocumentState(body={"issuer": "x"}), other, bears=(), unknown=f"{CONTAINER}/unknown")

    def test_a_document_in_no_container_is_not_there(self, specimen: Specimen) -> None:
        assert specimen.store.get(["nowhere/unknown/jwks", f"{ACCOUNT}/unknown/jwks"]) == {}

    def test_in_a_container_of_the_users_own_it_is_found_by_its_own_mark(self, specimen: Specimen, stores: Stores, rival: Stores) -> None:
        """And only there."""
        specimen.put(specimen.want, specimen.mark)
        assert specimen.get().owner is None

        have = stores.containers.get([CONTAINER])[CONTAINER]
        stores.containers.put(CONTAINER, replace(have, owner=Mark(CLUSTER, "brought")), have)

        assert specimen.get().owner == Mark(CLUSTER)
        assert rival.documents.owned(CLUSTER) == {DISCOVERY: Mark(CLUSTER)}
        assert rival.documents.owned("another") == {}
        assert rival.key_sets.owned(CLUSTER) == {}

    def test_it_is_read_with_a_token_where_nobody_else_may(self, specimen: Specimen, stores: Stores) -> None:
        specimen.put(specimen.want, specimen.mark)
        have = stores.containers.get([CONTAINER])[CONTAINER]
        stores.containers.put(CONTAINER, replace(have, public="None"), have)

        assert specimen.get() == specimen.want
        assert specimen.store.get([f"{CONTAINER}/unknown"]) == {}


class TestKeySets(WithDocuments):
    @pytest.fixture
    def specimen(self, stores: Stores) -> Specimen:
        return Specimen(stores.key_sets, JWKS, a_key_set(0), a_key_set(1), bears=(), unknown=f"{CONTAINER}/unknown")

    def test_a_key_that_is_added_takes_no_other_away(self, specimen: Specimen) -> None:
        specimen.put(a_key_set(0, "add"), None)
        specimen.put(a_key_set(1, "add"), None)

        assert specimen.get().kids == {key(0).kid, key(1).kid}

    @pytest.mark.parametrize("seen", [True, False])
    def test_it_is_put_over_what_was_seen_and_over_nothing_else(self, specimen: Specimen, rival: Stores, seen: bool) -> None:  # noqa: FBT001
        """Read, decide, write: Azure refuses the write, because it names what was read."""
        have = specimen.put(a_key_set(0), None) and specimen.get() if seen else None
        rival.key_sets.put(JWKS, a_key_set(1, "add"), specimen.get())

        for mode in ("published", "add", "replace"):
            with pytest.raises(NotYet):
                specimen.store.put(JWKS, a_key_set(0 if mode == "published" else 2, mode), have)
        assert specimen.get().kids == ({key(0).kid, key(1).kid} if seen else {key(1).kid})
        specimen.store.put(JWKS, a_key_set(2, "add"), specimen.get())

        assert specimen.get().kids >= {key(1).kid, key(2).kid}


class TestLending:
    """Owners may not write blobs by that alone, and so they lend themselves the right to."""

    @pytest.fixture(autouse=True)
    def hosted(self, container: None) -> None: ...

    def test_it_is_lent_when_it_is_needed_and_taken_back(self, stores: Stores, sandbox: Sandbox) -> None:
        sandbox.faults.lag = 0.3
        want = DocumentState(body={"issuer": "x"})
        specimen = Specimen(stores.documents, DISCOVERY, want, want)

        with pytest.raises(NotYet, match="waits until Azure lets"):
            stores.documents.put(DISCOVERY, want, None)
        assert stores.lent_roles.get([CONTAINER])[CONTAINER].lent
        specimen.put(want, None)
        stores.lent_roles.put(CONTAINER, LentRoleState(), stores.lent_roles.get([CONTAINER])[CONTAINER])

        assert not stores.lent_roles.get([CONTAINER])[CONTAINER].lent
        assert specimen.get() == want

    def test_it_is_taken_back_however_the_run_ended(self, rival: Stores, stores: Stores) -> None:
        with pytest.raises(NotYet):
            rival.documents.put(DISCOVERY, DocumentState(body={}), None)
        assert stores.lent_roles.owned(CLUSTER) == {CONTAINER: Mark(CLUSTER)}

        rival.close()

        assert stores.lent_roles.owned(CLUSTER) == {}

    def test_what_a_cut_run_left_is_found_and_taken_back(self, rival: Stores, stores: Stores) -> None:
        with pytest.raises(NotYet):
            rival.key_sets.put(JWKS, a_key_set(0), None)

        assert stores.lent_roles.owned("another") == {}
        assert stores.lent_roles.get([CONTAINER])[CONTAINER] == LentRoleState(lent=True)
        stores.lent_roles.drop(CONTAINER)

        assert stores.lent_roles.get([CONTAINER])[CONTAINER] == LentRoleState()

    def test_what_was_lent_to_somebody_else_is_taken_back_too(self, stores: Stores, rival: Stores) -> None:
        theirs: Any = rival.lent_roles
        somebody = stores.identities.put(f"{GROUP}/somebody", an_identity(), None).principal_id
        theirs.lender.caller = replace(theirs.lender.caller, id=somebody)
        theirs.lender.lend(CONTAINER)
        theirs.lender.lent.clear()

        assert stores.lent_roles.owned(CLUSTER) == {CONTAINER: Mark(CLUSTER)}
        assert stores.lent_roles.get([CONTAINER])[CONTAINER].owner == Mark(CLUSTER)
        stores.lent_roles.drop(CONTAINER)

        assert stores.lent_roles.owned(CLUSTER) == {}

    def test_it_is_taken_back_patiently(self, rival: Stores, stores: Stores, sandbox: Sandbox) -> None:
        with pytest.raises(NotYet):
            rival.documents.put(DISCOVERY, DocumentState(body={}), None)
        sandbox.faults.rate = 0.7

        rival.close()

        sandbox.faults.rate = 0.0
        assert stores.lent_roles.owned(CLUSTER) == {}

    def test_what_is_not_there_lends_nothing(self, stores: Stores) -> None:
        assert stores.lent_roles.get(["nowhere/unknown"]) == {"nowhere/unknown": LentRoleState()}

    def test_who_may_not_lend_is_told_the_command(self, stores: Stores, sandbox: Sandbox) -> None:
        sandbox.faults.deny = {"Microsoft.Authorization/roleAssignments/write"}

        with pytest.raises(Denied) as raised:
            stores.documents.put(DISCOVERY, DocumentState(body={}), None)

        assert "az role assignment create --role 'Storage Blob Data Contributor' --assignee-object-id" in raised.value.remedy
        assert f"blobServices/default/containers/{CLUSTER}" in raised.value.remedy

    def test_who_may_not_read_is_told_so_and_lends_nothing_until_it_is_to_be_written(self, stores: Stores) -> None:
        have = stores.containers.get([CONTAINER])[CONTAINER]
        stores.containers.put(CONTAINER, replace(have, public="None"), have)

        hidden = stores.documents.get([DISCOVERY])[DISCOVERY]

        assert "does not let" in hidden.hidden
        assert stores.lent_roles.owned(CLUSTER) == {}
        with pytest.raises(NotYet, match="read there"):
            stores.documents.put(DISCOVERY, DocumentState(body={}), hidden)
        assert stores.documents.get([DISCOVERY]) == {}  # now it shows that there is none


class TestIdentities(StoreContract):
    WANT = an_identity(("one", "openshift"), ("two", "openshift"))

    @pytest.fixture
    def specimen(self, stores: Stores, group: None) -> Specimen:  # noqa: ARG002 - it must be there first
        other = an_identity(("one", "api://AzureADTokenExchange"), ("three", "openshift"), tags={"Name": "another"})
        return Specimen(stores.identities, f"{GROUP}/one", self.WANT, other, unknown=f"{GROUP}/unknown")

    def test_a_credential_is_found_by_what_it_says(self, specimen: Specimen) -> None:
        """Whatever it is called: two of one issuer and subject Azure does not take."""
        specimen.put(self.WANT, specimen.mark)
        named: dict[Credential, str] = dict(specimen.get().titles)

        specimen.put(replace(self.WANT, titles={each: f"{title}-again" for each, title in named.items()}), specimen.mark)

        assert dict(specimen.get().titles) == named

    def test_a_name_that_another_credential_holds_is_written_over(self, specimen: Specimen) -> None:
        specimen.put(an_identity(("one", "openshift")), specimen.mark)
        wrong = Credential("https://issuer.example.org/", "system:serviceaccount:ns:one", "openshift")

        specimen.put(replace(self.WANT, credentials=frozenset({wrong}), titles={wrong: "one"}), specimen.mark)

        assert dict(specimen.get().titles) == {wrong: "one"}

    def test_twenty_give_way_to_twenty_others(self, specimen: Specimen) -> None:
        twenty = [an_identity(*((f"{word}{number}", "openshift") for number in range(20))) for word in ("first-", "second-")]
        for want in twenty:
            specimen.put(want, specimen.mark)
            assert specimen.get() == want

    def test_a_mark_that_lost_a_tag_is_not_whole_and_is_put_whole(self, specimen: Specimen, stores: Stores) -> None:
        specimen.put(specimen.want, specimen.mark)
        msi: Any = stores.identities
        msi.msi.user_assigned_identities.create_or_update(
            GROUP, "one", {"location": "eastus", "tags": {f"cwii.dev_cluster_{CLUSTER}": "owned", "Name": CLUSTER}}
        )
        assert not specimen.get().owner.whole

        specimen.put(specimen.want, specimen.mark)

        assert specimen.get().owner == specimen.mark
        assert specimen.get().tags == self.WANT.tags

    def test_what_ccoctl_made_is_ccoctls_to_take_over(self, specimen: Specimen, stores: Stores) -> None:
        specimen.put(specimen.want, None)
        msi: Any = stores.identities
        tags = {f"openshift.io_cloud-credential-operator_{CLUSTER}": "owned"}
        msi.msi.user_assigned_identities.create_or_update(GROUP, "one", {"location": "eastus", "tags": tags})

        assert set(stores.identities.owned(names.ccoctls(CLUSTER))) == {specimen.name}
        specimen.put(specimen.want, specimen.mark)

        assert specimen.get().owner == specimen.mark


class TestCustomRoles(StoreContract):
    @pytest.fixture
    def specimen(self, stores: Stores) -> Specimen:
        scopes = frozenset({ids.folded(ids.subscription(SUBSCRIPTION))})
        want = CustomRoleState(description="For people.", actions=frozenset({"Microsoft.Compute/disks/read"}), scopes=scopes)
        other = CustomRoleState(
            description="For others.",
            actions=frozenset({"Microsoft.Compute/*"}),
            not_actions=frozenset({"Microsoft.Compute/disks/write"}),
            data_actions=frozenset({"Microsoft.Storage/storageAccounts/blobServices/containers/blobs/*"}),
            not_data_actions=frozenset({"Microsoft.Storage/storageAccounts/blobServices/containers/blobs/delete"}),
            scopes=scopes | {ids.folded(ids.subscription(SECOND))},
        )
        return Specimen(stores.custom_roles, "a-cluster-role", want, other)

    def test_it_has_the_same_id_in_every_life(self, specimen: Specimen) -> None:
        first = specimen.put(specimen.want, specimen.mark).id
        specimen.drop()

        assert specimen.put(specimen.want, specimen.mark).id == first

    def test_what_the_list_does_not_show_yet_is_read_by_its_id(self, specimen: Specimen, sandbox: Sandbox) -> None:
        sandbox.faults.lag = 30.0
        specimen.put(specimen.want, specimen.mark)

        assert specimen.get() == specimen.want


class TestAssignments(StoreContract):
    IDENTITY = f"{GROUP}/one"
    ONE = frozenset({Grant(SITE, READER)})
    TWO = frozenset({Grant(SITE, NETWORK), Grant(f"/subscriptions/{SUBSCRIPTION}/resourcegroups/{GROUP}", NETWORK)})

    @pytest.fixture
    def principal(self, stores: Stores, group: None) -> str:  # noqa: ARG002 - it must be there first
        return stores.identities.put(self.IDENTITY, an_identity(), None).principal_id

    @pytest.fixture
    def specimen(self, stores: Stores, principal: str) -> Specimen:
        want, other = (AssignmentsState(grants=grants, principal=principal) for grants in (self.ONE, self.TWO))
        return Specimen(stores.assignments, self.IDENTITY, want, other, unknown=f"{GROUP}/unknown", stays=True)

    def test_putting_without_a_mark_releases_it_and_changes_nothing_else(self, specimen: Specimen) -> None:
        before = specimen.put(specimen.want, specimen.mark)
        assert not before.unmarked

        specimen.put(specimen.get(), None)

        found = specimen.get()
        assert found.owner is None
        assert found == specimen.want
        assert found.unmarked == self.ONE
        assert [each.id for each in found.found] == [each.id for each in before.found]
        assert specimen.owned(CLUSTER) == {}

    def test_what_was_dropped_is_gone(self, specimen: Specimen) -> None:
        for _ in range(2):
            specimen.put(specimen.other, specimen.mark)
            specimen.drop()
            specimen.drop()

            assert specimen.get().grants == frozenset()
            assert specimen.owned(CLUSTER) == {}

    def test_an_identity_that_is_not_there_has_none(self, specimen: Specimen) -> None:
        assert specimen.store.get([specimen.unknown]) == {}

    def test_a_second_of_the_same_is_not_made(self, specimen: Specimen, stores: Stores, principal: str) -> None:
        """Somebody else gave it: it is taken as it is, and our mark is put behind their words."""
        theirs = an_assignment(stores, principal, "by hand")

        specimen.put(specimen.want, specimen.mark)

        (found,) = specimen.get().found
        assert found.id == theirs
        assert found.description.startswith("by hand ")
        assert specimen.get().owner == specimen.mark

    @pytest.mark.parametrize("preserve", [True, False])
    def test_what_others_gave_it_stays_if_it_may(self, specimen: Specimen, stores: Stores, principal: str, preserve: bool) -> None:  # noqa: FBT001
        specimen.put(specimen.want, specimen.mark)
        an_assignment(stores, principal, "by hand", role=NETWORK)
        assert len(specimen.get().grants) == 2

        specimen.put(AssignmentsState(grants=self.ONE, principal=principal, preserve=preserve), specimen.mark)

        assert len(specimen.get().grants) == (2 if preserve else 1)

    def test_one_that_points_to_a_dead_identity_is_replaced(self, specimen: Specimen, stores: Stores, rival: Stores, principal: str) -> None:
        specimen.put(specimen.other, specimen.mark)
        stores.identities.drop(self.IDENTITY)
        born = stores.identities.put(self.IDENTITY, an_identity(), None).principal_id
        assert rival.assignments.owned(CLUSTER) == {self.IDENTITY: specimen.mark}
        found = rival.assignments.get([self.IDENTITY])[self.IDENTITY]
        assert (found.grants, found.principal) == (frozenset(), principal)

        want = AssignmentsState(grants=self.TWO, principal=born, owner=specimen.mark)
        rival.assignments.put(self.IDENTITY, want, found)

        found = rival.assignments.get([self.IDENTITY])[self.IDENTITY]
        assert found == want
        assert len(found.found) == 2

    def test_one_of_an_identity_that_is_gone_is_ours_and_is_dropped(self, specimen: Specimen, stores: Stores, rival: Stores) -> None:
        specimen.put(specimen.want, specimen.mark)
        stores.identities.drop(self.IDENTITY)

        assert rival.assignments.owned(CLUSTER) == {self.IDENTITY: specimen.mark}
        rival.assignments.drop(self.IDENTITY)

        assert rival.assignments.owned(CLUSTER) == {}

    @pytest.mark.usefixtures("specimen")
    def test_what_the_list_does_not_show_yet_is_not_written_again(self, stores: Stores, rival: Stores, sandbox: Sandbox, principal: str) -> None:
        sandbox.faults.lag = 30.0
        want = AssignmentsState(grants=self.TWO, principal=principal, owner=Mark(CLUSTER))
        stores.assignments.put(self.IDENTITY, want, None)
        have = rival.assignments.get([self.IDENTITY])[self.IDENTITY]
        assert have.grants == frozenset()
        before = len(sandbox.record)

        rival.assignments.put(self.IDENTITY, want, have)

        assert not any(seen.mutating for seen in sandbox.record[before:])

    def test_what_others_gave_to_what_is_ours_goes_with_it(self, stores: Stores, group: None) -> None:  # noqa: ARG002 - it must be there
        principal = stores.identities.put(self.IDENTITY, an_identity(owner=Mark(CLUSTER)), None).principal_id
        an_assignment(stores, principal, "by hand")

        assert stores.assignments.owned(CLUSTER) == {self.IDENTITY: Mark(CLUSTER)}
        assert stores.assignments.get([self.IDENTITY])[self.IDENTITY].owner == Mark(CLUSTER)
        stores.assignments.drop(self.IDENTITY)

        assert stores.assignments.owned(CLUSTER) == {}

    def test_in_another_subscription_they_are_found_where_the_identity_says(self, stores: Stores, rival: Stores, group: None) -> None:  # noqa: ARG002 - it must be there
        scope = ids.folded(ids.subscription(SECOND))
        tags = {names.SCOPES_KEY: scope}
        made = stores.identities.put(self.IDENTITY, an_identity(tags=tags, owner=Mark(CLUSTER)), None)
        want = AssignmentsState(grants=frozenset({Grant(scope, READER)}), principal=made.principal_id)
        Specimen(stores.assignments, self.IDENTITY, want, want).put(want, Mark(CLUSTER))

        assert rival.assignments.owned(CLUSTER) == {self.IDENTITY: Mark(CLUSTER)}
        assert rival.assignments.get([self.IDENTITY])[self.IDENTITY].grants == want.grants
        rival.assignments.drop(self.IDENTITY)

        assert stores.assignments.get([self.IDENTITY])[self.IDENTITY].grants == frozenset()


def an_assignment(stores: Stores, principal: str, description: str, role: str = READER) -> str:
    """Of somebody else's."""
    store: Any = stores.assignments
    id_ = ids.folded(ids.assignment(SITE, names.assignment(SITE, role, "somebody")))
    wish = {"principal_id": principal, "role_definition_id": ids.role(SITE, role), "principal_type": "ServicePrincipal", "description": description}
    store.ledger.access.create_by_id(id_.lstrip("/"), wish)
    return id_


class TestRoles:
    """The id of a role, by whatever the user calls it."""

    @pytest.mark.parametrize("name", ["Reader", "reader", READER, f"/providers/Microsoft.Authorization/roleDefinitions/{READER}"])
    def test_it_is_found_by_name_by_guid_and_by_id(self, stores: Stores, name: str) -> None:
        assert ids.guid(stores.role(name)) == READER

    def test_all_are_read_once(self, stores: Stores, sandbox: Sandbox) -> None:
        before = len(sandbox.record)
        for name in ("Reader", "Contributor", "Owner"):
            stores.role(name)

        assert len(sandbox.record) - before == 1

    def test_one_that_is_not_there_says_which_it_may_have_been(self, stores: Stores) -> None:
        with pytest.raises(BadInput, match="Contribtor") as raised:
            stores.role("Storage Blob Data Contribtor")

        assert "Storage Blob Data Contributor" in raised.value.remedy


class TestBulk:
    """What Azure lists at once is not asked for one by one."""

    NAMES = tuple(f"{GROUP}/{number}-one" for number in range(6))

    @pytest.fixture(autouse=True)
    def many(self, stores: Stores, group: None) -> None:  # noqa: ARG002 - it must be there first
        for name in self.NAMES:
            made = stores.identities.put(name, an_identity(("one", "openshift"), owner=Mark(CLUSTER)), None)
            grants = frozenset({Grant(SITE, READER)})
            stores.assignments.put(name, AssignmentsState(grants=grants, principal=made.principal_id, owner=Mark(CLUSTER)), None)

    def test_a_workload_costs_one_request_to_read(self, rival: Stores, sandbox: Sandbox) -> None:
        before = len(sandbox.record)

        found = {name: rival.identities.get([name])[name] for name in self.NAMES}
        granted = {name: rival.assignments.get([name])[name] for name in self.NAMES}

        assert all(state.credentials for state in found.values())
        assert all(len(state.grants) == 1 for state in granted.values())
        assert len(sandbox.record) - before <= len(self.NAMES) + 4

    def test_who_asks_again_is_told_what_is_there_now(self, stores: Stores, rival: Stores) -> None:
        for name in self.NAMES:
            rival.identities.get([name])
            rival.assignments.get([name])
        stores.assignments.drop(self.NAMES[2])
        stores.identities.drop(self.NAMES[3])

        assert rival.assignments.get([self.NAMES[2]])[self.NAMES[2]].grants == frozenset()
        assert rival.identities.get([self.NAMES[3]]) == {}

    def test_names_that_are_yet_to_come_cost_nothing(self, rival: Stores, sandbox: Sandbox) -> None:
        before = len(sandbox.record)

        for number in range(20):
            assert rival.identities.get([f"{GROUP}/new-{number}"]) == {}
            assert rival.assignments.get([f"{GROUP}/new-{number}"]) == {}

        assert len(sandbox.record) - before <= 4


class TestSession:
    """Who acts, and what is told of it."""

    def test_it_says_who_acts_and_where(self, stores: Stores) -> None:
        assert (stores.account, stores.caller, stores.tenant) == (SUBSCRIPTION, CLIENT, TENANT)

    def test_another_tenant_than_the_pinned_one_is_refused(self, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: ARG002 - it must run first
        def tenants(token: str) -> Caller:
            return replace(read(token), tenant="another")

        read = Caller.read
        monkeypatch.setattr(Caller, "read", tenants)
        with pytest.raises(BadInput, match="of tenant another"):
            connect(Spec(region="eastus", subscription=SUBSCRIPTION, tenant=TENANT), Cluster(CLUSTER), 4)

    def test_a_subscription_that_nobody_shows_us_is_told(self, sandbox: Sandbox) -> None:  # noqa: ARG002 - it must run first
        elsewhere = connect(Spec(region="eastus", subscription="99999999-9999-4999-8999-999999999999"), Cluster(CLUSTER), 4)
        try:
            with pytest.raises(BadInput, match="subscription"):
                elsewhere.groups.get([GROUP])
        finally:
            elsewhere.close()

    def test_an_expired_login_is_told(self, stores: Stores, sandbox: Sandbox) -> None:
        sandbox.faults.expired = True

        with pytest.raises(BadInput, match="does not accept the credentials"):
            stores.groups.get([GROUP])

    @pytest.mark.parametrize("name", ["AZURE_CLIENT_SECRET", "AZURE_CLIENT_ID"])
    def test_without_credentials_it_says_how_to_get_some(self, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch, name: str) -> None:  # noqa: ARG002 - it must run first
        monkeypatch.delenv(name)

        with pytest.raises(BadInput, match="no Azure credentials") as raised:
            next(connected())
        assert "az login" in raised.value.remedy

    def test_wrong_credentials_are_told_in_entras_words(self, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: ARG002 - it must run first
        monkeypatch.setenv("AZURE_CLIENT_SECRET", "wrong")

        with pytest.raises(BadInput, match="AADSTS7000215"):
            next(connected())

    @pytest.mark.usefixtures("container")
    def test_of_a_request_only_its_method_and_path_are_told(self, stores: Stores, caplog: pytest.LogCaptureFixture) -> None:
        with caplog.at_level(logging.DEBUG, logger="cwiictl.azure"):
            stores.groups.get([GROUP])
            stores.documents.get([DISCOVERY])

        told = [record.getMessage() for record in caplog.records if record.name == "cwiictl.azure"]
        assert f"GET https://management.azure.com/subscriptions/{SUBSCRIPTION}/resourcegroups/{GROUP} 200" in told
        assert f"GET https://{ACCOUNT}.blob.core.windows.net/{CLUSTER}/.well-known/openid-configuration 404" in told
        assert not any("?" in line or "Bearer" in line for line in told)


class TestPermissions:
    """Asked at a scope, and of its subscription while there is none."""

    @pytest.mark.parametrize(("action", "lacking"), [("Microsoft.Storage/storageAccounts/write", ()), ("Microsoft.Storage/storageAccounts/fly", ())])
    def test_an_owner_may_do_it_all(self, stores: Stores, action: str, lacking: tuple[str, ...]) -> None:
        store = stores.permissions((Asked((action,), f"/subscriptions/{SUBSCRIPTION}/resourcegroups/unknown"),))

        assert store.get(["somebody"])["somebody"].lacking == lacking

    def test_what_may_not_be_done_is_named(self, stores: Stores, sandbox: Sandbox) -> None:
        sandbox.faults.deny = {"Microsoft.Storage/storageAccounts/write"}
        asked = ("Microsoft.Storage/storageAccounts/write", "Microsoft.Storage/storageAccounts/read")
        store = stores.permissions((Asked(asked, f"/subscriptions/{SUBSCRIPTION}"),))

        assert store.get(["somebody"])["somebody"].lacking == ("Microsoft.Storage/storageAccounts/write",)

    def test_who_has_enough_in_the_subscription_is_asked_once(self, stores: Stores, sandbox: Sandbox) -> None:
        scopes = [f"/subscriptions/{SUBSCRIPTION}/resourcegroups/{name}" for name in ("one", "two")]
        before = len(sandbox.record)

        store = stores.permissions(tuple(Asked(("x/y",), scope) for scope in scopes))

        assert store.get(["somebody"])["somebody"].lacking == ()
        assert len(sandbox.record) - before == 1

    def test_where_it_may_not_be_asked_nothing_is_lacking(self, stores: Stores, sandbox: Sandbox) -> None:
        sandbox.faults.deny = {"Microsoft.Authorization/permissions/read"}

        assert stores.permissions((Asked(("x/y",), f"/subscriptions/{SUBSCRIPTION}"),)).get(["somebody"])["somebody"].lacking == ()
