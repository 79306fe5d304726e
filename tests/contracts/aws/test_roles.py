"""Roles, through the real SDK on the sandbox, keep what every store promises."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from cwiictl.clouds.aws import policy
from cwiictl.clouds.aws.stores.roles import Roles
from cwiictl.sandbox import Sandbox
from tests.contracts.aws.ground import CLUSTER, MANAGED, the_role
from tests.contracts.store import Specimen, StoreContract
from tests.examples import ACCOUNT

BOUNDARY = "arn:aws:iam::aws:policy/PowerUserAccess"


class TestRoles(StoreContract):
    @pytest.fixture
    def specimen(self, clients: dict[str, Any]) -> Specimen:
        store: Any = Roles(clients["iam"], CLUSTER)
        want = the_role()
        trusted = policy.allow(
            "sts:AssumeRoleWithWebIdentity",
            Principal={"Federated": f"arn:aws:iam::{ACCOUNT}:oidc-provider/issuer.example.org"},
        )
        other = the_role(
            description="another",
            trust=policy.canonical(trusted),
            policy=policy.canonical(policy.allow(["s3:GetObject", "s3:PutObject"], Resource="*")),
            managed=frozenset({MANAGED}),
            session=7200,
            tags={"Name": "another"},
        )
        return Specimen(store, "a-cluster-role", want, other)

    def test_further_policies_are_seen_and_taken_away_whoever_attached_them(
        self, specimen: Specimen, clients: dict[str, Any]
    ) -> None:
        specimen.put(specimen.want, specimen.mark)
        document = policy.dump(policy.canonical(policy.allow("s3:*", Resource="*")))
        clients["iam"].put_role_policy(
            RoleName=specimen.name, PolicyName="theirs", PolicyDocument=document
        )
        clients["iam"].attach_role_policy(RoleName=specimen.name, PolicyArn=MANAGED)

        found = specimen.get()
        assert (found.others, found.managed) == ({"theirs"}, {MANAGED})
        specimen.put(specimen.want, specimen.mark)

        found = specimen.get()
        assert (found.others, found.managed) == (frozenset(), frozenset())

    def test_a_boundary_is_set_and_one_that_nobody_asked_for_is_left(
        self, specimen: Specimen
    ) -> None:
        specimen.put(the_role(boundary=BOUNDARY), specimen.mark)
        assert specimen.get().boundary == BOUNDARY

        specimen.put(specimen.want, specimen.mark)
        assert specimen.get().boundary == BOUNDARY

        specimen.put(the_role(boundary=MANAGED), specimen.mark)
        assert specimen.get().boundary == MANAGED

    def test_a_role_without_a_policy_of_its_own_has_none_and_gets_and_loses_one(
        self, specimen: Specimen
    ) -> None:
        bare = the_role(policy=None, managed=frozenset({MANAGED}))
        for want in (bare, the_role(), bare):
            specimen.put(want, specimen.mark)
            assert (specimen.get().policy, specimen.get().managed) == (want.policy, want.managed)

    def test_a_role_under_a_path_is_made_there(self, specimen: Specimen) -> None:
        arn = f"arn:aws:iam::{ACCOUNT}:role/clusters/of/ours/{specimen.name}"

        specimen.put(the_role(arn=arn), specimen.mark)

        assert specimen.get().arn == arn
        assert set(specimen.owned(CLUSTER)) == {specimen.name}

    def test_a_mark_that_lost_a_tag_is_not_whole_and_is_put_whole(
        self, specimen: Specimen, clients: dict[str, Any]
    ) -> None:
        specimen.put(specimen.want, specimen.mark)
        clients["iam"].untag_role(RoleName=specimen.name, TagKeys=["cwii.dev/origin"])
        assert not specimen.get().owner.whole

        specimen.put(specimen.want, specimen.mark)

        assert specimen.get().owner == specimen.mark
        assert specimen.get().tags == the_role().tags

    def test_a_role_goes_with_all_that_hangs_on_it(
        self, specimen: Specimen, clients: dict[str, Any]
    ) -> None:
        specimen.put(specimen.want, specimen.mark)
        iam = clients["iam"]
        document = json.dumps(
            {
                "Version": "2012-10-17",
                "Statement": [{"Effect": "Allow", "Action": "s3:*", "Resource": "*"}],
            }
        )
        iam.put_role_policy(RoleName=specimen.name, PolicyName="theirs", PolicyDocument=document)
        arn = iam.create_policy(PolicyName="theirs", PolicyDocument=document)["Policy"]["Arn"]
        iam.attach_role_policy(RoleName=specimen.name, PolicyArn=arn)
        iam.create_instance_profile(InstanceProfileName="theirs")
        iam.add_role_to_instance_profile(InstanceProfileName="theirs", RoleName=specimen.name)

        specimen.drop()

        assert specimen.get() is None

    def test_a_role_without_its_inline_policy_has_none(
        self, specimen: Specimen, clients: dict[str, Any]
    ) -> None:
        specimen.put(specimen.want, specimen.mark)
        clients["iam"].delete_role_policy(RoleName=specimen.name, PolicyName=specimen.name)

        assert specimen.get().policy is None

    def test_what_others_have_tagged_stays(
        self, specimen: Specimen, clients: dict[str, Any]
    ) -> None:
        specimen.put(specimen.want, specimen.mark)
        clients["iam"].tag_role(RoleName=specimen.name, Tags=[{"Key": "costs", "Value": "theirs"}])
        specimen.put(specimen.other, specimen.mark)
        specimen.put(specimen.get(), None)

        assert specimen.get().tags == {"Name": "another", "costs": "theirs"}


class TestLag:
    """IAM shows for a while what has gone, and not yet what has come."""

    def test_a_policy_that_has_gone_and_shows_does_not_keep_its_role(
        self, clients: dict[str, Any], sandbox: Sandbox
    ) -> None:
        store: Any = Roles(clients["iam"], CLUSTER)
        specimen = Specimen(store, "a-cluster-role", the_role(), the_role(), bears=())
        specimen.put(specimen.want, None)
        sandbox.faults.lag = 1.0
        clients["iam"].delete_role_policy(RoleName=specimen.name, PolicyName=specimen.name)
        assert clients["iam"].list_role_policies(RoleName=specimen.name)["PolicyNames"] == [
            specimen.name
        ]

        store.drop(specimen.name)

        time.sleep(1.1)
        assert specimen.get() is None
