"""One text for every thing and every scope, compared without case."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cwiictl.clouds.azure import ids

SUBSCRIPTION = "6e9a3f5c-1d2b-4c3d-8e4f-0a1b2c3d4e5f"
OTHER = "00000000-0000-4000-8000-000000000001"
GROUP = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/Some-Group"
MANAGED = "/providers/Microsoft.Management/managementGroups/platform"
NAMES = st.from_regex(r"[a-z0-9][-a-z0-9]{2,20}", fullmatch=True)


@given(NAMES, NAMES, NAMES)
def test_an_id_says_where_its_thing_is(group: str, account: str, container: str) -> None:
    made = ids.container(SUBSCRIPTION, group, account, container)

    assert ids.group_of(made) == group
    assert ids.subscription_of(made) == ids.subscription(SUBSCRIPTION)
    assert ids.named(made) == container
    assert ids.within(made, ids.account(SUBSCRIPTION, group, account))
    assert ids.within(made, ids.group(SUBSCRIPTION, group.upper()))
    assert not ids.within(made, ids.group(SUBSCRIPTION, group[:-1]))
    assert ids.same(made, made.upper())
    assert ids.is_scope(made)


@pytest.mark.parametrize(
    "scope",
    [
        f"/subscriptions/{SUBSCRIPTION}",
        GROUP,
        f"{GROUP}/",
        GROUP.upper(),
        MANAGED,
        ids.identity(SUBSCRIPTION, "g", "i"),
    ],
)
def test_what_roles_can_hold_on_is_a_scope(scope: str) -> None:
    assert ids.is_scope(scope)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "/",
        SUBSCRIPTION,
        "/subscriptions/x",
        f"/subscriptions/{SUBSCRIPTION}/x",
        f"{GROUP}/providers/Microsoft.Storage",
        f"{GROUP} other",
        "resourceGroups/x",
        "/providers/x/y/z",
    ],
)
def test_nothing_else_is(text: str) -> None:
    assert not ids.is_scope(text)


def test_a_role_has_an_id_in_every_subscription_and_one_guid() -> None:
    here, there, above = (
        ids.role(scope, OTHER) for scope in (GROUP, f"/subscriptions/{OTHER}", MANAGED)
    )

    assert here.startswith(f"/subscriptions/{SUBSCRIPTION}/providers/")
    assert there.startswith(f"/subscriptions/{OTHER}/providers/")
    assert above.startswith("/providers/Microsoft.Authorization/")
    assert {ids.guid(each) for each in (here, there, above, above.upper(), OTHER)} == {OTHER}


def test_what_is_no_id_yet_has_no_guid() -> None:
    assert ids.guid("<id of azure/custom-role/demo>") == "<id of azure/custom-role/demo>"


def test_what_is_above_all_subscriptions_is_in_none_and_in_no_group() -> None:
    assert ids.subscription_of(MANAGED) == ""
    assert ids.group_of(MANAGED) == ids.group_of(f"/subscriptions/{SUBSCRIPTION}") == ""
    assert (
        ids.assignment(MANAGED, OTHER)
        == f"{MANAGED}/providers/Microsoft.Authorization/roleAssignments/{OTHER}"
    )


@pytest.mark.parametrize("text", ["westeurope", "West Europe", " WestEurope "])
def test_a_region_is_one_however_it_is_written(text: str) -> None:
    assert ids.region(text) == "westeurope"
