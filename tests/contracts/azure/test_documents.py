"""The two documents, through the real SDK on the sandbox, keep what every store promises."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from cwiictl.clouds.azure.resources.lent_role import LentRoleState
from cwiictl.clouds.azure.stores import Stores
from cwiictl.engine.resource import Mark
from cwiictl.errors import NotYet
from cwiictl.issuer.documents import DocumentState
from tests.contracts.azure.ground import ACCOUNT, CLUSTER, CONTAINER, DISCOVERY, JWKS
from tests.contracts.keys import a_key_set, key
from tests.contracts.store import Specimen, StoreContract
from tests.contracts.turning import Turning


class WithDocuments(StoreContract):
    """The operator has a role for data, or is lent one."""

    @pytest.fixture(autouse=True)
    def hosted(self, stores: Stores, container: None) -> None:  # noqa: ARG002 - it must be there first
        stores.lent_roles.put(CONTAINER, LentRoleState(lent=True), None)


class TestDocuments(WithDocuments):
    @pytest.fixture
    def specimen(self, stores: Stores) -> Specimen:
        other = DocumentState(
            body={"issuer": "another"},
            cache_control="no-store",
            content_type="application/jwk-set+json",
        )
        return Specimen(
            stores.documents,
            DISCOVERY,
            DocumentState(body={"issuer": "x"}),
            other,
            bears=(),
            unknown=f"{CONTAINER}/unknown",
        )

    def test_a_document_in_no_container_is_not_there(self, specimen: Specimen) -> None:
        assert specimen.store.get(["nowhere/unknown/jwks", f"{ACCOUNT}/unknown/jwks"]) == {}

    def test_in_a_container_of_the_users_own_it_is_found_by_its_own_mark(
        self, specimen: Specimen, stores: Stores, rival: Stores
    ) -> None:
        """And only there."""
        specimen.put(specimen.want, specimen.mark)
        assert specimen.get().owner is None

        have = stores.containers.get([CONTAINER])[CONTAINER]
        stores.containers.put(CONTAINER, replace(have, owner=Mark(CLUSTER, "brought")), have)

        assert specimen.get().owner == Mark(CLUSTER)
        assert rival.documents.owned(CLUSTER) == {DISCOVERY: Mark(CLUSTER)}
        assert rival.documents.owned("another") == {}
        assert rival.key_sets.owned(CLUSTER) == {}

    def test_what_was_there_unmarked_in_a_container_of_the_users_own_is_let_go_of_and_stays(
        self, specimen: Specimen, stores: Stores, rival: Stores
    ) -> None:
        """With what was written on it."""
        have = stores.containers.get([CONTAINER])[CONTAINER]
        stores.containers.put(CONTAINER, replace(have, owner=Mark(CLUSTER, "brought")), have)
        store: Any = stores.documents
        blob = store.blobs.blob(DISCOVERY)
        blob.upload_blob(b'{"issuer": "theirs"}', metadata={"team": "house"})

        specimen.put(specimen.want, specimen.mark)
        specimen.put(specimen.other, specimen.mark)
        assert rival.documents.owned(CLUSTER) == {DISCOVERY: Mark(CLUSTER, "brought")}
        seen = rival.documents.get([DISCOVERY])[DISCOVERY]
        rival.documents.put(DISCOVERY, replace(seen, owner=None), seen)

        assert specimen.get().owner is None
        assert specimen.alike(specimen.other, specimen.get())
        assert rival.documents.owned(CLUSTER) == {}
        assert blob.get_blob_properties().metadata == {"team": "house"}

    def test_it_is_read_with_a_token_where_nobody_else_may(
        self, specimen: Specimen, stores: Stores
    ) -> None:
        specimen.put(specimen.want, specimen.mark)
        have = stores.containers.get([CONTAINER])[CONTAINER]
        stores.containers.put(CONTAINER, replace(have, public="None"), have)

        assert specimen.get() == specimen.want
        assert specimen.store.get([f"{CONTAINER}/unknown"]) == {}


class TestKeySets(WithDocuments, Turning):
    @pytest.fixture
    def specimen(self, stores: Stores) -> Specimen:
        return Specimen(
            stores.key_sets,
            JWKS,
            a_key_set(0),
            a_key_set(1),
            bears=(),
            unknown=f"{CONTAINER}/unknown",
        )

    def test_a_key_that_is_added_takes_no_other_away(self, specimen: Specimen) -> None:
        specimen.put(a_key_set(0, "add"), None)
        specimen.put(a_key_set(1, "add"), None)

        assert specimen.get().kids == {key(0).kid, key(1).kid}

    @pytest.mark.parametrize("seen", [True, False])
    def test_it_is_put_over_what_was_seen_and_over_nothing_else(
        self, specimen: Specimen, rival: Stores, seen: bool
    ) -> None:
        """Read, decide, write: Azure refuses the write, because it names what was read."""
        have = specimen.put(a_key_set(0), None) and specimen.get() if seen else None
        rival.key_sets.put(JWKS, a_key_set(1, "add"), specimen.get())

        for mode in ("published", "add", "replace"):
            with pytest.raises(NotYet):
                specimen.store.put(JWKS, a_key_set(0 if mode == "published" else 2, mode), have)
        assert specimen.get().kids == ({key(0).kid, key(1).kid} if seen else {key(1).kid})
        specimen.store.put(JWKS, a_key_set(2, "add"), specimen.get())

        assert specimen.get().kids >= {key(1).kid, key(2).kid}
