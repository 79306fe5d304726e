"""Buckets, through the real SDK on the sandbox, keep what every store promises."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cwiictl import names
from cwiictl.clouds.gcp.resources.bucket import CLOSED, Access
from cwiictl.clouds.gcp.resources.pool import PoolState
from cwiictl.clouds.gcp.stores import Stores
from cwiictl.errors import Conflict
from cwiictl.issuer.documents import DocumentState
from tests.contracts.gcp.ground import (
    ACCOUNT,
    BUCKET,
    CLUSTER,
    DISCOVERY,
    JWKS,
    MEMBER,
    a_bucket,
    an_account,
    granted,
    policy_of,
)
from tests.contracts.store import Specimen, StoreContract


class TestBuckets(StoreContract):
    @pytest.fixture
    def specimen(self, stores: Stores) -> Specimen:
        other = a_bucket(access=CLOSED, labels={"Name": "another", "costs": "ours"})
        return Specimen(
            stores.buckets,
            BUCKET,
            a_bucket(labels={"Name": CLUSTER, "costs": "some"}),
            other,
            unknown="unknown-oidc",
        )

    def test_a_bucket_goes_with_its_documents_and_with_nothing_else(
        self, specimen: Specimen, stores: Stores
    ) -> None:
        specimen.put(specimen.want, specimen.mark)
        for name in (DISCOVERY, JWKS, f"{BUCKET}/theirs"):
            stores.documents.put(name, DocumentState(body={}), None)

        with pytest.raises(Conflict, match="theirs"):
            specimen.drop()
        stores.documents.drop(f"{BUCKET}/theirs")
        specimen.drop()

        assert specimen.get() is None

    def test_what_lies_in_a_bucket_that_is_not_ours_is_told(
        self, specimen: Specimen, stores: Stores
    ) -> None:
        specimen.put(specimen.want, None)
        stores.documents.put(JWKS, DocumentState(body={}), None)
        assert specimen.get().stranger == ""

        stores.documents.put(f"{BUCKET}/payroll.csv", DocumentState(body={}), None)

        assert specimen.get().stranger == "payroll.csv"
        specimen.put(specimen.want, specimen.mark)
        assert specimen.get().stranger == ""

    def test_whatever_else_everybody_may_do_in_one_of_ours_is_taken_away_and_what_others_may_is_not(
        self, specimen: Specimen, stores: Stores
    ) -> None:
        specimen.put(specimen.want, specimen.mark)
        theirs = {"role": "roles/storage.objectAdmin", "members": {MEMBER}}
        stores.service_accounts.put(ACCOUNT, an_account(principals=frozenset()), None)
        granted(stores, {"role": "roles/storage.objectViewer", "members": {"allUsers"}}, theirs)
        assert specimen.get().access.public is None

        specimen.put(specimen.want, specimen.mark)

        assert specimen.get() == specimen.want
        assert theirs in [dict(each) for each in policy_of(stores).bindings]

    def test_of_one_that_was_brought_only_the_mark_is_ours_to_write(
        self, specimen: Specimen
    ) -> None:
        specimen.put(a_bucket(access=Access(public=False)), None)

        specimen.put(a_bucket(access=None, labels={}), replace(specimen.mark, hold="brought"))

        assert specimen.get().owner.hold == "brought"
        assert specimen.get().access == Access(public=False)

    def test_who_lists_marks_sees_ccoctls_by_its_pool(self, stores: Stores) -> None:
        stores.buckets.put(BUCKET, a_bucket(labels={}), None)
        assert stores.buckets.owned(names.ccoctls(CLUSTER)) == {}

        stores.pools.put(
            CLUSTER, PoolState(title=CLUSTER, description="Created By OpenShift ccoctl"), None
        )

        found = stores.buckets.get([BUCKET])[BUCKET]
        assert found.owner == stores.pools.get([CLUSTER])[CLUSTER].owner
        assert found.owner is not None
        assert found.owner.tool == names.CCOCTL
        assert set(stores.buckets.owned(names.ccoctls(CLUSTER))) == {BUCKET}
        assert stores.buckets.owned(CLUSTER) == {}
