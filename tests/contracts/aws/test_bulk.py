"""Roles are read together where that costs less, and one by one where it is denied."""

from __future__ import annotations

import time
from typing import Any

import pytest

from cwiictl import names
from cwiictl.clouds.aws import policy
from cwiictl.clouds.aws.resources.role import RoleState
from cwiictl.clouds.aws.stores.roles import Roles
from cwiictl.engine.holdings import holdings, remove
from cwiictl.engine.pace import Pace
from cwiictl.engine.resource import Mark, Walk
from cwiictl.errors import Denied
from cwiictl.sandbox import Sandbox
from tests.contracts.aws.ground import CLUSTER, MANAGED, the_role
from tests.examples import ACCOUNT


class TestBulk:
    """Roles are read all at once where that costs less, and one by one where it is denied."""

    NAMES = tuple(f"a-cluster-role-{number}" for number in range(6))

    @pytest.fixture
    def roles(self, clients: dict[str, Any], sandbox: Sandbox) -> Any:
        store: Any = Roles(clients["iam"], CLUSTER)
        for number, name in enumerate(self.NAMES):
            arn = f"arn:aws:iam::{ACCOUNT}:role/{name}"
            store.put(
                name,
                the_role(
                    arn=arn,
                    description=name,
                    session=3600 + number,
                    managed=frozenset({MANAGED}),
                    owner=Mark(CLUSTER),
                ),
                None,
            )
        sandbox.crowd(50)
        return store

    def asked(self, store: Any, sandbox: Sandbox) -> list[str]:
        """What is asked of IAM to read them all."""
        before = len(sandbox.record)
        self.each(store)
        return [seen.action for seen in sandbox.record[before:]]

    def each(self, store: Any) -> dict[str, RoleState]:
        return {
            name: state
            for one in (*self.NAMES, "a-cluster-nobody")
            for name, state in store.get([one]).items()
        }

    @pytest.mark.usefixtures("roles")
    @pytest.mark.parametrize("denied", ["iam:GetAccountAuthorizationDetails", "iam:ListRoles"])
    def test_what_is_read_at_once_is_what_is_read_one_by_one(
        self, clients: dict[str, Any], sandbox: Sandbox, denied: str
    ) -> None:
        together = self.each(Roles(clients["iam"], CLUSTER))
        few = self.asked(Roles(clients["iam"], CLUSTER), sandbox)
        sandbox.faults.deny = {denied}

        alone = self.each(Roles(clients["iam"], CLUSTER))

        assert together == alone
        assert set(together) == set(self.NAMES)
        assert {name: state.owner for name, state in together.items()} == dict.fromkeys(
            self.NAMES, Mark(CLUSTER)
        )
        assert len(few) < len(self.asked(Roles(clients["iam"], CLUSTER), sandbox))

    @pytest.mark.usefixtures("roles")
    def test_it_answers_each_name_once_and_the_second_answer_is_what_is_there_now(
        self, clients: dict[str, Any]
    ) -> None:
        store: Any = Roles(clients["iam"], CLUSTER)
        self.each(store)
        clients["iam"].update_role(
            RoleName=self.NAMES[3], Description="another", MaxSessionDuration=3600
        )
        clients["iam"].create_role(
            RoleName="a-cluster-nobody", AssumeRolePolicyDocument=policy.dump(the_role().trust)
        )

        found = self.each(store)

        assert found[self.NAMES[3]].description == "another"
        assert "a-cluster-nobody" in found

    @pytest.mark.usefixtures("roles")
    def test_what_is_to_go_is_looked_at_after_it_was_found(self, clients: dict[str, Any]) -> None:
        """Somebody may have been asked in between, and have taken a role back."""
        store: Any = Roles(clients["iam"], CLUSTER)
        held = holdings([Walk((), (), (), [store])], CLUSTER, Pace())
        kept = self.NAMES[1:4]
        for name in kept:
            clients["iam"].untag_role(RoleName=name, TagKeys=[*names.marked(Mark(CLUSTER))])
            clients["iam"].tag_role(
                RoleName=name,
                Tags=[
                    {"Key": key, "Value": value}
                    for key, value in names.marked(Mark(CLUSTER, hold="adopted")).items()
                ],
            )

        done = remove(held, Pace())

        assert done.whole
        assert done.released == tuple(f"aws/role/{name}" for name in kept)
        assert {
            name for name in self.each(Roles(clients["iam"], CLUSTER)) if name in self.NAMES
        } == set(kept)

    @pytest.mark.usefixtures("roles")
    def test_what_was_read_with_others_a_while_ago_is_read_again(
        self, clients: dict[str, Any]
    ) -> None:
        store: Any = Roles(clients["iam"], CLUSTER)
        for reading in store.crowd.readings:
            reading.fresh = 0.0
        store.get(self.NAMES[:3])
        time.sleep(1.0)  # longer than they took
        clients["iam"].update_role(
            RoleName=self.NAMES[4], Description="another", MaxSessionDuration=3600
        )

        assert store.get([self.NAMES[4]])[self.NAMES[4]].description == "another"

    @pytest.mark.usefixtures("roles")
    def test_one_role_is_not_worth_reading_all(
        self, clients: dict[str, Any], sandbox: Sandbox
    ) -> None:
        store: Any = Roles(clients["iam"], CLUSTER)

        before = len(sandbox.record)

        store.get([self.NAMES[0]])
        store.get([self.NAMES[0]])

        assert {"iam:ListRoles", "iam:GetAccountAuthorizationDetails"}.isdisjoint(
            {seen.action for seen in sandbox.record[before:]}
        )

    @pytest.mark.usefixtures("roles")
    def test_strangers_cost_a_page_and_not_a_request_each(
        self, clients: dict[str, Any], sandbox: Sandbox
    ) -> None:
        few = self.asked(Roles(clients["iam"], CLUSTER), sandbox)
        sandbox.crowd(3000)

        many = self.asked(Roles(clients["iam"], CLUSTER), sandbox)

        assert len(few) <= len(self.NAMES)
        assert len(many) <= len(few) + 8

    @pytest.mark.parametrize("denied", [set[str](), {"iam:GetAccountAuthorizationDetails"}])
    def test_owned_is_the_same_however_it_is_read(
        self, roles: Any, sandbox: Sandbox, denied: set[str]
    ) -> None:
        sandbox.faults.deny = denied

        assert roles.owned(CLUSTER) == dict.fromkeys(self.NAMES, Mark(CLUSTER))
        assert roles.owned("a") == {}

    def test_if_no_list_may_be_read_nobody_can_say_what_is_ours(
        self, roles: Any, sandbox: Sandbox
    ) -> None:
        sandbox.faults.deny = {"iam:GetAccountAuthorizationDetails", "iam:ListRoles"}

        with pytest.raises(Denied, match="ListRoles"):
            roles.owned(CLUSTER)
