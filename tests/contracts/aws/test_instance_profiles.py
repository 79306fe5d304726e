"""Instance profiles, through the real SDK on the sandbox, keep what every store promises."""

from __future__ import annotations

from typing import Any

import pytest

from cwiictl.clouds.aws.resources.instance_profile import InstanceProfileState
from cwiictl.clouds.aws.stores.instance_profiles import InstanceProfiles
from tests.contracts.aws.ground import CLUSTER
from tests.contracts.store import Specimen, StoreContract
from tests.examples import ACCOUNT

NAME = f"{CLUSTER}-worker"
TRUST = '{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Service":"ec2.amazonaws.com"},"Action":"sts:AssumeRole"}]}'


class TestInstanceProfiles(StoreContract):
    @pytest.fixture
    def specimen(self, clients: dict[str, Any]) -> Specimen:
        store: Any = InstanceProfiles(clients["iam"], CLUSTER)
        for role in (f"{NAME}-role", f"{NAME}-other"):
            clients["iam"].create_role(RoleName=role, AssumeRolePolicyDocument=TRUST)
        arn = f"arn:aws:iam::{ACCOUNT}:instance-profile/{NAME}"
        want, other = (
            InstanceProfileState(arn=arn, role=f"{NAME}-{role}", tags={"Name": tag})
            for role, tag in (("role", CLUSTER), ("other", "another"))
        )
        return Specimen(store, NAME, want, other)

    def test_one_that_was_made_and_not_filled_is_filled(
        self, specimen: Specimen, clients: dict[str, Any]
    ) -> None:
        specimen.put(specimen.want, specimen.mark)
        clients["iam"].remove_role_from_instance_profile(
            InstanceProfileName=NAME, RoleName=f"{NAME}-role"
        )
        assert specimen.get().role == ""

        specimen.put(specimen.want, specimen.mark)

        assert specimen.get() == specimen.want

    def test_it_goes_whatever_role_is_in_it(self, specimen: Specimen) -> None:
        specimen.put(specimen.other, specimen.mark)

        specimen.drop()
        specimen.drop()

        assert specimen.get() is None
