"""Managed policies, through the real SDK on the sandbox, keep what every store promises."""

from __future__ import annotations

from typing import Any

import pytest

from cwiictl.clouds.aws import policy
from cwiictl.clouds.aws.resources.managed_policy import ManagedPolicyState
from cwiictl.clouds.aws.stores.iam import ManagedPolicies
from tests.contracts.aws.ground import CLUSTER
from tests.contracts.store import Specimen, StoreContract
from tests.examples import ACCOUNT


class TestManagedPolicies(StoreContract):
    @pytest.fixture
    def specimen(self, clients: dict[str, Any]) -> Specimen:
        place = f"arn:aws:iam::{ACCOUNT}:policy/"
        store: Any = ManagedPolicies(clients["iam"], CLUSTER, place)
        grants = [
            policy.canonical(policy.allow(action, Resource="*"))
            for action in ("s3:GetObject", ["s3:PutObject", "s3:DeleteObject"])
        ]
        name = "a-cluster-part-1"
        want, other = (
            ManagedPolicyState(arn=place + name, policy=each, tags={"Name": tag})
            for each, tag in zip(grants, ("a-cluster", "another"), strict=True)
        )
        return Specimen(store, name, want, other)

    def test_it_is_changed_as_often_as_one_likes(
        self, specimen: Specimen, clients: dict[str, Any]
    ) -> None:
        """IAM keeps five versions, and refuses a sixth."""
        for want in (specimen.want, specimen.other) * 4:
            specimen.put(want, specimen.mark)

        assert specimen.get() == specimen.other
        versions = clients["iam"].list_policy_versions(PolicyArn=specimen.get().arn)["Versions"]
        assert len(versions) <= 2
