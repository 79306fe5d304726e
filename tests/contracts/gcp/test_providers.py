"""Providers and their keys, through the real SDK on the sandbox, keep what every store promises."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cwiictl.clouds.gcp.stores import Stores
from cwiictl.engine.resource import Mark
from cwiictl.errors import NotYet
from tests.contracts.gcp.ground import (
    CLUSTER,
    PROVIDER,
    Buried,
    WithPool,
    a_key_set,
    a_provider,
    key,
    put_pool,
)
from tests.contracts.store import Specimen
from tests.contracts.turning import Turning


class TestProviders(WithPool):
    @pytest.fixture
    def specimen(self, stores: Stores) -> Specimen:
        other = a_provider(
            title="another",
            description="Another.",
            issuer="https://another.example.org",
            audiences=frozenset({"openshift", "vault"}),
            mapping={"google.subject": "assertion.sub", "attribute.ns": "assertion.aud"},
            condition="assertion.sub != 'x'",
            disabled=True,
        )
        return Buried(stores.providers, PROVIDER, a_provider(), other, unknown=f"{CLUSTER}/unknown")

    def test_it_is_revived_and_all_of_it_is_put_right(
        self, specimen: Specimen, stores: Stores
    ) -> None:
        specimen.put(specimen.other, specimen.mark)
        specimen.drop()
        assert stores.providers.get([PROVIDER])[PROVIDER].deleted

        specimen.put(specimen.want, specimen.mark)

        assert stores.providers.get([PROVIDER])[PROVIDER] == specimen.want

    def test_it_is_found_in_a_pool_of_ours_too_and_dropped_before_the_pool_so_that_it_does_not_come_back_with_it(
        self, specimen: Specimen, stores: Stores
    ) -> None:
        specimen.put(specimen.want, specimen.mark)
        have = stores.pools.get([CLUSTER])[CLUSTER]
        stores.pools.put(CLUSTER, replace(have, owner=Mark(CLUSTER)), have)

        assert set(stores.providers.owned(CLUSTER)) == {PROVIDER}
        specimen.drop()
        Buried(stores.pools, CLUSTER, have, have).drop()
        assert stores.providers.owned(CLUSTER) == {}
        put_pool(stores, Mark(CLUSTER))

        assert stores.providers.get([PROVIDER])[PROVIDER].deleted

    def test_that_it_went_with_its_pool_is_no_error(
        self, specimen: Specimen, stores: Stores
    ) -> None:
        specimen.put(specimen.want, specimen.mark)
        have = stores.pools.get([CLUSTER])[CLUSTER]
        Buried(stores.pools, CLUSTER, have, have).drop()

        assert stores.providers.owned(CLUSTER) == {}

    def test_those_in_other_pools_of_the_cluster_are_found_and_so_are_their_issuers(
        self, specimen: Specimen, stores: Stores
    ) -> None:
        specimen.put(specimen.want, specimen.mark)
        put_pool(stores, Mark(CLUSTER), "another-pool")
        put_pool(stores, None, "their-pool")
        for pool in ("another-pool", "their-pool"):
            other = a_provider(issuer=f"https://{pool}.example.org")
            Buried(stores.providers, f"{pool}/{CLUSTER}", other, other).put(other, Mark(CLUSTER))

        assert set(stores.providers.owned(CLUSTER)) == {PROVIDER, f"another-pool/{CLUSTER}"}
        assert stores.known_issuers.get([CLUSTER])[CLUSTER].urls == {
            "https://issuer.example.org",
            "https://another-pool.example.org",
        }

    def test_uploaded_keys_are_there_as_soon_as_it_is(
        self, specimen: Specimen, stores: Stores
    ) -> None:
        """In between Google would take those of whoever has the issuer's URL."""
        specimen.put(a_provider(keys="uploaded", uploads=(key(0),)), specimen.mark)

        assert specimen.get().keys == "uploaded"
        assert stores.provider_keys.get([PROVIDER])[PROVIDER].kids == {key(0).kid}
        assert stores.provider_keys.put(PROVIDER, a_key_set(0), None).kids == {key(0).kid}

    def test_uploaded_keys_are_taken_away_where_the_issuers_own_are_wanted(
        self, specimen: Specimen, stores: Stores
    ) -> None:
        specimen.put(specimen.want, specimen.mark)
        stores.provider_keys.put(PROVIDER, a_key_set(0), None)
        assert specimen.get().keys == "uploaded"
        specimen.put(a_provider(keys="uploaded", title="another"), specimen.mark)
        assert stores.provider_keys.get([PROVIDER])

        specimen.put(specimen.want, specimen.mark)

        assert specimen.get().keys == "issuer"
        assert stores.provider_keys.get([PROVIDER]) == {}

    def test_it_tells_which_issuer_is_known(self, specimen: Specimen, stores: Stores) -> None:
        assert stores.known_issuers.get([CLUSTER])[CLUSTER].urls == frozenset()
        specimen.put(specimen.want, specimen.mark)
        assert stores.known_issuers.get([CLUSTER])[CLUSTER].urls == {"https://issuer.example.org"}

        specimen.drop()

        assert stores.known_issuers.get([CLUSTER])[CLUSTER].urls == frozenset()


class TestProviderKeys(WithPool, Turning):
    @pytest.fixture
    def specimen(self, stores: Stores, pool: None) -> Specimen:  # noqa: ARG002 - it must be there first
        Buried(stores.providers, PROVIDER, a_provider(), a_provider()).put(
            a_provider(), Mark(CLUSTER)
        )
        return Specimen(
            stores.provider_keys, PROVIDER, a_key_set(0), a_key_set(1), bears=(), stays=True
        )

    def test_they_are_put_over_what_was_seen_and_over_nothing_else(
        self, specimen: Specimen, rival: Stores
    ) -> None:
        specimen.put(a_key_set(0), None)
        have = specimen.get()
        rival.provider_keys.put(PROVIDER, a_key_set(1, "add"), have)

        with pytest.raises(NotYet):
            specimen.store.put(PROVIDER, a_key_set(2, "add"), have)

        assert specimen.get().kids == {key(0).kid, key(1).kid}
