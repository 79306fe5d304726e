"""The two documents, through the real SDK on the sandbox, keep what every store promises."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cwiictl import names
from cwiictl.clouds.gcp.stores import Stores
from cwiictl.engine.resource import Mark
from cwiictl.errors import NotYet
from cwiictl.issuer.documents import DocumentState
from tests.contracts.gcp.ground import (
    BUCKET,
    CLUSTER,
    DISCOVERY,
    JWKS,
    WithBucket,
    a_key_set,
    key,
    place,
)
from tests.contracts.store import Specimen
from tests.contracts.turning import Turning


class TestDocuments(WithBucket):
    @pytest.fixture
    def specimen(self, stores: Stores, bucket: None) -> Specimen:  # noqa: ARG002 - it must be there first
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
            unknown=f"{BUCKET}/unknown",
        )

    def test_a_document_in_no_bucket_is_not_there(self, specimen: Specimen) -> None:
        assert specimen.store.get(["nowhere-oidc/keys.json"]) == {}

    def test_in_a_bucket_of_the_users_own_it_is_found_by_its_own_mark(
        self, specimen: Specimen, stores: Stores, rival: Stores
    ) -> None:
        """And only there."""
        specimen.put(specimen.want, specimen.mark)
        assert specimen.get().owner is None

        have = stores.buckets.get([BUCKET])[BUCKET]
        stores.buckets.put(BUCKET, replace(have, owner=Mark(CLUSTER, "brought")), have)

        assert rival.documents.get([DISCOVERY])[DISCOVERY].owner == Mark(CLUSTER)
        assert rival.documents.owned(CLUSTER) == {DISCOVERY: Mark(CLUSTER)}
        assert rival.documents.owned("another") == {}
        assert rival.key_sets.owned(CLUSTER) == {}

    def test_in_a_bucket_that_is_not_ours_its_mark_counts_whatever_is_written_on_the_bucket(
        self, specimen: Specimen, stores: Stores, rival: Stores
    ) -> None:
        """So that what belongs to another cluster is seen before it is written over."""
        specimen.put(specimen.want, specimen.mark)
        have = stores.buckets.get([BUCKET])[BUCKET]
        stores.buckets.put(BUCKET, replace(have, owner=None), have)

        assert rival.documents.get([DISCOVERY])[DISCOVERY].owner == Mark(CLUSTER)

    def test_what_was_there_unmarked_in_a_bucket_of_the_users_own_is_let_go_of_and_stays(
        self, specimen: Specimen, stores: Stores, rival: Stores
    ) -> None:
        have = stores.buckets.get([BUCKET])[BUCKET]
        stores.buckets.put(BUCKET, replace(have, owner=Mark(CLUSTER, "brought")), have)
        place(stores).blob(names.DISCOVERY).upload_from_string(
            b'{"issuer": "theirs"}', content_type="application/json"
        )

        specimen.put(specimen.want, specimen.mark)
        assert rival.documents.owned(CLUSTER) == {DISCOVERY: Mark(CLUSTER, "brought")}
        seen = rival.documents.get([DISCOVERY])[DISCOVERY]
        rival.documents.put(DISCOVERY, replace(seen, owner=None), seen)

        assert specimen.get().owner is None
        assert specimen.alike(specimen.want, specimen.get())
        assert rival.documents.owned(CLUSTER) == {}


class TestKeySets(WithBucket, Turning):
    @pytest.fixture
    def specimen(self, stores: Stores, bucket: None) -> Specimen:  # noqa: ARG002 - it must be there first
        return Specimen(
            stores.key_sets, JWKS, a_key_set(0), a_key_set(1), bears=(), unknown=f"{BUCKET}/unknown"
        )

    @pytest.mark.parametrize("seen", [True, False])
    def test_it_is_put_over_what_was_seen_and_over_nothing_else(
        self, specimen: Specimen, rival: Stores, seen: bool
    ) -> None:
        have = specimen.put(a_key_set(0), None) and specimen.get() if seen else None
        rival.key_sets.put(JWKS, a_key_set(1, "add"), specimen.get())

        for mode in ("published", "add", "replace"):
            with pytest.raises(NotYet):
                specimen.store.put(JWKS, a_key_set(0 if mode == "published" else 2, mode), have)
        assert specimen.get().kids == ({key(0).kid, key(1).kid} if seen else {key(1).kid})
        specimen.store.put(JWKS, a_key_set(2, "add"), specimen.get())

        assert specimen.get().kids >= {key(1).kid, key(2).kid}
