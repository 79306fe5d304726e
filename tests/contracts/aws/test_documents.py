"""Discovery documents and key sets, through the real SDK on the sandbox, keep what every store promises."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from cwiictl import oidc
from cwiictl.clouds.aws.stores.objects import Documents, KeySets
from cwiictl.engine.resource import Mark
from cwiictl.errors import Conflict, NotYet
from cwiictl.issuer.documents import DocumentState, Keys
from tests.contracts.aws.ground import BUCKET, CLUSTER, InBucket, nowhere
from tests.contracts.keys import a_key_set, key
from tests.contracts.store import Specimen
from tests.contracts.turning import Turning

PLACE = f"{BUCKET}/keys.json"


class TestDocuments(InBucket):
    @pytest.fixture
    def specimen(self, clients: dict[str, Any]) -> Specimen:
        store: Any = Documents(clients["s3"], CLUSTER, nowhere)
        other = DocumentState(
            body={"issuer": "another"},
            cache_control="no-store",
            content_type="application/jwk-set+json",
        )
        return Specimen(
            store,
            f"{BUCKET}/.well-known/openid-configuration",
            DocumentState(body={"issuer": "x"}),
            other,
            bears=(),
            unknown=f"{BUCKET}/unknown",
        )

    def test_in_a_place_of_the_users_own_it_is_found_by_its_own_mark(
        self, clients: dict[str, Any]
    ) -> None:
        """And nothing else in that place is."""
        store: Any = Documents(clients["s3"], CLUSTER, lambda _cluster: [f"{BUCKET}/prod/"])
        name = f"{BUCKET}/prod/.well-known/openid-configuration"
        assert store.owned(CLUSTER) == {}

        store.put(name, DocumentState(body={"issuer": "x"}), None)

        assert store.owned(CLUSTER) == {name: Mark(CLUSTER)}
        assert store.owned("another") == {}
        assert store.get([name])[name].owner == Mark(CLUSTER)
        store.drop(name)
        assert store.owned(CLUSTER) == {}

    def test_what_was_there_unmarked_in_a_place_of_the_users_own_is_let_go_of_and_stays(
        self, clients: dict[str, Any]
    ) -> None:
        """With its tags."""
        store: Any = Documents(clients["s3"], CLUSTER, lambda _cluster: [f"{BUCKET}/prod/"])
        name, where = (
            f"{BUCKET}/prod/.well-known/openid-configuration",
            {"Bucket": BUCKET, "Key": "prod/.well-known/openid-configuration"},
        )
        clients["s3"].put_object(**where, Body=b"{}", Tagging="team=house")
        assert (store.owned(CLUSTER), store.get([name])[name].owner) == ({}, None)

        store.put(name, DocumentState(body={"issuer": "x"}), store.get([name])[name])
        store.put(
            name, DocumentState(body={"issuer": "y"}, owner=Mark(CLUSTER)), store.get([name])[name]
        )
        assert store.owned(CLUSTER) == {name: Mark(CLUSTER, "brought")}
        seen = store.get([name])[name]
        store.put(name, replace(seen, owner=None), seen)

        assert store.owned(CLUSTER) == {}
        assert store.get([name])[name].body == {"issuer": "y"}
        assert clients["s3"].get_object_tagging(**where)["TagSet"] == [
            {"Key": "team", "Value": "house"}
        ]

    def test_a_document_in_no_bucket_is_not_there(self, specimen: Specimen) -> None:
        assert specimen.store.get(["nowhere-oidc/keys.json"]) == {}


class TestKeySets(InBucket, Turning):
    @pytest.fixture
    def specimen(self, clients: dict[str, Any]) -> Specimen:
        store: Any = KeySets(clients["s3"], CLUSTER, nowhere)
        return Specimen(
            store, PLACE, a_key_set(0), a_key_set(1), bears=(), unknown=f"{BUCKET}/unknown"
        )

    def test_a_key_that_is_added_takes_no_other_away(self, specimen: Specimen) -> None:
        specimen.put(a_key_set(0, "add"), None)
        specimen.put(a_key_set(1, "add"), None)

        assert specimen.get().kids == {key(0).kid, key(1).kid}

    @pytest.mark.parametrize("seen", [True, False])
    def test_it_is_put_over_what_was_seen_and_over_nothing_else(
        self, specimen: Specimen, clients: dict[str, Any], seen: bool
    ) -> None:
        """Read, decide, write: S3 refuses the write, because it names what was read."""
        have = specimen.put(a_key_set(0), None) and specimen.get() if seen else None
        rival: Any = KeySets(clients["s3"], CLUSTER, nowhere)
        rival.put(PLACE, a_key_set(1, "add"), specimen.get())

        for mode in ("published", "add", "replace"):
            with pytest.raises(NotYet):
                specimen.store.put(PLACE, a_key_set(0 if mode == "published" else 2, mode), have)
        assert specimen.get().kids == ({key(0).kid, key(1).kid} if seen else {key(1).kid})
        specimen.store.put(PLACE, a_key_set(2, "add"), specimen.get())

        assert specimen.get().kids >= {key(1).kid, key(2).kid}

    def test_of_two_who_each_publish_their_own_key_one_is_refused(self, specimen: Specimen) -> None:
        """Nobody's key is added unasked: who comes second decides anew."""
        specimen.store.put(PLACE, a_key_set(0, "published"), None)
        with pytest.raises(NotYet):
            specimen.store.put(PLACE, a_key_set(1, "published"), None)
        with pytest.raises(Conflict, match="does not hold our key"):
            specimen.store.put(PLACE, a_key_set(1, "published"), specimen.get())

        assert specimen.get().kids == {key(0).kid}

    def test_only_its_headers_are_mended_where_our_key_is_published(
        self, specimen: Specimen, clients: dict[str, Any]
    ) -> None:
        body = oidc.dump({"keys": [key(1).jwk, key(0).jwk], "theirs": 1})
        clients["s3"].put_object(
            Bucket=BUCKET, Key="keys.json", Body=body, ContentType="text/plain"
        )

        specimen.store.put(PLACE, a_key_set(0, "published"), specimen.get())

        assert specimen.get().content_type == "application/json"
        with clients["s3"].get_object(Bucket=BUCKET, Key="keys.json")["Body"] as found:
            assert found.read() == body

    @pytest.mark.parametrize("mode", ["published", "add"])
    def test_what_became_malformed_is_not_written_over(
        self, specimen: Specimen, clients: dict[str, Any], mode: Keys
    ) -> None:
        specimen.put(a_key_set(0), None)
        have = specimen.get()
        clients["s3"].put_object(Bucket=BUCKET, Key="keys.json", Body=b"{")

        with pytest.raises(NotYet):
            specimen.store.put(PLACE, a_key_set(0, mode), have)

        assert specimen.get().malformed

    @pytest.mark.parametrize("body", [b"", b"{", b"[]", b'{"keys": 1}'])
    def test_what_is_malformed_is_told_and_not_raised(
        self, specimen: Specimen, clients: dict[str, Any], body: bytes
    ) -> None:
        clients["s3"].put_object(Bucket=BUCKET, Key="keys.json", Body=body)

        found = specimen.get()

        assert found.malformed
        assert found.kids == frozenset()
