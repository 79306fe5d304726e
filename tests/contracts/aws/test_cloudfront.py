"""Distributions, and what they read buckets as, through the real SDK on the sandbox, keep what every store promises."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from cwiictl.clouds.aws.resources.distribution import DistributionState, OriginAccessState
from cwiictl.clouds.aws.stores.cloudfront import Distributions, OriginAccesses
from cwiictl.engine.resource import Mark
from cwiictl.errors import NotYet
from cwiictl.sandbox import Sandbox
from tests.contracts.aws.ground import BUCKET, CLUSTER
from tests.contracts.store import Specimen, StoreContract


class TestOriginAccesses(StoreContract):
    @pytest.fixture
    def specimen(self, clients: dict[str, Any]) -> Specimen:
        store: Any = OriginAccesses(clients["cloudfront"])
        return Specimen(
            store, BUCKET, OriginAccessState(), OriginAccessState(signing="no-override")
        )

    def test_a_description_that_was_written_into_is_a_damaged_mark(
        self, specimen: Specimen, clients: dict[str, Any]
    ) -> None:
        made = specimen.put(specimen.want, specimen.mark)
        now = clients["cloudfront"].get_origin_access_control(Id=made.id)
        config = now["OriginAccessControl"]["OriginAccessControlConfig"]
        config["Description"] += " of the platform team"
        clients["cloudfront"].update_origin_access_control(
            Id=made.id, IfMatch=now["ETag"], OriginAccessControlConfig=config
        )
        assert not specimen.get().owner.whole

        specimen.put(specimen.want, specimen.mark)

        assert specimen.get().owner == specimen.mark


class TestDistributions(StoreContract):
    @pytest.fixture
    def specimen(self, clients: dict[str, Any]) -> Specimen:
        accesses: Any = OriginAccesses(clients["cloudfront"])
        access = accesses.put(BUCKET, OriginAccessState(), None).id
        store: Any = Distributions(clients["cloudfront"], CLUSTER)
        origin = f"{BUCKET}.s3.us-east-1.amazonaws.com"
        want = DistributionState(origin=origin, access=access, tags={"Name": CLUSTER})
        other = DistributionState(
            origin=origin,
            access=access,
            viewers="redirect-to-https",
            enabled=False,
            tags={"Name": "another"},
        )
        return Specimen(store, BUCKET, want, other, unknown="unknown-oidc")

    def test_it_is_disabled_before_it_goes_and_that_takes_a_while(
        self, specimen: Specimen, clients: dict[str, Any], sandbox: Sandbox
    ) -> None:
        specimen.put(specimen.want, specimen.mark)
        sandbox.faults.deploy = 5.0  # long enough for two looks on any machine

        with pytest.raises(NotYet, match="disabled"):
            specimen.store.drop(BUCKET)
        with pytest.raises(NotYet, match="disabled"):
            specimen.store.drop(BUCKET)
        (item,) = clients["cloudfront"].list_distributions()["DistributionList"]["Items"]
        assert not item["Enabled"]
        specimen.drop()

        assert specimen.get() is None

    def test_what_is_released_lets_go_of_an_access_of_ours(
        self, specimen: Specimen, clients: dict[str, Any]
    ) -> None:
        """Which could not go as long as it is used."""
        accesses: Any = OriginAccesses(clients["cloudfront"])
        ours = accesses.put("ours", OriginAccessState(owner=Mark(CLUSTER)), None).id
        have = specimen.put(replace(specimen.want, access=ours), Mark(CLUSTER, "adopted"))

        specimen.store.put(BUCKET, replace(have, owner=None), have)

        assert specimen.get().access == ""
        accesses.drop("ours")

    def test_what_others_have_set_in_it_stays(
        self, specimen: Specimen, clients: dict[str, Any]
    ) -> None:
        made = specimen.put(specimen.want, specimen.mark)
        id_ = made.arn.rpartition("/")[2]
        now = clients["cloudfront"].get_distribution_config(Id=id_)
        config = {**now["DistributionConfig"], "WebACLId": "theirs", "Enabled": False}
        clients["cloudfront"].update_distribution(
            Id=id_, IfMatch=now["ETag"], DistributionConfig=config
        )

        specimen.put(specimen.want, specimen.mark)

        assert specimen.get().enabled
        assert (
            clients["cloudfront"].get_distribution_config(Id=id_)["DistributionConfig"]["WebACLId"]
            == "theirs"
        )
