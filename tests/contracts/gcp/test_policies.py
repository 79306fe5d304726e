"""The policies of projects, through the real SDK on the sandbox, keep what every store promises."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from cwiictl.clouds.gcp import ids
from cwiictl.clouds.gcp.resources.grant import Grant
from cwiictl.clouds.gcp.resources.policy import PolicyState
from cwiictl.clouds.gcp.resources.reach import ReachState
from cwiictl.clouds.gcp.stores import Stores
from cwiictl.engine.resource import Mark
from cwiictl.errors import Denied, NotYet
from cwiictl.sandbox.gcp.world import PROJECT, SECOND
from tests.contracts.gcp.ground import (
    ACCOUNT,
    CLUSTER,
    MEMBER,
    VIEWER,
    WHEN,
    WithPool,
    a_role,
    an_account,
    principals,
    put_pool,
    right,
)
from tests.contracts.store import Specimen


class TestPolicies(WithPool):
    @pytest.fixture
    def specimen(self, stores: Stores, pool: None) -> Specimen:  # noqa: ARG002 - it must be there first
        stores.service_accounts.put(ACCOUNT, an_account(), None)
        want = PolicyState(
            grants=frozenset({Grant(VIEWER, MEMBER), Grant("roles/storage.admin", MEMBER, WHEN)}),
            of=frozenset({MEMBER}),
            exact=True,
        )
        other = replace(want, grants=frozenset({Grant("roles/storage.objectViewer", MEMBER)}))
        return Specimen(stores.policies, PROJECT, want, other, bears=(), stays=True, alike=right)

    def test_nothing_of_others_is_lost_whoever_comes_in_between(
        self, specimen: Specimen, stores: Stores, rival: Stores
    ) -> None:
        stores.service_accounts.put("theirs", an_account("theirs"), None)
        theirs = ids.account_member(ids.email("theirs", PROJECT))
        have = specimen.get()
        grant = Grant("roles/browser", theirs, WHEN)
        rival.policies.put(
            PROJECT, PolicyState(grants=frozenset({grant}), of=frozenset({theirs})), None
        )

        with pytest.raises(NotYet):
            specimen.store.put(PROJECT, specimen.want, have)
        specimen.put(specimen.want, None)

        want: Any = specimen.want
        assert specimen.get().grants == have.grants | want.grants | {grant}

    def test_what_others_gave_ours_stays_unless_it_is_to_be_exact(self, specimen: Specimen) -> None:
        given = Grant("roles/storage.objectViewer", MEMBER)
        specimen.put(specimen.want, None)
        specimen.put(PolicyState(grants=frozenset({given}), of=frozenset({MEMBER})), None)
        want: Any = specimen.want
        assert specimen.get().grants > want.grants | {given}

        specimen.put(specimen.want, None)

        assert given not in specimen.get().grants

    def test_members_of_what_is_ours_go_with_it_and_are_found_wherever_they_are(
        self, specimen: Specimen, stores: Stores, rival: Stores
    ) -> None:
        have = stores.service_accounts.get([ACCOUNT])[ACCOUNT]
        stores.service_accounts.put(
            ACCOUNT,
            replace(
                have, scopes=frozenset({SECOND}), owner=Mark(CLUSTER, origin="create-identity")
            ),
            have,
        )
        put_pool(stores, Mark(CLUSTER))
        (direct,) = principals("direct")
        before = specimen.get().grants
        specimen.put(
            PolicyState(
                grants=frozenset({Grant(VIEWER, MEMBER), Grant(VIEWER, direct)}),
                of=frozenset({MEMBER, direct}),
            ),
            None,
        )
        stores.policies.put(
            SECOND,
            PolicyState(grants=frozenset({Grant(VIEWER, MEMBER)}), of=frozenset({MEMBER})),
            None,
        )

        mark = Mark(CLUSTER, origin="create-identity")
        assert rival.policies.owned(CLUSTER) == {PROJECT: mark, SECOND: mark}
        assert rival.policies.get([PROJECT])[PROJECT].owner == mark
        for project in (PROJECT, SECOND):
            rival.policies.drop(project)

        assert specimen.get().grants == before
        assert rival.policies.owned(CLUSTER) == {}

    def test_what_has_no_roles_in_a_project_any_more_says_so(
        self, specimen: Specimen, stores: Stores, rival: Stores
    ) -> None:
        """Whether there were any, or only what says that there may be; and of other projects and of others nothing changes."""
        have = stores.service_accounts.get([ACCOUNT])[ACCOUNT]
        both, theirs = (
            frozenset({SECOND, PROJECT}),
            an_account("theirs", scopes=frozenset({SECOND}), owner=Mark("another")),
        )
        stores.service_accounts.put(ACCOUNT, replace(have, scopes=both, owner=Mark(CLUSTER)), have)
        stores.service_accounts.put("theirs", theirs, None)
        put_pool(stores, Mark(CLUSTER))
        stores.reaches.put(CLUSTER, ReachState(scopes=both), None)
        assert set(rival.policies.owned(CLUSTER)) == {PROJECT, SECOND}

        specimen.patiently(lambda: rival.policies.drop(SECOND))

        assert rival.service_accounts.get([ACCOUNT])[ACCOUNT].scopes == {PROJECT}
        assert rival.service_accounts.get(["theirs"])["theirs"].scopes == {SECOND}
        assert rival.reaches.get([CLUSTER])[CLUSTER].scopes == {PROJECT}
        assert SECOND not in rival.policies.owned(CLUSTER)

    def test_who_grants_something_meanwhile_makes_it_begin_anew(
        self, specimen: Specimen, stores: Stores, rival: Stores
    ) -> None:
        have = stores.service_accounts.get([ACCOUNT])[ACCOUNT]
        stores.service_accounts.put(
            ACCOUNT, replace(have, scopes=frozenset({SECOND}), owner=Mark(CLUSTER)), have
        )
        inside: Any = rival.policies
        withdraw = inside.store.accounts.withdraw

        def late(project: str) -> None:
            withdraw(project)
            stores.policies.put(
                SECOND,
                PolicyState(grants=frozenset({Grant(VIEWER, MEMBER)}), of=frozenset({MEMBER})),
                None,
            )
            inside.store.accounts.withdraw = withdraw

        inside.store.accounts.withdraw = late
        with pytest.raises(NotYet, match=f"granted roles in {SECOND}"):
            rival.policies.drop(SECOND)
        rival.policies.drop(SECOND)

        assert specimen.store.get([SECOND])[SECOND].grants.isdisjoint({Grant(VIEWER, MEMBER)})

    def test_of_an_account_that_is_only_let_go_what_only_we_can_have_given_goes(
        self, specimen: Specimen, stores: Stores, rival: Stores
    ) -> None:
        have = stores.service_accounts.get([ACCOUNT])[ACCOUNT]
        stores.service_accounts.put(ACCOUNT, replace(have, owner=Mark(CLUSTER, "adopted")), have)
        made = stores.custom_roles.put("cwii_1", a_role(owner=Mark(CLUSTER)), None)
        theirs = Grant(VIEWER, MEMBER)
        specimen.put(
            PolicyState(grants=frozenset({theirs, Grant(made.id, MEMBER)}), of=frozenset({MEMBER})),
            None,
        )

        rival.policies.drop(PROJECT)

        assert {grant for grant in specimen.get().grants if grant.member == MEMBER} == {theirs}

    def test_whoever_has_roles_without_a_service_account_is_found_and_loses_them_alone(
        self, specimen: Specimen, stores: Stores, rival: Stores
    ) -> None:
        """Wherever the pool says that its members are granted any; and only in a pool of the cluster's own."""
        one, two = sorted(principals("one", "two"))
        granted = PolicyState(
            grants=frozenset({Grant(VIEWER, one), Grant(VIEWER, two)}), of=frozenset({one, two})
        )
        for project in (PROJECT, SECOND):
            stores.policies.put(project, granted, None)
        assert rival.principals.owned(CLUSTER) == {}, "the pool is the user's"
        put_pool(stores, Mark(CLUSTER))
        stores.reaches.put(CLUSTER, ReachState(scopes=frozenset({SECOND})), None)

        assert rival.principals.owned(CLUSTER) == {"ns:one": Mark(CLUSTER), "ns:two": Mark(CLUSTER)}
        assert rival.principals.get(["ns:one"])["ns:one"].owner == Mark(CLUSTER)
        rival.principals.drop("ns:one")

        assert rival.principals.owned(CLUSTER) == {"ns:two": Mark(CLUSTER)}
        assert [
            Grant(VIEWER, two) in stores.policies.get([project])[project].grants
            for project in (PROJECT, SECOND)
        ] == [True, True]
        assert specimen.get().grants >= {Grant(VIEWER, two)}

    def test_a_project_that_is_closed_to_us_fails_for_itself(
        self, specimen: Specimen, stores: Stores, rival: Stores
    ) -> None:
        mark = Mark(CLUSTER, origin="create-identity")
        have = stores.service_accounts.get([ACCOUNT])[ACCOUNT]
        stores.service_accounts.put(
            ACCOUNT, replace(have, scopes=frozenset({"closed-to-us"}), owner=mark), have
        )
        specimen.put(
            PolicyState(grants=frozenset({Grant(VIEWER, MEMBER)}), of=frozenset({MEMBER})), None
        )

        assert rival.policies.owned(CLUSTER) == {PROJECT: mark, "closed-to-us": mark}
        with pytest.raises(Denied) as told:
            rival.policies.drop("closed-to-us")
        assert "if closed-to-us is no more, take it out of cwii.dev/scopes" in told.value.remedy
        rival.policies.drop(PROJECT)

    def test_a_member_that_is_not_known_yet_is_waited_for(self, specimen: Specimen) -> None:
        nobody = ids.account_member(ids.email("nobody-here", PROJECT))

        with pytest.raises(NotYet, match="does not exist"):
            specimen.store.put(
                PROJECT,
                PolicyState(grants=frozenset({Grant(VIEWER, nobody)}), of=frozenset({nobody})),
                None,
            )
