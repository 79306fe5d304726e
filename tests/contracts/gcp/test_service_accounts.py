"""Service accounts, through the real SDK on the sandbox, keep what every store promises."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from cwiictl import names
from cwiictl.clouds.gcp import ids
from cwiictl.clouds.gcp.resources.grant import Grant
from cwiictl.clouds.gcp.resources.policy import PolicyState
from cwiictl.clouds.gcp.stores import Stores
from cwiictl.engine.resource import Mark
from cwiictl.errors import NotYet
from cwiictl.sandbox import Sandbox
from cwiictl.sandbox.gcp.world import PROJECT, SECOND
from tests.contracts.gcp.ground import (
    ACCOUNT,
    CLUSTER,
    EMAIL,
    MEMBER,
    VIEWER,
    WithPool,
    an_account,
    principals,
    put_pool,
)
from tests.contracts.store import Specimen


class TestServiceAccounts(WithPool):
    @pytest.fixture
    def specimen(self, stores: Stores) -> Specimen:
        other = an_account(
            title="Another",
            description="Another.",
            principals=principals("two", "three"),
            disabled=True,
        )
        return Specimen(
            stores.service_accounts, ACCOUNT, an_account(), other, unknown="an-unknown-account"
        )

    def test_whom_others_let_act_as_it_stays_and_of_our_pool_only_who_is_wanted(
        self, specimen: Specimen, stores: Stores
    ) -> None:
        specimen.put(specimen.want, specimen.mark)
        put_pool(stores, None, "their-pool")
        theirs = principals("theirs", pool="their-pool")
        opening: Any = stores.service_accounts
        inside = opening.store
        policy = inside._policy(ACCOUNT)
        (binding,) = policy.bindings
        binding.members.extend([*theirs, *principals("drifted")])
        policy.bindings.add(
            role="roles/iam.serviceAccountTokenCreator",
            members=[f"serviceAccount:operator@{PROJECT}.iam.gserviceaccount.com"],
        )
        inside.iam.call(
            "set_iam_policy", {"resource": ids.service_account(PROJECT, EMAIL), "policy": policy}
        )
        assert specimen.get().principals == principals("one", "drifted")

        specimen.put(specimen.other, specimen.mark)

        assert specimen.get() == specimen.other
        kept = inside._policy(ACCOUNT)
        assert {each.role for each in kept.bindings} == {
            "roles/iam.workloadIdentityUser",
            "roles/iam.serviceAccountTokenCreator",
        }
        assert theirs < {member for each in kept.bindings for member in each.members}

    def test_who_was_let_in_from_another_pool_of_the_cluster_is_ours_to_turn_away(
        self, specimen: Specimen, stores: Stores
    ) -> None:
        put_pool(stores, Mark(CLUSTER), "former-pool")
        put_pool(stores, Mark("another"), "their-pool")
        specimen.put(specimen.want, specimen.mark)
        members = {pool: principals("one", pool=pool) for pool in ("former-pool", "their-pool")}
        inside: Any = stores.service_accounts
        policy = inside.store._policy(ACCOUNT)
        policy.bindings[0].members.extend(
            sorted(member for told in members.values() for member in told)
        )
        inside.store.iam.call(
            "set_iam_policy", {"resource": ids.service_account(PROJECT, EMAIL), "policy": policy}
        )
        assert specimen.get().principals == principals("one") | members["former-pool"]

        specimen.put(specimen.want, specimen.mark)

        assert members["their-pool"] <= set(inside.store._policy(ACCOUNT).bindings[0].members)
        assert specimen.get() == specimen.want

    def test_who_writes_its_policy_in_between_is_not_overwritten(
        self, specimen: Specimen, rival: Stores
    ) -> None:
        specimen.put(specimen.want, specimen.mark)
        have = specimen.get()
        want: Any = specimen.other
        rival.service_accounts.put(
            ACCOUNT,
            replace(want, owner=specimen.mark),
            rival.service_accounts.get([ACCOUNT])[ACCOUNT],
        )

        with pytest.raises(NotYet):
            specimen.store.put(
                ACCOUNT,
                replace(specimen.want, principals=principals("four"), owner=specimen.mark),
                have,
            )

        assert specimen.get().principals == want.principals

    def test_other_projects_are_written_on_it_and_stay(self, specimen: Specimen) -> None:
        specimen.put(an_account(scopes=frozenset({SECOND})), specimen.mark)
        specimen.put(an_account(title="Another"), specimen.mark)

        assert specimen.get() == an_account(title="Another", scopes=frozenset({SECOND}))

    def test_what_is_let_go_of_says_nothing_of_other_projects(
        self, specimen: Specimen, stores: Stores
    ) -> None:
        specimen.put(an_account(scopes=frozenset({SECOND})), Mark(CLUSTER, "adopted"))
        have = stores.service_accounts.get([ACCOUNT])[ACCOUNT]

        stores.service_accounts.put(ACCOUNT, replace(have, owner=None), have)

        assert specimen.get() == an_account()

    def test_it_leaves_no_dead_members_behind(
        self, specimen: Specimen, stores: Stores, rival: Stores
    ) -> None:
        specimen.put(an_account(scopes=frozenset({SECOND})), specimen.mark)
        for project in (PROJECT, SECOND):
            stores.policies.put(
                project,
                PolicyState(grants=frozenset({Grant(VIEWER, MEMBER)}), of=frozenset({MEMBER})),
                None,
            )

        specimen.drop()

        for project in (PROJECT, SECOND):
            assert not [
                grant
                for grant in rival.policies.get([project])[project].grants
                if EMAIL in grant.member
            ]

    def test_many_are_listed_once_and_each_is_read_anew_after_that(
        self, stores: Stores, rival: Stores, sandbox: Sandbox
    ) -> None:
        for number in range(3):
            stores.service_accounts.put(
                f"an-account-{number}", an_account(f"an-account-{number}"), None
            )
        before = len(sandbox.record)
        for number in range(3):
            assert rival.service_accounts.get([f"an-account-{number}"])

        made = [exchange.action for exchange in list(sandbox.record)[before:]]
        assert len(made) == 1 + 1 + 3
        stores.service_accounts.drop("an-account-1")
        assert rival.service_accounts.get(["an-account-1"]) == {}

    def test_ccoctls_is_found_by_its_title_and_by_whom_it_believes(self, stores: Stores) -> None:
        title, words = f"{CLUSTER}-a-request", "Created By OpenShift ccoctl for service account"
        stores.service_accounts.put(
            "random-5",
            an_account(
                "random-5", title=title, description=f"{words} {title}", principals=frozenset()
            ),
            None,
        )
        assert stores.service_accounts.owned(names.ccoctls(CLUSTER)) == {}
        assert stores.entitled("ours-1234", title) == "ours-1234"

        have = stores.service_accounts.get(["random-5"])["random-5"]
        stores.service_accounts.put("random-5", replace(have, principals=principals("one")), have)

        assert set(stores.service_accounts.owned(names.ccoctls(CLUSTER))) == {"random-5"}
        assert stores.entitled("ours-1234", title) == "random-5"
        assert stores.entitled("ours-1234", "another title") == "ours-1234"
        found = stores.service_accounts.get(["random-5"])["random-5"]
        assert found.owner is not None
        assert found.owner.tool == names.CCOCTL
