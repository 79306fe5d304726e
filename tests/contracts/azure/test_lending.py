"""What is lent for a run is taken back."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from cwiictl.clouds.azure.resources.lent_role import LentRoleState
from cwiictl.clouds.azure.stores import Stores
from cwiictl.engine.resource import Mark
from cwiictl.errors import Denied, Failed, NotYet
from cwiictl.issuer.documents import DocumentState
from cwiictl.sandbox import Sandbox
from tests.contracts.azure.ground import CLUSTER, CONTAINER, DISCOVERY, GROUP, JWKS, an_identity
from tests.contracts.keys import a_key_set
from tests.contracts.store import Specimen


class TestLending:
    """Owners may not write blobs by that alone, and so they lend themselves the right to."""

    @pytest.fixture(autouse=True)
    def hosted(self, container: None) -> None: ...

    def test_it_is_lent_when_it_is_needed_and_taken_back(
        self, stores: Stores, sandbox: Sandbox
    ) -> None:
        sandbox.faults.lag = 0.3
        want = DocumentState(body={"issuer": "x"})
        specimen = Specimen(stores.documents, DISCOVERY, want, want)

        with pytest.raises(NotYet, match="waits until Azure lets"):
            stores.documents.put(DISCOVERY, want, None)
        assert stores.lent_roles.get([CONTAINER])[CONTAINER].lent
        specimen.put(want, None)
        stores.lent_roles.put(
            CONTAINER, LentRoleState(), stores.lent_roles.get([CONTAINER])[CONTAINER]
        )

        assert not stores.lent_roles.get([CONTAINER])[CONTAINER].lent
        assert specimen.get() == want

    def test_it_is_taken_back_however_the_run_ended(self, rival: Stores, stores: Stores) -> None:
        with pytest.raises(NotYet):
            rival.documents.put(DISCOVERY, DocumentState(body={}), None)
        assert stores.lent_roles.owned(CLUSTER) == {CONTAINER: Mark(CLUSTER)}

        rival.close()

        assert stores.lent_roles.owned(CLUSTER) == {}

    def test_what_a_cut_run_left_is_found_and_taken_back(
        self, rival: Stores, stores: Stores
    ) -> None:
        with pytest.raises(NotYet):
            rival.key_sets.put(JWKS, a_key_set(0), None)

        assert stores.lent_roles.owned("another") == {}
        assert stores.lent_roles.get([CONTAINER])[CONTAINER] == LentRoleState(lent=True)
        stores.lent_roles.drop(CONTAINER)

        assert stores.lent_roles.get([CONTAINER])[CONTAINER] == LentRoleState()

    def test_what_was_lent_to_somebody_else_is_taken_back_too(
        self, stores: Stores, rival: Stores
    ) -> None:
        theirs: Any = rival.lent_roles
        somebody = stores.identities.put(f"{GROUP}/somebody", an_identity(), None).principal_id
        theirs.lender.caller = replace(theirs.lender.caller, id=somebody)
        theirs.lender.lend(CONTAINER)
        theirs.lender.lent.clear()

        rival.close()
        assert stores.lent_roles.get([CONTAINER])[CONTAINER] == LentRoleState(lent=True)
        assert stores.lent_roles.get([CONTAINER])[CONTAINER].owner == Mark(CLUSTER)
        assert stores.lent_roles.owned(CLUSTER) == {CONTAINER: Mark(CLUSTER)}
        stores.lent_roles.drop(CONTAINER)

        assert stores.lent_roles.owned(CLUSTER) == {}

    def test_whatever_was_left_to_several_is_taken_back(
        self, stores: Stores, rival: Stores
    ) -> None:
        theirs: Any = rival.lent_roles
        for name in ("one", "two"):
            somebody = stores.identities.put(f"{GROUP}/{name}", an_identity(), None).principal_id
            theirs.lender.caller = replace(theirs.lender.caller, id=somebody)
            theirs.lender.lend(CONTAINER)
            theirs.lender.lent.clear()

        assert stores.lent_roles.get([CONTAINER])[CONTAINER].lent
        stores.lent_roles.drop(CONTAINER)

        assert stores.lent_roles.owned(CLUSTER) == {}

    def test_what_cannot_be_taken_back_is_told_with_the_command(
        self, rival: Stores, sandbox: Sandbox
    ) -> None:
        with pytest.raises(NotYet):
            rival.documents.put(DISCOVERY, DocumentState(body={}), None)
        sandbox.faults.deny = {"Microsoft.Authorization/roleAssignments/delete"}

        with pytest.raises(
            Failed, match=f"keeps the right to write blobs in {CONTAINER}"
        ) as raised:
            rival.close()

        assert "az role assignment delete --ids /subscriptions/" in raised.value.remedy
        theirs: Any = rival.lent_roles
        theirs.lender.lent.clear()

    def test_it_is_taken_back_patiently(
        self, rival: Stores, stores: Stores, sandbox: Sandbox
    ) -> None:
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

        assert (
            "az role assignment create --role 'Storage Blob Data Contributor' --assignee-object-id"
            in raised.value.remedy
        )
        assert f"blobServices/default/containers/{CLUSTER}" in raised.value.remedy

    def test_who_may_not_read_is_told_so_and_lends_nothing_until_it_is_to_be_written(
        self, stores: Stores
    ) -> None:
        have = stores.containers.get([CONTAINER])[CONTAINER]
        stores.containers.put(CONTAINER, replace(have, public="None"), have)

        hidden = stores.documents.get([DISCOVERY])[DISCOVERY]

        assert "does not let" in hidden.hidden
        assert stores.lent_roles.owned(CLUSTER) == {}
        with pytest.raises(NotYet, match="read there"):
            stores.documents.put(DISCOVERY, DocumentState(body={}), hidden)
        assert stores.documents.get([DISCOVERY]) == {}  # now it shows that there is none
